"""A release of a large study, and the speed of a CSV export: python -m bench.releasing BUGS FOLDER. Prints JSON.

Beside the release stands its floor: what the database alone takes to hand out the rows of its tables, with their names.
A database that holds the study already is measured as it is.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bench.settings")
django.setup()

from django.db import connection  # noqa: E402
from django.db.models import QuerySet  # noqa: E402

from annotator.adjudication.models import Resolution  # noqa: E402
from annotator.labeling.models import Answer  # noqa: E402
from annotator.publication.exports import export  # noqa: E402
from annotator.sampling.models import Bug  # noqa: E402
from annotator.studies.models import Study  # noqa: E402
from bench import large  # noqa: E402

EXPORTED = (  # where the table of answers has its columns from, in their order
    "bug__number", "bug__item__repository__label", "bug__item__number", "bug__ordinal", "round__name", "round__number",
    "round__kind", "round__blindness", "rater__username", "facet__key", "slot", "category__name", "category__uid", "cell",
    "version", "at", "revision", "assignment__confidence", "assignment__note", "assignment__not_a_bug_reason",
    "assignment__active_seconds", "is_assisted",
)  # fmt: skip


OF_BUG = EXPORTED[:4]
DECIDED = (
    *OF_BUG, "facet__key", "slot", "category__name", "category__uid", "source", "round__name", "by__username", "participants",
    "recorded_by__username", "reason", "note", "cell", "at",
)  # fmt: skip
OF_ITEM = (
    "number", "item__kind", "item__repository__label", "item__number", "item__key", "ordinal", "item__url", "item__state",
    "item__opened_at", "item__closed_at", "item__merged_at", "left_reason", "left_note",
)  # fmt: skip


def main(bugs: int, folder: Path) -> dict[str, Any]:
    study = Study.objects.filter(slug=large.SLUG).first() if is_filled() else None
    study = study or large.make(bugs)
    started = time.perf_counter()
    size = sum(len(piece) for piece in export(study, "answers", "csv").pieces)
    taken = time.perf_counter() - started
    answers, own = dump(
        Answer.objects.current().order_by("bug__number", "rater__username", "facet__position"), EXPORTED
    )
    floor = answers + sum(dump(rows, paths)[0] for rows, paths in other_tables())
    words = [sys.executable, "-m", "bench.releasing", "release", str(folder / "out")]
    told: dict[str, Any] = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return told | {"floor_s": floor, "export_s": taken, "export_bytes": size, "dump_s": answers, "dump_bytes": own}


def is_filled() -> bool:
    return Study._meta.db_table in connection.introspection.table_names()


def other_tables() -> Iterator[tuple[QuerySet[Any], tuple[str, ...]]]:
    """Final labels, decisions and bugs; the raters beside each other hold nothing more."""
    decisions = Resolution.objects.order_by("bug__number", "facet__position")
    yield decisions.filter(is_current=True), DECIDED
    yield decisions.filter(source=Resolution.Source.ADJUDICATED), DECIDED
    yield Bug.objects.order_by("number"), OF_ITEM


def dump(rows: QuerySet[Any], paths: tuple[str, ...]) -> tuple[float, int]:
    """Seconds and bytes by the database's own means: COPY, or the dump of sqlite3."""
    sql, params = rows.values_list(*paths).query.sql_with_params()
    connection.ensure_connection()
    started = time.perf_counter()
    if connection.vendor == "postgresql":
        sink = Counted()
        with connection.cursor() as cursor:
            cursor.cursor.copy_expert(f"COPY ({cursor.mogrify(sql, params).decode()}) TO STDOUT (FORMAT csv)", sink)
        return time.perf_counter() - started, sink.size
    words = ["sqlite3", "-csv", str(connection.settings_dict["NAME"]), sql % tuple(map(quoted, params))]
    ended = subprocess.run(words, check=True, stdout=subprocess.PIPE)
    return time.perf_counter() - started, len(ended.stdout)


def quoted(value: Any) -> str:
    return str(int(value)) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


class Counted:
    """A file that keeps nothing."""

    def __init__(self) -> None:
        self.size = 0

    def write(self, data: bytes) -> int:
        self.size += len(data)
        return len(data)


def release(folder: Path) -> dict[str, Any]:
    """In a process of its own, whose largest memory is then the release's alone."""
    from django.core.management import call_command

    started = time.perf_counter()
    call_command("release", large.SLUG, "--out", str(folder), stdout=sys.stderr)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"release_s": time.perf_counter() - started, "peak_mb": peak}


if __name__ == "__main__":
    if sys.argv[1] == "release":
        print(json.dumps(release(Path(sys.argv[2]))))
    else:
        print(json.dumps(main(int(sys.argv[1]), Path(sys.argv[2]))))
