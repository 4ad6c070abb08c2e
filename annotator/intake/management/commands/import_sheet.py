"""Bring an existing study in from a sheet."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotator.intake.actions import dry_run, import_file
from annotator.intake.mapping import read_mapping
from annotator.intake.sheets import read_grid, read_path, read_sheet
from annotator.studies.models import Study
from annotator.web.command import Command as Base
from annotator.web.errors import BadInput


class Command(Base):
    help = "Import a sheet (CSV, TSV, XLSX) into a study, as a mapping file says."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the study")
        parser.add_argument("file", help="the sheet")
        parser.add_argument("--mapping", required=True, metavar="MAP.yaml", help="how its columns are read")
        parser.add_argument("--dry-run", action="store_true", help="say what would come, and store nothing")

    def answer(self, **options: Any) -> Any:
        study = Study.objects.filter(slug=options["slug"]).first()
        if study is None:
            raise BadInput(f"There is no study “{options['slug']}”.")
        mapping = read_mapping(read_path(Path(options["mapping"])))
        path = Path(options["file"])
        data = read_path(path)
        grid = read_grid(data, filename=path.name, sheet=mapping.sheet)
        sheet = read_sheet(grid, header_rows=mapping.header_rows)
        if options["dry_run"]:
            report = dry_run(study=study, sheet=sheet, mapping=mapping).report() | {"dry_run": True}
        else:
            report = import_file(study=study, filename=path.name, data=data, sheet=sheet, mapping=mapping, by=None)
        self.refuse_errors(report, as_json=options["json"])
        return report

    def refuse_errors(self, report: dict[str, Any], *, as_json: bool) -> None:
        errors = report["errors"]
        if not errors:
            return
        if as_json:
            self.stdout.write(json.dumps(report, ensure_ascii=False, allow_nan=False))
        first, more = errors[0], len(errors) - 1
        rest = f" ({len(errors)} errors in all)" if more else " (1 error)"
        raise BadInput(f"{place_of(first)}{first['text']}{rest} Nothing was stored.")

    def show(self, result: dict[str, Any]) -> None:
        for name, value in result.items():
            if isinstance(value, int) and not isinstance(value, bool):
                self.stdout.write(f"{name.replace('_', ' ')}: {value}")
        for remark in result["warnings"]:
            self.stdout.write(f"{place_of(remark)}{remark['text']}")
        if result.get("dry_run"):
            self.stdout.write("This was a dry run: nothing was stored.")


def place_of(remark: dict[str, Any]) -> str:
    """“row 3, column #6 (Impact / Final): ”, as far as it is known; of no row, the place of the mapping."""
    row, column = remark["row"], remark["column"]
    if not row:
        return f"{column}: " if column else ""
    return f"row {row}, column {column}: " if column else f"row {row}: "
