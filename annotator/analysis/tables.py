"""What the `tables` command prints, and the page and the REST interface show."""

from typing import Any

from annotator.analysis import correlations, queries
from annotator.analysis.labels import FINAL, labels_of
from annotator.analysis.queries import Question
from annotator.codebook.models import Category, Facet
from annotator.studies.models import Study
from annotator.web.errors import BadInput

REPOSITORY = "repository"


class Tables:
    """All counts of a study's labels, by names, over the categories in use."""

    def __init__(self, study: Study, choice: str = FINAL) -> None:
        self.labels = labels_of(study, choice)
        self.questions = queries.questions_of(study)
        self.counts = queries.count_categories(self.labels)
        self.bugs = queries.count_bugs(self.labels)

    def used(self) -> list[Question]:
        """Facets with labels; the verdict only where a bug is none."""
        return [q for q in self.questions if self.bugs.get(q.id) and (q.key != Facet.VERDICT or self._has_non_bug(q))]

    def _has_non_bug(self, verdict: Question) -> bool:
        return any(code.name != Category.BUG and self.counts.get(code.id) for code in verdict.codes)

    def named(self, name: str) -> Question:
        """The facet of that key, else of that name."""
        for question in self.questions:
            if question.key == name:
                return question
        for question in self.questions:
            if question.name.casefold() == name.casefold():
                return question
        known = ", ".join(question.key for question in self.questions) or "none"
        raise BadInput(f"The codebook has no facet “{name}”. It has: {known}; “repository” goes too.")

    def counts_of(self, question: Question) -> dict[str, int]:
        return {code.name: self.counts[code.id] for code in question.codes if self.counts.get(code.id)}

    def rollup_of(self, question: Question) -> dict[str, int]:
        totals = queries.roll_up(self.labels, question, self.counts)
        return {code.name: totals[code.id] for code in question.codes if totals.get(code.id)}

    def by_repository(self, questions: list[Question]) -> dict[str, dict[str, dict[str, int]]]:
        found = queries.count_by_repository(self.labels)
        return {
            q.key: {code.name: sorted_by_name(found[code.id]) for code in q.codes if code.id in found}
            for q in questions
        }

    def crosstabs(self, pairs: list[tuple[Question, Question]]) -> dict[str, dict[str, dict[str, int]]]:
        found = queries.count_pairs(self.labels) if pairs else {}
        by_one: dict[int, dict[int, int]] = {}
        for (one, other), n in found.items():
            by_one.setdefault(one, {})[other] = n
        return {f"{f.key} × {g.key}": cross(f, g, by_one) for f, g in pairs}


def sorted_by_name(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def cross(f: Question, g: Question, counts: dict[int, dict[int, int]]) -> dict[str, dict[str, int]]:
    table = {}
    for code in f.codes:
        row = counts.get(code.id, {})
        if cells := {other.name: row[other.id] for other in g.codes if other.id in row}:
            table[code.name] = cells
    return table


def transposed(table: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    turned: dict[str, dict[str, int]] = {}
    for a, row in table.items():
        for b, n in row.items():
            turned.setdefault(b, {})[a] = n
    return dict(sorted(turned.items()))


def tables(study: Study, *, choice: str = FINAL, by: str = "", across: str = "") -> dict[str, Any]:
    """The document of the `tables` command: everything, or what `by` and `across` ask for."""
    if across and not by:
        raise BadInput("Say with --by what goes across: --by FACET --across FACET.")
    read = Tables(study, choice)
    asked = [name if name == REPOSITORY else read.named(name) for name in (by, across) if name]
    if len(asked) == 2 and asked[0] == asked[1]:
        raise BadInput("A table needs two different sides.")
    facets = [side for side in asked if isinstance(side, Question)] or read.used()
    by_repository = read.by_repository(facets) if not across or REPOSITORY in asked else {}
    pairs = [(f, g) for f in facets for g in facets if f is not g] if not by else []
    if across and REPOSITORY not in asked:
        pairs = [(facets[0], facets[1])]
    return {
        "study": study.slug,
        "labels": choice,
        "bugs": {q.key: read.bugs.get(q.id, 0) for q in facets},
        "facets": {q.key: read.counts_of(q) for q in facets},
        "rollup": {q.key: read.rollup_of(q) for q in facets},
        "by_repository": by_repository,
        "crosstabs": read.crosstabs(pairs) | repository_crosstabs(asked, by_repository),
        "spearman": {key: correlations.of_repositories(counts) for key, counts in by_repository.items()},
    }


def repository_crosstabs(asked: list[Question | str], counts: dict[str, Any]) -> dict[str, Any]:
    """Where the repository is a side that was asked for, the table stands under that name too."""
    if len(asked) != 2 or REPOSITORY not in asked:
        return {}
    key, table = next(iter(counts.items()))
    if asked[0] == REPOSITORY:
        return {f"{REPOSITORY} × {key}": transposed(table)}
    return {f"{key} × {REPOSITORY}": table}
