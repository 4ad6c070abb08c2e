"""A clock that client and server share and that a test moves on, so that nobody really waits."""

from datetime import UTC, datetime, timedelta
from threading import Lock


class Clock:
    def __init__(self, now: datetime = datetime(2026, 1, 5, 9, 0, 0, 250_000, UTC)) -> None:
        self._now = now
        self._lock = Lock()
        self.pauses: list[float] = []

    def __call__(self) -> datetime:
        with self._lock:
            return self._now

    def pause(self, seconds: float) -> None:
        """In place of time.sleep."""
        with self._lock:
            self.pauses.append(seconds)
            self._now += timedelta(seconds=seconds)

    def move_to(self, moment: datetime) -> None:
        with self._lock:
            self._now = max(self._now, moment)
