"""What changes the meaning of answers waits for the end of open rounds; what it leaves is labelled again."""

import pytest
from django.db import DatabaseError, transaction

from annotator.agreement.models import Snapshot
from annotator.codebook.actions import add_category, edit_category, remove_category
from annotator.codebook.changes import CategoryChange
from annotator.codebook.living import (
    merge_categories,
    redefine_category,
    split_category,
    undo_change,
    waiting,
    withdraw_change,
)
from annotator.codebook.models import Category, Change
from annotator.history.models import Event
from annotator.labeling.models import Assignment, Round
from annotator.overview.changes.changing import carry_out, make, undo
from annotator.overview.changes.previewing import preview
from annotator.overview.changes.relabelling import due_to, open_relabel_round
from annotator.overview.changes.relabelling import waiting as waiting_for_relabelling
from annotator.overview.rounds.closing import close_round
from annotator.studies.models import Membership
from annotator.web.errors import Refused
from tests.factories import answer, make_round

GOOD = {"cause": "type", "stage": "training"}


def row(name: str) -> Category:
    return Category.objects.get(name=name, state="active")


def merge(study, lee, source="shape", into="type") -> Change:
    return make(study, merge_categories, sources=[row(source)], into=row(into), reason="one thing", by=lee)


def split(study, lee) -> Change:
    parts = [CategoryChange(name="of values"), CategoryChange(name="of dtypes")]
    return make(study, split_category, category=row("type"), parts=parts, reason="two", by=lee)


def redefine(study, lee) -> Change:
    change = CategoryChange(definition="Wrong type given.")
    return make(study, redefine_category, category=row("type"), change=change, reason="narrower", by=lee)


def fill(round_: Round, cause: str = "type") -> Round:
    for turn in round_.assignments.all():
        answer(round_, turn.bug, turn.rater, GOOD | {"cause": cause})
    return round_


# --- waiting


@pytest.mark.parametrize("act", [merge, split, redefine])
def test_while_a_round_is_open_it_is_written_down_and_changes_nothing(main_round, study, lee, act):
    change = act(study, lee)
    assert (change.applied_at, change.version) == (None, None)
    assert set(row("type").facet.categories.values_list("state", flat=True)) == {"active"}
    assert study.codebook.number == 1


def test_without_an_open_round_it_is_carried_out_at_once(study, lee):
    assert merge(study, lee).applied_at is not None


def test_the_close_counts_first_and_carries_out_then(main_round, study, lee):
    change = merge(study, lee)
    fill(main_round, "shape")
    close_round(round_=main_round, by=lee)
    change.refresh_from_db()
    assert change.applied_at is not None
    kept = Snapshot.objects.get()
    assert kept.entries[0]["table"]["categories"] == ["type", "shape", "api"]
    assert kept.taken_at < change.applied_at
    assert Category.objects.get(name="shape").merged_into == row("type")


def test_it_waits_for_the_last_of_several_rounds(main_round, study, bugs, alice, bob, lee):
    another = make_round(study, bugs=bugs[:1], raters=[alice, bob], by=lee, kind="retest")
    change = merge(study, lee)
    close_round(round_=main_round, by=lee)
    change.refresh_from_db()
    assert change.applied_at is None
    close_round(round_=another, by=lee)
    change.refresh_from_db()
    assert change.applied_at is not None


def test_several_are_carried_out_in_the_order_in_which_they_were_planned(main_round, study, lee):
    merge(study, lee, "shape", "api")
    merge(study, lee, "api", "type")
    close_round(round_=main_round, by=lee)
    assert Category.objects.get(name="shape").merged_into == row("type")


def test_what_has_become_impossible_stays_and_the_round_closes_all_the_same(main_round, study, lee):
    change = merge(study, lee)
    remove_category(category=row("shape"), by=lee, reason="unused")
    closed = close_round(round_=main_round, by=lee)
    assert closed.state == "closed"
    assert waiting(study.codebook) == [change]
    event = Event.objects.get(verb="could not carry out a change")
    assert "not in use any more" in event.why
    with pytest.raises(Refused, match="not in use any more"):
        carry_out(change=change, by=lee)
    withdraw_change(change=change, by=lee)


def test_on_demand_not_before_the_round_is_over(main_round, study, lee):
    change = merge(study, lee)
    with pytest.raises(Refused, match="waits for the end of Round 1"):
        carry_out(change=change, by=lee)


def test_the_database_itself_lets_nothing_take_effect_early(main_round, study, lee):
    with pytest.raises(DatabaseError, match="waits for the end of open rounds"), transaction.atomic():
        merge_categories(sources=[row("shape")], into=row("type"), reason="r", by=lee)


def test_taking_back_waits_as_well(study, bugs, alice, bob, lee):
    merged = merge(study, lee)
    now_open = make_round(study, bugs=bugs, raters=[alice, bob], by=lee)
    counter = undo(change=merged, by=lee, reason="they differ")
    assert counter.applied_at is None
    withdraw_change(change=counter, by=lee)
    with pytest.raises(DatabaseError, match="waits for the end of open rounds"), transaction.atomic():
        undo_change(change=merged, by=lee, reason="they differ")
    counter = undo(change=merged, by=lee, reason="they differ")
    fill(now_open)
    close_round(round_=now_open, by=lee)
    assert row("shape").merged_into is None
    assert due_to(Change.objects.get(pk=counter.pk)).bugs == 6  # answered “type” while shape was part of it


def test_what_is_clarified_added_or_renamed_waits_for_nothing(main_round, study, lee):
    edit_category(category=row("type"), by=lee, change=CategoryChange(name="kind", definition="d"))
    add_category(facet=row("kind").facet, by=lee, change=CategoryChange(name="leak"))
    assert not Change.objects.filter(applied_at=None).exists()


# --- labelling again


def test_after_a_changed_meaning_its_bugs_go_to_their_raters_with_the_other_answers_filled_in(
    main_round, study, alice, lee
):
    fill(main_round)
    close_round(round_=main_round, by=lee)
    change = redefine(study, lee)
    ((listed, due),) = waiting_for_relabelling(study)
    assert (listed, due.bugs, due.without_raters) == (change, 6, 0)
    opened = open_relabel_round(change=change, by=lee)
    turn = Assignment.objects.filter(round=opened, rater=alice).first()
    assert turn is not None
    assert turn.draft["answers"] == {"stage": [row("training").uid]}
    assert turn.state == "todo"
    assert waiting_for_relabelling(study) == []
    with pytest.raises(Refused, match="no bug waits"):
        open_relabel_round(change=change, by=lee)


def test_a_changed_meaning_that_is_taken_back_at_once_leaves_nothing_to_do(main_round, study, lee):
    fill(main_round)
    close_round(round_=main_round, by=lee)
    change = redefine(study, lee)
    undo(change=change, by=lee, reason="no")
    assert waiting_for_relabelling(study) == []
    assert preview(row("type").facet, act="redefine", touched=[row("type").uid]).labels == 6


def test_who_rates_no_more_is_not_asked_again(main_round, study, alice, bob, lee):
    fill(main_round)
    close_round(round_=main_round, by=lee)
    Membership.objects.filter(study=study, user=bob).delete()
    opened = open_relabel_round(change=split(study, lee), by=lee)
    assert {turn.rater for turn in opened.assignments.all()} == {alice}


def test_without_any_rater_left_it_is_said(main_round, study, alice, bob, lee):
    fill(main_round)
    close_round(round_=main_round, by=lee)
    change = split(study, lee)
    Membership.objects.filter(study=study, user__in=[alice, bob]).delete()
    due = due_to(change)
    assert (due.bugs, due.without_raters) == (0, 6)


def test_a_preview_counts_nothing_of_an_open_round(main_round, study, lee):
    kind = row("type")
    before = preview(kind.facet, act="merge", touched=[kind.uid], into=row("api").uid)
    fill(main_round)
    after = preview(kind.facet, act="merge", touched=[kind.uid], into=row("api").uid)
    assert before == after
    assert [one.name for one in after.waits_for] == ["Round 1"]
    assert after.sentence == "No answer of a round that is over."
