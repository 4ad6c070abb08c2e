"""Contingency tables from the answers of a round that is no longer open: current ones, of submitted assignments.

The raw statements are plain SQL for both databases. Each names its two raters and leans on the index
(round, facet, rater, bug, category) of current answers, so that a million bugs are counted in seconds.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter

from django.db import connection

from annotator.agreement.scales import Scale
from annotator.labeling.models import Answer, Assignment, Round, RoundBug
from annotator.stats.sets import Answers, SetTable
from annotator.stats.tables import Table

PAIRS = """
    SELECT a.category_id, b.category_id, COUNT(*)
    FROM labeling_answer a
    JOIN labeling_answer b ON b.round_id = %(round)s AND b.facet_id = %(facet)s AND b.rater_id = %(second)s
        AND b.bug_id = a.bug_id AND b.is_current
    WHERE a.round_id = %(round)s AND a.facet_id = %(facet)s AND a.rater_id = %(first)s AND a.is_current
        AND a.bug_id NOT IN (
            SELECT bug_id FROM labeling_assignment
            WHERE round_id = %(round)s AND rater_id IN (%(first)s, %(second)s) AND state <> 'submitted'
        )
    GROUP BY a.category_id, b.category_id
"""
NOT_BOTH_ANSWERED = """
    SELECT u.bug_id FROM (
        SELECT bug_id FROM labeling_roundbug WHERE round_id = %(round)s
        UNION SELECT bug_id FROM labeling_assignment WHERE round_id = %(round)s
    ) u
    WHERE NOT EXISTS (
        SELECT 1 FROM labeling_answer a JOIN labeling_assignment s ON s.id = a.assignment_id AND s.state = 'submitted'
        WHERE a.round_id = %(round)s AND a.facet_id = %(facet)s AND a.rater_id = %(first)s AND a.bug_id = u.bug_id
            AND a.is_current
    ) OR NOT EXISTS (
        SELECT 1 FROM labeling_answer b JOIN labeling_assignment s ON s.id = b.assignment_id AND s.state = 'submitted'
        WHERE b.round_id = %(round)s AND b.facet_id = %(facet)s AND b.rater_id = %(second)s AND b.bug_id = u.bug_id
            AND b.is_current
    )
"""
BOTH_SUBMITTED = """
    SELECT COUNT(*) FROM labeling_assignment a
    JOIN labeling_assignment b ON b.round_id = a.round_id AND b.bug_id = a.bug_id
        AND b.rater_id = %(second)s AND b.state = 'submitted'
    WHERE a.round_id = %(round)s AND a.rater_id = %(first)s AND a.state = 'submitted'
"""
REASONS = ("not_a_bug_both", "not_a_bug_one", "skipped", "unanswered")
NOT_DEALT = "not_dealt"
"""In rounds with rotating pairs or a pool: bugs that the design gave to other raters."""


@dataclass(frozen=True)
class RoundCounts:
    """Everything that agreement needs to know of one round, each part counted when first asked for."""

    round: Round
    scales: tuple[Scale, ...]

    @property
    def verdict(self) -> Scale | None:
        return next((scale for scale in self.scales if scale.is_verdict), None)

    @cached_property
    def asked(self) -> tuple[Scale, ...]:
        """Each sheet of an imported round has columns of its own; a round held here asks every facet."""
        is_imported = self.round.state == Round.State.IMPORTED
        return tuple(scale for scale in self.scales if not is_imported or scale.facet_id in self.answered)

    @property
    def listed(self) -> tuple[Scale, ...]:
        """The facets that were asked; the verdict only where somebody said that it is not a bug."""
        return tuple(scale for scale in self.asked if not scale.is_verdict or self.not_a_bug)

    @cached_property
    def raters(self) -> dict[str, int]:
        """User names to ids, sorted: who submitted or skipped anything in the round."""
        took_part = Assignment.objects.filter(round=self.round, state__in=["submitted", "skipped"])
        return dict(sorted(set(took_part.values_list("rater__username", "rater_id").order_by().distinct())))

    @cached_property
    def answered(self) -> dict[int, set[int]]:
        """Facet id → raters with any answer there."""
        found: dict[int, set[int]] = {}
        rows = Answer.objects.filter(round=self.round, is_current=True, assignment__state="submitted")
        for facet, rater in rows.order_by().values_list("facet_id", "rater_id").distinct():
            found.setdefault(facet, set()).add(rater)
        return found

    def raters_of(self, scale: Scale) -> dict[str, int]:
        """Of an imported round those with an answer to the facet, since each sheet has columns of its own."""
        if self.round.state != Round.State.IMPORTED or scale.is_verdict:
            return self.raters
        mine = self.answered.get(scale.facet_id, set())
        return {name: pk for name, pk in self.raters.items() if pk in mine}

    @cached_property
    def bugs(self) -> int:
        of_round = RoundBug.objects.filter(round=self.round).values("bug_id")
        dealt = Assignment.objects.filter(round=self.round).values("bug_id")
        return of_round.order_by().union(dealt.order_by()).count()

    def table(self, scale: Scale, first: int, second: int) -> Table:
        """Rows are the first rater's answers."""
        if scale.is_verdict:
            return self._verdicts(scale, first, second)
        cells: Counter[tuple[str, str]] = Counter()
        with connection.cursor() as cursor:
            values = {"round": self.round.pk, "facet": scale.facet_id, "first": first, "second": second}
            cursor.execute(PAIRS, values)
            for a, b, count in cursor.fetchall():
                cells[scale.uids[a], scale.uids[b]] += count
        return Table(cells)

    def set_table(self, scale: Scale, first: int, second: int) -> SetTable:
        cells: Counter[tuple[Answers, Answers]] = Counter()
        for votes in self.votes(scale):
            if first in votes and second in votes:
                cells[votes[first], votes[second]] += 1
        return SetTable(cells)

    def votes(self, scale: Scale) -> Iterator[dict[int, Answers]]:
        """Each bug's answers by rater, one bug at a time."""
        if scale.is_verdict:
            yield from self._implied_verdicts(scale)
            return
        rows = Answer.objects.filter(
            round=self.round, facet_id=scale.facet_id, is_current=True, assignment__state="submitted"
        )
        ordered = rows.order_by("bug_id").values_list("bug_id", "rater_id", "category_id")
        for _, of_bug in groupby(ordered.iterator(chunk_size=5000), key=itemgetter(0)):
            answers: dict[int, set[str]] = {}
            for _, rater, category in of_bug:
                answers.setdefault(rater, set()).add(scale.uids[category])
            yield {rater: frozenset(given) for rater, given in answers.items()}

    @cached_property
    def not_a_bug(self) -> frozenset[tuple[int, int]]:
        """(rater, bug) wherever somebody said that it is not a bug."""
        if self.verdict is None or not self.verdict.not_a_bug:
            return frozenset()
        rows = Answer.objects.filter(
            round=self.round,
            facet_id=self.verdict.facet_id,
            is_current=True,
            category_id__in=self.verdict.ids_of(self.verdict.not_a_bug),
            assignment__state="submitted",
        )
        return frozenset(rows.order_by().values_list("rater_id", "bug_id"))

    def assisted(self, scale: Scale) -> frozenset[int]:
        return frozenset(rater for facet, rater in self._assisted if facet == scale.facet_id)

    @cached_property
    def _assisted(self) -> frozenset[tuple[int, int]]:
        rows = Answer.objects.filter(round=self.round, is_current=True, is_assisted=True)
        return frozenset(rows.order_by().values_list("facet_id", "rater_id").distinct())

    # --- what is left out, and why

    @property
    def nothing_excluded(self) -> dict[str, int]:
        return dict.fromkeys(REASONS, 0)

    def excluded_by(self, scale: Scale, first: int, second: int) -> dict[str, int]:
        """The round's bugs that the pair did not both answer, by reason; the reasons are tried in this order.

        With the same rater twice: what one rater alone left out.
        """
        reasons = Counter(self.nothing_excluded)
        for bug in self._not_both(scale, first, second):
            reasons[self._why(bug, {first, second})] += 1
        return dict(reasons)

    def _why(self, bug: int, pair: set[int]) -> str:
        denied = sum((rater, bug) in self.not_a_bug for rater in pair)
        if denied:
            return REASONS[0] if denied == 2 else REASONS[1]
        if any((rater, bug) in self._skipped for rater in pair):
            return REASONS[2]
        if self._dealt is not None and any((rater, bug) not in self._dealt for rater in pair):
            return NOT_DEALT
        return REASONS[3]

    @cached_property
    def _skipped(self) -> frozenset[tuple[int, int]]:
        rows = Assignment.objects.filter(round=self.round, state="skipped")
        return frozenset(rows.order_by().values_list("rater_id", "bug_id"))

    @cached_property
    def _dealt(self) -> frozenset[tuple[int, int]] | None:
        """Who got which bug, where the design does not give every bug to every rater."""
        if self.round.state == Round.State.IMPORTED or self.round.design == Round.Design.FIXED:
            return None
        rows = Assignment.objects.filter(round=self.round).exclude(state="covered")
        return frozenset(rows.order_by().values_list("rater_id", "bug_id"))

    def _not_both(self, scale: Scale, first: int, second: int) -> list[int]:
        if scale.is_verdict:
            return self._not_both_submitted(first, second)
        with connection.cursor() as cursor:
            values = {"round": self.round.pk, "facet": scale.facet_id, "first": first, "second": second}
            cursor.execute(NOT_BOTH_ANSWERED, values)
            return [bug for (bug,) in cursor.fetchall()]

    def _not_both_submitted(self, first: int, second: int) -> list[int]:
        submitted = [
            set(
                Assignment.objects.filter(round=self.round, rater=rater, state="submitted").values_list(
                    "bug_id", flat=True
                )
            )
            for rater in (first, second)
        ]
        of_round = RoundBug.objects.filter(round=self.round).values_list("bug_id", flat=True)
        dealt = Assignment.objects.filter(round=self.round).values_list("bug_id", flat=True)
        return [bug for bug in {*of_round, *dealt} if not all(bug in mine for mine in submitted)]

    # --- counting

    def _verdicts(self, scale: Scale, first: int, second: int) -> Table:
        """A submission that does not say "not a bug" says bug."""
        bug = next((choice.uid for choice in scale.choices if choice.uid != scale.not_a_bug), "")
        denied = [{b for rater, b in self.not_a_bug if rater == who} for who in (first, second)]
        both = len(denied[0] & denied[1])
        only = [
            self._submitted_among(denied[0] - denied[1], second),
            self._submitted_among(denied[1] - denied[0], first),
        ]
        with connection.cursor() as cursor:
            cursor.execute(BOTH_SUBMITTED, {"round": self.round.pk, "first": first, "second": second})
            (total,) = cursor.fetchone()
        no = scale.not_a_bug
        return Table({(bug, bug): total - both - sum(only), (no, bug): only[0], (bug, no): only[1], (no, no): both})

    def _submitted_among(self, bugs: set[int], rater: int) -> int:
        mine = Assignment.objects.filter(round=self.round, rater=rater, state="submitted")
        return sum(bug in bugs for bug in mine.values_list("bug_id", flat=True).iterator()) if bugs else 0

    def _implied_verdicts(self, scale: Scale) -> Iterator[dict[int, Answers]]:
        bug = next((choice.uid for choice in scale.choices if choice.uid != scale.not_a_bug), "")
        rows = Assignment.objects.filter(round=self.round, state="submitted")
        ordered = rows.order_by("bug_id").values_list("bug_id", "rater_id")
        for number, of_bug in groupby(ordered.iterator(chunk_size=5000), key=itemgetter(0)):
            yield {
                rater: frozenset({scale.not_a_bug if (rater, number) in self.not_a_bug else bug}) for _, rater in of_bug
            }
