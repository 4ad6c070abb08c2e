"""Imports as a lead or the command starts them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from annotator.intake.actions import dry_run, import_file
from annotator.intake.mapping import from_document, read_mapping
from annotator.intake.sheets import read_grid, read_sheet
from annotator.studies.models import Study

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
Importer = Callable[..., dict[str, Any]]


def as_csv(rows: Sequence[Sequence[object]]) -> bytes:
    import csv
    import io

    out = io.StringIO(newline="")
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


def bring(
    study: Study, rows: Sequence[Sequence[object]] | bytes, mapping: Any, *, is_dry: bool = False, **more: Any
) -> dict[str, Any]:
    """Import rows (the first is the header) and give the report."""
    data = rows if isinstance(rows, bytes) else as_csv(rows)
    read = read_mapping(mapping) if isinstance(mapping, str | bytes) else from_document(mapping)
    sheet = read_sheet(read_grid(data, filename=more.get("filename", "sheet.csv")), header_rows=read.header_rows)
    if is_dry:
        return dry_run(study=study, sheet=sheet, mapping=read).report()
    filename = more.get("filename", "sheet.csv")
    return import_file(study=study, filename=filename, data=data, sheet=sheet, mapping=read, by=more.get("by"))


@pytest.fixture
def shared() -> Callable[[str], Path]:
    """A file of the published data sets, which lie beside the project and are no part of it."""

    def find(name: str) -> Path:
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"the published data are not here: {path}")
        return path

    return find
