"""Renews the lease of a run while something else is busy with it, and says when it is lost."""

import logging
import threading
import time
from types import TracebackType

from annotator.reproduction.ledger import Ledger, Unreachable, Work

logger = logging.getLogger(__name__)
BEATS = 4  # in the time of one lease
SURE = 0.9  # of a lease's time without an answer, after which it counts as lost: another may take the run any moment


class Heart:
    """Beats in a thread of its own from `with` to its end."""

    def __init__(self, ledger: Ledger, work: Work) -> None:
        self.ledger, self.work = ledger, work
        self.lost = threading.Event()  # the run is another's, cancelled, or out of reach
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._beat, name=f"heart {work.run[:8]}", daemon=True)

    @property
    def is_lost(self) -> bool:
        return self.lost.is_set()

    def __enter__(self) -> "Heart":
        self.thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        self.thread.join()

    def _beat(self) -> None:
        heard = time.monotonic()
        try:
            while not self.over.wait(self.work.lease_seconds / BEATS):
                asked = time.monotonic()
                try:
                    if not self.ledger.renew(self.work):
                        break
                    heard = asked
                except Unreachable as problem:
                    logger.warning("the lease of %s was not renewed: %s", self.work.run[:12], problem)
                    if time.monotonic() - heard > SURE * self.work.lease_seconds:
                        break
            else:
                return
            self.lost.set()
        except Exception:
            logger.exception("the lease of %s can no longer be renewed", self.work.run[:12])
            self.lost.set()
        finally:
            self.ledger.rest()
