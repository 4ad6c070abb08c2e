"""Rows of the long tables. Of open rounds nothing is read, whoever asks."""

import json
from collections.abc import Iterator
from typing import Any, TypeVar

from django.db.models import CharField, Exists, F, Model, OuterRef, Q, QuerySet, Value

from annotator.adjudication.models import Resolution, Stand
from annotator.adjudication.queries import FINAL_KINDS, final_labels, still_meant
from annotator.analysis.labels import verdict_is_plain
from annotator.codebook.models import Category, Facet, Version
from annotator.collection.models import Context
from annotator.labeling.models import Answer
from annotator.labeling.queries import BLIND_IS_OVER, plain_verdicts, rounds_with_denials
from annotator.publication import columns
from annotator.publication.batches import Range, by_range, select
from annotator.publication.columns import WHOLE, Column, Row
from annotator.sampling.models import Bug
from annotator.studies.models import Study

WHICH_BUG = {
    "bug": "bug__number",
    "repository": "bug__item__repository__label",
    "number": "bug__item__number",
    "ordinal": "bug__ordinal",
}
LABEL = {"facet": "facet__key", "slot": "slot", "category": "category__name", "category_uid": "category__uid"}
ANSWER = {
    **WHICH_BUG,
    **LABEL,
    "round": "round__name",
    "round_number": "round__number",
    "round_kind": "round__kind",
    "blindness": "round__blindness",
    "rater": "rater__username",
    "cell": "cell",
    "codebook_version": "version",
    "answered_at": "at",
    "revision": "revision",
    "confidence": "assignment__confidence",
    "note": "assignment__note",
    "not_a_bug_reason": "assignment__not_a_bug_reason",
    "active_seconds": "assignment__active_seconds",
    "is_assisted": "is_assisted",
}
DECISION = {
    **WHICH_BUG,
    **LABEL,
    "source": "source",
    "round": "round__name",
    "decided_by": "by__username",
    "by": "by__username",
    "participants": "participants",
    "recorded_by": "recorded_by__username",
    "reason": "reason",
    "note": "note",
    "cell": "cell",
    "decided_at": "at",
    "at": "at",
    "is_current": "is_current",
    "act": "act",
}
FINAL = DECISION | {"category": "label_name", "category_uid": "label_uid"}  # what it counts as today
REVISION = ANSWER | {"at": "at", "by": "rater__username", "act": "act", "is_current": "is_current"}
DROPPED_FROM_REVISION = {"note"}  # the rationale is kept as it last stood, not by revision
MOVE = {
    **WHICH_BUG,
    "facet": "facet__key",
    "slot": "id",
    "category": "categories__name",
    "category_uid": "categories__uid",
    "at": "at",
    "by": "rater__username",
    "act": "move",
    "round": "round__name",
    "note": "why",
    "is_current": "is_current",
}
BUG = {
    "bug": "number",
    "kind": "item__kind",
    "repository": "item__repository__label",
    "number": "item__number",
    "key": "item__key",
    "ordinal": "ordinal",
    "url": "item__url",
    "title": "item__title",
    "state": "item__state",
    "author": "item__author",
    "opened_at": "item__opened_at",
    "closed_at": "item__closed_at",
    "merged_at": "item__merged_at",
    "body": "item__text__body",
    "left": "left_reason",
    "left_note": "left_note",
}
ACTS = {Stand.Move.KEEP: "kept", Stand.Move.ACCEPT: "accepted", Stand.Move.PROPOSE: "proposed"}
OfBug = TypeVar("OfBug", bound=Model)
POSITION = Column("position", WHOLE, "of the facet, to sort by")


def in_range(rows: QuerySet[OfBug], study: Study, bugs: Range) -> QuerySet[OfBug]:
    return rows.filter(bug__study=study, bug__number__gte=bugs[0], bug__number__lte=bugs[1])


# --- answers


def answers_of(study: Study) -> Iterator[list[Row]]:
    """One row for each bug, round, rater, facet and slot."""
    denied = rounds_with_denials(study)
    reasons = dict(Category.objects.filter(facet__codebook__study=study).values_list("uid", "name"))
    named = {"not_a_bug_reason": lambda reason: reasons.get(reason, reason)}

    def read(bugs: Range) -> list[Row]:
        answers = blind_answers(Answer.objects.current(), study, bugs, denied)
        order = ("bug__number", "round__number", "rater__username", "facet__position", "facet", "slot")
        return select(answers.order_by(*order), columns.ANSWERS, ANSWER, named)

    return by_range(study, read)


def blind_answers(answers: QuerySet[Answer], study: Study, bugs: Range, denied: list[int]) -> QuerySet[Answer]:
    over = in_range(answers, study, bugs).filter(round__state__in=BLIND_IS_OVER)
    return over.exclude(plain_verdicts(denied))


# --- final labels


def finals_of(study: Study, *, as_of: Version | None = None) -> Iterator[list[Row]]:
    """The final labels, and a row without category for each bug and facet that is not settled."""
    hidden = verdict_is_plain(study)
    return by_range(study, lambda bugs: final_rows(study, bugs, without_verdict=hidden, as_of=as_of))


def final_rows(study: Study, bugs: Range, *, without_verdict: bool = False, as_of: Version | None = None) -> list[Row]:
    left_open = Resolution.objects.current().filter(study=study, is_stale=False, category=None)
    wanted, where = (*columns.FINALS, POSITION), {"position": "facet__position"}
    sources: list[tuple[QuerySet[Any], dict[str, str]]] = [
        (final_labels(study, as_of=as_of), FINAL | where),
        (left_open, DECISION | where),
        (unsettled(study, bugs, as_of=as_of), unsettled_paths(DECISION | where)),
    ]
    rows = []
    for labels, paths in sources:
        shown = labels.exclude(facet__key=Facet.VERDICT) if without_verdict else labels
        rows += select(in_range(shown, study, bugs).order_by(), wanted, paths, {"participants": names_in})
    bug, facet, slot = (next(i for i, c in enumerate(wanted) if c.name == name) for name in ("bug", "facet", "slot"))
    rows.sort(key=lambda row: (row[bug], row[-1], row[facet], row[slot]))
    return [row[:-1] for row in rows]


def unsettled_paths(paths: dict[str, str]) -> dict[str, str]:
    return {name: paths[name] for name in (*WHICH_BUG, "facet", "position")} | {"slot": "zero", "source": "unresolved"}


def unsettled(study: Study, bugs: Range, *, as_of: Version | None = None) -> QuerySet[Answer]:
    """Bugs and facets that were answered but have no label that stands, or one that is to be given again.

    Where someone said *not a bug*, the verdict is what is open, and the other facets only once it says bug.
    """
    answered = in_range(Answer.objects.current(), study, bugs)
    answered = answered.filter(round__kind__in=FINAL_KINDS, round__state__in=BLIND_IS_OVER)
    here = Resolution.objects.current().filter(still_meant(as_of), bug=OuterRef("bug"), is_stale=False)
    left = answered.exclude(Exists(here.filter(facet=OuterRef("facet"))))
    denied = answered.filter(facet__key=Facet.VERDICT, category__name=Category.NOT_A_BUG).values_list("bug", flat=True)
    verdict_is_bug = here.filter(facet__key=Facet.VERDICT, category__name=Category.BUG)
    left = left.exclude(~Q(facet__key=Facet.VERDICT) & Q(bug__in=set(denied)) & ~Exists(verdict_is_bug))
    said = Value(Resolution.Source.UNRESOLVED.value, output_field=CharField())
    return left.annotate(zero=Value(0), unresolved=said).distinct()


def names_in(participants: str | list[str]) -> str:
    names = json.loads(participants) if isinstance(participants, str) else participants
    return " ".join(names)


# --- history


def history_of(study: Study) -> Iterator[list[Row]]:
    """Every revision of every answer, every move of a rater after the close, every decision."""
    denied, hidden = rounds_with_denials(study), verdict_is_plain(study)
    time = next(place for place, column in enumerate(columns.HISTORY) if column.name == "at")

    def read(bugs: Range) -> list[Row]:
        answers = blind_answers(Answer.objects.all(), study, bugs, denied)
        rows = [*revision_rows(answers), *move_rows(study, bugs), *decision_rows(study, bugs, hidden)]
        return sorted(rows, key=lambda row: (row[0], row[time]))

    return by_range(study, read)


def revision_rows(answers: QuerySet[Answer]) -> list[Row]:
    paths = {name: path for name, path in REVISION.items() if name not in DROPPED_FROM_REVISION}
    rows = answers.annotate(act=F("revision")).order_by("bug__number", "id")
    return select(rows, columns.HISTORY, paths, {"act": lambda revision: "answered" if revision == 1 else "changed"})


def move_rows(study: Study, bugs: Range) -> list[Row]:
    """A move that stands by several categories has a row for each."""
    stands = in_range(Stand.objects.all(), study, bugs).order_by(
        "bug__number", "id", "categories__position", "categories"
    )
    seen: dict[int, int] = {}

    def slot(stand: int) -> int:
        seen[stand] = seen.get(stand, -1) + 1
        return seen[stand]

    return select(stands, columns.HISTORY, MOVE, {"slot": slot, "act": lambda move: ACTS[move]})


def decision_rows(
    study: Study, bugs: Range, without_verdict: bool, *, among: QuerySet[Resolution] | None = None
) -> list[Row]:
    made = Resolution.objects.all() if among is None else among
    decisions = in_range(made.filter(study=study), study, bugs).order_by("bug__number", "id")
    shown = decisions.exclude(facet__key=Facet.VERDICT) if without_verdict else decisions
    decided = shown.annotate(act=Value("decided", output_field=CharField()))
    return select(decided, columns.HISTORY, DECISION, {"participants": names_in})


# --- bugs


def context_names(study: Study) -> list[str]:
    """Names of the columns that sheets brought beside the bugs, in the order met."""
    names: dict[str, None] = {}
    contexts = Context.objects.filter(item__study=study).order_by("pk").values_list("values", flat=True)
    for values in contexts.iterator(chunk_size=2000):
        names.update(dict.fromkeys(values))
    return list(names)


def bugs_of(study: Study, contexts: list[str]) -> Iterator[list[Row]]:
    return by_range(study, lambda bugs: bug_rows(study, bugs, contexts))


def bug_rows(study: Study, bugs: Range, contexts: list[str]) -> list[Row]:
    """Under the columns of the table of bugs and one for each name of `contexts`."""
    item = Column("item", WHOLE, "key of the item, to find what stands beside it")
    rows = Bug.objects.filter(study=study, number__gte=bugs[0], number__lte=bugs[1]).order_by("number")
    found = select(rows, (*columns.BUGS, item), BUG | {"item": "item_id"})
    beside = contexts_in(study, bugs) if contexts else {}
    ordinal = next(place for place, column in enumerate(columns.BUGS) if column.name == "ordinal")
    return [(*row[:-1], *in_columns(beside.get((row[-1], row[ordinal])), contexts)) for row in found]


def contexts_in(study: Study, bugs: Range) -> dict[tuple[Any, Any], dict[str, Any]]:
    wanted = Bug.objects.filter(study=study, number__gte=bugs[0], number__lte=bugs[1]).values("item")
    rows = Context.objects.filter(item__in=wanted).values_list("item_id", "ordinal", "values")
    return {(item, ordinal): values for item, ordinal, values in rows}


def in_columns(values: dict[str, Any] | None, names: list[str]) -> list[str]:
    if not values:
        return [""] * len(names)
    return ["" if values.get(name) is None else str(values[name]) for name in names]
