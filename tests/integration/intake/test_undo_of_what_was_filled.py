"""An undone import leaves the rows that were there as they were: titles, columns and notes that it filled go with it."""

import pytest

from annotator.agreement.models import Snapshot
from annotator.collection.models import Context, Item
from annotator.history.models import Event
from annotator.intake.models import Import
from annotator.intake.undoing import undo
from annotator.labeling.models import Assignment
from tests.integration.intake.conftest import bring

PLAIN = {"item": {"key": "id"}, "raters": {"alice": {"cause": "a"}}, "context": {"Gist": "gist"}}
FULLER = {
    "item": {"key": "id", "title": "title"},
    "raters": {"alice": {"cause": "a", "note": "why", "confidence": "sure"}},
    "context": {"Gist": "gist", "More": "more"},
}
FIRST = [["id", "a", "gist"], ["x", "type", "g1"], ["y", "api", "g2"]]
SECOND = [
    ["id", "a", "gist", "title", "why", "sure", "more"],
    ["x", "type", "g1", "Deadlock", "It is cast.", "sure", "m1"],
    ["y", "api", "g2", "Leak", "", "", ""],
]


def state():
    return (
        list(Item.objects.order_by("key").values_list("key", "title")),
        list(Context.objects.order_by("item__key").values_list("values", flat=True)),
        list(Assignment.objects.order_by("bug__number").values_list("note", "confidence")),
    )


@pytest.fixture
def two_sheets(study, lee):
    bring(study, FIRST, PLAIN, by=lee)
    before = state()
    bring(study, SECOND, FULLER, by=lee)
    assert state() != before
    return before


def undo_second(by):
    return undo(row=Import.objects.get(number=2), by=by)


def test_what_the_second_sheet_filled_goes_with_it(two_sheets, lee):
    undone = undo_second(lee)
    assert state() == two_sheets
    assert (undone.state, undone.created_ids, undone.filled) == ("undone", {}, {})


def test_what_the_first_sheet_brought_can_go_then_too(two_sheets, lee):
    undo_second(lee)
    undo(row=Import.objects.get(number=1), by=lee)
    assert state() == ([], [], [])
    assert not Snapshot.objects.exists()
    assert Event.objects.filter(verb="forgot the agreement of an undone import").count() == 1


def test_a_title_that_changed_since_stays(two_sheets, lee):
    Item.objects.filter(key="x").update(title="Deadlock in the loader")
    undo_second(lee)
    assert dict(Item.objects.values_list("key", "title")) == {"x": "Deadlock in the loader", "y": ""}


def test_the_same_sheet_fills_again_after_an_undo(study, two_sheets, lee):
    undo_second(lee)
    report = bring(study, SECOND, FULLER, by=lee)
    assert report["errors"] == []
    assert state() != two_sheets
    assert Assignment.objects.filter(note="It is cast.", confidence="sure").count() == 1
