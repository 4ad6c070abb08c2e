"""Counts of labels for one table at a time: each a single pass over the labels of the facets that it is about."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from django.db import connection, transaction
from django.db.models import Case, F, Value, When

from annotator.adjudication.queries import FINAL, UNANIMOUS, final_labels
from annotator.analysis.queries import NO_REPOSITORY, Code, Question, questions_of
from annotator.studies.models import Study
from annotator.web.errors import BadInput

TOP = "top"
BY_CATEGORY = "SELECT category_id, COUNT(*) FROM labels GROUP BY category_id"
ROOM = "SET LOCAL work_mem = '128MB'"
BUGS = "SELECT COUNT(DISTINCT bug_id) FROM labels"
BY_PAIR = """
SELECT labels.category_id, others.category_id, COUNT(*) FROM labels
JOIN others ON others.bug_id = labels.bug_id GROUP BY labels.category_id, others.category_id
"""
BUGS_OF_BOTH = "SELECT COUNT(DISTINCT labels.bug_id) FROM labels JOIN others ON others.bug_id = labels.bug_id"
BY_PLACE = """
SELECT labels.category_id, item.repository_id, COUNT(*) FROM labels
JOIN sampling_bug bug ON bug.id = labels.bug_id JOIN collection_item item ON item.id = bug.item_id
GROUP BY labels.category_id, item.repository_id
"""
BUGS_BY_PLACE = """
SELECT item.repository_id, COUNT(DISTINCT labels.bug_id) FROM labels
JOIN sampling_bug bug ON bug.id = labels.bug_id JOIN collection_item item ON item.id = bug.item_id
GROUP BY item.repository_id
"""
BY_MONTH = """
SELECT MONTH, labels.category_id, COUNT(*) FROM labels
JOIN sampling_bug bug ON bug.id = labels.bug_id JOIN collection_item item ON item.id = bug.item_id
GROUP BY 1, 2
"""
MONTHS = {
    "sqlite": {"merged": "substr(item.merged_at, 1, 7)", "closed": "substr(item.closed_at, 1, 7)"},
    "postgresql": {
        "merged": "date_trunc('month', item.merged_at, 'UTC')",
        "closed": "date_trunc('month', item.closed_at, 'UTC')",
    },
}
BY_STRATUM = """
SELECT labels.category_id, drawn.stratum_id, COUNT(*) FROM labels
JOIN sampling_bug bug ON bug.id = labels.bug_id
JOIN sampling_drawn drawn ON drawn.item_id = bug.item_id AND drawn.state = 'taken'
GROUP BY labels.category_id, drawn.stratum_id
"""
OF_SHARED_ITEMS = """
SELECT bug.item_id, labels.category_id, COUNT(*) FROM labels JOIN sampling_bug bug ON bug.id = labels.bug_id
WHERE bug.item_id IN (SELECT item_id FROM sampling_bug WHERE study_id = %s AND ordinal > 1)
GROUP BY bug.item_id, labels.category_id
"""
BY_SECONDS = """
SELECT labels.category_id, turn.active_seconds, COUNT(*) FROM labels
JOIN labeling_assignment turn ON turn.bug_id = labels.bug_id AND turn.state = 'submitted'
JOIN labeling_round round ON round.id = turn.round_id
WHERE round.state <> 'open' AND round.kind IN ('main', 'relabel') AND round.study_id = %s
GROUP BY labels.category_id, turn.active_seconds
"""


class Reading:
    """The labels of a study that a person asks for, counted at the categories given, or at their top ones.

    Nothing is read before it is asked for; what was read is kept for the life of the object.
    """

    def __init__(self, study: Study, labels: str = FINAL, *, level: str = "given") -> None:
        self.study, self.labels, self.level = study, labels, level

    @cached_property
    def questions(self) -> list[Question]:
        return questions_of(self.study)

    def question(self, name: str) -> Question:
        """The facet of that key, else of that name."""
        for question in self.questions:
            if name == question.key:
                return question
        for question in self.questions:
            if name.casefold() == question.name.casefold():
                return question
        known = ", ".join(question.key for question in self.questions) or "none"
        raise BadInput(f"The codebook has no facet “{name[:60]}”. It has: {known}; “repository” goes too.")

    def codes(self, question: Question) -> list[Code]:
        """What is counted: all categories, or the top ones."""
        return [code for code in question.codes if self.level != TOP or code.parent is None]

    def tops(self, question: Question) -> dict[int, int]:
        """Of each category the one that it counts under."""
        parents = {code.id: code.parent for code in question.codes}
        if self.level != TOP:
            return {code: code for code in parents}

        def top(code: int) -> int:
            parent = parents[code]
            return code if parent is None or parent not in parents else top(parent)

        return {code: top(code) for code in parents}

    # --- the labels as SQL

    def select(self, question: Question) -> tuple[str, list[Any]]:
        """A SELECT of bug and category of one facet, each pair once."""
        rows = final_labels(self.study, self.labels, names=False).filter(facet=question.id).order_by()
        rows = rows.values("bug_id", counted_as=self._counted_as(question))
        if question.is_many or self.labels == UNANIMOUS:
            rows = rows.distinct()
        sql, params = rows.query.sql_with_params()
        return sql, list(params)

    def _counted_as(self, question: Question) -> Any:
        """A bug with two categories below one counts there once; with one category, counts are added up later."""
        lower = {code: top for code, top in self.tops(question).items() if code != top}
        if not question.is_many or not lower:
            return F("label_id")
        whens = [When(label_id=code, then=Value(top)) for code, top in sorted(lower.items())]
        return Case(*whens, default=F("label_id"))

    def ask(self, sql: str, *params: Any, of: Question, and_: Question | None = None) -> list[tuple[Any, ...]]:
        """Rows of a SELECT that reads from `labels`, and from `others` where a second facet is given."""
        labels, values = self.select(of)
        others, more = self.select(and_) if and_ else ("SELECT 0, 0", [])
        with roomy(), connection.cursor() as cursor:
            cursor.execute(
                f"WITH labels (bug_id, category_id) AS ({labels}), others (bug_id, category_id) AS ({others}) {sql}",
                [*values, *more, *params],
            )
            return cursor.fetchall()  # type: ignore[no-any-return]  # the driver is untyped

    # --- counts

    def categories(self, question: Question) -> dict[int, int]:
        """Bugs by category."""
        tops, counts = self.tops(question), Counter[int]()
        for code, n in self.ask(BY_CATEGORY, of=question):
            counts[tops.get(code, code)] += n
        return dict(counts)

    def bugs(self, question: Question) -> int:
        """Bugs with any label."""
        return int(self.ask(BUGS, of=question)[0][0])

    def pairs(self, one: Question, other: Question) -> dict[tuple[int, int], int]:
        """Bugs by a category of each facet."""
        tops, others = self.tops(one), self.tops(other)
        counts: Counter[tuple[int, int]] = Counter()
        for a, b, n in self.ask(BY_PAIR, of=one, and_=other):
            counts[tops.get(a, a), others.get(b, b)] += n
        return dict(counts)

    def bugs_of_both(self, one: Question, other: Question) -> int:
        """Bugs with labels of both facets, each once."""
        return int(self.ask(BUGS_OF_BOTH, of=one, and_=other)[0][0])

    def places(self, question: Question) -> dict[tuple[int, str], int]:
        """Bugs by category and repository."""
        tops, counts = self.tops(question), Counter[tuple[int, str]]()
        for code, repository, n in self.ask(BY_PLACE, of=question):
            counts[tops.get(code, code), self.repositories.get(repository, NO_REPOSITORY)] += n
        return dict(counts)

    def bugs_by_place(self, question: Question) -> dict[str, int]:
        """Labelled bugs by repository, each once."""
        rows = self.ask(BUGS_BY_PLACE, of=question)
        return {self.repositories.get(repository, NO_REPOSITORY): n for repository, n in rows}

    @cached_property
    def repositories(self) -> dict[int | None, str]:
        return dict(self.study.repositories.values_list("pk", "label"))

    def months(self, question: Question, moment: str) -> dict[tuple[str, int], int]:
        """Bugs by month ("2021-03", in UTC; "" where there is no date) and category."""
        sql = BY_MONTH.replace("MONTH", MONTHS[connection.vendor][moment])
        tops, counts = self.tops(question), Counter[tuple[str, int]]()
        for when, code, n in self.ask(sql, of=question):
            counts[str(when or "")[:7], tops.get(code, code)] += n
        return dict(counts)

    def strata(self, question: Question) -> dict[tuple[int, int], int]:
        """Bugs by category and by the stratum of the sample that they were drawn in."""
        tops, counts = self.tops(question), Counter[tuple[int, int]]()
        for code, stratum, n in self.ask(BY_STRATUM, of=question):
            counts[tops.get(code, code), stratum] += n
        return dict(counts)

    def shared(self, question: Question) -> dict[int, dict[int, int]]:
        """By item that holds several bugs, its labelled ones by category."""
        tops, found = self.tops(question), dict[int, Counter[int]]()
        for item, code, n in self.ask(OF_SHARED_ITEMS, self.study.pk, of=question):
            found.setdefault(item, Counter())[tops.get(code, code)] += n
        return {item: dict(counts) for item, counts in found.items()}

    def seconds(self, question: Question) -> dict[int, Counter[int]]:
        """By category, how many submitted turns of rounds that are no longer open took how many active seconds."""
        tops, found = self.tops(question), dict[int, Counter[int]]()
        for code, seconds, n in self.ask(BY_SECONDS, self.study.pk, of=question):
            found.setdefault(tops.get(code, code), Counter())[seconds] += n
        return found


@contextmanager
def roomy() -> Iterator[None]:
    """Where the server bounds memory by statement, enough of it to join a million labels there."""
    if connection.vendor != "postgresql":
        yield
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(ROOM)
        yield
