"""Facets that are decided by rule: final labels that follow from the paths of the changed files, openly."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from annotator.accounts.models import User
from annotator.adjudication.deciding import Source
from annotator.adjudication.jointly import labelled_as_bugs
from annotator.adjudication.models import Resolution
from annotator.adjudication.queries import final_rounds
from annotator.codebook.models import Category, Codebook, Facet
from annotator.codebook.path_rules import Rules, Suggestion
from annotator.history.actions import record
from annotator.labeling.models import Answer, Round, RoundBug
from annotator.labeling.suggesting import suggest_for
from annotator.sampling.models import Bug
from annotator.studies.models import Study
from annotator.web.errors import Refused

BATCH = 500
SHOWN = 3  # files in a label's note


@dataclass(frozen=True)
class Outcome:
    """What came of it: new labels, those that stay as they are, and bugs that the rules leave open."""

    labelled: int
    same: int
    left: int

    def __add__(self, other: "Outcome") -> "Outcome":
        return Outcome(self.labelled + other.labelled, self.same + other.same, self.left + other.left)


@transaction.atomic
def derive(*, study: Study, facet: Facet, by: User) -> Outcome:
    """Label every bug of the study in a facet decided by rule, where its rules say one thing, or several of many.

    A label that the rules say otherwise by now gives way and stays in the history; one that they leave open stays.
    """
    if facet.decided != Facet.Decided.RULE:
        raise Refused(f"{facet.name} is not decided by rule in this study.")
    Codebook.objects.select_for_update().get(pk=facet.codebook_id)  # two at once take turns
    rules = Rules(facet)
    if not rules:
        raise Refused(f"{facet.name} has no rules yet. Write them first.")
    active = facet.categories.filter(state=Category.State.ACTIVE)
    categories = {row.uid: row for row in active}
    outcome = Outcome(0, 0, 0)
    for batch in _batches(study):
        said = suggest_for(batch, facet, rules)
        labels = {bug.pk: _label(said[bug.pk], facet, categories) for bug in batch}
        outcome += _put(batch, facet, labels, said)
    if outcome.labelled:
        record(
            "derived labels by rule",
            by=by,
            kind="codebook",
            object_id=facet.codebook_id,
            label=facet.name,
            study_id=study.pk,
            new={"bugs": outcome.labelled, "left open": outcome.left},
        )
    return outcome


def derive_all(*, study: Study, by: User) -> int:
    """Of all facets that are decided by rule and have rules: when a round closes."""
    facets = Facet.objects.filter(codebook__study=study, decided=Facet.Decided.RULE, retired_at=None)
    ruled = [facet for facet in facets if Rules(facet)]
    return sum(derive(study=study, facet=facet, by=by).labelled for facet in ruled)


def _batches(study: Study) -> Iterator[list[Bug]]:
    """Bugs that were labelled as bugs, and that nobody labels at present."""
    being_labelled = RoundBug.objects.filter(bug=OuterRef("pk"), round__state=Round.State.OPEN)
    rows = Bug.objects.filter(labelled_as_bugs(study) & ~Q(Exists(being_labelled)), study=study)
    numbers = list(rows.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(numbers), BATCH):
        mine = Bug.objects.filter(pk__in=numbers[start : start + BATCH])
        yield list(mine.select_related("item__repository").order_by("pk"))


def _label(said: Suggestion, facet: Facet, categories: Mapping[str, Category]) -> list[Category]:
    found = [categories[uid] for uid in said.found if uid in categories]
    return found if len(found) == 1 or (found and facet.is_many) else []


def _put(
    batch: Sequence[Bug], facet: Facet, labels: Mapping[int, list[Category]], said: Mapping[int, Suggestion]
) -> Outcome:
    before: dict[int, list[Resolution]] = defaultdict(list)
    for row in Resolution.objects.current().filter(bug__in=batch, facet=facet):
        before[row.bug_id].append(row)
    left = [bug for bug in batch if not labels[bug.pk]]
    new = [bug for bug in batch if labels[bug.pk] and _differs(before[bug.pk], labels[bug.pk])]
    gone = [row.pk for bug in new for row in before[bug.pk]]
    Resolution.objects.filter(pk__in=gone).update(is_current=False)
    bases = _bases(new)
    Resolution.objects.bulk_create(
        Resolution(
            study_id=bug.study_id,
            bug=bug,
            facet=facet,
            slot=slot,
            category=category,
            round_id=bases.get(bug.pk),
            source=Source.DERIVED,
            note=_note(category, said[bug.pk]),
        )
        for bug in new
        for slot, category in enumerate(labels[bug.pk])
    )
    return Outcome(len(new), len(batch) - len(new) - len(left), len(left))


def _differs(before: Sequence[Resolution], label: Sequence[Category]) -> bool:
    """Nothing is there, or a rule's earlier word that is another one. What a sheet or people said stays."""
    if any(row.source != Source.DERIVED for row in before):
        return False
    stale = any(row.is_stale for row in before)
    return stale or {row.category_id for row in before} != {category.pk for category in label}


def _bases(bugs: Sequence[Bug]) -> dict[int, int]:
    """The latest round in which each was labelled."""
    if not bugs:
        return {}
    answers = Answer.objects.current().filter(bug__in=bugs, round__in=final_rounds(bugs[0].study_id))
    return dict(answers.order_by("round__number").values_list("bug_id", "round_id").distinct())


def _note(category: Category, said: Suggestion) -> str:
    """The evidence: files, and the prefix under which each fell."""
    reasons = said.found[category.uid]
    told = "; ".join(f"{reason.path} (rule {reason.prefix})" for reason in reasons[:SHOWN])
    more = len(reasons) - SHOWN
    return f"{told}; and {more} more" if more > 0 else told
