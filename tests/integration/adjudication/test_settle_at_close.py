"""What settles itself when a round closes."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotator.adjudication.actions import forget_settled, settle_at_close
from annotator.adjudication.finals import Final, import_finals, withdraw_finals
from annotator.adjudication.models import Dispute, Resolution
from annotator.adjudication.queries import final_labels
from annotator.codebook.models import Category
from annotator.labeling.actions import freeze
from annotator.labeling.models import Round
from annotator.web.errors import BadInput
from tests.factories import StudyFactory, answer, make_bugs, make_codebook, make_round, member

TYPE = {"cause": "type", "stage": "training"}


def close(round_, by):
    closed = freeze(round_=round_, by=by)
    settle_at_close(round_=closed, by=by)
    return closed


def settled(study, facet="cause"):
    rows = Resolution.objects.current().filter(study=study, facet__key=facet).order_by("bug__number", "slot")
    return [(row.bug.number, row.category.name, row.source) for row in rows]


def both(round_, bug, alice, bob, first, second=None):
    answer(round_, bug, alice, first)
    answer(round_, bug, bob, second or first)


def test_agreement_settles_a_facet_and_a_dispute_settles_nothing(study, main_round, bugs, alice, bob, lee):
    both(main_round, bugs[0], alice, bob, TYPE, {"cause": "type", "stage": "deployment"})
    close(main_round, lee)
    assert settled(study) == [(1, "type", "unanimous")]
    assert settled(study, "stage") == []
    assert settled(study, "verdict") == [(1, "bug", "unanimous")]


def test_one_raters_word_alone_is_single(study, main_round, bugs, alice, lee):
    answer(main_round, bugs[0], alice, TYPE)
    close(main_round, lee)
    assert settled(study) == [(1, "type", "single")]


def test_not_a_bug_by_both_settles_the_verdict_alone(study, main_round, bugs, alice, bob, lee):
    answer(main_round, bugs[0], alice, {}, not_a_bug="upkeep")
    answer(main_round, bugs[0], bob, {}, not_a_bug="duplicate")
    close(main_round, lee)
    assert settled(study, "verdict") == [(1, "not a bug", "unanimous")]
    assert Resolution.objects.count() == 1


def test_one_sided_not_a_bug_settles_nothing_of_the_bug(study, main_round, bugs, alice, bob, lee):
    answer(main_round, bugs[0], alice, {}, not_a_bug="upkeep")
    answer(main_round, bugs[0], bob, TYPE)
    close(main_round, lee)
    assert Resolution.objects.count() == 0


def test_a_changed_answer_counts_as_last_submitted(study, main_round, bugs, alice, bob, lee):
    both(main_round, bugs[0], alice, bob, TYPE, {"cause": "shape", "stage": "training"})
    answer(main_round, bugs[0], bob, TYPE)
    close(main_round, lee)
    assert settled(study) == [(1, "type", "unanimous")]


@pytest.mark.parametrize("kind", [Round.Kind.TRAINING, Round.Kind.RETEST, Round.Kind.AUDIT])
def test_rounds_that_only_measure_make_no_final_labels(kind, study, bugs, alice, bob, lee):
    round_ = make_round(study, bugs=bugs, raters=[alice, bob], by=lee, kind=kind)
    both(round_, bugs[0], alice, bob, TYPE)
    close(round_, lee)
    assert Resolution.objects.count() == 0


def test_an_open_round_settles_nothing(main_round, bugs, alice, bob, lee):
    both(main_round, bugs[0], alice, bob, TYPE)
    assert settle_at_close(round_=main_round, by=lee) == 0


def test_sets_are_unanimous_only_when_equal(alice, bob, lee):
    study = StudyFactory(slug="sets")
    for person, role in [(alice, "rater"), (bob, "rater"), (lee, "lead")]:
        member(study, person, role)
    make_codebook(study, {"cause": ["type", "shape", "api"]}, many=["cause"])
    bugs = make_bugs(study, 2)
    round_ = make_round(study, bugs=bugs, raters=[alice, bob], by=lee)
    both(round_, bugs[0], alice, bob, {"cause": ["shape", "type"]}, {"cause": ["type", "shape"]})
    both(round_, bugs[1], alice, bob, {"cause": ["shape", "type"]}, {"cause": ["type"]})
    close(round_, lee)
    assert settled(study) == [(1, "type", "unanimous"), (1, "shape", "unanimous")]
    assert set(Resolution.objects.filter(facet__key="cause").values_list("slot", flat=True)) == {0, 1}


def test_three_raters_must_all_agree(study, bugs, alice, bob, ada, lee):
    member(study, ada, "rater")
    round_ = make_round(study, bugs=bugs[:1], raters=[alice, bob, ada], by=lee)
    for rater, cause in [(alice, "type"), (bob, "type"), (ada, "api")]:
        answer(round_, bugs[0], rater, {"cause": cause, "stage": "training"})
    close(round_, lee)
    assert settled(study) == []
    assert settled(study, "stage") == [(1, "training", "unanimous")]


def test_a_relabel_round_supersedes_what_was_settled(study, main_round, bugs, alice, bob, lee):
    for bug in bugs[:2]:
        both(main_round, bug, alice, bob, TYPE)
    close(main_round, lee)
    again = make_round(study, bugs=bugs[:1], raters=[alice, bob], by=lee, kind=Round.Kind.RELABEL)
    both(again, bugs[0], alice, bob, {"cause": "api", "stage": "training"}, {"cause": "api", "stage": "deployment"})
    close(again, lee)
    assert settled(study) == [(1, "api", "unanimous"), (2, "type", "unanimous")]
    assert settled(study, "stage") == [(2, "training", "unanimous")]
    old = Resolution.objects.get(bug=bugs[0], facet__key="cause", round=main_round)
    assert (old.category.name, old.is_current) == ("type", False)


def test_a_second_look_by_one_of_two_makes_the_label_stale_where_it_differs(study, main_round, bugs, alice, bob, lee):
    both(main_round, bugs[0], alice, bob, TYPE)
    close(main_round, lee)
    again = make_round(study, bugs=bugs[:1], raters=[bob], by=lee, kind=Round.Kind.RELABEL)
    answer(again, bugs[0], bob, {"cause": "api", "stage": "training"})
    close(again, lee)
    cause, stage = (Resolution.objects.current().get(bug=bugs[0], facet__key=key) for key in ("cause", "stage"))
    assert (cause.category.name, cause.is_stale, stage.is_stale) == ("type", True, False)


def test_settling_takes_as_many_queries_for_six_bugs_as_for_one(study, bugs, alice, bob, lee):
    counts = []
    for some in (bugs[:1], bugs[1:]):
        round_ = make_round(study, bugs=some, raters=[alice, bob], by=lee)
        for bug in some:
            both(round_, bug, alice, bob, TYPE)
        closed = freeze(round_=round_, by=lee)
        with CaptureQueriesContext(connection) as queries:
            settle_at_close(round_=closed, by=lee)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def imported_round(study):
    return Round.objects.create(study=study, number=1, name="imported", state="imported", blindness="unknown")


def vote(round_, bug, rater, cause):
    """An answer as an import stores it."""
    from django.utils import timezone

    from annotator.labeling.models import Answer, Assignment

    turn, _ = Assignment.objects.get_or_create(
        round=round_,
        bug=bug,
        rater=rater,
        defaults={"position": 0, "state": "submitted", "submitted_at": timezone.now()},
    )
    category = Category.objects.get(facet__codebook__study=round_.study, facet__key="cause", name=cause)
    Answer.objects.create(assignment=turn, round=round_, bug=bug, rater=rater, facet=category.facet, category=category)


def final(study, bug, cause):
    category = Category.objects.get(facet__codebook__study=study, facet__key="cause", name=cause)
    return Final(bug_id=bug.pk, facet_id=category.facet_id, category_ids=[category.pk], cell=cause)


def test_a_second_sheet_turns_a_single_into_what_both_say(study, bugs, alice, bob, lee):
    round_ = imported_round(study)
    for bug in bugs[:3]:
        vote(round_, bug, alice, "type")
    settle_at_close(round_=round_, by=lee)
    assert {source for *_, source in settled(study)} == {"single"}
    vote(round_, bugs[0], bob, "type")
    vote(round_, bugs[1], bob, "api")
    settle_at_close(round_=round_, by=lee)
    assert settled(study) == [(1, "type", "unanimous"), (3, "type", "single")]
    settle_at_close(round_=round_, by=lee)
    assert Resolution.objects.count() == 2


def test_an_imported_final_outranks_the_votes_and_unanimity_is_still_known(study, bugs, alice, bob, lee):
    round_ = imported_round(study)
    for rater in (alice, bob):
        vote(round_, bugs[0], rater, "type")
        vote(round_, bugs[1], rater, "api")
    import_finals(study=study, rows=[final(study, bugs[0], "shape")], round_=round_, by=lee)
    settle_at_close(round_=round_, by=lee)
    settle_at_close(round_=round_, by=lee)
    assert settled(study) == [(1, "shape", "imported"), (2, "api", "unanimous")]
    unanimous = final_labels(study, "unanimous").order_by("bug__number")
    assert [(row.bug.number, row.category.name) for row in unanimous] == [(1, "type"), (2, "api")]


def test_the_same_finals_again_store_nothing_and_a_changed_one_supersedes(study, bugs, lee):
    rows = [final(study, bug, "type") for bug in bugs]
    assert len(import_finals(study=study, rows=rows, by=lee)) == 6
    assert import_finals(study=study, rows=rows, by=lee) == []
    changed = import_finals(study=study, rows=[final(study, bugs[0], "api")], by=lee)
    assert settled(study)[0] == (1, "api", "imported")
    withdraw_finals(study=study, resolution_ids=changed, by=lee)
    assert settled(study)[0] == (1, "type", "imported")
    assert Resolution.objects.count() == 6


def test_a_final_taken_back_leaves_the_one_before_and_not_the_votes_beside_it(study, bugs, alice, bob, lee):
    round_ = imported_round(study)
    for rater in (alice, bob):
        vote(round_, bugs[0], rater, "type")
    import_finals(study=study, rows=[final(study, bugs[0], "shape")], round_=round_, by=lee)
    settle_at_close(round_=round_, by=lee)
    changed = import_finals(study=study, rows=[final(study, bugs[0], "api")], round_=round_, by=lee)
    withdraw_finals(study=study, resolution_ids=changed, by=lee)
    assert settled(study) == [(1, "shape", "imported")]


def test_labels_of_one_rater_are_that_raters_latest(study, main_round, bugs, alice, bob, lee):
    both(main_round, bugs[0], alice, bob, TYPE, {"cause": "shape", "stage": "training"})
    close(main_round, lee)
    again = make_round(study, bugs=bugs[:1], raters=[alice, bob], by=lee, kind=Round.Kind.RELABEL)
    answer(again, bugs[0], bob, {"cause": "api", "stage": "training"})

    def causes(labels):
        return [row.category.name for row in final_labels(study, labels).filter(facet__key="cause")]

    assert causes("bob") == ["shape"]  # the second look is not over
    close(again, lee)
    assert (causes("alice"), causes("bob")) == (["type"], ["api"])


def test_labels_of_a_stranger_are_refused(study, charlie):
    with pytest.raises(BadInput, match="charlie"):
        final_labels(study, "charlie")


def test_undoing_an_import_takes_back_what_had_settled_itself(study, bugs, alice, bob, lee):
    round_ = imported_round(study)
    for rater, cause in [(alice, "type"), (bob, "type")]:
        vote(round_, bugs[0], rater, cause)
    vote(round_, bugs[1], alice, "type")
    vote(round_, bugs[1], bob, "api")
    settle_at_close(round_=round_, by=lee)
    assert forget_settled(round_=round_, by=lee) == 1
    assert not Resolution.objects.exists()
    assert not Dispute.objects.exists()
