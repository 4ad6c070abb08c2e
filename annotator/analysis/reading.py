"""Counts of labels for one table at a time: each a single pass over the labels of the facets that it is about."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from django.db import connection, transaction
from django.db.models import Case, F, Value, When

from annotator.adjudication.queries import FINAL, UNANIMOUS, final_labels, final_rounds
from annotator.analysis.queries import NO_REPOSITORY, Code, Question, questions_of
from annotator.sampling.models import Bug
from annotator.studies.models import Study
from annotator.web.errors import BadInput

TOP = "top"
LABELS = "SELECT category_id AS one, NULL AS other FROM labels"
# Memory to join a million labels there; no plan compiled for one second; rows met in the order of the indexes, which
# hold all that is read, where a hash of a million bugs falls out of the processor's cache.
ROOM = "SET LOCAL work_mem = '128MB'; SET LOCAL jit = off; SET LOCAL enable_hashjoin = off"
BUGS = "SELECT COUNT(DISTINCT bug_id) FROM labels"
PAIRS = """
SELECT labels.category_id AS one, others.category_id AS other FROM labels
JOIN others ON others.bug_id = labels.bug_id
"""
BUGS_OF_BOTH = "SELECT COUNT(DISTINCT labels.bug_id) FROM labels JOIN others ON others.bug_id = labels.bug_id"
OF_PLACES = """
SELECT labels.category_id AS one, place.WHAT AS other FROM labels
NESTED sampling_place place ON place.bug_id = labels.bug_id
"""
BUGS_BY_PLACE = """
SELECT place.repository_id, COUNT(DISTINCT labels.bug_id) FROM labels
JOIN sampling_place place ON place.bug_id = labels.bug_id GROUP BY place.repository_id
"""
STRATA = """
SELECT labels.category_id AS one, drawn.stratum_id AS other FROM labels
JOIN sampling_bug bug ON bug.id = labels.bug_id
JOIN sampling_drawn drawn ON drawn.item_id = bug.item_id AND drawn.state = 'taken'
"""
OF_SHARED_ITEMS = """
SELECT bug.item_id, labels.category_id, COUNT(*) FROM labels JOIN sampling_bug bug ON bug.id = labels.bug_id
WHERE bug.item_id IN (SELECT item_id FROM sampling_bug WHERE study_id = %s AND ordinal > 1)
GROUP BY bug.item_id, labels.category_id
"""
SECONDS = """
SELECT labels.category_id AS one, turn.active_seconds AS other FROM labels
NESTED labeling_assignment turn ON turn.bug_id = labels.bug_id AND turn.state = 'submitted' AND turn.round_id = %s
"""
NESTED = {"postgresql": "JOIN", "sqlite": "CROSS JOIN"}  # SQLite keeps the order of the latter: labels first
TALLY = {
    "postgresql": "SELECT one, other, COUNT(*) FROM ({rows}{within}) AS met GROUP BY one, other",
    # it sorts what it groups, or reads a whole table in the order of the groups: what it meets is counted here, as one
    # number of both, 0 for what is not there
    "sqlite": "SELECT group_concat((one << 32) + COALESCE(other + 1, 0)) FROM ({rows}{within})",
}
Span = tuple[int, int]  # of bugs' ids, the last one not in it
LAST = 1 << 62


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

    def select(self, question: Question, span: Span | None = None) -> tuple[str, list[Any]]:
        """A SELECT of bug and category of one facet, each pair once."""
        rows = final_labels(self.study, self.labels, names=False).filter(facet=question.id).order_by()
        if span:
            rows = rows.filter(bug__gte=span[0], bug__lt=span[1])
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
        return rows_of(*self.with_labels(sql, *params, of=of, and_=and_))

    def with_labels(
        self, sql: str, *params: Any, of: Question, and_: Question | None = None, span: Span | None = None
    ) -> tuple[str, list[Any]]:
        labels, values = self.select(of, span)
        others, more = self.select(and_, span) if and_ else ("SELECT 0, 0", [])
        heads = f"labels (bug_id, category_id) AS ({labels}), others (bug_id, category_id) AS ({others})"
        return f"WITH {heads} {sql}", [*values, *more, *params]

    def tally(
        self, rows: str, *params: Any, of: Question, and_: Question | None = None, beside: str = ""
    ) -> Counter[tuple[int, Any]]:
        """How often a category counted under meets what else the rows hold; None where they hold nothing.

        `beside` is the column of what is joined that names the bug: a server counts the bugs in two halves, each read
        by a process of its own.
        """
        tops, counts = self.tops(of), Counter[tuple[int, Any]]()
        told = TALLY[connection.vendor], rows.replace("NESTED", NESTED[connection.vendor])
        parts = []
        for span in self.spans:
            within = f" WHERE {beside} >= {span[0]} AND {beside} < {span[1]}" if span and beside else ""
            sql = told[0].format(rows=told[1], within=within)
            parts.append(self.with_labels(sql, *params, of=of, and_=and_, span=span))
        for one, other, n in counted(rows_of(*beside_each_other(parts))):
            counts[tops.get(one, one), other] += n
        return counts

    @cached_property
    def spans(self) -> list[Span | None]:
        """Halves of the study's bugs; the one process that reads SQLite reads all."""
        if connection.vendor == "sqlite":
            return [None]
        bugs = Bug.objects.filter(study=self.study).order_by("number")
        last = bugs.last()
        middle = bugs.filter(number__gt=last.number // 2).values_list("pk", flat=True).first() if last else None
        return [(0, middle), (middle, LAST)] if middle else [None]

    # --- counts

    def categories(self, question: Question) -> dict[int, int]:
        """Bugs by category."""
        return {code: n for (code, _), n in self.tally(LABELS, of=question).items()}

    def bugs(self, question: Question) -> int:
        """Bugs with any label."""
        return int(self.ask(BUGS, of=question)[0][0])

    def pairs(self, one: Question, other: Question) -> dict[tuple[int, int], int]:
        """Bugs by a category of each facet."""
        others, counts = self.tops(other), Counter[tuple[int, int]]()
        for (code, met), n in self.tally(PAIRS, of=one, and_=other).items():
            counts[code, others.get(met, met)] += n
        return dict(counts)

    def bugs_of_both(self, one: Question, other: Question) -> int:
        """Bugs with labels of both facets, each once."""
        return int(self.ask(BUGS_OF_BOTH, of=one, and_=other)[0][0])

    def places(self, question: Question) -> dict[tuple[int, str], int]:
        """Bugs by category and repository."""
        counts = Counter[tuple[int, str]]()
        for (code, place), n in self.of_places("repository_id", question).items():
            counts[code, self.repositories.get(place, NO_REPOSITORY)] += n
        return dict(counts)

    def of_places(self, what: str, question: Question) -> Counter[tuple[int, Any]]:
        return self.tally(OF_PLACES.replace("WHAT", what), of=question, beside="place.bug_id")

    def bugs_by_place(self, question: Question) -> dict[str, int]:
        """Labelled bugs by repository, each once."""
        rows = self.ask(BUGS_BY_PLACE, of=question)
        return {self.repositories.get(repository, NO_REPOSITORY): n for repository, n in rows}

    @cached_property
    def repositories(self) -> dict[int | None, str]:
        return dict(self.study.repositories.values_list("pk", "label"))

    def months(self, question: Question, moment: str) -> dict[tuple[str, int], int]:
        """Bugs by month ("2021-03", in UTC; "" where there is no date) and category."""
        counts = Counter[tuple[str, int]]()
        for (code, month), n in self.of_places(f"{moment}_month", question).items():
            counts[month_of(month), code] += n
        return dict(counts)

    def strata(self, question: Question) -> dict[tuple[int, int], int]:
        """Bugs by category and by the stratum of the sample that they were drawn in."""
        return {(code, stratum): n for (code, stratum), n in self.tally(STRATA, of=question, beside="bug.id").items()}

    def shared(self, question: Question) -> dict[int, dict[int, int]]:
        """By item that holds several bugs, its labelled ones by category."""
        tops, found = self.tops(question), dict[int, Counter[int]]()
        for item, code, n in self.ask(OF_SHARED_ITEMS, self.study.pk, of=question):
            found.setdefault(item, Counter())[tops.get(code, code)] += n
        return {item: dict(counts) for item, counts in found.items()}

    def seconds(self, question: Question) -> dict[int, Counter[int]]:
        """By category, how many submitted turns of rounds that are no longer open took how many active seconds."""
        found = dict[int, Counter[int]]()
        for round_ in final_rounds(self.study).values_list("pk", flat=True):
            for (code, seconds), n in self.tally(SECONDS, round_, of=question, beside="turn.bug_id").items():
                found.setdefault(code, Counter())[seconds] += n
        return found


def beside_each_other(parts: list[tuple[str, list[Any]]]) -> tuple[str, list[Any]]:
    """One statement of all, which a server carries out in several processes."""
    if len(parts) == 1:
        return parts[0]
    return " UNION ALL ".join(f"({sql})" for sql, _ in parts), [value for _, values in parts for value in values]


def rows_of(sql: str, params: list[Any]) -> list[tuple[Any, ...]]:
    with roomy(), connection.cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()  # type: ignore[no-any-return]  # the driver is untyped


def counted(rows: list[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """What the database counted, or all that it met in one text."""
    if connection.vendor != "sqlite":
        yield from rows
    elif met := rows[0][0]:
        for both, n in Counter(met.split(",")).items():
            one, other = divmod(int(both), 1 << 32)
            yield one, other - 1 if other else None, n


def month_of(number: int | None) -> str:
    """2021-03, of 202103."""
    return "" if number is None else f"{number // 100:04}-{number % 100:02}"


@contextmanager
def roomy() -> Iterator[None]:
    """Where the server bounds memory by statement, enough of it to join a million labels there."""
    if connection.vendor != "postgresql":
        yield
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(ROOM)
        yield
