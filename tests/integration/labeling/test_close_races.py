"""What meets the close waits and finds the round closed; what is said twice at once is there once."""

import threading

import pytest
from django.db import connection

from annotator.labeling.actions import freeze, save_draft
from annotator.labeling.follow_up import flag
from annotator.labeling.models import Assignment
from annotator.labeling.places import claim_next
from annotator.overview.rounds.closing import close_round
from annotator.web.errors import Refused
from tests.factories import answer, make_bugs, make_round
from tests.together import while_it_lasts

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]


def test_claim_that_meets_the_close_gets_nothing(study, alice, bob, lee):
    pool = make_round(study, bugs=make_bugs(study, 2), raters=[alice, bob], by=lee, design="pool")
    _, got = while_it_lasts(lambda: freeze(round_=pool, by=lee), lambda: claim_next(round_=pool, rater=alice))
    assert got is None
    assert not Assignment.objects.filter(round=pool, state="claimed").exists()


def test_draft_that_meets_the_close_is_refused(main_round, alice, lee):
    turn = Assignment.objects.filter(round=main_round, rater=alice).first()
    _, said = while_it_lasts(
        lambda: freeze(round_=main_round, by=lee), lambda: save_draft(assignment=turn, draft={"note": "x"}, by=alice)
    )
    assert isinstance(said, Refused)


def test_flag_that_is_raised_twice_at_once_is_there_once(main_round, bugs, alice, lee):
    turn = answer(main_round, bugs[0], alice, {"cause": "type", "stage": "training"})
    facet = main_round.study.codebook.facets.get(key="cause")
    close_round(round_=main_round, by=lee)
    start, said = threading.Barrier(4), []

    def raise_flag() -> None:
        start.wait()
        try:
            said.append(flag(assignment=turn, facet_id=facet.pk, reason="Misread.", by=alice))
        except Exception as problem:
            said.append(problem)
        connection.close()

    threads = [threading.Thread(target=raise_flag) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(type(one).__name__ for one in said) == ["Flag", "Refused", "Refused", "Refused"]
