"""Columns as the database hands them over."""

import pytest

from annotator.collection.models import Item
from annotator.publication.batches import Looked, select
from annotator.publication.columns import TEXT, WHOLE, YES_NO, Column
from tests.factories import StudyFactory, make_bugs
from tests.integration.publication.test_exports import TEXTS

ODD = [
    *TEXTS,
    "",
    " ",
    ",",
    '"',
    '""',
    "\\",
    '\\"',
    "a,b",
    "(x)",
    "(",
    "\\N",
    "x\\",
    '"\n"',
    "\t,\r\n",
    "0",
    "t",
    "f" * 200_000,
]
COLUMNS = (
    Column("title", TEXT, ""),
    Column("author", TEXT, ""),
    Column("number", WHOLE, ""),
    Column("named", TEXT, ""),
    Column("nowhere", TEXT, ""),
    Column("state", YES_NO, ""),
)


@pytest.mark.django_db
@pytest.mark.parametrize("together", [(), ("title", "author", "number"), ("number", "state", "title", "pk")])
def test_texts_are_the_same_whether_read_apart_or_together(together):
    study = StudyFactory()
    items = [bug.item for bug in make_bugs(study, len(ODD))]
    for item, text in zip(items, ODD, strict=True):
        Item.objects.filter(pk=item.pk).update(
            title=text, author=text[::-1][:90], number=None if text == "" else item.pk
        )
    names = {key: f"item {key}" for item in items for key in (item.pk, str(item.pk))}
    paths = {name: name for name in ("title", "author", "number", "state")} | {"named": Looked("pk", names)}
    rows = Item.objects.filter(study=study).order_by("pk")
    found = [cells.values() for cells in select(rows, COLUMNS, paths, together=together)]
    assert found[0] == ODD
    assert found[1] == [text[::-1][:90] for text in ODD]
    assert found[2] == [None if text == "" else item.pk for item, text in zip(items, ODD, strict=True)]
    assert found[3] == [f"item {item.pk}" for item in items]
    assert (set(found[4]), {type(said) for said in found[5]}) == ({""}, {bool})
