"""Several people at the same instant, on connections of their own."""

import pytest
from django.utils import timezone

from annotator.labeling.actions import freeze, skip, submit
from annotator.labeling.models import Answer, Assignment, Round, RoundBug
from annotator.labeling.places import claim_next, release_expired
from annotator.labeling.submission import Submission
from annotator.web.errors import Refused
from tests.factories import UserFactory, answer, make_bugs, make_round, member
from tests.together import at_once

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]


def pool(study, bugs, raters, lee, **options) -> Round:
    return make_round(study, bugs=bugs, raters=raters, by=lee, design="pool", **options)


def sent(turn: Assignment, uids: dict[str, list[str]], key: str) -> Assignment:
    return submit(assignment=turn, submission=Submission(answers=uids, key=key), by=turn.rater)


@pytest.fixture
def uids(study) -> dict[str, list[str]]:
    facets = study.codebook.facets.exclude(key="verdict")
    return {facet.key: [facet.categories.first().uid] for facet in facets}


def test_last_place_goes_to_two_of_three_and_the_third_gets_it_after_a_skip(study, alice, bob, lee):
    carol = member(study, UserFactory(username="third"), "rater")
    last = pool(study, make_bugs(study, 1), [alice, bob, carol], lee)
    got = at_once(*(lambda who=who: claim_next(round_=last, rater=who) for who in (alice, bob, carol)))
    holders = [turn for turn in got if turn is not None]
    assert len(holders) == 2
    assert got.count(None) == 1
    left_out = next(who for who, turn in zip((alice, bob, carol), got, strict=True) if turn is None)
    skip(assignment=holders[0], reason="knowledge", by=holders[0].rater)
    assert claim_next(round_=last, rater=left_out) is not None


def test_late_submission_is_taken_only_while_the_place_is_free(study, alice, bob, lee, uids):
    carol = member(study, UserFactory(username="third"), "rater")
    last = pool(study, make_bugs(study, 1), [alice, bob, carol], lee, overlap=1)
    late = claim_next(round_=last, rater=alice)
    Assignment.objects.filter(pk=late.pk).update(lease_until=timezone.now(), draft={"note": "kept"})
    assert release_expired(round_=last, now=timezone.now()) == 1
    taken = claim_next(round_=last, rater=bob)
    with pytest.raises(Refused, match="draft is kept"):
        sent(late, uids, "late")
    late.refresh_from_db()
    assert late.draft == {"note": "kept"}
    skip(assignment=taken, reason="knowledge", by=bob)
    assert sent(late, uids, "late").state == "submitted"
    assert RoundBug.objects.get(round=last).taken == 1


def test_two_hundred_claims_of_sixteen_people_take_each_place_once(study, lee):
    raters = [member(study, UserFactory(username=f"rater-{place}"), "rater") for place in range(16)]
    many = pool(study, make_bugs(study, 100), raters, lee, overlap=2)

    def work(who) -> int:
        done = 0
        while turn := claim_next(round_=many, rater=who):
            Assignment.objects.filter(pk=turn.pk).update(
                state="submitted", submitted_at=timezone.now(), lease_until=None
            )
            done += 1
        return done

    done = at_once(*(lambda who=who: work(who) for who in raters))
    assert sum(done) == 200
    assert set(RoundBug.objects.filter(round=many).values_list("taken", flat=True)) == {2}


def test_same_submission_sent_eight_times_at_once_counts_once(study, main_round, bugs, alice, uids):
    turn = Assignment.objects.get(round=main_round, bug=bugs[0], rater=alice)
    at_once(*(lambda: sent(turn, uids, "same") for _ in range(8)))
    turn.refresh_from_db()
    assert turn.revision == 1
    assert Answer.objects.filter(assignment=turn).count() == 3


def test_nothing_arrives_after_the_close(study, main_round, bugs, alice, bob, lee, uids):
    turns = list(Assignment.objects.filter(round=main_round).select_related("rater"))
    sends = [lambda turn=turn: sent(turn, uids, "") for turn in turns]
    results = at_once(*sends[:6], lambda: freeze(round_=main_round, by=lee), *sends[6:])
    main_round.refresh_from_db()
    assert main_round.state == "closed"
    stored = Answer.objects.filter(round=main_round, facet__key="verdict")
    assert all(row.at <= main_round.closed_at for row in stored)
    assert stored.count() == sum(isinstance(result, Assignment) for result in results)
    assert all(isinstance(result, Assignment | Round | Refused) for result in results), results


def test_first_rater_answers_while_the_round_closes_twice(study, main_round, bugs, alice, lee):
    answer(main_round, bugs[0], alice, {"cause": "type", "stage": "training"})
    results = at_once(*(lambda: freeze(round_=main_round, by=lee) for _ in range(2)))
    assert sorted(type(result).__name__ for result in results) == ["Refused", "Round"]
