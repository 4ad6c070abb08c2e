"""Which disputes wait, and in which order."""

import random

from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotator.adjudication import actions, queue, reopening
from annotator.adjudication.models import Dispute, Resolution
from annotator.labeling.models import Answer, Round
from annotator.overview.rounds.closing import close_round
from tests.factories import StudyFactory, UserFactory, answer, make_bugs, make_codebook, make_round, member

OPEN = queue.Filters()


def closed(study, votes, *, raters, lee):
    """A closed round; `votes` gives for each bug one answer (or "not a bug") a rater, with a confidence."""
    bugs = make_bugs(study, len(votes))
    round_ = make_round(study, bugs=bugs, raters=raters, by=lee)
    for bug, row in zip(bugs, votes, strict=True):
        for rater, (answers, confidence) in zip(raters, row, strict=True):
            if answers is None:
                answer(round_, bug, rater, {}, not_a_bug="upkeep", confidence=confidence)
            else:
                answer(round_, bug, rater, answers, confidence=confidence)
    close_round(round_=round_, by=lee)
    return bugs


def both(cause, stage="training"):
    return {"cause": cause, "stage": stage}


def test_most_facets_come_first_then_where_both_were_sure(study, alice, bob, lee):
    votes = [
        [(both("type"), "sure"), (both("shape"), "unsure")],
        [(both("type"), "sure"), (both("shape"), "sure")],
        [(both("type"), ""), (both("shape", "deployment"), "")],
        [(both("type"), "sure"), (both("type"), "sure")],
    ]
    closed(study, votes, raters=[alice, bob], lee=lee)
    assert queue.in_order(queue.disputes(study, OPEN)) == [3, 2, 1]


def test_distance_on_a_scale_and_in_a_set_ranks_what_is_equal_otherwise(alice, bob, lee):
    study = StudyFactory(slug="ranked")
    for person, role in [(alice, "rater"), (bob, "rater"), (lee, "lead")]:
        member(study, person, role)
    levels = ["low", "middle", "high"]
    make_codebook(study, {"impact": levels, "part": ["a", "b", "c"]}, ordinal=["impact"], many=["part"])
    same = ["a"]
    votes = [
        [({"impact": "low", "part": same}, ""), ({"impact": "middle", "part": same}, "")],
        [({"impact": "low", "part": same}, ""), ({"impact": "high", "part": same}, "")],
        [({"impact": "low", "part": ["a", "b"]}, ""), ({"impact": "low", "part": ["a", "b", "c"]}, "")],
    ]
    closed(study, votes, raters=[alice, bob], lee=lee)
    assert queue.in_order(queue.disputes(study, OPEN)) == [2, 1, 3]
    distances = dict(Dispute.objects.filter(study=study).values_list("bug__number", "distance"))
    assert {number: round(distance, 6) for number, distance in distances.items()} == {1: 0.5, 2: 1, 3: 0.333333}


def test_confidence_that_was_not_given_is_not_sure(study, alice, bob, lee):
    closed(study, [[(both("type"), ""), (both("shape"), "sure")]], raters=[alice, bob], lee=lee)
    assert not Dispute.objects.get().is_sure


def test_stored_disputes_are_those_that_can_be_derived(study, alice, bob, lee):
    """Random votes of three raters: the rows noted at the close equal a derivation from the answers."""
    carol = member(study, UserFactory(username="third"), "rater")
    chance = random.Random(7)
    votes = [
        [
            (
                None
                if chance.random() < 0.15
                else both(chance.choice(["type", "shape"]), chance.choice(["training", "deployment"])),
                "",
            )
            for _ in range(3)
        ]
        for _ in range(30)
    ]
    closed(study, votes, raters=[alice, bob, carol], lee=lee)
    given: dict = {}
    for row in Answer.objects.current().filter(round__study=study).select_related("bug", "facet", "category"):
        given.setdefault(row.bug.number, {}).setdefault(row.facet.key, []).append(row.category.name)
    derived = set()
    for number, facets in given.items():
        denied = facets["verdict"].count("not a bug")
        if 0 < denied < 3:
            derived.add((number, "verdict"))
        elif not denied:
            derived |= {(number, key) for key, labels in facets.items() if len(set(labels)) > 1}
    rows = Dispute.objects.filter(study=study, is_open=True)
    assert set(rows.values_list("bug__number", "facet__key")) == derived
    assert derived


def test_open_follows_the_resolutions_in_every_row(study, disputed, bugs, ada, bob, lee, facet, cause):
    def check():
        for dispute in Dispute.objects.filter(study=study, is_current=True):
            settles = Resolution.objects.current().filter(bug=dispute.bug, facet=dispute.facet, is_stale=False)
            assert dispute.is_open != settles.exists()

    check()
    actions.adjudicate(bug=disputed, facet=facet, categories=cause("type"), reason="slip", by=ada)
    check()
    reopening.reopen_for(bug=disputed, rater=bob, reason="again", by=lee)
    check()


def test_filters_narrow_by_facet_round_repository_and_state(study, disputed, bugs, ada, facet, cause):
    def found(**filters):
        return queue.in_order(queue.disputes(study, queue.Filters(**filters)))

    assert sorted(found()) == [1, 2]
    assert found(facet="cause") == [1]
    assert sorted(found(round="1")) == [1, 2]
    assert found(round="2") == found(round="x") == found(repository="elsewhere") == []
    actions.adjudicate(bug=disputed, facet=facet, categories=cause("type"), reason="slip", by=ada)
    assert (found(), found(state="adjudicated"), found(state="unresolved")) == ([2], [1], [])


def test_a_concession_is_marked_until_all_confirm(study, disputed, alice, bob, facet):
    actions.take_stand(bug=disputed, facet=facet, move="accept", by=bob)
    rows = queue.rows_of(study, OPEN, [1, 2])
    assert [row.is_conceded for row in rows] == [True, False]
    assert queue.in_order(queue.disputes(study, queue.Filters(state="conceded"))) == [1]


def test_a_concession_on_one_facet_is_counted_among_the_others(study, alice, bob, lee, facet):
    bug = closed(study, [[(both("type"), ""), (both("shape", "deployment"), "")]], raters=[alice, bob], lee=lee)[0]
    actions.take_stand(bug=bug, facet=facet, move="accept", by=bob)
    row = queue.rows_of(study, OPEN, [1])[0]
    assert (row.conceded, len(row.facets), row.is_conceded) == (1, 2, False)


def test_a_proposal_makes_the_others_move_due_again(study, disputed, alice, bob, facet, cause):
    actions.take_stand(bug=disputed, facet=facet, move="keep", by=alice)
    assert "cause" not in queue.due_on(disputed, alice)
    actions.take_stand(bug=disputed, facet=facet, move="propose", categories=cause("api"), why="it calls", by=bob)
    assert queue.due_on(disputed, alice) == ["cause"]
    assert queue.due_on(disputed, bob) == []
    actions.take_stand(bug=disputed, facet=facet, move="keep", by=alice)
    assert queue.due_on(disputed, alice) == queue.due_on(disputed, bob) == []


def test_a_bug_keeps_its_place_while_its_facets_are_settled(study, alice, bob, ada, lee, facet, cause):
    wide = (both("type"), "sure"), (both("shape", "deployment"), "sure")
    narrow = (both("type"), ""), (both("shape"), "")
    bugs = closed(study, [list(narrow), list(wide), list(narrow)], raters=[alice, bob], lee=lee)
    before = queue.in_order(queue.disputes(study, OPEN))
    actions.adjudicate(bug=bugs[1], facet=facet, categories=cause("type"), reason="slip", by=ada)
    assert queue.in_order(queue.disputes(study, OPEN)) == before == [2, 1, 3]


def test_a_meeting_can_decide_bugs_all_of_whose_raters_are_there(study, disputed, alice, bob, ada):
    rows = queue.disputes(study, OPEN)
    assert queue.in_order(rows.filter(queue.decidable_by([alice, bob, ada]))) == [1, 2]
    assert queue.in_order(rows.filter(queue.decidable_by([alice, ada]))) == []


def test_what_follows_is_the_next_that_is_left_and_goes_round():
    assert queue.following(2, order=[3, 2, 1], left=[3, 2, 1]) == 2
    assert queue.following(2, order=[3, 2, 1], left=[3, 1]) == 1
    assert queue.following(1, order=[3, 2, 1], left=[3, 2]) == 3
    assert queue.following(1, order=[1], left=[]) == 0


def test_numbers_leave_out_what_the_adjudicator_rated(study, disputed, bugs, alice, bob, ada):
    assert queue.numbers(study, ada) == queue.Numbers(disputes=2, bugs=2, rated=0)
    assert queue.numbers(study, alice).rated == 2
    assert queue.to_decide(study, OPEN, viewer=alice) == []
    assert queue.waiting(study, ada, {"adjudicator"}) == 2
    assert queue.waiting(study, alice, {"rater"}) == 2
    assert queue.waiting(study, alice, {"rater", "adjudicator"}) == 2
    assert queue.waiting(study, ada, {"reader"}) == 0


def test_own_disputes_are_those_of_the_raters_own_bugs(study, disputed, alice, ada, facet):
    assert queue.own(study, alice).count() == 2
    assert queue.own(study, ada).count() == 0
    actions.take_stand(bug=disputed, facet=facet, move="keep", by=alice)
    assert queue.own_waiting(study, alice).count() == 1


def test_a_bug_that_is_labelled_again_waits(study, disputed, alice, bob, ada, lee):
    make_round(study, bugs=[disputed], raters=[alice, bob], by=lee, kind=Round.Kind.RELABEL)
    assert queue.to_decide(study, OPEN, viewer=ada) == [2]
    assert [row.waits for row in queue.rows_of(study, OPEN, [1, 2])] == [True, False]


def test_a_later_round_takes_over_the_disputes_of_its_bugs(study, disputed, alice, bob, lee):
    again = make_round(study, bugs=[disputed], raters=[alice, bob], by=lee, kind=Round.Kind.RELABEL)
    for rater in (alice, bob):
        answer(again, disputed, rater, both("shape"))
    close_round(round_=again, by=lee)
    assert queue.in_order(queue.disputes(study, OPEN)) == [2]


def test_the_queue_takes_as_many_queries_for_six_bugs_as_for_one(study, alice, bob, lee):
    counts = []
    for size in (1, 6):
        votes = [[(both("type"), ""), (both("shape"), "")]] * size
        closed(study, votes, raters=[alice, bob], lee=lee)
        with CaptureQueriesContext(connection) as queries:
            queue.rows_of(study, OPEN, queue.in_order(queue.disputes(study, OPEN)))
        counts.append(len(queries))
    assert counts[0] == counts[1]
