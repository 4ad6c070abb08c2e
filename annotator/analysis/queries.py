"""Counts of labels: a few GROUP BYs, whatever the size of the study."""

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

from annotator.analysis.labels import Labels
from annotator.codebook.models import Category, Facet
from annotator.labeling.proposals import hidden_codes
from annotator.studies.models import Study

BY_CATEGORY = "SELECT category_id, COUNT(*) FROM labels GROUP BY category_id"
BY_REPOSITORY = """
SELECT labels.category_id, repository.label, COUNT(*) FROM labels
JOIN sampling_bug bug ON bug.id = labels.bug_id
JOIN collection_item item ON item.id = bug.item_id
LEFT JOIN collection_repository repository ON repository.id = item.repository_id
GROUP BY labels.category_id, repository.label
"""
BY_PAIR = """
SELECT one.category_id, other.category_id, COUNT(*) FROM labels one
JOIN labels other ON other.bug_id = one.bug_id AND other.facet_id > one.facet_id
GROUP BY one.category_id, other.category_id
"""
BY_BUG = "SELECT bug_id, category_id FROM labels WHERE facet_id = %s"
HOW_MANY = "SELECT facet_id, COUNT(DISTINCT bug_id) FROM labels GROUP BY facet_id"
NO_REPOSITORY = "(no repository)"


@dataclass(frozen=True)
class Code:
    """A category as a table names it: by its name, with its uid where the name was used twice."""

    id: int
    uid: str
    name: str
    facet: str
    parent: int | None


@dataclass(frozen=True)
class Question:
    """A facet with its categories in the codebook's order."""

    id: int
    key: str
    name: str
    is_many: bool
    codes: tuple[Code, ...] = field(repr=False)

    @cached_property
    def children(self) -> dict[int, list[int]]:
        below: dict[int, list[int]] = {}
        for code in self.codes:
            if code.parent is not None:
                below.setdefault(code.parent, []).append(code.id)
        return below

    def subtree(self, top: int) -> set[int]:
        """A category and all below it."""
        return {top}.union(*(self.subtree(child) for child in self.children.get(top, ())))


def questions_of(study: Study) -> list[Question]:
    """All facets of the study's codebook, retired ones too: they may have labels."""
    facets = list(Facet.objects.filter(codebook__study=study))
    categories = list(Category.objects.filter(facet__in=facets).exclude(pk__in=hidden_codes(study)))
    return [question(facet, [c for c in categories if c.facet_id == facet.pk]) for facet in facets]


def question(facet: Facet, categories: list[Category]) -> Question:
    names = Counter(category.name for category in categories)
    codes = tuple(
        Code(
            id=category.pk,
            uid=category.uid,
            name=f"{category.name} ({category.uid})" if is_second(category, names) else category.name,
            facet=facet.key,
            parent=category.parent_id,
        )
        for category in categories
    )
    return Question(id=facet.pk, key=facet.key, name=facet.name, is_many=facet.is_many, codes=codes)


def is_second(category: Category, names: Counter[str]) -> bool:
    """A name used anew after its first bearer was retired belongs to the active one."""
    return names[category.name] > 1 and category.state != Category.State.ACTIVE


def count_categories(labels: Labels) -> dict[int, int]:
    """Bugs by category id: of exactly this category."""
    return dict(labels.ask(BY_CATEGORY))


def count_bugs(labels: Labels) -> dict[int, int]:
    """Labelled bugs by facet id."""
    return dict(labels.ask(HOW_MANY))


def count_by_repository(labels: Labels) -> dict[int, dict[str, int]]:
    """Bugs by category id and repository label."""
    counts: dict[int, dict[str, int]] = {}
    for category, repository, n in labels.ask(BY_REPOSITORY):
        counts.setdefault(category, {})[NO_REPOSITORY if repository is None else repository] = n
    return counts


def count_pairs(labels: Labels) -> dict[tuple[int, int], int]:
    """Bugs by two category ids of different facets, in both orders."""
    counts: dict[tuple[int, int], int] = {}
    for one, other, n in labels.ask(BY_PAIR):
        counts[one, other] = counts[other, one] = n
    return counts


def roll_up(labels: Labels, question: Question, counts: dict[int, int]) -> dict[int, int]:
    """Totals of parents: bugs with the category or any below it, each bug once."""
    below = {parent: question.subtree(parent) for parent in question.children}
    if not question.is_many:
        return {parent: sum(counts.get(code, 0) for code in codes) for parent, codes in below.items()}
    if not below:
        return {}
    rows = labels.ask(BY_BUG, question.id)
    return {parent: len({bug for bug, code in rows if code in codes}) for parent, codes in below.items()}
