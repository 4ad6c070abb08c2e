"""What a change of the codebook would touch: answers of rounds that are over, labels, bugs to label again, kappa.

Of an open round nothing is counted, not even for its lead: only that the change waits for its end.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q

from annotator.adjudication.models import Dispute
from annotator.adjudication.queries import final_labels
from annotator.agreement.mapped import Figure, figures
from annotator.codebook import living
from annotator.codebook.models import Category, Change, Facet
from annotator.labeling.models import Answer, Round
from annotator.overview.changes.changing import open_rounds
from annotator.overview.changes.relabelling import Due, latest_answers, raters_of
from annotator.sampling.models import Bug
from annotator.studies.models import Study

Act = Change.Act
MOST_ROUNDS = 12  # with a kappa each; the latest


@dataclass(frozen=True)
class RoundEffect:
    """One round: how many of its answers are touched, and its kappa as answered and as mapped."""

    round: Round
    answers: int
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Preview:
    act: str
    answers: int
    rounds: tuple[RoundEffect, ...]
    labels: int
    disputes: int  # between the categories that become one
    due: Due
    waits_for: tuple[Round, ...]

    @property
    def sentence(self) -> str:
        """17 answers in 2 rounds."""
        if not self.answers:
            return "No answer of a round that is over."
        return f"{_count(self.answers, 'answer')} in {_count(len(self.rounds), 'round')}."

    @property
    def is_mapped(self) -> bool:
        return self.act == Act.MERGE

    @property
    def needs_relabelling(self) -> bool:
        return self.act in (Act.SPLIT, Act.REDEFINE)


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def preview(facet: Facet, *, act: str, touched: Collection[str], into: str = "") -> Preview:
    """`touched` are the ids of the categories that change; `into` of the one that would take their place."""
    study = facet.codebook.study
    mine = Category.objects.filter(Q(uid__in=touched) | Q(merged_into__uid__in=touched), facet=facet)
    categories = dict(mine.values_list("pk", "uid"))
    counted = Answer.objects.current().filter(category__in=categories).exclude(round__state=Round.State.OPEN)
    per_round = dict(counted.order_by().values_list("round").annotate(n=Count("pk")))
    rounds = list(Round.objects.filter(pk__in=per_round).order_by("number"))
    target = facet.categories.filter(uid=into).values_list("pk", flat=True).first() if act == Act.MERGE else None
    places = dict.fromkeys(categories, target) if target else {}
    told = {one.pk for one in rounds[-MOST_ROUNDS:]} if places else set()
    return Preview(
        act=act,
        answers=sum(per_round.values()),
        rounds=tuple(
            RoundEffect(one, per_round[one.pk], tuple(figures(one, facet, places)) if one.pk in told else ())
            for one in rounds
        ),
        labels=final_labels(study).filter(category__in=categories).count(),
        disputes=_disputes_between(facet, categories, target) if target else 0,
        due=_due(study, act, categories),
        waits_for=tuple(open_rounds(study)) if act in living.WAITING else (),
    )


def _due(study: Study, act: str, categories: Mapping[int, str]) -> Due:
    if act not in (Act.SPLIT, Act.REDEFINE):
        return Due({}, 0)
    answers = latest_answers(study).filter(category__in=categories)
    labels = final_labels(study).filter(category__in=categories)
    touched = Q(bug__in=answers.values("bug")) | Q(bug__in=labels.values("bug"))
    groups = raters_of(study, touched)
    bugs = Bug.objects.filter(Q(pk__in=answers.values("bug")) | Q(pk__in=labels.values("bug"))).count()
    return Due(groups, bugs - len(groups))


def _disputes_between(facet: Facet, sources: Collection[int], into: int) -> int:
    """Disputes whose raters all said one of these: they differ in nothing once these are one. They stay open."""
    given = Answer.objects.current().filter(facet=facet)
    here = given.filter(round=OuterRef("round"), bug=OuterRef("bug"))
    others = here.exclude(category__in=[*sources, into])
    open_ones = Dispute.objects.filter(
        facet=facet, is_open=True, bug__in=given.filter(category__in=sources).values("bug")
    )
    return open_ones.filter(~Exists(others)).count()


def preview_of(change: Change) -> Preview:
    """Of a change that waits, or of taking back one that took effect."""
    facet = change.facet or Facet()
    into = change.new.get("into", "")
    touched = [uid for uid in change.categories if uid != into]
    return preview(facet, act=change.act, touched=touched, into=into)
