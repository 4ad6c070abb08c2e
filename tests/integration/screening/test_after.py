"""After the close: second votes, decisions with a reason, reopening and dropping."""

import pytest

from annotator.history.models import Event
from annotator.screening.actions import close
from annotator.screening.after import decide, drop, reopen, vote_again
from annotator.screening.models import Outcome, Vote
from annotator.screening.queries import candidates, counts, included
from annotator.web.errors import BadInput, Refused
from tests.factories import UserFactory, member
from tests.factories.screening import candidate, make_screening, screen


@pytest.fixture
def closed(screening, alice, bob, lee):
    """1 is in, 2 is out, 3 and 4 are in conflict."""
    screen(screening, alice, {1: "in", 2: "E1", 3: "in", 4: "E2"}, comment="as I see it")
    screen(screening, bob, {1: "in", 2: "E1", 3: "E1", 4: "in"})
    return close(screening=screening, by=lee)


def current(screening, position) -> Outcome | None:
    return Outcome.objects.current().filter(candidate__screening=screening, candidate__position=position).first()


def test_nothing_is_settled_while_it_is_open(screening, alice, lee):
    one = candidate(screening, 1)
    acts = [
        lambda: vote_again(candidate=one, decision="include", by=alice),
        lambda: decide(candidate=one, decision="include", note="Clear.", by=lee),
        lambda: reopen(candidate=one, reason="Clear.", by=lee),
        lambda: drop(candidate=one, reason="Clear.", by=lee),
    ]
    for act in acts:
        with pytest.raises(Refused, match="open"):
            act()


def test_when_all_say_the_same_it_is_discussed(closed, alice, bob):
    vote_again(candidate=candidate(closed, 3), decision="include", comment="Convinced.", by=bob)
    found = current(closed, 3)
    assert (found.decision, found.source, found.participants, found.by) == (
        "include", "discussed", ["alice", "bob"], bob,
    )  # fmt: skip
    assert [vote.turn for vote in Vote.objects.filter(candidate=candidate(closed, 3)).order_by("pk")] == [1, 1, 2]


def test_second_votes_that_differ_leave_it_open(closed, alice, bob):
    vote_again(candidate=candidate(closed, 3), decision="exclude", criterion="E2", by=bob)
    assert current(closed, 3) is None
    vote_again(candidate=candidate(closed, 3), decision="exclude", criterion="E2", by=alice)
    found = current(closed, 3)
    assert (found.decision, found.criterion.code) == ("exclude", "E2")


def test_agreement_waits_for_who_did_not_vote(study, alice, bob, lee):
    cleo = member(study, UserFactory(username="cleo"), "rater")
    opened = make_screening(study, reviewers=[alice, bob, cleo], by=lee, count=1)
    screen(opened, alice, {1: "in"})
    close(screening=opened, by=lee)
    vote_again(candidate=candidate(opened, 1), decision="include", by=bob)
    assert current(opened, 1) is None
    vote_again(candidate=candidate(opened, 1), decision="include", by=cleo)
    assert current(opened, 1).source == "discussed"


def test_only_its_reviewers_vote_again_and_only_where_it_is_open(closed, ada, alice):
    with pytest.raises(Refused, match="reviewers"):
        vote_again(candidate=candidate(closed, 3), decision="include", by=ada)
    with pytest.raises(Refused, match="decided"):
        vote_again(candidate=candidate(closed, 1), decision="include", by=alice)


def test_a_lead_decides_alone_or_together(closed, lee):
    alone = decide(candidate=candidate(closed, 3), decision="include", note="Read it.", by=lee)
    together = decide(
        candidate=candidate(closed, 4), decision="exclude", criterion="E2", note="We met.",
        participants=["alice", "bob", "lee"], by=lee,
    )  # fmt: skip
    assert (alone.source, together.source, together.participants) == ("decided", "discussed", ["alice", "bob", "lee"])
    assert counts(closed.study).excluded == {"documentation only": 1, "new feature": 1}


def test_who_voted_decides_together_with_the_others(study, closed, alice):
    member(study, alice, "lead")
    with pytest.raises(Refused, match="together"):
        decide(candidate=candidate(closed, 3), decision="include", note="Mine.", participants=["alice"], by=alice)
    found = decide(
        candidate=candidate(closed, 3), decision="include", note="Ours.", participants=["alice", "bob"], by=alice
    )
    assert found.source == "discussed"


@pytest.mark.parametrize(
    "changed", [{"note": " "}, {"decision": "perhaps"}, {"decision": "exclude"}, {"participants": ["charlie"]}]
)
def test_a_decision_without_reason_criterion_or_members_is_refused(closed, lee, changed):
    given = {"decision": "include", "note": "Read it.", "participants": []} | changed
    with pytest.raises(BadInput):
        decide(candidate=candidate(closed, 3), by=lee, **given)


def test_what_is_decided_is_reopened_before_it_is_decided_otherwise(closed, lee):
    one = candidate(closed, 1)
    with pytest.raises(Refused, match="Reopen"):
        decide(candidate=one, decision="exclude", criterion="E1", note="No.", by=lee)
    with pytest.raises(BadInput):
        reopen(candidate=one, reason="", by=lee)
    reopen(candidate=one, reason="The fix was reverted.", by=lee)
    assert current(closed, 1) is None
    assert Outcome.objects.get(candidate=one).is_current is False
    with pytest.raises(Refused):
        reopen(candidate=one, reason="Once more.", by=lee)
    decide(candidate=one, decision="exclude", criterion="I1", note="Reverted.", by=lee)
    assert Outcome.objects.filter(candidate=one).count() == 2
    assert Event.objects.get(verb="reopened a decision").why == "The fix was reverted."


def test_what_is_dropped_is_counted_apart(closed, lee):
    one = candidate(closed, 1)
    for position in (2, 3):
        with pytest.raises(Refused, match="in"):
            drop(candidate=candidate(closed, position), reason="No gist.", by=lee)
    with pytest.raises(BadInput):
        drop(candidate=one, reason=" ", by=lee)
    drop(candidate=one, criterion="E1", reason="No gist.", by=lee)
    told = counts(closed.study)
    assert (told.included, told.kept, told.dropped, told.excluded) == (
        1, 0, {"new feature": 1}, {"new feature": 1},
    )  # fmt: skip
    assert told.adds_up
    assert not included(closed.study).exists()


def test_each_count_names_its_candidates(closed, lee):
    drop(candidate=candidate(closed, 1), reason="No gist.", by=lee)

    def of(what, reason="") -> list[int]:
        found = candidates(closed.study, what, reason=reason)
        return list(found.order_by("position").values_list("position", flat=True))

    assert (of("included"), of("kept"), of("dropped")) == ([1], [], [1])
    assert of("dropped", "No gist.") == [1]
    assert (of("excluded"), of("excluded", "new feature"), of("excluded", "no such")) == ([2], [2], [])
    assert (of("conflict"), of("unread"), of("reading")) == ([3, 4], [], [])
    other = make_screening(closed.study, reviewers=[lee_as_rater(closed, lee)], by=lee)
    assert candidates(closed.study, "reading").count() == other.candidates.count() == 4


def lee_as_rater(screening, lee):
    return member(screening.study, lee, "rater")
