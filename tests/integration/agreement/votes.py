"""Rounds as raters leave them: letters stand for answers, one a bug, and a few signs for what is not one."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotator.accounts.models import User
from annotator.agreement.actions import take_snapshot
from annotator.labeling.actions import freeze, skip, submit
from annotator.labeling.models import Assignment, Round
from annotator.labeling.submission import Submission
from annotator.studies.models import Study
from tests.factories import StudyFactory, UserFactory, answer, make_bugs, make_codebook, make_round, member

BLANK, DENIED, SKIPPED = "-", "#", "!"


def labelled(
    votes: Mapping[str, Sequence[Any]],
    *,
    categories: Sequence[str] = "XYZ",
    facet: str = "cause",
    slug: str = "votes",
    close: bool = True,
    book: Mapping[str, Any] | None = None,
    **options: Any,
) -> Round:
    """A study of its own with one facet, its raters' answers bug by bug, and the round closed."""
    study = StudyFactory(slug=slug)
    lead = member(study, UserFactory(username=f"lead-of-{slug}"), "lead")
    make_codebook(study, {facet: list(categories)}, **(book or {}))
    return round_of(study, votes, facet=facet, by=lead, close=close, **options)


def round_of(
    study: Study,
    votes: Mapping[str, Sequence[Any]],
    *,
    by: User,
    facet: str = "cause",
    close: bool = True,
    **options: Any,
) -> Round:
    raters = [rater_of(study, name) for name in votes]
    bugs = make_bugs(study, len(next(iter(votes.values()))))
    round_ = make_round(study, bugs=bugs, raters=raters, by=by, **options)
    for rater in raters:
        for bug, vote in zip(bugs, votes[rater.username], strict=True):
            give(round_, bug, rater, facet, vote)
    return closed(round_, by=by) if close else round_


def rater_of(study: Study, name: str) -> User:
    known = User.objects.filter(username=name).first()
    return member(study, known or UserFactory(username=name), "rater")


def give(round_: Round, bug: Any, rater: User, facet: str, vote: Any) -> None:
    turn = Assignment.objects.get(round=round_, bug=bug, rater=rater)
    if vote == DENIED:
        submit(assignment=turn, submission=Submission(not_a_bug="new feature"), by=rater)
    elif vote == SKIPPED:
        skip(assignment=turn, reason="unclear", by=rater)
    elif vote != BLANK:
        answer(round_, bug, rater, {facet: vote})


def closed(round_: Round, *, by: User) -> Round:
    frozen = freeze(round_=round_, by=by)
    take_snapshot(round_=frozen, by=by)
    return frozen
