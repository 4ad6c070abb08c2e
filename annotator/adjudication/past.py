"""What happened to a bug after its round closed, in order of time."""

import datetime as dt
from dataclasses import dataclass

from annotator.adjudication.item import name_for, words
from annotator.adjudication.models import Remark, Resolution, Stand
from annotator.adjudication.positions import in_order
from annotator.sampling.models import Bug


@dataclass(frozen=True)
class Step:
    at: dt.datetime
    facet: str
    what: str
    label: str
    who: str
    reason: str
    note: str
    is_current: bool
    is_stale: bool = False


def past_of(bug: Bug, letters: dict[int, str]) -> tuple[Step, ...]:
    """Decisions, stands and remarks. `letters` stands in for the names of the bug's raters where they are hidden."""
    steps = [*_decisions(bug, letters), *_stands(bug, letters), *_remarks(bug, letters)]
    return tuple(sorted(steps, key=lambda step: step.at))


def _decisions(bug: Bug, letters: dict[int, str]) -> list[Step]:
    rows = Resolution.objects.filter(bug=bug).select_related("facet", "category__parent", "by", "recorded_by", "round")
    groups: list[list[Resolution]] = []
    for row in rows.order_by("pk"):
        if row.slot and groups and groups[-1][0].facet_id == row.facet_id:
            groups[-1].append(row)
        else:
            groups.append([row])
    return [_decision(group, letters) for group in groups]


def _decision(group: list[Resolution], letters: dict[int, str]) -> Step:
    first = group[0]
    return Step(
        at=first.at,
        facet=first.facet.name,
        what=first.get_source_display(),
        label=words(tuple(row.category for row in group if row.category)),
        who=who_decided(first, letters),
        reason=first.get_reason_display() if first.reason else "",
        note=first.note,
        is_current=first.is_current,
        is_stale=first.is_stale,
    )


def who_decided(row: Resolution, letters: dict[int, str]) -> str:
    """The adjudicator; or who sat together and who of them wrote it down; else the round."""
    if row.by:
        return row.by.username
    if row.recorded_by is None:
        return row.round.name if row.round else ""
    recorded = f"recorded by {name_for(row.recorded_by, letters)}"
    if row.session_id:
        return f"in a meeting, {recorded}"
    return f"together, {recorded}" if letters else f"{', '.join(row.participants)}, {recorded}"


def _stands(bug: Bug, letters: dict[int, str]) -> list[Step]:
    rows = Stand.objects.filter(bug=bug).select_related("facet", "rater").prefetch_related("categories__parent")
    return [
        Step(
            at=row.at,
            facet=row.facet.name,
            what=row.get_move_display().replace("mine", "own"),
            label=words(in_order(row.categories.all())),
            who=name_for(row.rater, letters),
            reason="",
            note=row.why,
            is_current=row.is_current,
        )
        for row in rows
    ]


def _remarks(bug: Bug, letters: dict[int, str]) -> list[Step]:
    return [
        Step(
            at=row.at,
            facet=row.facet.name if row.facet else "",
            what="Question" if row.is_question else "Comment",
            label="",
            who=name_for(row.by, letters),
            reason="",
            note=row.text,
            is_current=True,
        )
        for row in Remark.objects.filter(bug=bug).select_related("facet", "by")
    ]
