"""Whether the log of events is as it was when it was sealed."""

from typing import Any

from annotator.history.sealing import Broken, verify
from annotator.web.command import Command as Base


class Command(Base):
    help = "work out every seal of the history again; exit status 1 where one does not fit"

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        if self.broken:
            self.stderr.write(f"The history was changed: {told(self.broken)}")
            raise SystemExit(1)

    def answer(self, **options: Any) -> dict[str, Any]:
        found = verify()
        self.broken = found.broken
        return {
            "intact": found.broken is None,
            "seals": found.seals,
            "sealed": found.sealed,
            "unsealed": found.unsealed,
            "digest": found.digest,
            "broken": as_json(found.broken) if found.broken else None,
        }

    def show(self, result: dict[str, Any]) -> None:
        if result["intact"]:
            self.stdout.write(
                f"The history is as it was sealed: {result['seals']} seals over {result['sealed']} events, "
                f"{result['unsealed']} since. The last seal: {result['digest'] or 'none yet'}"
            )


def as_json(broken: Broken) -> dict[str, Any]:
    return {
        "seal": broken.number,
        "at": broken.at.isoformat(),
        "after_event": broken.after,
        "last_event": broken.last,
        "sealed": broken.sealed,
        "found": broken.found,
    }


def told(broken: Broken) -> str:
    return (
        f"seal {broken.number} of {broken.at:%Y-%m-%d %H:%M} UTC, over the events after {broken.after} "
        f"up to {broken.last}, does not fit them any more."
    )
