"""Examples for raters: settled bugs of each category. Never the bug at hand, and nothing of an open round."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Exists, F, OuterRef, Window
from django.db.models.functions import RowNumber

from annotator.adjudication.models import Resolution
from annotator.codebook.models import Category, Facet
from annotator.labeling.models import Answer, Assignment, Round, RoundBug

MOST = 3
WITHOUT = (Round.Kind.RELABEL, Round.Kind.RETEST)  # there a rater is to look anew


@dataclass(frozen=True)
class Example:
    """A settled bug, how it was settled, and a rater's reason where one was written."""

    number: int
    reference: str
    title: str
    source: str
    why: str


Examples = Mapping[int, Sequence[Example]]  # by the category's id


def gives_examples(round_: Round) -> bool:
    return round_.kind not in WITHOUT


def examples(turn: Assignment, categories: Iterable[Category]) -> Examples:
    """At most three a category, by the bugs' numbers. Three queries, whatever the number of categories."""
    if not gives_examples(turn.round):
        return {}
    rows = list(_settled(turn, categories))
    reasons = _reasons(rows)
    found: dict[int, list[Example]] = defaultdict(list)
    for row in rows:
        item = row.bug.item
        found[row.category_id or 0].append(
            Example(
                number=row.bug.number,
                reference=item.reference,
                title=item.title,
                source=row.get_source_display().lower(),
                why=reasons.get((row.bug_id, row.category_id or 0), row.note),
            )
        )
    return found


def _settled(turn: Assignment, categories: Iterable[Category]) -> Iterable[Resolution]:
    being_labelled = RoundBug.objects.filter(bug=OuterRef("bug"), round__state=Round.State.OPEN)
    rows = Resolution.objects.current().filter(
        study=turn.round.study_id, is_stale=False, category__in=[category.pk for category in categories]
    )
    rows = rows.exclude(bug__item=turn.bug.item_id).exclude(Exists(being_labelled))
    place = Window(RowNumber(), partition_by=F("category"), order_by=F("bug__number").asc())
    ranked = rows.annotate(place=place).filter(place__lte=MOST)
    return ranked.select_related("bug__item__repository").order_by("category", "bug__number")


def _reasons(rows: Sequence[Resolution]) -> dict[tuple[int, int], str]:
    """What a rater of a closed round wrote who gave the bug this very label."""
    given = Answer.objects.current().filter(
        bug__in={row.bug_id for row in rows},
        category__in={row.category_id for row in rows},
        round__in=Round.objects.with_agreement(),
    )
    notes = given.exclude(assignment__note="").order_by("-round__number", "-rater__username")
    return {(bug, category): note for bug, category, note in notes.values_list("bug", "category", "assignment__note")}


def asked(round_: Round) -> list[Facet]:
    """The facets that raters answer, each with its categories."""
    rows = Facet.objects.filter(codebook__study=round_.study_id, retired_at=None, decided=Facet.Decided.BLIND)
    return list(rows.exclude(key=Facet.VERDICT).order_by("position", "pk"))
