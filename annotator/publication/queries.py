"""The long tables, read batch by batch. Of open rounds nothing is read, whoever asks."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

from django.db.models import Case, CharField, Exists, F, Model, OuterRef, Q, QuerySet, Value, When

from annotator.accounts.models import User
from annotator.adjudication.models import Resolution, Stand
from annotator.adjudication.queries import final_labels, final_rounds, still_meant
from annotator.analysis.labels import verdict_is_plain
from annotator.codebook.models import Category, Facet, Version
from annotator.collection.models import Context
from annotator.labeling.models import Answer, Assignment, Round
from annotator.labeling.queries import BLIND_IS_OVER, rounds_with_denials
from annotator.publication import columns
from annotator.publication.batches import (
    Paths,
    Range,
    below,
    by_range,
    constant,
    in_order,
    length,
    lookup,
    plain,
    select,
)
from annotator.publication.columns import WHOLE, Batch, Column, place
from annotator.publication.lookups import Names
from annotator.studies.models import Study

Hide = Callable[[str], str]
TURN = {name: name for name in ("confidence", "note", "not_a_bug_reason", "active_seconds")}
ANSWER = {
    "slot": "slot",
    "cell": "cell",
    "codebook_version": "version",
    "answered_at": "at",
    "revision": "revision",
    "is_assisted": "is_assisted",
}
OFTEN_OF_ANSWER = (  # few combinations of these occur
    "round_id", "rater_id", "facet_id", "category_id", "slot", "version", "revision", "is_assisted", "is_current", "act",
)  # fmt: skip
OFTEN_OF_DECISION = (
    "round_id", "facet_id", "category_id", "label_id", "slot", "source", "by_id", "recorded_by_id", "reason", "act",
)  # fmt: skip
DECISION = {
    "slot": "slot",
    "source": "source",
    "participants": "participants",
    "reason": "reason",
    "note": "note",
    "cell": "cell",
    "decided_at": "at",
    "at": "at",
    "is_current": "is_current",
    "act": "act",
}
REVISION = {"slot": "slot", "at": "at", "act": "act", "revision": "revision", "is_current": "is_current"}
MOVE = {"slot": "id", "at": "at", "act": "move", "note": "why", "is_current": "is_current"}
REVISED = ("answered", "changed")
ACTS = {Stand.Move.KEEP: "kept", Stand.Move.ACCEPT: "accepted", Stand.Move.PROPOSE: "proposed"}
OfFacet = TypeVar("OfFacet", bound=Model)
POSITION = Column("position", WHOLE, "of the facet, to sort by")
PK = Column("pk", WHOLE, "key of the bug, as other rows have it")
ITEM = Column("item", WHOLE, "key of the item, to find what stands beside it")


def ranked(path: str, keys: Sequence[int]) -> Case:
    """To sort by: the key's place among these, without a look at what it stands for."""
    return Case(*(When(**{path: key}, then=Value(place)) for place, key in enumerate(keys)), default=Value(len(keys)))


# --- answers


@dataclass(frozen=True)
class Told:
    """Which answers may be told: of rounds that are over, but for *bug* where nobody of the round said otherwise."""

    study: Study
    over: list[Round]
    denied: list[int]
    verdicts: list[int]

    @classmethod
    def of(cls, study: Study) -> "Told":
        over = Round.objects.filter(study=study, state__in=BLIND_IS_OVER).order_by("number")
        return cls(study, list(over), rounds_with_denials(study), verdicts_of(study))

    def among(self, answers: QuerySet[Answer], bugs: Range) -> QuerySet[Answer]:
        given = bugs.of(answers).filter(round__in=self.over)
        return given.exclude(Q(facet__in=self.verdicts) & ~Q(round__in=self.denied))

    def raters(self, hide: Hide) -> list[int]:
        """In the order of the names that are shown."""
        turns = Assignment.objects.filter(round__in=self.over, rater=OuterRef("pk"))
        people = User.objects.filter(Exists(turns)).values_list("username", "pk")
        return [pk for _, _, pk in sorted((hide(name), name, pk) for name, pk in people)]


def verdicts_of(study: Study) -> list[int]:
    return list(Facet.objects.filter(codebook__study=study, key=Facet.VERDICT).values_list("pk", flat=True))


def answers_of(study: Study, hide: Hide = str) -> Iterator[Batch]:
    """One row for each bug, round, rater, facet and slot."""
    names, told = Names(study), Told.of(study)
    facets = Facet.objects.filter(codebook__study=study).order_by("position", "pk")
    order: list[Case | F] = [
        ranked("round_id", [one.pk for one in told.over]),
        ranked("rater_id", told.raters(hide)),
        ranked("facet_id", list(facets.values_list("pk", flat=True))),
        F("slot"),
    ]
    reasons = dict(Category.objects.filter(facet__codebook__study=study).values_list("uid", "name"))
    named = {"not_a_bug_reason": lambda reason: reasons.get(reason, reason)}
    fixed: Paths = {**ANSWER, **names.rounds, **names.label(), **names.person(rater="rater_id")}

    def read(bugs: Range) -> Batch:
        turns = bugs.of(Assignment.objects.filter(round__in=told.over))
        of_turn = lookup(turns, columns.ANSWERS, TURN, by="assignment_id", converters=named)
        answers = told.among(Answer.objects.current(), bugs).order_by(bugs.order, *order)
        return select(answers, columns.ANSWERS, {**fixed, **names.bugs(bugs), **of_turn}, together=OFTEN_OF_ANSWER)

    return by_range(study, read)


# --- final labels


def finals_of(study: Study, *, as_of: Version | None = None) -> Iterator[Batch]:
    """The final labels, and a row without category for each bug and facet that is not settled."""
    return by_range(study, Finals(study, as_of=as_of).read)


class Finals:
    """Reads the table of final labels."""

    def __init__(self, study: Study, *, as_of: Version | None = None) -> None:
        self.study, self.as_of, self.names = study, as_of, Names(study)
        self.verdict_is_plain = verdict_is_plain(study)
        self.final_rounds = list(final_rounds(study))
        self.labels = self.shown(final_labels(study, as_of=as_of, names=False))
        self.left_open = self.shown(Resolution.objects.current().filter(study=study, is_stale=False, category=None))
        facets = Facet.objects.filter(codebook__study=study).order_by("position", "key")
        self.position = ranked("facet_id", list(facets.values_list("pk", flat=True)))

    def shown(self, labels: QuerySet[OfFacet]) -> QuerySet[OfFacet]:
        return without_verdict(labels, self.study) if self.verdict_is_plain else labels

    def read(self, bugs: Range, columns: tuple[Column, ...] = columns.FINALS) -> Batch:
        """Under these of the table's columns, which bug, facet and slot are among."""
        wanted = (*columns, POSITION)
        people = self.names.person(decided_by="by_id", recorded_by="recorded_by_id")
        about: Paths = {**self.names.bugs(bugs), "position": self.names.position}
        decided: Paths = {**DECISION, **about, **people, "round": self.names.rounds["round"]}
        named = {"participants": names_in}
        labels = bugs.of(self.labels).order_by(bugs.order, self.position, "slot")
        left_open = bugs.of(self.left_open)
        settled = select(labels, wanted, {**decided, **self.names.label("label_id")}, named, together=OFTEN_OF_DECISION)
        unsettled = [
            select(left_open, wanted, {**decided, **self.names.label()}, named),
            without_label(self.unsettled(bugs), wanted, {**about, **self.names.facet}),
        ]
        if not any(length(part) for part in unsettled):
            return settled[:-1]
        by = [place(wanted, name) for name in ("bug", "position", "slot")]
        return in_order(below([settled, *unsettled]), by)[:-1]

    def unsettled(self, bugs: Range) -> QuerySet[Answer]:
        """Bugs and facets that were answered but have no label that stands, or one that is to be given again.

        Where someone said *not a bug*, the verdict is what is open, and the other facets only once it says bug.
        """
        answered = bugs.of(Answer.objects.current())
        answered = answered.filter(round__in=self.final_rounds)
        settled = bugs.near(Resolution.objects.current())  # PostgreSQL would read those of all bugs for each range
        here = settled.filter(still_meant(self.as_of), bug=OuterRef("bug"), is_stale=False)
        left = self.shown(answered.exclude(Exists(here.filter(facet=OuterRef("facet"))))).distinct()
        if self.verdict_is_plain:
            return left
        denied = answered.filter(facet__key=Facet.VERDICT, category__name=Category.NOT_A_BUG)
        verdict_is_bug = here.filter(facet__key=Facet.VERDICT, category__name=Category.BUG)
        is_denied = Q(bug__in=set(denied.values_list("bug", flat=True)))
        return left.exclude(~Q(facet__key=Facet.VERDICT) & is_denied & ~Exists(verdict_is_bug))


def without_verdict(rows: QuerySet[OfFacet], study: Study) -> QuerySet[OfFacet]:
    return rows.exclude(facet__in=verdicts_of(study))


def without_label(rows: QuerySet[Any], wanted: tuple[Column, ...], paths: Paths) -> Batch:
    batch = select(rows, wanted, paths)
    batch[place(wanted, "slot")] = constant(0, length(batch))
    batch[place(wanted, "source")] = constant(Resolution.Source.UNRESOLVED.value, length(batch))
    return batch


def names_in(participants: str | list[str]) -> str:
    names = json.loads(participants) if isinstance(participants, str) else participants
    return " ".join(names)


# --- history


def history_of(
    study: Study, *, answers: QuerySet[Answer] | None = None, decisions: QuerySet[Resolution] | None = None
) -> Iterator[Batch]:
    """Every revision of every answer, every move of a rater after the close, every decision; or of these alone."""
    told, names, is_plain = Told.of(study), Names(study), verdict_is_plain(study)
    given = Answer.objects.all() if answers is None else answers
    made = (Resolution.objects.all() if decisions is None else decisions).filter(study=study)
    shown = without_verdict(made, study) if is_plain else made
    by = [place(columns.HISTORY, name) for name in ("bug", "at")]

    def read(bugs: Range) -> Batch:
        about: Paths = {**names.bugs(bugs), "round": names.rounds["round"]}
        parts = [
            revisions(told.among(given, bugs), {**about, **names.label(), **names.person(by="rater_id")}),
            moves(
                bugs.of(Stand.objects.all()),
                {**about, **names.label("categories"), **names.person(by="rater_id")},
            ),
            decided(
                bugs.of(shown),
                {**about, **names.label(), **names.person(by="by_id", recorded_by="recorded_by_id")},
            ),
        ]
        return in_order(below(parts), by)

    return by_range(study, read)


def revisions(answers: QuerySet[Answer], about: Paths) -> Batch:
    """The rationale is kept as it last stood, not by revision."""
    rows = answers.annotate(act=F("revision")).order_by("id")
    acts = {"act": lambda revision: REVISED[int(revision) > 1]}
    return select(rows, columns.HISTORY, {**REVISION, **about}, acts, together=OFTEN_OF_ANSWER)


def moves(stands: QuerySet[Stand], about: Paths) -> Batch:
    """A move that stands by several categories has a row for each."""
    rows = stands.order_by("id", "categories__position", "categories")
    batch = select(rows, columns.HISTORY, {**MOVE, **about}, {"act": lambda move: ACTS[move]})
    slot = place(columns.HISTORY, "slot")
    batch[slot] = plain([n for _, of_one in groupby(batch[slot].codes) for n, _ in enumerate(of_one)])
    return batch


def decided(decisions: QuerySet[Resolution], about: Paths) -> Batch:
    rows = decisions.order_by("id").annotate(act=Value("decided", output_field=CharField()))
    return select(rows, columns.HISTORY, {**DECISION, **about}, {"participants": names_in}, together=OFTEN_OF_DECISION)


# --- bugs


def context_names(study: Study) -> list[str]:
    """Names of the columns that sheets brought beside the bugs, in the order met."""
    names: dict[str, None] = {}
    contexts = Context.objects.filter(item__study=study).order_by("pk").values_list("values", flat=True)
    for values in contexts.iterator(chunk_size=2000):
        names.update(dict.fromkeys(values))
    return list(names)


def bugs_of(study: Study, contexts: list[str]) -> Iterator[Batch]:
    names = Names(study)
    return by_range(study, lambda bugs: bug_rows(names, bugs, columns.BUGS, contexts), holds_texts=True)


def bug_rows(names: Names, bugs: Range, wanted: tuple[Column, ...], contexts: list[str]) -> Batch:
    """Under the columns that are wanted of the table of bugs and one for each name of `contexts`."""
    return keyed_rows(names, bugs, wanted, contexts)[1]


def keyed_rows(names: Names, bugs: Range, wanted: tuple[Column, ...], contexts: list[str]) -> tuple[list[Any], Batch]:
    """The bugs' keys, as other queries give them, and their rows."""
    about = {**names.about(bugs, wanted), "pk": "pk", "item": "item_id"}
    *batch, keys, items = select(bugs.bugs().order_by("number"), (*wanted, PK, ITEM), about)
    which = zip(items.values(), batch[place(wanted, "ordinal")].values(), strict=True) if contexts else ()
    beside = contexts_in(bugs) if contexts else {}
    cells = [in_columns(beside.get(each), contexts) for each in which]
    return keys.codes, [*batch, *(plain(list(column)) for column in zip(*cells, strict=True))]


def contexts_in(bugs: Range) -> dict[tuple[Any, Any], dict[str, Any]]:
    wanted = bugs.bugs().values("item")
    rows = Context.objects.filter(item__in=wanted).values_list("item_id", "ordinal", "values")
    return {(item, ordinal): values for item, ordinal, values in rows}


def in_columns(values: dict[str, Any] | None, names: list[str]) -> list[str]:
    if not values:
        return [""] * len(names)
    return ["" if values.get(name) is None else str(values[name]) for name in names]
