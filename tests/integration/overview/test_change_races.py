"""Two people at the codebook at the same instant, and a change that meets the close of a round."""

import pytest

from annotator.codebook.actions import add_category, edit_category
from annotator.codebook.changes import CategoryChange
from annotator.codebook.living import merge_categories, redefine_category, undo_change
from annotator.codebook.meanwhile import ChangedMeanwhile
from annotator.codebook.models import Category, Change, Codebook, Version
from annotator.labeling.actions import submit
from annotator.labeling.models import Answer, Assignment, Round
from annotator.labeling.submission import Submission
from annotator.overview.changes.changing import make
from annotator.overview.changes.relabelling import open_relabel_round
from annotator.overview.rounds.closing import close_round
from annotator.web.errors import Refused
from tests.factories import answer
from tests.together import at_once

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]
GOOD = {"cause": "type", "stage": "training"}


def row(name: str) -> Category:
    return Category.objects.select_related("facet__codebook").get(name=name, state="active")


def fill(round_: Round, bugs, raters) -> None:
    for bug in bugs:
        for rater in raters:
            answer(round_, bug, rater, GOOD)


def test_of_two_edits_of_a_category_the_second_is_told_and_overwrites_nothing(study, lee, ada):
    kind = row("type")
    got = at_once(
        lambda: edit_category(category=kind, by=lee, change=CategoryChange(definition="first"), seen=1),
        lambda: edit_category(category=kind, by=ada, change=CategoryChange(definition="second"), seen=1),
    )
    told = [one for one in got if isinstance(one, ChangedMeanwhile)]
    saved = [one for one in got if isinstance(one, Category)]
    assert (len(told), len(saved)) == (1, 1)
    assert row("type").definition == saved[0].definition
    assert (Version.objects.count(), Change.objects.count()) == (2, 1)


def test_changes_of_several_people_get_numbers_and_versions_of_their_own(study, lee):
    facet = row("type").facet
    at_once(
        *(
            lambda name=name: add_category(facet=facet, by=lee, change=CategoryChange(name=name))
            for name in ("a", "b", "c", "d")
        )
    )
    assert list(Change.objects.values_list("number", flat=True)) == [1, 2, 3, 4]
    assert sorted(Version.objects.values_list("number", flat=True)) == [1, 2, 3, 4, 5]
    assert Codebook.objects.get().number == 5
    assert Category.objects.filter(name__in="abcd").count() == 4


def test_a_merge_that_meets_the_close_waits_for_it_or_comes_after_it(study, main_round, bugs, alice, bob, lee):
    fill(main_round, bugs, [alice, bob])
    shape, kind = row("shape"), row("type")
    closed, change = at_once(
        lambda: close_round(round_=main_round, by=lee),
        lambda: make(study, merge_categories, sources=[shape], into=kind, reason="one thing", by=lee),
    )
    assert isinstance(closed, Round)
    assert isinstance(change, Change)
    assert Change.objects.get().applied_at is not None  # by the close where it was written down before it
    shape.refresh_from_db()
    assert shape.merged_into == kind


def test_a_change_is_undone_once(study, lee, ada):
    edit_category(category=row("type"), by=lee, change=CategoryChange(name="kind"))
    change = Change.objects.get()
    got = at_once(
        lambda: undo_change(change=change, by=lee, reason="no"), lambda: undo_change(change=change, by=ada, reason="no")
    )
    assert sorted(type(one).__name__ for one in got) == ["Change", "Refused"]
    assert row("type").name == "type"


def test_one_click_opens_one_relabel_round(study, main_round, bugs, alice, bob, lee):
    fill(main_round, bugs, [alice, bob])
    close_round(round_=main_round, by=lee)
    change = make(
        study, redefine_category, category=row("type"), change=CategoryChange(definition="d"), reason="r", by=lee
    )
    got = at_once(lambda: open_relabel_round(change=change, by=lee), lambda: open_relabel_round(change=change, by=lee))
    assert sorted(type(one).__name__ for one in got) == ["Refused", "Round"]
    assert Round.objects.filter(due_to=change).count() == 1
    assert isinstance(next(one for one in got if not isinstance(one, Round)), Refused)


def test_an_answers_stamp_is_true_though_the_codebook_changes_at_that_moment(study, main_round, bugs, alice, bob, lee):
    uids = {key: [row(name).uid] for key, name in GOOD.items()}
    turns = list(Assignment.objects.filter(round=main_round, rater=alice).select_related("rater"))
    acts = [
        lambda turn=turn: submit(assignment=turn, submission=Submission(answers=uids), by=turn.rater) for turn in turns
    ]
    changes = [
        lambda name=name: add_category(facet=row("type").facet, by=lee, change=CategoryChange(name=name))
        for name in ("a", "b", "c")
    ]
    at_once(*acts, *changes)
    assert Answer.objects.filter(facet__key="cause").count() == len(turns)
    offered = {
        version.number: {c["id"] for f in version.document["facets"] for c in f["categories"] if not c.get("retired")}
        for version in Version.objects.all()
    }
    for version, uid in Answer.objects.values_list("version", "category__uid"):
        assert uid in offered[version]
