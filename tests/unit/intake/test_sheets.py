"""Sheets of every make: what is read, and what is refused with one sentence."""

import io
import re
import time
import zipfile

import pytest
from openpyxl import Workbook

from annotator.intake.delimited import read_delimited
from annotator.intake.sheets import Row, Sheet, read_grid, read_sheet, seems_headed_twice
from annotator.web.errors import BadInput


def sheet(data: bytes | str, *, filename: str = "s.csv", header_rows: int = 1, tab: str | None = None) -> Sheet:
    data = data.encode() if isinstance(data, str) else data
    return read_sheet(read_grid(data, filename=filename, sheet=tab), header_rows=header_rows)


def cells(found: Sheet) -> list[list[str]]:
    return [row.cells for row in found.rows]


def workbook(*rows: list[object], merges: tuple[str, ...] = (), title: str = "data") -> bytes:
    book = Workbook()
    tab = book.active
    assert tab is not None
    tab.title = title
    for row in rows:
        tab.append(row)
    for merge in merges:
        tab.merge_cells(merge)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def parts(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(contents: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return out.getvalue()


TEXT = "id,label\n1,Größe\n2,naïve…\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_encoding_is_found(encoding: str) -> None:
    assert cells(sheet(TEXT.encode(encoding))) == [["1", "Größe"], ["2", "naïve…"]]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_delimiter_is_found(mark: str) -> None:
    text = f'id{mark}text\n1{mark}"a, b; c"\n2{mark}x\n'
    assert cells(sheet(text)) == [["1", "a, b; c"], ["2", "x"]]


def test_one_column_needs_no_delimiter() -> None:
    assert cells(sheet("id\nabc\ndef\n")) == [["abc"], ["def"]]


def test_rows_keep_the_number_they_have_in_the_sheet() -> None:
    found = sheet('id,t\r\n1,"two\r\nlines"\r\n\r\n3,x\r\n,\r\n')
    assert found.rows == [Row(2, ["1", "two\r\nlines"]), Row(4, ["3", "x"])]


def test_empty_trailing_columns_and_ragged_rows_are_evened_out() -> None:
    found = sheet("a,b,,,\n1,2,,,\n3\n")
    assert (found.width, cells(found)) == (2, [["1", "2"], ["3", ""]])


def test_rows_beyond_the_header_are_warned_of_once() -> None:
    found = sheet("a,b\n1,2,3\n4,5,6\n")
    assert [(remark.row, remark.code) for remark in found.remarks] == [(2, "beyond_header")]
    assert found.place("#3") == 2


def test_column_is_named_by_header_or_place() -> None:
    found = sheet("a, Symptom  A ,#files\n1,2,3\n")
    assert [found.place(name) for name in ("a", "Symptom A", " Symptom  A ", "#files", "#2")] == [0, 1, 1, 2, 1]


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("Comment", "occurs 2 times (#2, #3)"),
        ("comment", "no column “comment”. It has id, Comment, Comment."),
        ("#4", "no column #4: it has 3"),
        ("#0", "no column #0"),
    ],
)
def test_column_that_cannot_be_told_is_refused(reference: str, said: str) -> None:
    with pytest.raises(BadInput) as refusal:
        sheet("id,Comment,Comment\n1,2,3\n").place(reference)
    assert said in str(refusal.value)


def test_two_header_rows_are_named_by_place_alone() -> None:
    found = sheet(",Reviewer 1,,Reviewer 2,\nURL,Scenario,Note,Scenario,Note\nu,a,b,c,d\n", header_rows=2)
    assert found.labels == [
        "URL",
        "Reviewer 1 / Scenario",
        "Reviewer 1 / Note",
        "Reviewer 2 / Scenario",
        "Reviewer 2 / Note",
    ]
    assert (found.rows[0].number, found.place("#4")) == (3, 3)
    with pytest.raises(BadInput, match="by its place: “#2” or “#4”"):
        found.place("Scenario")


def test_a_column_named_by_its_place_says_its_header() -> None:
    found = sheet(",Impact,\nURL,Final,Conflict,\nu,a,b,c\n", header_rows=2)
    assert [found.said(f"#{n}") for n in range(1, 5)] == [
        "#1 (URL)",
        "#2 (Impact / Final)",
        "#3 (Impact / Conflict)",
        "#4",
    ]
    assert sheet("id,cause\n1,a\n").said("cause") == "cause"


@pytest.mark.parametrize(
    ("text", "is_headed_twice"),
    [
        (",Reviewer 1,,Reviewer 2,\nURL,Scenario,Note,Scenario,Note\nu,a,b,c,d\n", True),
        ("A,A,B,B\ncause,stage,cause,stage\na,b,c,d\n", True),
        ("id,cause\n1,a\n2,b\n", False),
        ("id,,cause\n1,x,a\n2,y,b\n", False),
        ("a,a,b,b\n1,2,3,4\n5,6,7,8\n", False),
        ("id,cause\n1,a\n", False),
    ],
)
def test_two_rows_that_head_the_data_are_noticed(text: str, is_headed_twice: bool) -> None:
    assert seems_headed_twice(read_delimited(text.encode(), filename="s.csv")) is is_headed_twice
    codes = [remark.code for remark in sheet(text).remarks]
    assert ("second_header_row" in codes) is is_headed_twice


def test_workbook_cells_are_text_as_people_read_them() -> None:
    import datetime as dt

    found = sheet(
        workbook(
            ["id", "flag", "n", "f", "day", "at", "text"],
            [7, True, 3.0, 0.5, dt.date(2021, 10, 14), dt.datetime(2021, 10, 14, 9, 30), "007"],
            ["None", False, -1, 1e-7, None, None, "NA"],
        ),
        filename="s.xlsx",
    )
    assert cells(found) == [
        ["7", "TRUE", "3", "0.5", "2021-10-14", "2021-10-14T09:30:00", "007"],
        ["None", "FALSE", "-1", "1e-07", "", "", "NA"],
    ]


def test_workbook_is_known_by_its_content() -> None:
    assert cells(sheet(workbook(["a"], ["x"]), filename="renamed.csv")) == [["x"]]


def test_merged_header_cells_say_the_same_of_all_their_columns() -> None:
    found = sheet(
        workbook(
            ["Rater 1", None, "Rater 2", None], ["S", "C", "S", "C"], ["a", "b", "c", "d"], merges=("A1:B1", "C1:D1")
        ),
        filename="s.xlsx",
        header_rows=2,
    )
    assert found.labels == ["Rater 1 / S", "Rater 1 / C", "Rater 2 / S", "Rater 2 / C"]


def test_cell_merged_downwards_holds_for_its_rows_and_across_for_none() -> None:
    found = sheet(
        workbook(["pr", "label"], ["12", "Crash"], [None, "Hang"], ["note to all", None], merges=("A2:A3", "A4:B4")),
        filename="s.xlsx",
    )
    assert cells(found) == [["12", "Crash"], ["12", "Hang"], ["note to all", ""]]


def test_formula_gives_its_stored_value_and_without_one_a_warning() -> None:
    data = parts(workbook(["a", "b"], ["x", "=1+1"], ["y", "=2+2"]))
    name = "xl/worksheets/sheet1.xml"
    data[name] = (
        data[name]
        .replace(b"<f>1+1</f><v />", b"<f>1+1</f><v>2</v>")
        .replace(b"<f>1+1</f><v></v>", b"<f>1+1</f><v>2</v>")
    )
    found = sheet(zipped(data), filename="s.xlsx")
    assert cells(found) == [["x", "2"], ["y", ""]]
    assert [(remark.row, remark.column, remark.code) for remark in found.remarks] == [
        (3, "#2 (b)", "formula_without_value")
    ]


def test_sheet_is_chosen_by_name() -> None:
    book = Workbook()
    first = book.active
    assert first is not None
    first.append(["a"])
    second = book.create_sheet("second")
    second.append(["b"])
    second.append(["x"])
    out = io.BytesIO()
    book.save(out)
    assert cells(sheet(out.getvalue(), filename="s.xlsx", tab="second")) == [["x"]]
    with pytest.raises(BadInput, match="no sheet “third”; it has “Sheet”, “second”"):
        sheet(out.getvalue(), filename="s.xlsx", tab="third")


def test_safe_export_loses_its_prefix_and_nothing_else() -> None:
    text = "a,b\n'=SUM(1),'quoted\n'-1 means off,''=x\n"
    assert cells(sheet(text, filename="labels-spreadsheet-safe.csv")) == [
        ["=SUM(1)", "'quoted"],
        ["-1 means off", "'=x"],
    ]
    assert cells(sheet(text, filename="labels.csv"))[0][0] == "'=SUM(1)"


def test_nul_is_found_with_its_place() -> None:
    assert sheet("a,b\n1,x\n2,y\x00z\n").flaws == [(3, 1)]


def test_cell_of_ten_thousand_characters_is_whole() -> None:
    long = 'line, "quoted"\n' * 700
    found = sheet(f'a,b\n1,"{long.replace(chr(34), chr(34) * 2)}"\n')
    assert found.rows[0].cells[1] == long


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty (0 bytes)"),
        (b"  \n\n", "The sheet is empty"),
        (b"\xd0\xcf\x11\xe0 old", "old Excel file"),
        (b"%PDF-1.7", "a PDF"),
        (b"a,b\n1,\xed\xa0\x80\n", "Line 2 is not UTF-8: it holds half a character"),
        ("a,b\n1,größer\n2,".encode() + b"\xff\n", "Line 3 is not UTF-8, although most of the file is"),
        (b"\xff\xfea,\x00", "begins as UTF-16"),
        (b'a,b\n1,"open\n2,x\n', "mark opened in row 2 is never closed"),
    ],
)
def test_unreadable_file_is_refused_in_one_sentence(data: bytes, said: str) -> None:
    with pytest.raises(BadInput) as refusal:
        sheet(data)
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("cut", [4, 100, -200])
def test_broken_workbook_is_refused(cut: int) -> None:
    with pytest.raises(BadInput, match="damaged or no XLSX"):
        sheet(workbook(["a"], ["x"])[:cut], filename="s.xlsx")


def test_text_named_xlsx_is_refused() -> None:
    with pytest.raises(BadInput, match="damaged or no XLSX"):
        sheet("a,b\n1,2\n", filename="s.xlsx")


def test_zip_bomb_is_refused_before_it_is_opened() -> None:
    data = parts(workbook(["a"], ["x"]))
    data["xl/worksheets/sheet1.xml"] += b" " * 20_000_000
    bomb = zipped(data)
    del data
    start = time.perf_counter()
    with pytest.raises(BadInput, match="unpacks to far more than a sheet holds"):
        sheet(bomb, filename="s.xlsx")
    assert time.perf_counter() - start < 1


def test_entity_bomb_is_refused() -> None:
    data = parts(workbook(["a"], ["x"]))
    name = next(name for name, content in data.items() if b"<t>x</t>" in content)
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "ha" * 10}">' for n in range(9))
    body = data[name].replace(b"<t>x</t>", b"<t>&e8;</t>")
    at = re.search(rb"<(sst|worksheet)", body).start()
    data[name] = body[:at] + f"<!DOCTYPE sst [{entities}]>".encode() + body[at:]
    with pytest.raises(BadInput, match="damaged or no XLSX"):
        sheet(zipped(data), filename="s.xlsx")


def test_ten_thousand_rows_are_read_in_well_under_a_second() -> None:
    text = "a,b,c\n" + "".join(f'{n},"text, of {n}",x\n' for n in range(10_000))
    start = time.process_time()
    assert len(sheet(text).rows) == 10_000
    assert time.process_time() - start < 1
