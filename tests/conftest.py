"""What every test shares: services, the cast, and a database whose guards do not hinder cleaning up."""

from collections.abc import Iterator

import pytest

pytest_plugins = ["tests.services.plugin", "tests.cast"]


@pytest.fixture(autouse=True, scope="session")
def flush_without_guards() -> Iterator[None]:
    """SQLite empties tables by DELETE, which the append-only guards would refuse."""
    from django.db.backends.sqlite3.base import DatabaseOperations

    flush = DatabaseOperations.execute_sql_flush

    def unguarded(self: DatabaseOperations, sql_list: list[str]) -> None:
        from annotator.overview import guards

        guards.remove(self.connection.alias)
        flush(self, sql_list)
        guards.install(self.connection.alias)

    patch = pytest.MonkeyPatch()
    patch.setattr(DatabaseOperations, "execute_sql_flush", unguarded)
    yield
    patch.undo()
