"""A round over bugs whose raters could read one another since a close does not say that it was blind."""

from annotator.overview.rounds.closing import close_round
from tests.factories import answer, make_round

TYPE = {"cause": "type", "stage": "training"}


def closed_early(main_round, bugs, alice, lee):
    answer(main_round, bugs[0], alice, TYPE)
    close_round(round_=main_round, by=lee)


def test_bugs_that_another_rater_had_answered_are_not_labelled_blind(study, main_round, bugs, alice, bob, lee):
    closed_early(main_round, bugs, alice, lee)
    assert make_round(study, bugs=bugs, raters=[alice, bob], by=lee).blindness == "no"


def test_bugs_that_nobody_had_answered_are(study, main_round, bugs, alice, bob, lee):
    closed_early(main_round, bugs, alice, lee)
    assert make_round(study, bugs=bugs[1:], raters=[alice, bob], by=lee).blindness == "enforced"


def test_one_rater_alone_has_nobody_to_read(study, main_round, bugs, alice, lee):
    closed_early(main_round, bugs, alice, lee)
    assert make_round(study, bugs=bugs, raters=[alice], by=lee, kind="retest").blindness == "enforced"
