"""Import and export of 10,000 bugs with two raters' answers: python -m bench.transfers FOLDER. Prints JSON."""

import csv
import json
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bench.settings")
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402

from annotator.accounts.models import User  # noqa: E402
from annotator.codebook.actions import create_codebook  # noqa: E402
from annotator.codebook.choices import choices_of  # noqa: E402
from annotator.codebook.presets import MAIN, preset  # noqa: E402
from annotator.intake.actions import import_file  # noqa: E402
from annotator.intake.mapping import read_mapping  # noqa: E402
from annotator.intake.sheets import read_grid, read_path, read_sheet  # noqa: E402
from annotator.publication.exports import export  # noqa: E402
from annotator.studies.models import Study  # noqa: E402
from bench import floors  # noqa: E402

ROWS = 10_000
RATERS = ("alice", "bob")
MAPPING: dict[str, Any] = {
    "item": {"kind": "pull_request", "repository": "project", "number": "number", "url": "url", "title": "title"},
    "raters": {name: {key: f"{key} {name}" for key in ("symptom", "root_cause")} for name in RATERS},
    "context": {"Description": "description"},
}


def main(folder: Path) -> dict[str, Any]:
    call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
    lead = User.objects.create_user("lead", password=None)
    studies = [Study.objects.create(slug=slug, title=slug, created_by=lead) for slug in ("floor", "sheet", "bare")]
    for study in studies:
        create_codebook(study=study, document=preset(MAIN), by=lead)
    sheet, mapping = folder / "sheet.csv", folder / "mapping.yaml"
    write(sheet, studies[1])
    mapping.write_text(json.dumps(MAPPING))
    floor = same_sql(lambda: bring(studies[0], sheet, mapping))
    taken, report = timed(lambda: bring(studies[1], sheet, mapping))
    if (report["bugs_created"], report["answers"]) != (ROWS, ROWS * 4):
        raise RuntimeError(f"imported {report['bugs_created']} bugs and {report['answers']} answers")
    bare, _ = timed(lambda: bring(studies[2], sheet, without_labels(folder)))
    return {"import_s": taken, "import_floor_s": floor, "import_bare_s": bare} | hand_out(studies[1])


def without_labels(folder: Path) -> Path:
    """The mapping that takes the bugs alone."""
    path = folder / "bare.yaml"
    path.write_text(json.dumps({key: value for key, value in MAPPING.items() if key != "raters"}))
    return path


def write(path: Path, study: Study) -> None:
    chance = random.Random(1)
    names = {key: list(facet.names.values()) for key, facet in choices_of(study.codebook).facets.items()}
    head = ["project", "number", "url", "title", "description"]
    votes = [(key, rater) for key in ("symptom", "root_cause") for rater in RATERS]
    with path.open("w", newline="") as file:
        sheet = csv.writer(file)
        sheet.writerow(head + [f"{key} {rater}" for key, rater in votes])
        for number in range(1, ROWS + 1):
            told = [
                "tessera/tessera",
                number,
                f"https://github.com/tessera/tessera/pull/{number}",
                f"Fix {number}",
                "It fails. " * 20,
            ]
            sheet.writerow(told + [chance.choice(names[key]) for key, _ in votes])


def bring(study: Study, path: Path, mapping_path: Path) -> dict[str, Any]:
    """As the command does."""
    mapping = read_mapping(read_path(mapping_path))
    data = read_path(path)
    sheet = read_sheet(read_grid(data, filename=path.name, sheet=mapping.sheet), header_rows=mapping.header_rows)
    return import_file(study=study, filename=path.name, data=data, sheet=sheet, mapping=mapping, by=None)


def hand_out(study: Study) -> dict[str, Any]:
    def take() -> int:
        return sum(len(piece) for piece in export(study, "answers", "csv").pieces)

    taken, size = timed(take)
    with floors.recorded() as sent:
        take()
    return {"export_s": taken, "export_floor_s": floors.send(sent), "export_bytes": size}


def same_sql(act: Callable[[], Any]) -> float:
    """What an act sends, sent again with the same numbers for its rows."""
    before = sequences()
    sent = floors.sent_by(act)
    with connection.cursor() as cursor:
        for name, last in before:
            cursor.execute("SELECT setval(%s, %s, %s)", [name, last or 1, last is not None])
    return floors.send(sent)


def sequences() -> list[tuple[str, int | None]]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT quote_ident(sequencename), last_value FROM pg_sequences WHERE schemaname = 'public'")
        return list(cursor.fetchall())


def timed(act: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = act()
    return time.perf_counter() - started, result


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
