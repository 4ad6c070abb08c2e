"""What the keys in the rows of a study stand for."""

from annotator.accounts.models import User
from annotator.codebook.models import Category, Facet
from annotator.labeling.models import Round
from annotator.publication import columns
from annotator.publication.batches import Looked, Range, lookup
from annotator.studies.models import Study

WHICH_BUG = {
    "bug": "number",
    "repository": "item__repository__label",
    "number": "item__number",
    "ordinal": "ordinal",
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
        self.position = Looked("facet_id", {key: place for place, key in enumerate(self.facet["facet"].says)})

    def label(self, by: str = "category_id") -> dict[str, Looked]:
        return self.facet | {name: Looked(by, each.says) for name, each in self.categories.items()}

    def person(self, **by: str) -> dict[str, Looked]:
        return {column: Looked(path, self.people) for column, path in by.items()}

    def bugs(self, bugs: Range) -> dict[str, Looked]:
        return lookup(bugs.bugs(), columns.WHICH_BUG, WHICH_BUG, by="bug_id")
