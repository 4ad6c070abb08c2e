"""Open coding: words that differ but stand in one category are one label."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db import transaction

from annotator.accounts.models import User
from annotator.adjudication import deciding
from annotator.adjudication.deciding import Source
from annotator.adjudication.models import Dispute
from annotator.adjudication.positions import Label, Positions, ids, positions_of
from annotator.codebook.models import Category, Facet
from annotator.labeling.models import Answer
from annotator.studies.models import Study

NOTE = "The raters' codes stand in this category"


@dataclass(frozen=True)
class Tree:
    """The categories of a facet, each leading to the one at the top that it counts as."""

    by_id: Mapping[int, Category]

    @classmethod
    def of(cls, facet: Facet) -> "Tree":
        return cls({row.pk: row for row in Category.objects.filter(facet=facet)})

    def top(self, category: Category) -> Category:
        """Itself, where it stands in none. A merged one counts as what took its place."""
        row = self.by_id.get(category.pk, category)
        while (above := row.merged_into_id or row.parent_id) is not None and above in self.by_id:
            row = self.by_id[above]
        return row

    def tops(self, label: Iterable[Category]) -> Label:
        """A label as it counts; empty where one of its codes is not placed yet."""
        found = {top.pk: top for top in map(self.top, label)}
        if any(top.is_code or top.state != Category.State.ACTIVE for top in found.values()):
            return ()
        return tuple(sorted(found.values(), key=lambda one: (one.position, one.pk)))


def agreed(positions: Positions, facet: Facet, tree: Tree) -> Label:
    """The one label that all raters of the bug stand by once their codes are grouped; empty where there is none."""
    labels = {tree.tops(positions.standing(rater.pk, facet.pk)) for rater in positions.raters}
    return labels.pop() if len(labels) == 1 else ()


@transaction.atomic
def settle_grouped(*, study: Study, facet: Facet, by: User) -> int:
    """Settle the disputes on a facet of open coding that end with the grouping. How many."""
    tree, count = Tree.of(facet), 0
    for dispute in waiting(study, facet):
        bug = deciding.lock(dispute.bug)
        if deciding.in_open_round(bug) or not Dispute.objects.filter(pk=dispute.pk, is_open=True).exists():
            continue
        positions = positions_of(bug, dispute.round)
        label = agreed(positions, facet, tree)
        if label and (facet.is_many or len(label) == 1):
            deciding.store(
                bug,
                facet,
                label,
                source=Source.DERIVED,
                basis=positions.round,
                by=by,
                verb="settled by the grouping",
                note=NOTE,
                participants=[rater.username for rater in positions.raters],
            )
            count += 1
    return count


def agreeing(study: Study, facet: Facet) -> int:
    """On how many disputes the blind answers agree once grouped; stands and second looks are heard when settling."""
    tree = Tree.of(facet)
    given: dict[int, dict[int, list[Category]]] = defaultdict(lambda: defaultdict(list))
    disputes = {(dispute.round_id, dispute.bug_id): dispute.pk for dispute in waiting(study, facet)}
    rows = Answer.objects.current().filter(facet=facet, bug__in=[bug for _, bug in disputes])
    for round_id, bug, rater, category in rows.values_list("round_id", "bug_id", "rater_id", "category_id"):
        if dispute := disputes.get((round_id, bug)):
            given[dispute][rater].append(tree.by_id[category])
    labels = [{tree.tops(label) for label in of_bug.values()} for of_bug in given.values()]
    return sum(len(found) == 1 and found != {()} for found in labels)


def note_for(positions: Positions, facet: Facet, label: Iterable[Category]) -> str:
    """A category in which a rater's codes stand needs no words of its own why it is the label."""
    if not facet.takes_codes:
        return ""
    tree, wanted = Tree.of(facet), ids(label)
    said = [tree.tops(positions.before(rater.pk, facet.pk)) for rater in positions.raters]
    return NOTE if any(ids(one) == wanted for one in said) else ""


def waiting(study: Study, facet: Facet) -> Iterable[Dispute]:
    rows = Dispute.objects.filter(study=study, facet=facet, is_open=True, facet__takes_codes=True)
    return rows.select_related("bug", "round__study").order_by("bug__number")
