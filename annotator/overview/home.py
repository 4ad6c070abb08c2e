"""The study's home: the pipeline in numbers, and the rounds. Of an open round each sees what the role allows."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from django.db.models import Count
from django.urls import reverse

from annotator.accounts.models import User
from annotator.adjudication import queue
from annotator.adjudication.models import Dispute
from annotator.adjudication.queries import final_labels
from annotator.agreement.entries import Entry
from annotator.agreement.gating import RoundGate, of_round
from annotator.agreement.numbers import short
from annotator.agreement.queries import entries_by_round
from annotator.codebook.models import Facet
from annotator.collection.models import Item
from annotator.labeling.models import Assignment, Round
from annotator.labeling.queries import Progress, progress_by_round, rated_by
from annotator.labeling.rounds import bug_counts
from annotator.reproduction.queries import standing
from annotator.sampling.models import Bug
from annotator.screening.queries import counts as screening_counts
from annotator.studies.models import Role, Study


@dataclass(frozen=True)
class Viewer:
    """Who looks, and as what."""

    user: User
    roles: frozenset[str]

    @property
    def is_lead(self) -> bool:
        return Role.LEAD in self.roles

    @property
    def is_reader(self) -> bool:
        """Nothing but a reader."""
        return self.roles == {Role.READER}


@dataclass(frozen=True)
class RoundLine:
    """A round with what may be told of it."""

    round: Round
    bugs: int
    answered: int | None  # bugs with all their answers; none: not to be told
    lowest: Entry | None  # of the lowest kappa
    gate: RoundGate
    progress: list[Progress]
    is_mine: bool

    @property
    def kappa(self) -> str:
        return short(self.lowest["kappa"]) if self.lowest else ""

    @property
    def interval(self) -> str:
        low, high = (self.lowest.get("ci") if self.lowest else None) or (None, None)
        return "" if low is None or high is None else f"[{short(low)}, {short(high)}]"


@dataclass(frozen=True)
class Tile:
    """A stage in the strip."""

    label: str
    url: str
    figure: str
    text: str
    done: int = 0
    total: int = 1
    waiting: int = 0

    @property
    def is_done(self) -> bool:
        return self.total > 0 and self.done >= self.total


def round_lines(study: Study, viewer: Viewer) -> list[RoundLine]:
    """By number, as they were opened."""
    rounds = list(Round.objects.filter(study=study).select_related("gate_continued_by").order_by("number"))
    still = [round_ for round_ in rounds if round_.is_open]
    sizes, mine = bug_counts(study), rated_by(viewer.user, rounds)
    entries, told = entries_by_round(rounds), progress_by_round(still, viewer=viewer.user, is_lead=viewer.is_lead)
    return [
        _line(
            round_,
            bugs=sizes.get(round_.pk, 0),
            entries=entries.get(round_.pk, []),
            progress=told.get(round_.pk, []),
            is_mine=round_.pk in mine,
            is_lead=viewer.is_lead,
        )
        for round_ in rounds
    ]


def _line(
    round_: Round, *, bugs: int, entries: Sequence[Entry], progress: list[Progress], is_mine: bool, is_lead: bool
) -> RoundLine:
    known = [entry for entry in entries if entry.get("kappa") is not None and entry["facet"] != "verdict"]
    return RoundLine(
        round=round_,
        bugs=bugs,
        answered=_answered(round_, entries, sees=is_lead and not is_mine),
        lowest=min(known, key=lambda entry: entry["kappa"] or 0.0, default=None),
        gate=of_round(round_, entries),
        progress=progress,
        is_mine=is_mine,
    )


def _answered(round_: Round, entries: Sequence[Entry], *, sees: bool) -> int | None:
    """Bugs that have all their answers: counted while open, afterwards read from the agreement."""
    if round_.is_open:
        return _complete(round_) if sees else None
    size = min(round_.overlap, 2)
    groups = [entry for entry in entries if len(entry["raters"]) == size and entry["facet"] == entries[0]["facet"]]
    total = sum(
        entry["n"] + sum(entry["excluded_by"].get(reason, 0) for reason in ("not_a_bug_both", "not_a_bug_one"))
        for entry in groups
    )
    return int(total) // comb(round_.overlap, size)  # of three raters' bug three pairs speak


def _complete(round_: Round) -> int:
    given = Assignment.objects.filter(round=round_, state=Assignment.State.SUBMITTED).values("bug")
    return given.annotate(times=Count("pk")).filter(times__gte=round_.overlap).count()


# --- the strip


def strip(study: Study, lines: Sequence[RoundLine], viewer: Viewer) -> list[Tile]:
    """One tile a stage, in the order of the pipeline."""
    items, bugs = Item.objects.filter(study=study).count(), Bug.objects.staying().filter(study=study).count()
    return [
        _tile(study, "Collection", "collection:harvests", f"{items:,}", "items found", done=items),
        _screening(study),
        _tile(study, "Sampling", "sampling:samples", f"{bugs:,}", "bugs to label", done=bugs),
        _labeling(study, lines, bugs, viewer),
        _agreement(study, lines),
        _adjudication(study, viewer),
        _reproduction(study, viewer),
        _analysis(study, bugs),
        _tile(study, "Publication", "publication:exports", "–", "export at any time"),
    ]


def _tile(study: Study, label: str, view: str, figure: str, text: str, **more: int) -> Tile:
    """Linked to the stage's first page, where it has one."""
    return Tile(label, reverse(view, args=[study.slug]) if view else "", figure, text, **more)


def _screening(study: Study) -> Tile:
    told = screening_counts(study)
    total = told.candidates
    figure, text = (f"{told.kept:,}", f"kept of {total:,} candidates") if total else ("–", "not screened")
    done = total - told.reading - told.conflict
    return _tile(study, "Screening", "screening:overview", figure, text, done=done, total=total or 1)


def _labeling(study: Study, lines: Sequence[RoundLine], bugs: int, viewer: Viewer) -> Tile:
    """A rater's own count while a round is open, the lead's of complete bugs; what is closed counts for all."""
    mine = [
        one
        for line in lines
        if line.round.is_open and line.is_mine
        for one in line.progress
        if one.rater == viewer.user
    ]
    if mine:
        done, total = sum(one.submitted for one in mine), sum(one.total for one in mine)
        left = sum(one.left for one in mine)
        return _tile(
            study,
            "Labeling",
            "labeling:rounds",
            f"{done:,}",
            f"of {total:,} yours answered",
            done=done,
            total=total or 1,
            waiting=left,
        )
    done = sum(line.answered or 0 for line in lines if line.round.kind == Round.Kind.MAIN)  # a bug is in one of them
    return _tile(
        study, "Labeling", "labeling:rounds", f"{done:,}", f"of {bugs:,} with all answers", done=done, total=bugs or 1
    )


def _agreement(study: Study, lines: Sequence[RoundLine]) -> Tile:
    known = [line for line in lines if line.lowest]
    passed = sum(line.gate.result == "passed" for line in lines)
    gated = sum(bool(line.round.gate_coefficient) for line in lines)
    if not known or known[-1].lowest is None:
        return _tile(study, "Agreement", "agreement:trend", "–", "when a round closes")
    lowest = known[-1].lowest
    text = f"κ {lowest['facet_name'].lower()}, lowest, {known[-1].round.name}"
    return _tile(study, "Agreement", "agreement:trend", short(lowest["kappa"]), text, done=passed, total=gated or 1)


def _adjudication(study: Study, viewer: Viewer) -> Tile:
    disputes = Dispute.objects.filter(study=study, is_current=True)
    total, left = disputes.count(), disputes.filter(is_open=True).count()
    waiting = queue.waiting(study, viewer.user, viewer.roles)
    figure, text = (f"{total - left:,}", f"of {total:,} disputes settled") if total else ("–", "no disputes")
    return _tile(
        study, "Adjudication", "adjudication:queue", figure, text, done=total - left, total=total or 1, waiting=waiting
    )


def _reproduction(study: Study, viewer: Viewer) -> Tile:
    """Of the recipes that the viewer sees."""
    told = standing(study, viewer.user, viewer.roles)
    if not told.recipes:
        return _tile(study, "Reproduction", "reproduction:recipes", "–", "no recipes")
    text = f"of {told.recipes:,} recipe{'' if told.recipes == 1 else 's'} reproduced"
    done = told.recipes - told.waiting - told.never_run
    return _tile(
        study,
        "Reproduction",
        "reproduction:recipes",
        f"{told.reproduced:,}",
        text,
        done=done,
        total=told.recipes,
        waiting=told.waiting,
    )


def _analysis(study: Study, bugs: int) -> Tile:
    done = final_labels(study).exclude(facet__key=Facet.VERDICT).values("bug").distinct().count()
    return _tile(
        study, "Analysis", "analysis:distributions", f"{done:,}", "bugs with a final label", done=done, total=bugs or 1
    )
