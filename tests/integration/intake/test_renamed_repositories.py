"""A sheet may name a repository by whatever it was ever called: its items are the ones that are there."""

import pytest

from annotator.collection.actions import Place, repository_at
from annotator.collection.importing import SheetItem, add_items
from annotator.collection.models import Item, Link, Repository
from annotator.intake.models import Import
from annotator.intake.undoing import undo
from tests.factories import ItemFactory
from tests.integration.intake.conftest import bring

BY_URL = {"item": {"kind": "pull_request", "url": "url"}}
BY_NAME = {"item": {"kind": "pull_request", "repository": "project", "number": "number"}}


@pytest.fixture
def moved(study) -> Repository:
    """Collected as old/name, which is new/name today; item 5 is held."""
    repository = repository_at(study=study, place=Place(7, "github.com", "old", "name", "old/name"))
    repository_at(study=study, place=Place(7, "github.com", "new", "name", "old/name"))
    identity = repository.identity_of(5)
    add_items(study=study, rows=[SheetItem(identity, "pull_request", repository.pk, 5, title="Held")])
    repository.refresh_from_db()
    return repository


@pytest.mark.parametrize("name", ["old/name", "New/Name"])
def test_an_address_under_either_name_is_the_item_that_is_there(study, moved, name):
    rows = [["url"], [f"https://github.com/{name}/pull/5"], [f"https://github.com/{name}/pull/6"]]
    report = bring(study, rows, BY_URL)
    assert (report["items_created"], report["bugs_created"]) == (1, 2)
    assert list(Item.objects.order_by("number").values_list("identity", "repository")) == [
        ("github.com/old/name#5", moved.pk),
        ("github.com/old/name#6", moved.pk),
    ]
    assert bring(study, rows, BY_URL)["items_created"] == 0


@pytest.mark.parametrize("name", ["old/name", "New/Name", "https://github.com/new/name"])
def test_a_name_and_a_number_are_the_item_that_is_there(study, moved, name):
    report = bring(study, [["project", "number"], [name, "5"], [name, "6"]], BY_NAME)
    assert (report["items_created"], report["bugs_created"]) == (1, 2)
    assert Repository.objects.filter(study=study).get() == moved


def test_both_names_in_one_sheet_are_bugs_of_the_same_item(study, moved):
    rows = [["url"], ["https://github.com/old/name/pull/8"], ["https://github.com/new/name/pull/8"]]
    report = bring(study, rows, BY_URL)
    assert (report["items_created"], report["bugs_created"]) == (1, 2)


def test_a_label_that_proved_to_be_the_same_repository_leads_there(study):
    rows = [["project", "url"], ["Old Name", "https://github.com/old/name/pull/5"]]
    bring(study, rows, {"item": {"kind": "pull_request", "repository": "project", "url": "url"}})
    repository_at(study=study, place=Place(7, "github.com", "new", "name", "new/name"))
    repository_at(study=study, place=Place(7, "github.com", "new", "name", "old/name"))
    report = bring(study, [["project", "number"], ["Old Name", "5"], ["new/name", "5"]], BY_NAME)
    assert report["items_created"] == 0
    assert Item.objects.filter(study=study).count() == 1
    assert Repository.objects.filter(study=study).count() == 1


def test_items_that_are_there_under_both_names_are_not_merged(study):
    for name in ("old/name", "new/name"):
        bring(study, [["url"], [f"https://github.com/{name}/pull/5"]], BY_URL)
    repository_at(study=study, place=Place(7, "github.com", "new", "name", "new/name"))
    repository_at(study=study, place=Place(7, "github.com", "new", "name", "old/name"))
    assert Item.objects.filter(study=study, number=5).count() == 2
    assert Repository.objects.filter(study=study).count() == 1


def test_an_import_is_undone_though_links_lead_to_its_items(study, lee):
    bring(study, [["url"], ["https://github.com/frame/wood/pull/5"]], BY_URL, by=lee)
    item = ItemFactory(study=study)
    link = Link.objects.create(
        item=item,
        host="github.com",
        owner="frame",
        name="wood",
        number=5,
        source="mention",
        target=Item.objects.get(number=5),
    )
    undo(row=Import.objects.get(study=study), by=lee)
    link.refresh_from_db()
    assert link.target is None
