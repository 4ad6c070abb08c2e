"""Triggers from guards, on both databases.

They are taken away before migrations and put back afterwards: SQLite rebuilds tables, which a trigger that reads them
would not let it do.
"""

# ruff: noqa: S608  # every piece of a condition is a constant of guards.py

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from annotator.web.guarded import SQLSTATE

PREFIX = "guard_"


class Guard(NamedTuple):
    """`act` on a row of the table is refused where `when` holds of the row alone and `look` of others.

    `but` names the columns that may change; any other that does is refused.
    """

    table: str
    act: str
    said: str
    when: str = ""
    look: str = ""
    but: tuple[str, ...] | None = None


def changed(*columns: str) -> str:
    return " OR ".join(f"NEW.{column} IS DISTINCT FROM OLD.{column}" for column in columns)


def install(guards: Mapping[str, Guard], alias: str) -> None:
    connection = connections[alias]
    remove(alias)
    written = {name: narrowed(connection, guard) for name, guard in guards.items()}
    made = on_postgresql(written) if connection.vendor == "postgresql" else on_sqlite(written)
    with connection.cursor() as cursor:
        for statement in made:
            cursor.execute(statement)


def remove(alias: str) -> None:
    """All that are there, those of an earlier version too."""
    connection = connections[alias]
    if connection.vendor == "postgresql":
        there = (
            "SELECT t.tgname, c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
            f"JOIN pg_proc p ON p.oid = t.tgfoid WHERE starts_with(p.proname, '{PREFIX}')"
        )
    else:
        there = "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'"
    with connection.cursor() as cursor:
        cursor.execute(there)
        for name, table in cursor.fetchall():
            cursor.execute(f"DROP TRIGGER {name}" + (f" ON {table}" if connection.vendor == "postgresql" else ""))


def narrowed(connection: BaseDatabaseWrapper, guard: Guard) -> Guard:
    """With `but` written out: the columns are the table's own, so a later one is guarded unasked."""
    if guard.but is None:
        return guard
    with connection.cursor() as cursor:
        columns = [column.name for column in connection.introspection.get_table_description(cursor, guard.table)]
    others = f"({changed(*(column for column in columns if column not in guard.but))})"
    return guard._replace(when=f"{guard.when} AND {others}" if guard.when else others)


def on_postgresql(guards: Mapping[str, Guard]) -> Iterator[str]:
    for name, guard in guards.items():
        is_simple = guard.act == "INSERT" and "EXISTS" not in guard.look
        yield from of_all_rows(name, guard) if is_simple else of_each_row(name, guard)


def of_each_row(name: str, guard: Guard) -> Iterator[str]:
    """No function is called where `when` does not hold."""
    table, act, said, when, look, _ = guard
    refuse = f"RAISE EXCEPTION '{said}' USING ERRCODE = '{SQLSTATE}';"
    test = f"IF {look} THEN {refuse} END IF;" if look else refuse
    back = "OLD" if act == "DELETE" else "NEW"
    where = f" WHEN ({when})" if when else ""
    yield function(name, f"{test} RETURN {back};")
    yield f"CREATE TRIGGER {name} BEFORE {act} ON {table} FOR EACH ROW{where} EXECUTE FUNCTION {PREFIX}{name}()"


def of_all_rows(name: str, guard: Guard) -> Iterator[str]:
    """Asked once a statement, since an import brings tens of thousands of rows in one.

    A condition on many rows is left to `of_each_row`: its plan is kept, and one for many is no good for one.
    """
    table, _, said, when, look, _ = guard
    condition = " AND ".join(f"({part})" for part in (when, look) if part).replace("NEW.", "fresh.")
    refuse = f"RAISE EXCEPTION '{said}' USING ERRCODE = '{SQLSTATE}';"
    yield function(name, f"IF EXISTS (SELECT 1 FROM fresh WHERE {condition}) THEN {refuse} END IF; RETURN NULL;")
    yield (
        f"CREATE TRIGGER {name} AFTER INSERT ON {table} REFERENCING NEW TABLE AS fresh "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {PREFIX}{name}()"
    )


def function(name: str, body: str) -> str:
    return f"CREATE OR REPLACE FUNCTION {PREFIX}{name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$"


def on_sqlite(guards: Mapping[str, Guard]) -> Iterator[str]:
    """One trigger for all guards of an act on a table: to start one takes longer than to ask what it asks."""
    cases: dict[tuple[str, str], list[str]] = defaultdict(list)
    for table, act, said, when, look, _ in guards.values():
        conditions = " AND ".join(f"({condition})" for condition in (when, look) if condition) or "TRUE"
        cases[table, act].append(f"WHEN {conditions} THEN RAISE(ABORT, '{said}')")
    for (table, act), refusals in cases.items():
        told = " ".join(refusals).replace("IS DISTINCT FROM", "IS NOT")  # which older SQLite does not know
        name = f"{PREFIX}{table}_{act.lower()}"
        yield f"CREATE TRIGGER {name} BEFORE {act} ON {table} FOR EACH ROW BEGIN SELECT CASE {told} END; END"
