"""The ledger of this machine's worker: the rows themselves."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import InterfaceError, OperationalError, connection

from annotator.reproduction import leases
from annotator.reproduction.ledger import Piece, Result, Unreachable, Work


class Rows:
    def renew(self, work: Work) -> bool:
        with reached():
            return leases.renew(work)

    def log(self, work: Work, pieces: Sequence[Piece]) -> None:
        with reached():
            leases.write(work, pieces)

    def result(self, work: Work, result: Result) -> bool:
        with reached():
            return leases.end(work, result)

    def rest(self) -> None:
        connection.close()


@contextmanager
def reached() -> Iterator[None]:
    """A database that is away for a moment is no reason to lose a run."""
    try:
        yield
    except (OperationalError, InterfaceError) as problem:
        if not connection.in_atomic_block:
            connection.close()
        raise Unreachable(str(problem)) from problem
