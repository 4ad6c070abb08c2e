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
            report = dry_run(study=study, sheet=sheet, mapping=mapping).report()
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
        where = f"row {first['row']}, column {first['column']}: " if first["row"] else f"{first['column']}: "
        rest = f" ({len(errors)} errors in all)" if more else " (1 error)"
        raise BadInput(f"{where}{first['text']}{rest} Nothing was stored.")

    def show(self, result: dict[str, Any]) -> None:
        for name, value in result.items():
            if not isinstance(value, list):
                self.stdout.write(f"{name.replace('_', ' ')}: {value}")
        for remark in result["warnings"]:
            self.stdout.write(f"row {remark['row']}, {remark['column'] or '-'}: {remark['text']}")
