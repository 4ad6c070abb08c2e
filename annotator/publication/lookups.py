"""What the keys in the rows of a study stand for."""

from collections.abc import Iterable
from typing import Any

from annotator.accounts.models import User
from annotator.codebook.models import Category, Facet
from annotator.collection.models import Item, ItemText, Repository
from annotator.labeling.models import Round
from annotator.publication import columns
from annotator.publication.batches import Looked, Paths, Range, lookup, read
from annotator.publication.columns import Column
from annotator.studies.models import Study

BUG = {"bug": "number", "ordinal": "ordinal", "left": "left_reason", "left_note": "left_note"}
ITEM = {
    "kind": "kind",
    "number": "number",
    "key": "key",
    "url": "url",
    "title": "title",
    "state": "state",
    "author": "author",
    "opened_at": "opened_at",
    "closed_at": "closed_at",
    "merged_at": "merged_at",
}
ROUND = {"round": "name", "round_number": "number", "round_kind": "kind", "blindness": "blindness"}
CATEGORY = {"category": "name", "category_uid": "uid"}


class Names:
    """What the keys in the rows of a study stand for: read once, but for the bugs."""

    def __init__(self, study: Study) -> None:
        facets = Facet.objects.filter(codebook__study=study).order_by("position", "key")
        categories = Category.objects.filter(facet__codebook__study=study)
        people = lookup(User.objects.all(), columns.ANSWERS, {"rater": "username"}, by="rater_id")
        self.rounds = lookup(Round.objects.filter(study=study), columns.ANSWERS, ROUND, by="round_id")
        self.facet = lookup(facets, columns.ANSWERS, {"facet": "key"}, by="facet_id")
        self.categories = lookup(categories, columns.ANSWERS, CATEGORY, by="category_id")
        self.people = people["rater"].says
        self.repositories = lookup(
            Repository.objects.filter(study=study), columns.WHICH_BUG, {"repository": "label"}, by="repository_id"
        )
        self.position = Looked("facet_id", {key: place for place, key in enumerate(self.facet["facet"].says)})

    def label(self, by: str = "category_id") -> dict[str, Looked]:
        return self.facet | {name: Looked(by, each.says) for name, each in self.categories.items()}

    def person(self, **by: str) -> dict[str, Looked]:
        return {column: Looked(path, self.people) for column, path in by.items()}

    def bugs(self, bugs: Range) -> dict[str, Looked]:
        return lookup(bugs.bugs(), columns.WHICH_BUG, self.about(bugs, columns.WHICH_BUG), by="bug_id")

    def about(self, bugs: Range, wanted: tuple[Column, ...]) -> Paths:
        """Where a row of a bug has these columns: its own, its item's, and the item's description."""
        items = lookup(bugs.of_items(Item.objects.all(), "pk"), wanted, {**ITEM, **self.repositories}, by="item_id")
        names = {column.name for column in wanted}
        if "body" in names:
            items["body"] = bodies(bugs, items["number"].says)
        return {name: path for name, path in BUG.items() if name in names} | items


def bodies(bugs: Range, items: Iterable[Any]) -> Looked:
    """The items' descriptions; few have one here."""
    keys, texts = read(bugs.of_items(ItemText.objects.all()), ["item_id", "body"])
    return Looked("item_id", dict.fromkeys(items, "") | dict(zip(keys, texts, strict=True)))
