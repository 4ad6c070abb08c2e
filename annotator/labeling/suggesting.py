"""What path rules say of a bug, with the files behind it.

Open where a facet is decided jointly or by rule. In a facet that raters answer blind it is shown only where the protocol
says so, and then their answers are *assisted*.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotator.codebook.models import Category, Facet, PathRule
from annotator.codebook.path_rules import NONE, ONE, Rules, Suggestion, suggest
from annotator.collection.changed import changed_paths, names_of
from annotator.labeling.models import Assignment, Round
from annotator.sampling.models import Bug
from annotator.studies.protocol import protocol_of

SHOWN_FILES = 12


@dataclass(frozen=True)
class Evidence:
    """A file, and the prefix of the rule that it fell under."""

    path: str
    prefix: str


@dataclass(frozen=True)
class Suggested:
    """A category that the rules lead to."""

    uid: str
    name: str
    files: tuple[Evidence, ...]
    total: int


@dataclass(frozen=True)
class Shown:
    """What the rules say of a bug in one facet: one value, several, or none."""

    facet: str
    kind: str
    categories: tuple[Suggested, ...]
    silent: int  # files under rules that say nothing
    unmatched: int

    @property
    def is_one(self) -> bool:
        return self.kind == ONE


def suggest_for(bugs: Iterable[Bug], facet: Facet, rules: Rules | None = None) -> dict[int, Suggestion]:
    """By the bug's id. `bugs` come with their item and its repository."""
    rules = Rules(facet) if rules is None else rules
    listed = list(bugs)
    paths = changed_paths((bug.item_id, bug.ordinal) for bug in listed)
    by_repository: dict[int | None, list[object]] = {}
    found = {}
    for bug in listed:
        key = bug.item.repository_id
        if key not in by_repository:
            by_repository[key] = list(rules.of(names_of(bug.item.repository)))
        found[bug.pk] = suggest(paths[bug.item_id, bug.ordinal], by_repository[key])  # type: ignore[arg-type]  # rules
    return found


def shown(suggestion: Suggestion, facet: Facet, names: dict[str, str] | None = None) -> Shown:
    if names is None:
        names = dict(Category.objects.filter(facet=facet, uid__in=suggestion.found).values_list("uid", "name"))
    return Shown(
        facet=facet.key,
        kind=suggestion.kind,
        categories=tuple(
            Suggested(
                uid=uid,
                name=names.get(uid, uid),
                files=tuple(Evidence(reason.path, reason.prefix) for reason in reasons[:SHOWN_FILES]),
                total=len(reasons),
            )
            for uid, reasons in suggestion.found.items()
        ),
        silent=len(suggestion.silent),
        unmatched=len(suggestion.unmatched),
    )


def of_bug(bug: Bug, facet: Facet) -> Shown | None:
    """What the group sees; nothing where the facet has no rules."""
    rules = Rules(facet)
    return shown(suggest_for([bug], facet, rules)[bug.pk], facet) if rules else None


def for_turn(turn: Assignment, round_: Round) -> list[Shown]:
    """What is shown beside a blind facet; no query where the protocol does not say so."""
    if not protocol_of(round_.study).suggest_in_blind:
        return []
    bug = Bug.objects.select_related("item__repository").get(pk=turn.bug_id)
    found = (of_bug(bug, facet) for facet in ruled_facets(round_))
    return [one for one in found if one is not None and one.kind != NONE]


def ruled_facets(round_: Round) -> Sequence[Facet]:
    """Facets that raters answer and that have rules."""
    ruled = PathRule.objects.filter(retired_at=None).values("facet")
    rows = Facet.objects.filter(codebook__study=round_.study_id, pk__in=ruled, retired_at=None)
    return list(rows.filter(decided=Facet.Decided.BLIND).order_by("position", "pk"))


def assisted_in(turn: Assignment, round_: Round) -> frozenset[str]:
    """The facets whose answers are given with a suggestion before one's eyes."""
    return frozenset(one.facet for one in for_turn(turn, round_))
