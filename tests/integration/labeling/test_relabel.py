"""Flags that the lead accepts become a relabel round."""

import pytest

from annotator.labeling.follow_up import flag, refuse_flag, relabel_flagged
from annotator.labeling.models import Assignment
from annotator.overview.rounds.closing import close_round
from annotator.web.errors import BadInput, Refused
from tests.factories import UserFactory, answer, make_round, member

GOOD = {"cause": "type", "stage": "training"}


@pytest.fixture
def third(study):
    return member(study, UserFactory(username="third"), "rater")


@pytest.fixture
def rotated(study, bugs, alice, bob, third, lee):
    """Six bugs, each labelled by two of three raters; closed."""
    opened = make_round(study, bugs=bugs, raters=[alice, bob, third], by=lee, design="rotating", overlap=2, seed=3)
    for turn in Assignment.objects.filter(round=opened).select_related("bug", "rater"):
        answer(opened, turn.bug, turn.rater, GOOD)
    return close_round(round_=opened, by=lee)


def doubt(turn):
    return flag(assignment=turn, facet_id=turn.answers.first().facet_id, reason="I misread it.", by=turn.rater)


def test_flagged_bugs_go_to_the_raters_who_had_each_of_them(rotated, lee):
    first = Assignment.objects.filter(round=rotated).order_by("bug", "rater").first()
    other = Assignment.objects.filter(round=rotated).exclude(bug=first.bug).exclude(rater=first.rater).first()
    opened = relabel_flagged(flags=[doubt(first), doubt(other)], name="Second look", by=lee)
    for bug in (first.bug, other.bug):
        before = set(Assignment.objects.filter(round=rotated, bug=bug).values_list("rater", flat=True))
        again = set(Assignment.objects.filter(round=opened, bug=bug).values_list("rater", flat=True))
        assert again == before
    assert (opened.kind, opened.blindness) == ("relabel", "no")


def test_flag_is_decided_once(rotated, lee):
    raised = doubt(Assignment.objects.filter(round=rotated).first())
    refuse_flag(raised=raised, by=lee)
    with pytest.raises(Refused, match="decided already"):
        refuse_flag(raised=raised, by=lee)
    with pytest.raises(BadInput, match="at least one open flag"):
        relabel_flagged(flags=[raised], name="Second look", by=lee)
