"""The place of each bug, kept by the database itself: a copy of what its item says, so that counts do without items."""

# ruff: noqa: S608  # every piece of a statement is a constant of this file

from collections.abc import Iterator

from django.db import connections

from annotator.overview.triggers import PREFIX, changed, function

MONTH = {
    "postgresql": "(EXTRACT(YEAR FROM {0} AT TIME ZONE 'UTC') * 100 + EXTRACT(MONTH FROM {0} AT TIME ZONE 'UTC'))::integer",
    "sqlite": "CAST(substr({0}, 1, 4) || substr({0}, 6, 2) AS INTEGER)",
}
COPIED = ("repository_id", "merged_month", "closed_month")
SOURCES = ("repository_id", "merged_at", "closed_at")
ANEW = "ON CONFLICT (bug_id) DO UPDATE SET " + ", ".join(f"{name} = excluded.{name}" for name in COPIED)
GONE = "DELETE FROM sampling_place WHERE bug_id = OLD.id"
ORPHANS = (
    "DELETE FROM sampling_place WHERE NOT EXISTS (SELECT 1 FROM sampling_bug bug WHERE bug.id = sampling_place.bug_id)"
)


def install(alias: str) -> None:
    """After the guards, which take away all triggers that there were; what was written meanwhile is caught up with."""
    connection = connections[alias]
    made = on_postgresql() if connection.vendor == "postgresql" else on_sqlite()
    with connection.cursor() as cursor:
        for statement in (*made, ORPHANS, caught_up(connection.vendor)):
            cursor.execute(statement)


def told(vendor: str, row: str) -> tuple[str, ...]:
    """What a place copies of an item."""
    month = MONTH[vendor]
    return (f"{row}.repository_id", month.format(f"{row}.merged_at"), month.format(f"{row}.closed_at"))


def copy(vendor: str, *, bugs: str, joined: str = "", where: str) -> str:
    return (
        f"INSERT INTO sampling_place (bug_id, {', '.join(COPIED)}) SELECT bug.id, {', '.join(told(vendor, 'item'))} "
        f"FROM {bugs} bug JOIN collection_item item ON item.id = bug.item_id {joined} WHERE {where} "
    )


def caught_up(vendor: str) -> str:
    others = (
        f"place.{name} IS DISTINCT FROM {value}" for name, value in zip(COPIED, told(vendor, "item"), strict=True)
    )
    where = f"place.bug_id IS NULL OR {' OR '.join(others)} "
    made = copy(
        vendor, bugs="sampling_bug", joined="LEFT JOIN sampling_place place ON place.bug_id = bug.id", where=where
    )
    return (made if vendor == "postgresql" else made.replace("IS DISTINCT FROM", "IS NOT")) + ANEW


def moved(vendor: str) -> str:
    values = ", ".join(f"{name} = {value}" for name, value in zip(COPIED, told(vendor, "NEW"), strict=True))
    bugs = "(SELECT bug.id FROM sampling_bug bug WHERE bug.item_id = NEW.id)"
    return f"UPDATE sampling_place SET {values} WHERE bug_id IN {bugs}"


def on_postgresql() -> Iterator[str]:
    """A share in the item's row: who changes it waits for the bug, or the bug for her; neither misses the other.

    In the order of the items' ids, as they are filled in: so nobody waits in a ring.
    """
    taken = copy("postgresql", bugs="fresh", where="TRUE") + "ORDER BY item.id FOR SHARE OF item " + ANEW
    yield function("place_taken", f"{taken}; RETURN NULL;")
    yield function("place_moved", f"{moved('postgresql')}; RETURN NULL;")
    yield function("place_gone", f"{GONE}; RETURN NULL;")
    yield (
        f"CREATE TRIGGER place_taken AFTER INSERT ON sampling_bug REFERENCING NEW TABLE AS fresh "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {PREFIX}place_taken()"
    )
    yield (
        f"CREATE TRIGGER place_moved AFTER UPDATE ON collection_item FOR EACH ROW WHEN ({changed(*SOURCES)}) "
        f"EXECUTE FUNCTION {PREFIX}place_moved()"
    )
    yield (f"CREATE TRIGGER place_gone AFTER DELETE ON sampling_bug FOR EACH ROW EXECUTE FUNCTION {PREFIX}place_gone()")


def on_sqlite() -> Iterator[str]:
    taken = copy("sqlite", bugs="sampling_bug", where="bug.id = NEW.id ") + ANEW
    yield f"CREATE TRIGGER place_taken AFTER INSERT ON sampling_bug FOR EACH ROW BEGIN {taken}; END"
    when = changed(*SOURCES).replace("IS DISTINCT FROM", "IS NOT")
    yield (
        f"CREATE TRIGGER place_moved AFTER UPDATE ON collection_item FOR EACH ROW WHEN {when} "
        f"BEGIN {moved('sqlite')}; END"
    )
    yield f"CREATE TRIGGER place_gone AFTER DELETE ON sampling_bug FOR EACH ROW BEGIN {GONE}; END"
