"""Text sheets: which encoding, which delimiter, and the cells as they stand."""

import codecs
import csv
import io
from collections.abc import Iterator

from annotator.intake.workbooks import MAX_CELLS, MAX_COLUMNS, TOO_LARGE, TOO_WIDE
from annotator.web.errors import BadInput

DELIMITERS = (",", ";", "\t", "|")
LONGEST_CELL = 20 * 1024 * 1024
SAMPLE_CHARS, SAMPLE_RECORDS = 200_000, 40
BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SAVE_AS = "save it as CSV UTF-8"

csv.field_size_limit(LONGEST_CELL)


def read_delimited(data: bytes, *, filename: str = "") -> list[list[str]]:
    """Records of cells; a blank line is a record without cells, so that record n is the sheet's row n."""
    text = decode(data)
    delimiter = find_delimiter(text, filename=filename)
    try:
        return list(bounded(reader(text, delimiter, strict=True)))
    except csv.Error as problem:
        if "unexpected end" in str(problem):
            raise BadInput(open_quote(text, delimiter)) from None
    try:
        return list(bounded(reader(text, delimiter, strict=False)))
    except csv.Error as problem:
        raise BadInput(f"The sheet cannot be read as CSV: {problem}.") from None


def bounded(records: Iterator[list[str]]) -> Iterator[list[str]]:
    cells = 0
    for record in records:
        if len(record) > MAX_COLUMNS:
            raise BadInput(TOO_WIDE)
        cells += len(record) or 1
        if cells > MAX_CELLS:
            raise BadInput(TOO_LARGE)
        yield record


def reader(text: str, delimiter: str, *, strict: bool) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)


def open_quote(text: str, delimiter: str) -> str:
    """Which row holds the quote that nothing closes."""
    row = 0
    try:
        for _ in reader(text, delimiter, strict=True):
            row += 1
    except csv.Error:
        row += 1
    return f'The quotation mark opened in row {row} is never closed: close it, or double it ("") if it is text.'


def decode(data: bytes) -> str:
    """UTF-8, UTF-16 or UTF-32 by their marks or looks, else Windows-1252."""
    for mark, encoding in BOMS:
        if data.startswith(mark):
            return decode_as(data, encoding)
    if encoding := looks_like_utf16(data[:4096]):
        return decode_as(data, encoding)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        return decode_legacy(data, line=data.count(b"\n", 0, problem.start) + 1)


def decode_as(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as problem:
        name = encoding.removesuffix("-sig").upper()
        raise BadInput(
            f"The file begins as {name} but breaks off from it at byte {problem.start}: {SAVE_AS}."
        ) from None


def looks_like_utf16(sample: bytes) -> str:
    """UTF-16 without a mark: every second byte of mostly Latin text is zero."""
    half = len(sample) // 2
    if half < 2:
        return ""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > 0.4 * half and even < 0.05 * half:
        return "utf-16-le"
    if even > 0.4 * half and odd < 0.05 * half:
        return "utf-16-be"
    return ""


def decode_legacy(data: bytes, *, line: int) -> str:
    """Windows-1252, unless the bytes are UTF-8 with a fault, which would turn into nonsense."""
    where = f"Line {line} is not UTF-8"
    if has_lone_surrogates(data):
        raise BadInput(f"{where}: it holds half a character (a lone surrogate); delete it and {SAVE_AS}.")
    loose = data.decode("utf-8", "surrogateescape")
    faults = sum("\udc80" <= char <= "\udcff" for char in loose)
    whole = sum(char > "\x7f" for char in loose) - faults
    if whole > faults:
        raise BadInput(f"{where}, although most of the file is: repair that line or {SAVE_AS}.")
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        raise BadInput(f"{where}, nor is the file UTF-16 or Windows-1252: {SAVE_AS}.") from None


def has_lone_surrogates(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def find_delimiter(text: str, *, filename: str = "") -> str:
    """The one that cuts the first records most evenly and most finely; a comma where none cuts."""
    sample = text[:SAMPLE_CHARS]
    scores = {mark: evenness(sample, mark) for mark in DELIMITERS}
    if filename.lower().endswith((".tsv", ".tab")) and scores["\t"] > (0.0, 0):
        return "\t"
    best = max(DELIMITERS, key=lambda mark: scores[mark])
    return best if scores[best] > (0.0, 0) else ","


def evenness(sample: str, delimiter: str) -> tuple[float, int]:
    """Share of records as wide as the first, and that width; nothing for a single column."""
    widths: list[int] = []
    try:
        for record in reader(sample, delimiter, strict=False):
            if record:
                widths.append(len(record))
            if len(widths) == SAMPLE_RECORDS:
                break
    except csv.Error:
        return (0.0, 0)
    if not widths or widths[0] < 2:
        return (0.0, 0)
    return (round(widths.count(widths[0]) / len(widths), 1), widths[0])
