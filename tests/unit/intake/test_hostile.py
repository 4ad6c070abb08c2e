"""Sheets and mappings made to occupy the server: refused or read in no time."""

import io
import random
import re
import time
import zipfile

import pytest
from openpyxl import Workbook

from annotator.intake import apart
from annotator.intake.mapping import divider, read_mapping
from annotator.intake.sheets import Grid, read_grid, read_sheet
from annotator.intake.workbooks import merges_of, uncached_of
from annotator.web.errors import BadInput

SECONDS = 5  # what took minutes, and for ever on a larger file


def within_seconds(started: float) -> bool:
    return time.monotonic() - started < SECONDS


def test_number_of_header_rows_is_not_read_by_its_first_digits() -> None:
    with pytest.raises(BadInput, match="header_rows must be a whole number"):
        read_mapping("item: {key: k}\nheader_rows: 00000000199999999999")


def test_references_of_yaml_that_multiply_are_refused() -> None:
    with pytest.raises(BadInput, match="Line 3 of the mapping refers to another place"):
        read_mapping("item: {key: k}\nraters: {a: &a {f: c},\n b: *a}")


def test_safe_export_loses_no_other_apostrophe_than_its_own() -> None:
    grid = read_grid(b"h\n'=1\n''=1\n'a'=b\n'a\n", filename="x-spreadsheet-safe.csv")
    assert [record[0] for record in grid.records] == ["h", "=1", "'=1", "'a'=b", "'a"]


def test_cell_of_apostrophes_is_read_at_once() -> None:
    started = time.monotonic()
    read_grid(b"h\n" + b"'" * 200_000 + b"\n", filename="x-spreadsheet-safe.csv")
    assert within_seconds(started)


@pytest.mark.parametrize(
    "pattern",
    ["x*x*x*x*y", "(?:(?:a?b?){999}){999}c", "a?a?a?a", "(a|a)(a|a)(a|a)b", "(?:a|b)?c", "x{1,9999}y", "," * 201],
)
def test_divider_that_may_take_for_ever_is_refused(pattern: str) -> None:
    with pytest.raises(BadInput, match="too involved"):
        read_mapping(f"item: {{key: k}}\nclean: {{split: {{f: '{pattern}'}}}}")


@pytest.mark.parametrize(
    ("pattern", "cell", "pieces"),
    [
        ("[,/]", "a,b/c", ["a", "b", "c"]),
        (r"\s*[,;*+?]\s*", "a , b  +c", ["a", "b", "c"]),
        (r"\ \|\ ", "a | b", ["a", "b"]),
        ("(?:,|and)", "a,bandc", ["a", "b", "c"]),
        (r"\++", "a++b", ["a", "b"]),
    ],
)
def test_usual_divider_divides(pattern: str, cell: str, pieces: list[str]) -> None:
    mapping = read_mapping(f"item: {{key: k}}\nclean: {{split: {{f: '{pattern}'}}}}")
    assert divider(mapping.clean.split["f"]).split(cell) == pieces


@pytest.mark.parametrize(("pattern", "cell"), [(r"\s*,\s*", " " * 300_000), ("x*x*y", "x" * 100_000)])
def test_long_cell_is_divided_in_time_that_grows_with_its_length(pattern: str, cell: str) -> None:
    started = time.monotonic()
    assert divider(pattern).split(cell) == [cell]
    assert within_seconds(started)


def test_long_sheet_with_one_wide_row_is_refused_before_its_rows_are_filled_up() -> None:
    wide = b",".join(b"h%d" % place for place in range(1500)) + b"\n"
    with pytest.raises(BadInput, match="more than 2,000,000 cells"):
        read_sheet(read_grid(wide + b"1\n" * 20_000))


def grid(rows: int, merges: int) -> Grid:
    return Grid([["a", "b"] for _ in range(rows)], merges=[(1, 1, 16_384, 1_048_576)] * merges)


def test_merged_cells_reach_no_further_than_the_sheet() -> None:
    assert read_sheet(grid(3, 1)).width == 2


def test_merged_cells_by_the_thousand_are_refused() -> None:
    started = time.monotonic()
    with pytest.raises(BadInput, match="Merged cells cover more than 500,000"):
        read_sheet(grid(10_000, 1_000))
    assert within_seconds(started)


@pytest.mark.parametrize(
    "text",
    [
        b'<c r="A1"><f/>' + b" " * 300_000,
        b'<c r="A1"' * 100_000,
        b"<mergeCell " * 100_000,
        b'<c r="A1" ' + b'r="A1" ' * 9999,
    ],
)
def test_text_that_looks_like_cells_is_looked_through_at_once(text: bytes) -> None:
    started = time.monotonic()
    assert not [*merges_of(text), *uncached_of(text + b"<f")]
    assert within_seconds(started)


SHARED = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"


def workbook(rows: str, strings: str = "") -> bytes:
    """With this text for the rows of its only sheet, and for its table of texts."""
    made, out = io.BytesIO(), io.BytesIO()
    Workbook().save(made)
    parts = {name: zipfile.ZipFile(made).read(name).decode() for name in zipfile.ZipFile(made).namelist()}
    sheet, types = "xl/worksheets/sheet1.xml", "[Content_Types].xml"
    parts[sheet] = re.sub(
        "<sheetData ?/>|<sheetData></sheetData>", lambda _: f"<sheetData>{rows}</sheetData>", parts[sheet]
    )
    listed = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{SHARED}"/></Types>'
    parts[types] = parts[types].replace("</Types>", listed)
    spoken = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    parts["xl/sharedStrings.xml"] = f'<sst xmlns="{spoken}">{strings}</sst>'
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return out.getvalue()


def test_workbook_of_one_row_without_end_is_refused_before_the_row_is_built() -> None:
    numbers = random.Random(1)
    data = workbook("<row>" + "".join(f"<c><v>{numbers.random()}</v></c>" for _ in range(800_000)) + "</row>")
    assert len(data) > 7_000_000
    started = time.monotonic()
    with pytest.raises(BadInput, match="more than 16,384 cells"):
        read_grid(data, filename="s.xlsx")
    assert within_seconds(started)


def test_text_that_stands_in_ever_so_many_cells_is_refused() -> None:
    cells = '<row><c t="s"><v>0</v></c></row>' * 3000
    data = workbook(cells, f"<si><t>{'long ' * 6000}</t></si>")
    with pytest.raises(BadInput, match="more than 64,000,000 characters"):
        read_grid(data, filename="s.xlsx")


def test_process_that_reads_a_workbook_gets_so_much_memory_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "MODULE", "tests.unit.intake.greedy")
    with pytest.raises(BadInput, match="unpacks to far more"):
        read_grid(workbook(""), filename="s.xlsx")


def test_process_that_reads_a_workbook_knows_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "for nobody else")
    monkeypatch.setattr(apart, "MODULE", "tests.unit.intake.curious")
    with pytest.raises(BadInput, match="nothing"):
        read_grid(workbook(""), filename="s.xlsx")


@pytest.mark.parametrize("row", [b"," * 20_000, b"a," * 20_000])
def test_text_sheet_with_a_row_without_end_is_refused(row: bytes) -> None:
    with pytest.raises(BadInput, match="more than 16,384 cells"):
        read_grid(b"h,i\n" + row + b"\n")


def test_text_sheet_of_too_many_cells_is_refused_while_it_is_read() -> None:
    with pytest.raises(BadInput, match="more than 2,000,000 cells"):
        read_grid((b"1," * 999 + b"1\n") * 2001)
