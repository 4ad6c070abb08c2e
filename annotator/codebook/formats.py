"""A codebook as YAML, JSON or CSV, and back: each holds all of it."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from annotator.codebook.document import Document
from annotator.web.errors import BadInput

BOOK = ("codebook", "description", "source")
FACET = ("name", "definition", "kind", "answers", "decided", "optional", "takes_codes", "hotkey", "retired")
CATEGORY = (
    "id", "parent", "order", "definition", "include", "exclude", "examples", "hotkey", "aka", "unverified",
    "not_applicable", "code", "retired", "merged_into", "split_from", "redefined_in",
)  # fmt: skip
LISTS = {"examples", "aka"}
APART = ("between", "tell_apart")
HEADER = (*BOOK, "facet", *(f"facet_{key}" for key in FACET), "category", *CATEGORY, *APART)
SEPARATORS = ",;\t"


def as_json(document: Document) -> str:
    return json.dumps(document.as_dict(), ensure_ascii=False, indent=1) + "\n"


def as_csv(document: Document) -> str:
    """A row a category. The codebook's own words stand in the first row, a facet's in the first of its rows."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, HEADER, restval="")
    writer.writeheader()
    writer.writerows(_rows(document.as_dict()))
    return out.getvalue()


def _rows(whole: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    book = {"codebook": whole["title"], "description": whole.get("description", ""), "source": whole.get("source", "")}
    for facet in whole["facets"]:
        said = {"facet": facet["id"], **{f"facet_{key}": _cell(facet[key]) for key in FACET if key in facet}}
        for category in facet["categories"] or [{"name": ""}]:
            told = {key: _cell(category[key]) for key in CATEGORY if key in category}
            yield {**book, **said, "category": category["name"], **told}
            book, said = {}, {"facet": facet["id"]}
        for note in facet.get("tell_apart", ()):
            yield {**said, "between": json.dumps(note["between"], ensure_ascii=False), "tell_apart": note["text"]}


def _cell(value: Any) -> str:
    """A list has a line each, or is written as JSON where one of its texts has lines of its own."""
    if isinstance(value, list):
        is_plain = all(text.splitlines() == [text] and not text.startswith("[") for text in value)
        return "\n".join(value) if is_plain and value else json.dumps(value, ensure_ascii=False)
    return ("false", "true")[value] if isinstance(value, bool) else str(value)


FORMATS: dict[str, tuple[str, Callable[[Document], str]]] = {
    "yaml": ("application/yaml", Document.as_yaml),
    "json": ("application/json", as_json),
    "csv": ("text/csv", as_csv),
}


def written(document: Document, format_: str) -> str:
    if format_ not in FORMATS:
        raise BadInput(f"A codebook is written as {', '.join(FORMATS)}; “{format_[:20]}” is none of them.")
    return FORMATS[format_][1](document)


# --- reading


def is_csv(text: str) -> bool:
    """Its first line names the columns facet and category."""
    head = text.lstrip("\ufeff").split("\n", 1)[0]
    return any({"facet", "category"} <= set(_names(head, separator)) for separator in SEPARATORS)


def _names(line: str, separator: str) -> list[str]:
    return [name.strip().strip('"').lower() for name in line.split(separator)]


def from_csv(text: str) -> dict[str, Any]:
    """Plain lists and mappings, to be checked like those of another file. Only the columns facet and category are needed."""
    text = text.lstrip("\ufeff")
    head = text.split("\n", 1)[0]
    separator = next(one for one in SEPARATORS if {"facet", "category"} <= set(_names(head, one)))
    try:
        table = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error as problem:
        raise BadInput(f"The codebook file is not valid CSV: {problem}.") from None
    header = [name.strip().lower() for name in table[0]]
    unknown = [name for name in header if name and name not in HEADER]
    if unknown:
        raise BadInput(f"The codebook file has the unknown column “{unknown[0][:60]}”.")
    if len(set(header)) < len(header):
        raise BadInput("The codebook file has two columns of one name.")
    rows = [dict(zip(header, row, strict=False)) for row in table[1:] if any(cell.strip() for cell in row)]
    return _whole(rows)


def _whole(rows: list[dict[str, str]]) -> dict[str, Any]:
    first = rows[0] if rows else {}
    found: dict[str, Any] = {"title": first.get("codebook", ""), "facets": []}
    found |= {key: first[key] for key in ("description", "source") if first.get(key)}
    facets: dict[str, dict[str, Any]] = {}
    for row in rows:
        key = row.get("facet", "").strip()
        facet = facets.get(key)
        if facet is None:
            facet = facets[key] = {"id": key, "categories": [], "tell_apart": []}
            found["facets"].append(facet)
        facet |= {name: row[f"facet_{name}"] for name in FACET if row.get(f"facet_{name}")}
        if row.get("category"):
            facet["categories"].append(_category(row))
        if row.get("between") or row.get("tell_apart"):
            facet["tell_apart"].append({"between": _listed(row.get("between", "")), "text": row.get("tell_apart", "")})
    return found


def _category(row: Mapping[str, str]) -> dict[str, Any]:
    given = {key: _listed(row[key]) if key in LISTS else row[key] for key in CATEGORY if row.get(key)}
    return {"name": row["category"], **given}


def _listed(cell: str) -> list[str]:
    if cell.startswith("["):
        try:
            found = json.loads(cell)
        except ValueError:
            found = None
        if isinstance(found, list) and all(isinstance(one, str) for one in found):
            return found
    return [line for line in cell.splitlines() if line.strip()]
