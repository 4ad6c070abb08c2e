"""Several people at the same instant, on connections of their own."""

import pytest
from django.db import DatabaseError, transaction

from annotator.history.models import Event
from annotator.screening.actions import close, vote
from annotator.screening.after import decide, vote_again
from annotator.screening.models import Outcome, Screening, Vote
from annotator.screening.queries import counts
from annotator.web.errors import Refused
from tests.factories.screening import candidate, make_screening, reading, screen
from tests.together import at_once, while_it_lasts

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]


def test_a_vote_that_meets_the_close_is_refused(screening, alice, lee):
    mine = reading(screening, 1, alice)
    _, said = while_it_lasts(
        lambda: close(screening=screening, by=lee), lambda: vote(reading=mine, decision="include", by=alice)
    )
    assert isinstance(said, Refused)
    assert not Vote.objects.exists()


def test_a_row_that_goes_past_the_action_is_refused_too(screening, alice, lee):
    mine = reading(screening, 1, alice)
    close(screening=screening, by=lee)
    with pytest.raises(DatabaseError, match="closed"), transaction.atomic():
        Vote.objects.create(candidate=mine.candidate, reviewer=alice, decision="include")


def test_votes_and_the_close_at_once_leave_nothing_uncounted(study, alice, bob, lee):
    """Whatever comes first: each vote that was stored is counted, each that was not is refused."""
    opened = make_screening(study, reviewers=[alice, bob], by=lee, count=6)
    for who in (alice, bob):
        screen(opened, who, dict.fromkeys((1, 2), "in"))
    late = [
        (lambda who=who, at=at: vote(reading=reading(opened, at, who), decision="include", by=who))
        for who in (alice, bob)
        for at in (3, 4, 5, 6)
    ]
    said = at_once(*late[:4], lambda: close(screening=opened, by=lee), *late[4:])
    stored = sum(isinstance(one, Vote) for one in said)
    assert sum(isinstance(one, Refused) for one in said) == 8 - stored
    assert Vote.objects.count() == 4 + stored
    whole = sum(Vote.objects.filter(candidate=one).count() == 2 for one in opened.candidates.all())
    assert counts(study).kept == whole


def test_the_same_vote_sent_twice_at_once_counts_once(screening, alice):
    mine = reading(screening, 1, alice)
    said = at_once(*[lambda: vote(reading=mine, decision="include", by=alice)] * 4)
    assert all(isinstance(one, Vote) for one in said), said
    assert Vote.objects.count() == 1
    assert Event.objects.filter(kind="vote").count() == 1


def test_two_reviewers_vote_at_once(screening, alice, bob):
    said = at_once(
        lambda: vote(reading=reading(screening, 1, alice), decision="include", by=alice),
        lambda: vote(reading=reading(screening, 1, bob), decision="include", by=bob),
    )
    assert all(isinstance(one, Vote) for one in said), said


def test_two_closes_at_once_write_one_decision(screening, alice, bob, lee):
    for who in (alice, bob):
        screen(screening, who, {1: "in"})
    said = at_once(*[lambda: close(screening=screening, by=lee)] * 3)
    assert sorted(type(one).__name__ for one in said) == ["Refused", "Refused", "Screening"]
    assert Outcome.objects.count() == 1


def test_a_conflict_that_is_settled_twice_at_once_has_one_decision(screening, alice, bob, lee):
    screen(screening, alice, {1: "in"})
    screen(screening, bob, {1: "E1"})
    close(screening=screening, by=lee)
    one = candidate(screening, 1)
    said = at_once(
        lambda: decide(candidate=one, decision="exclude", criterion="E2", note="Read it.", by=lee),
        lambda: vote_again(candidate=one, decision="include", by=bob),
        lambda: decide(candidate=one, decision="include", note="Read it.", by=lee),
    )
    assert sum(isinstance(each, Refused) for each in said) == 2
    assert Outcome.objects.filter(is_current=True).count() == 1


def test_two_screenings_opened_at_once_share_no_item(study, alice, lee):
    first = make_screening(study, reviewers=[alice], by=lee, count=1)

    def another(name: str) -> Screening:
        return make_screening(study, reviewers=[alice], by=lee, count=3, name=name)

    said = at_once(lambda: another("X"), lambda: another("Y"))
    assert {type(one) for one in said} == {Screening}, said
    assert sorted(one.number for one in said) == [first.number + 1, first.number + 2]
