"""Choosing columns on a page: what each one holds, as form fields, to a mapping and back."""

import re
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field
from typing import Any

from annotator.intake.mapping import Mapping, to_document
from annotator.intake.sheets import PLACE, Sheet, squeeze
from annotator.web.errors import BadInput

ITEM = {
    "item.number": "Number of the pull request or issue",
    "item.url": "Its address",
    "item.repository": "Its repository or project",
    "item.key": "A key of its own (a commit, a post)",
    "item.ordinal": "Which bug of it: 1, 2 …",
    "item.title": "Title",
}
NOTE, CONFIDENCE, VERDICT = "note", "confidence", "verdict"
BESIDE = {NOTE: "rationale", CONFIDENCE: "how sure"}
FINAL, RATER, LONG = "final", "rater", "long"
NAMED, ROUND, CONTEXT = "long.rater", "round", "context"
VOTE, VOTE_REASON = "vote.include", "vote.reason"
OUTCOME, OUTCOME_REASON = "outcome.include", "outcome.reason"
KINDS = {"pull_request": "a pull request", "issue": "an issue", "other": "something else: a commit, a post, a log"}
MARKS = {
    "": "nothing: one label a cell",
    ",": "commas",
    ";": "semicolons",
    "/": "slashes",
    "^": "carets",
    "\n": "line ends",
}
OPTIONS = ("sheet", "header_rows", "kind", "row", "round", "blind", "unknown", "blank", "when", "others", "because")
SAMPLES = 3


@dataclass(frozen=True, slots=True)
class Facet:
    """A question of the study's codebook, as the page offers it."""

    key: str
    name: str
    is_many: bool = False
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the page says of one column."""

    meaning: str = ""
    whose: str = ""


@dataclass(slots=True)
class Choices:
    """The whole page: columns by place, and what goes for all of them."""

    columns: dict[int, Chosen] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    splits: dict[str, str] = field(default_factory=dict)  # facet: mark
    kept: dict[str, Any] = field(default_factory=dict)  # of an earlier mapping: what the page has no field for

    def option(self, name: str, default: str = "") -> str:
        return self.options.get(name, default)


Groups = list[tuple[str, list[tuple[str, str]]]]


def meanings(facets: list[Facet]) -> Groups:
    """What a column may hold, in groups."""
    asked = [(facet.key, facet.name) for facet in facets]
    return [
        ("Which bug it is", list(ITEM.items())),
        ("Shown beside the bug", [(CONTEXT, "Context, under its own name")]),
        ("Settled labels", [(f"{FINAL}:{key}", f"Final {name}") for key, name in asked]),
        (
            "One rater's answers: say whose",
            [
                *((f"{RATER}:{key}", f"{name} of a rater") for key, name in asked),
                *((f"{RATER}:{key}", f"A rater's {name}") for key, name in BESIDE.items()),
            ],
        ),
        (
            "One row an answer",
            [
                (NAMED, "Name of the rater"),
                *((f"{LONG}:{key}", f"{name}, of the row's rater") for key, name in asked),
                *((f"{LONG}:{key}", f"The row's rater: {name}") for key, name in BESIDE.items()),
            ],
        ),
        ("Screening: say whose", [(VOTE, "Vote of a reviewer"), (VOTE_REASON, "A reviewer's reason")]),
        ("Screening: what came of it", [(OUTCOME, "Is it in?"), (OUTCOME_REASON, "Why it is, or is not")]),
        ("Rounds", [(ROUND, "Name of the round")]),
    ]


def needs_person(meaning: str) -> bool:
    return meaning.startswith(f"{RATER}:") or meaning in (VOTE, VOTE_REASON)


def reference(sheet: Sheet, place: int) -> str:
    """The header's name where that says which column, else its place."""
    name = sheet.header[0][place] if len(sheet.header) == 1 else ""
    alike = [other for other in sheet.header[0] if squeeze(other) == squeeze(name)] if name.strip() else []
    return name if len(alike) == 1 and not PLACE.match(name.strip()) else f"#{place + 1}"


# --- from the page to a mapping


def read_choices(sent: AnyMapping[str, str], width: int) -> Choices:
    columns = {place: Chosen(sent.get(f"c{place}", ""), squeeze(sent.get(f"w{place}", ""))) for place in range(width)}
    splits = {
        key.removeprefix("split."): mark for key, mark in sent.items() if key.startswith("split.") and mark in MARKS
    }
    options = {name: sent[name].strip() for name in OPTIONS if name in sent}
    return Choices({place: chosen for place, chosen in columns.items() if chosen.meaning}, options, splits)


def document_of(choices: Choices, sheet: Sheet) -> dict[str, Any]:
    """The mapping's document; whether it holds together is for `from_document` to say."""
    document: dict[str, Any] = {"row": choices.option("row", "bug"), "blind": choices.option("blind", "unknown")}
    document["round"] = choices.option("round") or "imported"
    document |= {"sheet": choices.option("sheet")} if choices.option("sheet") else {}
    document["header_rows"] = choices.option("header_rows", "1")
    document["item"] = {"kind": choices.option("kind", "other")}
    for place, chosen in sorted(choices.columns.items()):
        label = sheet.labels[place]
        is_alone = sheet.labels.count(label) == 1
        put(document, chosen, reference(sheet, place), label if is_alone else f"{label} (#{place + 1})")
    for told in (*document.get("votes", {}).values(), *([document["outcome"]] if "outcome" in document else [])):
        told["when"] = words_in(choices.option("when")) or ["TRUE"]
    if "outcome" in document:
        document["outcome"] |= {"others": choices.option("others") or "keep", "because": choices.option("because")}
    document["clean"] = clean_of(choices)
    return document


def put(document: dict[str, Any], chosen: Chosen, column: str, label: str) -> None:
    """Enter one column into the document."""
    kind, _, what = chosen.meaning.partition(":" if ":" in chosen.meaning else ".")
    if needs_person(chosen.meaning) and not chosen.whose:
        raise BadInput(f"Say whose answers the column “{label}” holds.")
    if chosen.meaning == CONTEXT:
        enter(document.setdefault("context", {}), label, column, label)
    elif chosen.meaning == NAMED:
        enter(document, "rater", column, label)
    elif chosen.meaning == ROUND:
        document["round"] = {"column": column}
    elif kind == "vote":
        enter(document.setdefault("votes", {}).setdefault(chosen.whose, {}), what, column, label)
    elif kind == RATER:
        enter(document.setdefault("raters", {}).setdefault(chosen.whose, {}), what, column, label)
    elif kind in ("item", FINAL, LONG, "outcome"):
        enter(document.setdefault("answers" if kind == LONG else kind, {}), what, column, label)
    else:
        raise BadInput(f"The column “{label}” was given a meaning that isn't known here.")


def enter(into: dict[str, Any], key: str, column: str, label: str) -> None:
    if key in into:
        raise BadInput(f"The columns “{into[key]}” and “{label}” say the same thing ({key}): choose one of them.")
    into[key] = column


def words_in(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def clean_of(choices: Choices) -> dict[str, Any]:
    clean = dict(choices.kept) or {"trim": "true", "fold_case": "true", "normalise": "NFC"}
    clean["blank"] = ["", *words_in(choices.option("blank"))]
    clean["unknown"] = choices.option("unknown", "error")
    clean |= {"split": {facet: re.escape(mark) for facet, mark in choices.splits.items() if mark}}
    return clean


# --- from a mapping to the page


def choices_of(mapping: Mapping, sheet: Sheet) -> Choices:
    """What the page would say of a mapping, as far as it has fields for it."""
    document = to_document(mapping)
    choices = Choices(options={name: str(document[name]) for name in ("row", "blind", "header_rows")})
    choices.options |= {"sheet": mapping.sheet or "", "kind": mapping.item.kind, "unknown": mapping.clean.unknown}
    choices.options["blank"] = ", ".join(word for word in mapping.clean.blank if word)
    told = [vote.when for vote in mapping.votes.values()]
    if mapping.outcome:
        told.append(mapping.outcome.when)
        choices.options |= {"others": mapping.outcome.others, "because": mapping.outcome.because}
    choices.options["when"] = ", ".join(next(iter(told), ()))
    if isinstance(document["round"], str):
        choices.options["round"] = document["round"]
    marks = {re.escape(mark): mark for mark in MARKS if mark}
    choices.splits = {facet: marks[pattern] for facet, pattern in mapping.clean.split.items() if pattern in marks}
    choices.kept = {key: value for key, value in document["clean"].items() if key not in ("blank", "unknown", "split")}
    for path, source in mapping.sources():
        column = getattr(source, "reference", None)
        if column is not None:
            choices.columns.setdefault(sheet.place(column), chosen_for(path))
    return choices


def chosen_for(path: str) -> Chosen:
    """The page's words for a place of the mapping."""
    head, _, rest = path.partition(".")
    if head in ("raters", "votes"):
        whose, _, what = rest.rpartition(".")
        return Chosen(f"vote.{what}" if head == "votes" else f"{RATER}:{what}", whose)
    if head == "rater":
        return Chosen(NAMED)
    if head in ("round", "context"):
        return Chosen(head)
    return Chosen(path if head in ("item", "outcome") else f"{LONG if head == 'answers' else head}:{rest}")


def samples(sheet: Sheet, place: int) -> list[str]:
    """The first different cells of a column."""
    seen = dict.fromkeys(squeeze(row.cells[place]) for row in sheet.rows)
    return [cell for cell in seen if cell][:SAMPLES]
