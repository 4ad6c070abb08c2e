"""The ledger of a host: the platform's routes for runners."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from annotator.clients.platform import NoAnswer, NotAllowed, Platform, Refused
from annotator.reproduction.ledger import LONGEST_KEPT, Piece, Result, Unreachable, Work, cut
from annotator.reproduction.matching import Can

SHORT = 20_000  # characters of each stream, where the platform takes no more


class Remote:
    def __init__(self, connect: Callable[[], Platform]) -> None:
        """`connect` gives each thread a connection of its own."""
        self.platform = connect()

    def claim(self, can: Can) -> Work | None:
        """Raises Unreachable, and NotAllowed where the key opens nothing."""
        told = self._ask("claim", can.document())
        return Work.of(told) if told else None

    def renew(self, work: Work) -> bool:
        return self._go_on(self._held("renew", work, {}))

    def log(self, work: Work, pieces: Sequence[Piece]) -> None:
        try:
            self._held("log", work, {"pieces": [asdict(one) for one in pieces]})
        except Refused as refused:
            raise Unreachable(str(refused)) from None

    def result(self, work: Work, result: Result) -> bool:
        """What the platform does not take is told to it as a fault, so that the run is not left behind."""
        try:
            return self._hand_in(work, result, LONGEST_KEPT)
        except Refused as refused:
            if refused.status == 413:
                return self._hand_in(work, result, SHORT)
            said = f"The platform did not take the result: {refused}"
            return self._hand_in(work, Result(outcome="fault", said=said[:1000]), SHORT)

    def _hand_in(self, work: Work, result: Result, longest: int) -> bool:
        stdout, stderr = (cut(text, longest=longest) for text in (result.stdout, result.stderr))
        told = self._held("result", work, {"result": replace(result, stdout=stdout, stderr=stderr).document()})
        return bool(told and told.get("counted"))

    def rest(self) -> None:
        return

    def _held(self, path: str, work: Work, more: Mapping[str, Any]) -> dict[str, Any] | None:
        lease = {"run": work.run, "lease": work.lease, "attempt": work.attempt}
        try:
            return self._ask(path, {**lease, **more})
        except NotAllowed:  # the host was removed: nothing of it counts any longer
            return {"go_on": False, "counted": False}

    def _ask(self, path: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
        try:
            return self.platform.post(path, body)
        except NoAnswer as problem:
            raise Unreachable(str(problem)) from None

    @staticmethod
    def _go_on(told: dict[str, Any] | None) -> bool:
        return bool(told and told.get("go_on"))
