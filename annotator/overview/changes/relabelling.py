"""Which bugs a change of the codebook leaves to be labelled again, by whom, and the round in which it is done.

It is a query: a bug is due until a main or relabel round opened after the change holds it.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotator.accounts.models import User
from annotator.adjudication.models import Resolution
from annotator.adjudication.queries import FINAL_KINDS, final_rounds
from annotator.codebook import wording
from annotator.codebook.models import Category, Change
from annotator.history.actions import record
from annotator.labeling.models import Answer, Round, RoundBug
from annotator.labeling.relabelling import relabel_after
from annotator.sampling.models import Bug
from annotator.studies.models import Membership, Role, Study
from annotator.web.errors import Refused

Act = Change.Act


@dataclass(frozen=True)
class Due:
    """The bugs that wait, each with its raters, by their ids; and how many have no rater left who could do it."""

    groups: dict[int, frozenset[int]]
    without_raters: int

    @property
    def bugs(self) -> int:
        return len(self.groups)

    @property
    def raters(self) -> frozenset[int]:
        return frozenset().union(*self.groups.values())


def asks_for_relabelling(change: Change) -> bool:
    """A split and a changed meaning do, and so does taking back a merge or a changed meaning."""
    return change.act in (Act.SPLIT, Act.REDEFINE) or (
        change.act == Act.RESTORE and change.undoes is not None and change.undoes.act == Act.MERGE
    )


def due_to(change: Change) -> Due:
    """What is left to be labelled again after a change that took effect."""
    if change.applied_at is None or not asks_for_relabelling(change):
        return Due({}, 0)
    bugs = touched_bugs(change)
    groups = raters_of(study_of(change), Q(bug__in=bugs))
    return Due(groups, len(bugs) - len(groups))


def study_of(change: Change) -> Study:
    return change.codebook.study


def touched_bugs(change: Change) -> set[int]:
    """Bugs with an answer or a label that says no more what it means, and no round since in which it is given again."""
    study, categories = study_of(change), doubtful(change)
    if not categories:
        return set()
    answers = latest_answers(study).filter(_in_span(categories))
    labels = Resolution.objects.current().filter(_in_span(categories), study=study, is_stale=False)
    found = set(answers.values_list("bug_id", flat=True)) | set(labels.values_list("bug_id", flat=True))
    since = RoundBug.objects.filter(
        round__study=study, round__kind__in=FINAL_KINDS, round__opened_at__gt=change.applied_at
    )
    gone = Bug.objects.filter(study=study, left_reason__in=Bug.FOR_GOOD)
    return found - set(since.values_list("bug_id", flat=True)) - set(gone.values_list("pk", flat=True))


def doubtful(change: Change) -> list[Category]:
    """Its category, and what was merged into it, where labels of some time are to be given again."""
    uid = change.new.get("of") or (change.undoes.new["into"] if change.undoes and change.act == Act.RESTORE else "")
    uid = uid or change.categories[0]
    mine = Q(uid=uid) | Q(merged_into__uid=uid)
    rows = Category.objects.filter(mine, facet=change.facet_id).select_related("merged_into")
    return [row for row in rows if (row.merged_into or row).relabel_until is not None]


def _in_span(categories: list[Category]) -> Q:
    wanted = Q()
    for row in categories:
        judge = row.merged_into or row
        span = Q(category=row.pk, at__lte=judge.relabel_until)
        wanted |= span & Q(at__gte=judge.relabel_from) if judge.relabel_from else span
    return wanted


def latest_answers(study: Study) -> QuerySet[Answer]:
    """The answers that count for a bug: of its latest main, relabel or imported round that is over."""
    rounds = final_rounds(study)
    later = Answer.objects.current().filter(
        bug=OuterRef("bug"), round__in=rounds, round__number__gt=OuterRef("round__number")
    )
    return Answer.objects.current().filter(~Exists(later), round__in=rounds)


def raters_of(study: Study, touched: Q) -> dict[int, frozenset[int]]:
    """Who of each bug's latest round still rates in the study; `touched` says of which bugs, as of an answer."""
    still = Membership.objects.filter(study=study, role=Role.RATER).values("user")
    groups: dict[int, set[int]] = defaultdict(set)
    rows: Any = latest_answers(study).filter(touched, rater__in=still).order_by().values_list("bug_id", "rater_id")
    for bug, rater in rows.distinct():
        groups[bug].add(rater)
    return {bug: frozenset(raters) for bug, raters in groups.items()}


def rounds_due_to(change: Change) -> list[Round]:
    return list(Round.objects.filter(due_to=change).order_by("number"))


def waiting(study: Study) -> list[tuple[Change, Due]]:
    """Changes after which bugs still wait to be labelled again."""
    changes = Change.objects.filter(
        codebook__study=study, applied_at__isnull=False, act__in=[Act.SPLIT, Act.REDEFINE, Act.RESTORE]
    )
    listed = changes.select_related("codebook__study", "facet", "undoes", "version").order_by("number")
    found = [(change, due_to(change)) for change in listed]
    return [(change, due) for change, due in found if due.bugs or due.without_raters]


@transaction.atomic
def open_relabel_round(*, change: Change, by: User) -> Round:
    """One act of the lead: the touched bugs to the raters who had them, marked as due to the change."""
    study = Study.objects.select_for_update().get(pk=change.codebook.study_id)
    change = Change.objects.select_related("codebook__study", "facet", "undoes").get(pk=change.pk)
    due = due_to(change)
    if not due.bugs:
        raise Refused(f"After change {change.number} no bug waits to be labelled again.")
    bugs = list(Bug.objects.filter(pk__in=due.groups).order_by("number"))
    opened = relabel_after(change=change, study=study, name=_name(study, change), bugs=bugs, groups=due.groups, by=by)
    record(
        "opened a relabel round after a change",
        by=by,
        kind="round",
        object_id=opened.pk,
        label=opened.name,
        study_id=study.pk,
        new={"change": change.number, "bugs": due.bugs},
        why=wording.sentence(change),
    )
    return opened


def _name(study: Study, change: Change) -> str:
    stem = f"Relabel after change {change.number}"
    taken = Round.objects.filter(Q(name=stem) | Q(name__startswith=f"{stem} ("), study=study).count()
    return f"{stem} ({taken + 1})" if taken else stem
