"""How a sheet's columns are read: the mapping file, checked and frozen."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import yaml

from annotator.intake.mapping_parts import Column, Constant, Part, Source, source_document
from annotator.intake.yamltext import read_yaml
from annotator.web.errors import BadInput

TOP = (
    "row",
    "round",
    "blind",
    "sheet",
    "header_rows",
    "item",
    "raters",
    "rater",
    "answers",
    "final",
    "votes",
    "outcome",
    "context",
    "clean",
)
ITEM = ("kind", "repository", "number", "url", "title", "key", "ordinal")
CLEAN = ("trim", "fold_case", "normalise", "blank", "aliases", "split", "unknown")
KINDS = ("pull_request", "issue", "other")
Form = Literal["NFC", "NFD", "NFKC", "NFKD", ""]
FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")
BLIND = ("yes", "no", "unknown")
DEFAULT_ROUND = "imported"
IMPORTED = Constant(DEFAULT_ROUND)
INCLUDED = ("TRUE", "yes", "include")
OTHERS = ("keep", "drop")
LONGEST_REASON = 2000
LONGEST_PATTERN, MOST_REPEATS = 200, 2
REPEATED_GROUP = re.compile(r"\)[*+?]|\{|\(.*\(", re.DOTALL)  # what may take for ever on a long cell
PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?|.", re.DOTALL)  # an escape, a set of characters, one sign
BOUNDED = {"*": "{0,20}", "+": "{1,20}"}


@dataclass(frozen=True, slots=True)
class ItemColumns:
    """What says which item a row speaks of."""

    kind: str
    repository: Source | None = None
    number: Source | None = None
    url: Source | None = None
    title: Source | None = None
    key: Source | None = None
    ordinal: Source | None = None


@dataclass(frozen=True, slots=True)
class RaterColumns:
    """Where one rater's answers stand: facet to column, and what goes with them."""

    facets: dict[str, Source]
    note: Source | None = None
    confidence: Source | None = None


@dataclass(frozen=True, slots=True)
class VoteColumns:
    """Where one reviewer's screening votes stand, and which cells mean include."""

    include: Source
    when: tuple[str, ...] = INCLUDED
    reason: Source | None = None


@dataclass(frozen=True, slots=True)
class OutcomeColumns:
    """What became of candidates, and what it means that one is not in the sheet."""

    include: Source
    when: tuple[str, ...] = INCLUDED
    reason: Source | None = None
    others: str = "keep"
    because: str = ""


@dataclass(frozen=True, slots=True)
class Clean:
    """How cells are made comparable."""

    trim: bool = True
    fold_case: bool = True
    normalise: Form = "NFC"  # or empty: as it stands
    blank: tuple[str, ...] = ("",)
    aliases: dict[str, dict[str, str]] = field(default_factory=dict)
    split: dict[str, str] = field(default_factory=dict)
    unknown: str = "error"


@dataclass(frozen=True, slots=True)
class Mapping:
    """A whole mapping file."""

    item: ItemColumns
    row: str = "bug"
    round: Source = IMPORTED
    blind: str = "unknown"
    sheet: str | None = None
    header_rows: int = 1
    raters: dict[str, RaterColumns] = field(default_factory=dict)
    rater: Source | None = None
    answers: RaterColumns | None = None
    final: dict[str, Source] = field(default_factory=dict)
    votes: dict[str, VoteColumns] = field(default_factory=dict)
    outcome: OutcomeColumns | None = None
    context: dict[str, Source] = field(default_factory=dict)
    clean: Clean = field(default_factory=Clean)

    def sources(self) -> Iterator[tuple[str, Source]]:
        """Every place of the mapping that names a column, with its path."""
        named: list[tuple[str, Source | None]] = [(f"item.{key}", getattr(self.item, key)) for key in ITEM[1:]]
        named += [("round", self.round), ("rater", self.rater)]
        for rater, columns in self.raters.items():
            named += rater_sources(f"raters.{rater}", columns)
        named += rater_sources("answers", self.answers) if self.answers else []
        named += [(f"final.{facet}", source) for facet, source in self.final.items()]
        for reviewer, vote in self.votes.items():
            named += [(f"votes.{reviewer}.include", vote.include), (f"votes.{reviewer}.reason", vote.reason)]
        if self.outcome:
            named += [("outcome.include", self.outcome.include), ("outcome.reason", self.outcome.reason)]
        named += [(f"context.{name}", source) for name, source in self.context.items()]
        return ((path, source) for path, source in named if source is not None)

    @property
    def has_labels(self) -> bool:
        return bool(self.raters or self.answers or self.final)

    @property
    def is_screening(self) -> bool:
        """Only votes on candidates, or what became of them: nothing of it is a bug yet."""
        return bool(self.votes or self.outcome) and not self.has_labels


def rater_sources(path: str, columns: RaterColumns) -> list[tuple[str, Source | None]]:
    beside = [(f"{path}.note", columns.note), (f"{path}.confidence", columns.confidence)]
    return [*((f"{path}.{facet}", source) for facet, source in columns.facets.items()), *beside]


def read_mapping(text: str | bytes) -> Mapping:
    """The mapping of a YAML (or JSON) text."""
    document = read_yaml(text)
    if document is None:
        raise BadInput("The mapping is empty.")
    return from_document(document)


def from_document(document: Any) -> Mapping:
    """The mapping of dicts and texts, each mistake said with its place."""
    top = Part(document, "")
    top.only(TOP)
    answers = rater_columns(top.part("answers")) if top.values.get("answers") is not None else None
    mapping = Mapping(
        item=item_columns(top.part("item")),
        row=top.one_of("row", ("bug", "vote"), "vote" if top.values.get("rater") is not None else "bug"),
        round=round_source(top),
        blind=blindness(top),
        sheet=top.text("sheet", "") or None,
        header_rows=top.count("header_rows", 1, least=0, most=20),
        raters=named_parts(top.part("raters"), rater_columns),
        rater=top.source("rater"),
        answers=answers,
        final=final_columns(top.part("final")),
        votes=named_parts(top.part("votes"), vote_columns),
        outcome=outcome_columns(top.part("outcome")) if top.values.get("outcome") is not None else None,
        context=top.part("context").sources(),
        clean=clean_from(top.part("clean")),
    )
    refuse_contradictions(mapping)
    return mapping


def refuse_contradictions(mapping: Mapping) -> None:
    if (mapping.rater is None) != (mapping.answers is None):
        raise BadInput("“rater” (the column that names the rater) and “answers” (facet: column) go together.")
    if mapping.rater is not None and mapping.raters:
        raise BadInput("Give either “raters” (columns for each rater) or “rater” with “answers” (long form), not both.")


def item_columns(part: Part) -> ItemColumns:
    part.only(ITEM)
    columns = part.sources(skip=[key for key in part.values if key == "kind" or part.values[key] is None])
    if not columns.keys() & {"key", "url", "number"}:
        raise BadInput(
            "The mapping's “item” must name a column for key, url or number: it says which item a row is about."
        )
    default = "pull_request" if columns.keys() & {"url", "number"} else "other"
    return ItemColumns(kind=part.one_of("kind", KINDS, default), **columns)


def round_source(top: Part) -> Source:
    value = top.values.get("round")
    if isinstance(value, dict) and set(value) == {"column"} and isinstance(value["column"], str):
        return Column(value["column"])
    if isinstance(value, dict) and set(value) == {"value"} and isinstance(value["value"], str):
        return Constant(value["value"].strip() or DEFAULT_ROUND)
    if isinstance(value, dict):
        raise BadInput("round must be a name, or {column: NAME} for a column that names it.")
    return Constant(top.text("round", DEFAULT_ROUND).strip() or DEFAULT_ROUND)


def blindness(top: Part) -> str:
    """YAML's own true and false mean yes and no here."""
    value = {"true": "yes", "false": "no"}.get(top.text("blind", "unknown").lower())
    return value or top.one_of("blind", BLIND, "unknown")


def named_parts(part: Part, read: Any) -> dict[str, Any]:
    if "" in part.values:
        raise BadInput(f"{part.path} holds an entry without a name.")
    return {name: read(part.part(name)) for name in part.values}


def rater_columns(part: Part) -> RaterColumns:
    facets = part.sources(skip=("note", "confidence"))
    note, confidence = part.source("note"), part.source("confidence")
    if not facets and note is None:
        raise BadInput(f"{part.path} names no column: give “facet: column”.")
    return RaterColumns(facets=facets, note=note, confidence=confidence)


def final_columns(part: Part) -> dict[str, Source]:
    return part.sources()


def vote_columns(part: Part) -> VoteColumns:
    part.only(("include", "when", "reason"))
    include = part.source("include")
    if include is None:
        raise BadInput(f"{part.path}.include must name the column that holds the votes.")
    return VoteColumns(include=include, when=part.texts("when", INCLUDED), reason=part.source("reason"))


def outcome_columns(part: Part) -> OutcomeColumns:
    part.only(("include", "when", "reason", "others", "because"))
    include = part.source("include")
    if include is None:
        raise BadInput(f"{part.path}.include must name the column that says which candidates are in.")
    return OutcomeColumns(
        include=include,
        when=part.texts("when", INCLUDED),
        reason=part.source("reason"),
        others=part.one_of("others", OTHERS, "keep"),
        because=part.text("because", "").strip()[:LONGEST_REASON],
    )


def clean_from(part: Part) -> Clean:
    part.only(CLEAN)
    trim, fold_case = part.flag("trim", True), part.flag("fold_case", True)
    return Clean(
        trim=trim,
        fold_case=fold_case,
        normalise=normal_form(part, default="NFC" if trim or fold_case else ""),
        blank=tuple(dict.fromkeys(("", *part.texts("blank", ())))),
        aliases={facet: text_pairs(part.part("aliases").part(facet)) for facet in part.part("aliases").values},
        split=patterns(part.part("split")),
        unknown=part.one_of("unknown", ("error", "add"), "error"),
    )


def normal_form(part: Part, *, default: Form) -> Form:
    if "normalise" in part.values and part.values["normalise"] is None:
        return ""
    value = part.text("normalise", default).upper()
    if value in ("", "NONE", "FALSE"):
        return ""
    for form in FORMS:
        if value == form:
            return form
    raise BadInput(f"{part.at('normalise')} must be one of {', '.join(FORMS)} or none, not “{value}”.")


def text_pairs(part: Part) -> dict[str, str]:
    return {key: part.text(key, "") for key in part.values}


def patterns(part: Part) -> dict[str, str]:
    out = {key: part.text(key, "") for key in part.values}
    for key, pattern in out.items():
        refuse_pattern(pattern, part.at(key))
    return out


def refuse_pattern(pattern: str, path: str) -> None:
    signs = "".join(piece if len(piece) == 1 else piece[0].strip("\\[") for piece in PIECE.findall(pattern))
    repeats = sum(map(signs.count, "*+?"))
    if len(pattern) > LONGEST_PATTERN or repeats > MOST_REPEATS or REPEATED_GROUP.search(signs):
        raise BadInput(f"{path} is too involved: name the marks that divide, such as “[,/]”, without a repeated group.")
    try:
        compiled = divider(pattern)
    except (re.error, OverflowError, RecursionError) as problem:
        raise BadInput(f"{path} is no regular expression: {problem}.") from None
    if not pattern or compiled.match(""):
        raise BadInput(f"{path} matches between any two letters: name the mark that divides, such as “[,/]”.")


def divider(pattern: str) -> re.Pattern[str]:
    """The pattern, its repeats bounded: whatever a cell holds, the time grows with its length alone."""
    return re.compile(PIECE.sub(lambda piece: BOUNDED.get(piece[0], piece[0]), pattern))


def to_document(mapping: Mapping) -> dict[str, Any]:
    """What `from_document` reads back to the same mapping."""
    document: dict[str, Any] = {"row": mapping.row, "round": round_document(mapping.round), "blind": mapping.blind}
    document |= {"sheet": mapping.sheet} if mapping.sheet else {}
    document["header_rows"] = mapping.header_rows
    document["item"] = {"kind": mapping.item.kind} | {
        key: source_document(source) for key in ITEM[1:] if (source := getattr(mapping.item, key)) is not None
    }
    if mapping.raters:
        document["raters"] = {name: rater_document(columns) for name, columns in mapping.raters.items()}
    if mapping.rater is not None and mapping.answers is not None:
        document |= {"rater": source_document(mapping.rater), "answers": rater_document(mapping.answers)}
    for key in ("final", "context"):
        if pairs := getattr(mapping, key):
            document[key] = {name: source_document(source) for name, source in pairs.items()}
    if mapping.votes:
        document["votes"] = {name: vote_document(vote) for name, vote in mapping.votes.items()}
    if mapping.outcome:
        document["outcome"] = outcome_document(mapping.outcome)
    document["clean"] = clean_document(mapping.clean)
    return document


def round_document(source: Source) -> Any:
    return {"column": source.reference} if isinstance(source, Column) else source.value


def rater_document(columns: RaterColumns) -> dict[str, Any]:
    beside = {"note": columns.note, "confidence": columns.confidence}
    return {name: source_document(s) for name, s in (columns.facets | beside).items() if s is not None}


def vote_document(vote: VoteColumns) -> dict[str, Any]:
    reason = {"reason": source_document(vote.reason)} if vote.reason is not None else {}
    return {"include": source_document(vote.include), "when": list(vote.when)} | reason


def outcome_document(outcome: OutcomeColumns) -> dict[str, Any]:
    reason = {"reason": source_document(outcome.reason)} if outcome.reason is not None else {}
    because = {"because": outcome.because} if outcome.because else {}
    include = {"include": source_document(outcome.include), "when": list(outcome.when)}
    return include | reason | {"others": outcome.others} | because


def clean_document(clean: Clean) -> dict[str, Any]:
    document: dict[str, Any] = {
        "trim": clean.trim,
        "fold_case": clean.fold_case,
        "normalise": clean.normalise or "none",
        "blank": list(clean.blank),
    }
    document |= {"aliases": {facet: dict(pairs) for facet, pairs in clean.aliases.items()}} if clean.aliases else {}
    document |= {"split": dict(clean.split)} if clean.split else {}
    return document | {"unknown": clean.unknown}


def to_yaml(mapping: Mapping) -> str:
    text: str = yaml.safe_dump(to_document(mapping), sort_keys=False, allow_unicode=True, width=1000)
    return text
