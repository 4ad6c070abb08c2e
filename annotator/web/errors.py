"""The two ways in which the platform says no, each with one clear sentence."""

from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")


class BadInput(Exception):
    """What was sent cannot be taken as it is; the message says what to change. Nothing was stored."""

    status = 400

    def __init__(self, said: str, *, more: Sequence[str] = ()) -> None:
        super().__init__(said)
        self.all = (said, *more)  # where several things are wrong


class Gathering:
    """Reads on where something is wrong, so that all of it is told at once; None stands for what could not be read."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def __call__(self, read: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        try:
            return read(*given, **named)
        except BadInput as problem:
            self.said += problem.all
            return cast(T, None)

    def refuse(self) -> None:
        """Raise BadInput where anything was."""
        if self.said:
            first, *more = dict.fromkeys(self.said)
            raise BadInput(first, more=more)


class Refused(Exception):
    """A rule of the study forbids it; the message names the rule. Nothing was stored."""

    status = 409
