"""Unanimous bugs are accepted in one act, but for a share drawn at random that is looked at again."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from annotator.accounts.models import User
from annotator.adjudication import actions, deciding
from annotator.adjudication.models import Acceptance, AuditPick, Dispute, Resolution
from annotator.adjudication.queue import rated_by
from annotator.codebook.models import Category, Facet
from annotator.history.actions import record
from annotator.labeling.models import Round
from annotator.sampling.models import Bug
from annotator.studies.models import Study
from annotator.web.errors import BadInput, Refused

Outcome = AuditPick.Outcome


def unanimous_bugs(round_: Round) -> list[int]:
    """Ids of the bugs on all of whose facets the round's raters agreed, in the order of their numbers."""
    settled = Resolution.objects.current().filter(round=round_, bug=OuterRef("pk"))
    others = settled.exclude(source=Resolution.Source.UNANIMOUS)
    disputes = Dispute.objects.filter(bug=OuterRef("pk"), round=round_)
    found = Bug.objects.filter(Exists(settled) & ~Exists(others) & ~Exists(disputes), study=round_.study_id)
    return list(found.order_by("number").values_list("pk", flat=True))


def draw(bugs: Sequence[int], *, share: float, seed: int) -> list[int]:
    """The same bugs, share and seed give the same draw; at least one where the share is above 0."""
    count = ceil(round(share * len(bugs), 9))
    return sorted(random.Random(seed).sample(list(bugs), count))  # noqa: S311  # repeatable, not secret


@transaction.atomic
def accept_unanimous(*, round_: Round, share: float, seed: int, by: User) -> list[AuditPick]:
    """Accept the round's unanimous bugs at once and draw a share of them for a second look; once a round."""
    round_ = Round.objects.select_for_update(of=("self",)).select_related("study").get(pk=round_.pk)
    if round_.is_open:
        raise Refused(deciding.NOT_YET)
    if not 0 <= share <= 1:
        raise BadInput("The share to look at again lies between 0 and 100 %.")
    if Acceptance.objects.filter(round=round_).exists():
        raise Refused("The unanimous bugs of this round were accepted already; their draw stands.")
    bugs = unanimous_bugs(round_)
    if not bugs:
        raise BadInput("This round has no bug on which its raters agree in every facet.")
    picked = draw(bugs, share=share, seed=seed)
    accepted = Acceptance.objects.create(round=round_, bugs=len(bugs), share=share, seed=seed, by=by)
    picks = AuditPick.objects.bulk_create(AuditPick(acceptance=accepted, bug_id=bug) for bug in picked)
    new = {"bugs": len(bugs), "share": share, "seed": seed, "picked": len(picks)}
    record(
        "accepted the unanimous bugs",
        by=by,
        kind="round",
        object_id=round_.pk,
        label=round_.name,
        study_id=round_.study_id,
        new=new,
    )
    return picks


@transaction.atomic
def confirm_pick(*, pick: AuditPick, by: User) -> AuditPick:
    """The second look finds the labels right."""
    pick = _waiting(pick, by=by)
    return _decide(pick, Outcome.CONFIRMED, by=by)


@transaction.atomic
def change_pick(
    *, pick: AuditPick, facet: Facet, categories: Sequence[Category], reason: str, note: str, seen_at: str, by: User
) -> AuditPick:
    """The second look finds a label wrong: a decision takes its place, with reason and note."""
    pick = _waiting(pick, by=by)
    actions.change_decision(
        bug=pick.bug, facet=facet, categories=categories, reason=reason, note=note, seen_at=seen_at, by=by
    )
    return _decide(pick, Outcome.CHANGED, by=by)


def _waiting(pick: AuditPick, *, by: User) -> AuditPick:
    pick = AuditPick.objects.select_for_update(of=("self",)).select_related("bug__study").get(pk=pick.pk)
    if pick.outcome:
        raise Refused("This bug has had its second look already.")
    deciding.refuse_rater(pick.bug, by)
    return pick


def _decide(pick: AuditPick, outcome: str, *, by: User) -> AuditPick:
    pick.outcome, pick.decided_at, pick.decided_by = outcome, timezone.now(), by
    pick.save(update_fields=["outcome", "decided_at", "decided_by"])
    study_id = pick.bug.study_id
    record(
        "audited a bug", by=by, kind="bug", object_id=pick.bug_id, label=str(pick.bug), study_id=study_id, new=outcome
    )
    return pick


@dataclass(frozen=True)
class Summary:
    """A closed round as the page of audits shows it."""

    round: Round
    unanimous: int
    is_accepted: bool
    share: float
    seed: int
    drawn: int
    confirmed: int
    changed: int

    @property
    def waiting(self) -> int:
        return self.drawn - self.confirmed - self.changed

    @property
    def per_cent(self) -> float:
        return round(self.share * 100, 2)


def summary(round_: Round) -> Summary:
    accepted = Acceptance.objects.filter(round=round_).first()
    outcomes = AuditPick.objects.filter(acceptance=accepted).values_list("outcome", flat=True) if accepted else ()
    counts = Counter(outcomes)
    return Summary(
        round=round_,
        unanimous=accepted.bugs if accepted else len(unanimous_bugs(round_)),
        is_accepted=accepted is not None,
        share=accepted.share if accepted else 0,
        seed=accepted.seed if accepted else 0,
        drawn=sum(counts.values()),
        confirmed=counts[Outcome.CONFIRMED],
        changed=counts[Outcome.CHANGED],
    )


def waiting_for(study: Study, person: User) -> QuerySet[AuditPick]:
    """Drawn bugs that wait for a second look by somebody who did not rate them."""
    picks = AuditPick.objects.filter(bug__study=study, outcome="").exclude(rated_by(person))
    return picks.select_related("acceptance__round", "bug__item__repository").order_by(
        "acceptance__round__number", "bug__number"
    )


def options(facet: Facet) -> list[Category]:
    rows = Category.objects.filter(facet=facet, state=Category.State.ACTIVE).select_related("parent")
    return list(rows.filter(name__in=[Category.BUG, Category.NOT_A_BUG]) if facet.is_verdict else rows)
