"""Files below a path belong to a category: ordered rules per repository, the first that fits a file wins."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotator.accounts.models import User
from annotator.codebook.models import Category, Codebook, Facet, PathRule
from annotator.codebook.plain import plain_values
from annotator.codebook.queries import folded
from annotator.codebook.texts import checked
from annotator.history.actions import record
from annotator.web.errors import BadInput

LONGEST_PREFIX, LONGEST_NOTE, LONGEST_REPOSITORY = 1_000, 1_000, 300
MOST_RULES, MOST_REPOSITORIES = 2_000, 500
ONE, SEVERAL, NONE = "one", "several", "none"


@dataclass(frozen=True, slots=True)
class Rule:
    """A prefix and the category of what lies below it; without one the rule says that nothing can be told from the path."""

    prefix: str
    category: str = ""  # uid
    note: str = ""


@dataclass(frozen=True, slots=True)
class Reason:
    """A file, and the rule that it fell under."""

    path: str
    prefix: str


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What the rules say of a set of files, with the files behind it."""

    found: Mapping[str, tuple[Reason, ...]]  # by category's uid, the one with most files first
    silent: tuple[Reason, ...]  # under rules that say nothing
    unmatched: tuple[str, ...]

    @property
    def kind(self) -> str:
        return (NONE, ONE)[len(self.found)] if len(self.found) < 2 else SEVERAL  # none, one, or more


def suggest(paths: Iterable[str], rules: Sequence[Rule]) -> Suggestion:
    found: dict[str, list[Reason]] = {}
    silent: list[Reason] = []
    unmatched: list[str] = []
    for path in paths:
        rule = first_match(path, rules)
        if rule is None:
            unmatched.append(path)
        elif rule.category:
            found.setdefault(rule.category, []).append(Reason(path, rule.prefix))
        else:
            silent.append(Reason(path, rule.prefix))
    ranked = sorted(found.items(), key=lambda each: -len(each[1]))
    return Suggestion({uid: tuple(reasons) for uid, reasons in ranked}, tuple(silent), tuple(unmatched))


def first_match(path: str, rules: Sequence[Rule]) -> Rule | None:
    return next((rule for rule in rules if path.startswith(rule.prefix)), None)


# --- as they are kept


class Rules:
    """The rules of a facet: a repository's own come first, then those for any."""

    def __init__(self, facet: Facet) -> None:
        rows = PathRule.objects.filter(facet=facet, retired_at=None).select_related("category").order_by("position")
        self.by_repository: dict[str, list[Rule]] = {}
        for row in rows:
            uid = row.category.uid if row.category and row.category.state == Category.State.ACTIVE else ""
            self.by_repository.setdefault(row.repository, []).append(Rule(row.prefix, uid, row.note))
        self._folded: dict[str, list[Rule]] = {}
        for name, rules in self.by_repository.items():
            self._folded.setdefault(folded(name), []).extend(rules)

    def __bool__(self) -> bool:
        return bool(self.by_repository)

    def of(self, names: Iterable[str]) -> list[Rule]:
        """For a repository under any of its names: what a sheet calls it, or owner/name."""
        own = [rule for name in dict.fromkeys(map(folded, names)) if name for rule in self._folded.get(name, ())]
        return [*own, *self._folded.get("", ())]


@transaction.atomic
def set_rules(
    *, facet: Facet, repository: str, rules: Sequence[Rule], by: User | None, reason: str = ""
) -> list[PathRule]:
    """Put these rules, in this order, in the place of the repository's present ones, which are retired and stay."""
    Codebook.objects.select_for_update().get(pk=facet.codebook_id)
    repository = checked(repository, "repository", longest=LONGEST_REPOSITORY, is_needed=False)
    wanted = [_checked(rule) for rule in rules]
    _refuse_twins(wanted)
    if len(wanted) > MOST_RULES:
        raise BadInput(f"A repository takes at most {MOST_RULES:,} rules.")
    categories = _categories(facet, wanted)
    present = Rules(facet).by_repository.get(repository, [])
    if present == wanted:
        return list(_current(facet, repository))
    now = timezone.now()
    _current(facet, repository).update(retired_at=now)
    made = PathRule.objects.bulk_create(
        PathRule(
            facet=facet,
            repository=repository,
            position=place,
            prefix=rule.prefix,
            category=categories.get(rule.category),
            note=rule.note,
        )
        for place, rule in enumerate(wanted)
    )
    record(
        "set path rules",
        by=by,
        kind="codebook",
        object_id=facet.codebook_id,
        label=f"{facet.name}, {repository or 'any repository'}",
        study_id=facet.codebook.study_id,
        old=_told(present, categories),
        new=_told(wanted, categories),
        why=checked(reason, "reason", longest=2_000, is_needed=False),
    )
    return made


@transaction.atomic
def import_rules(*, facet: Facet, rules: Mapping[str, Sequence[Rule]], by: User | None) -> int:
    """Rules of several repositories, each in the place of its present ones. How many."""
    for repository, listed in rules.items():
        set_rules(facet=facet, repository=repository, rules=listed, by=by, reason="From a file")
    return sum(map(len, rules.values()))


def _current(facet: Facet, repository: str) -> Any:
    return PathRule.objects.filter(facet=facet, repository=repository, retired_at=None).order_by("position")


def _checked(rule: Rule) -> Rule:
    prefix = checked(rule.prefix, "prefix", longest=LONGEST_PREFIX).removeprefix("./").lstrip("/")
    if not prefix:
        raise BadInput("A rule needs a prefix such as src/kernels/.")
    return Rule(prefix, rule.category, checked(rule.note, "note", longest=LONGEST_NOTE, is_needed=False))


def _refuse_twins(rules: Sequence[Rule]) -> None:
    seen: set[str] = set()
    for rule in rules:
        if rule.prefix in seen:
            raise BadInput(f"The prefix “{rule.prefix[:80]}” has two rules: the second would never be asked. Keep one.")
        seen.add(rule.prefix)


def _categories(facet: Facet, rules: Sequence[Rule]) -> dict[str, Category]:
    rows = facet.categories.filter(state=Category.State.ACTIVE, is_not_applicable=False)
    known = {row.uid: row for row in rows}
    missing = next((rule for rule in rules if rule.category and rule.category not in known), None)
    if missing:
        raise BadInput(f"The rule for “{missing.prefix[:80]}” leads to no category of {facet.name} in use.")
    return known


def _told(rules: Sequence[Rule], categories: Mapping[str, Category]) -> dict[str, str]:
    names = {uid: row.name for uid, row in categories.items()}
    return {rule.prefix: names.get(rule.category, "–") for rule in rules[:200]}


# --- files


def read_rules(content: bytes | str, facet: Facet) -> dict[str, list[Rule]]:
    """From YAML or JSON: under `rules`, for each repository a list of {prefix, level}; a level of null says nothing."""
    try:
        raw = plain_values(content)
    except BadInput as problem:
        raise BadInput(str(problem).replace("codebook file", "rules file")) from None
    return to_rules(raw, facet)


def to_rules(raw: Any, facet: Facet) -> dict[str, list[Rule]]:
    """From plain lists and mappings, as a file or a program gives them."""
    listed = raw.get("rules") if isinstance(raw, dict) else None
    if not isinstance(listed, dict) or not listed:
        raise BadInput("A rules file has “rules”, and below it each repository with a list of prefixes and levels.")
    if len(listed) > MOST_REPOSITORIES:
        raise BadInput(f"A rules file has at most {MOST_REPOSITORIES} repositories.")
    names = _names(facet)
    return {
        repository: [_read(one, repository, names, facet) for one in _list(of, repository)]
        for repository, of in listed.items()
    }


def _list(raw: Any, repository: str) -> list[Any]:
    if not isinstance(raw, list):
        raise BadInput(f"The rules of “{repository}” have to be a list of prefixes and levels.")
    return raw


def _read(raw: Any, repository: str, names: Mapping[str, str], facet: Facet) -> Rule:
    if not isinstance(raw, dict) or not isinstance(raw.get("prefix"), str):
        raise BadInput(f"A rule of “{repository}” has no “prefix”.")
    unknown = set(raw) - {"prefix", "level", "category", "note"}
    if unknown:
        raise BadInput(f"A rule of “{repository}” has the unknown key “{min(map(str, unknown))}”.")
    word = raw.get("category", raw.get("level"))
    if word is None:
        return Rule(raw["prefix"], "", str(raw.get("note") or ""))
    uid = names.get(folded(str(word)))
    if uid is None:
        where = f"The rule of “{repository}” for “{raw['prefix'][:80]}”"
        raise BadInput(f"{where} leads to “{str(word)[:80]}”, which is no category of {facet.name}.")
    return Rule(raw["prefix"], uid, str(raw.get("note") or ""))


def _names(facet: Facet) -> dict[str, str]:
    """By name, other name or id."""
    found: dict[str, str] = {}
    for row in facet.categories.filter(state=Category.State.ACTIVE):
        for word in (row.uid, *row.aka):
            found.setdefault(folded(word), row.uid)
    return found | {folded(row.name): row.uid for row in facet.categories.filter(state=Category.State.ACTIVE)}


def as_json(facet: Facet) -> str:
    """What `read_rules` takes."""
    names = dict(facet.categories.values_list("uid", "name"))
    told = {
        repository: [
            {"prefix": rule.prefix, "level": names.get(rule.category)} | ({"note": rule.note} if rule.note else {})
            for rule in rules
        ]
        for repository, rules in Rules(facet).by_repository.items()
    }
    return json.dumps({"facet": facet.key, "rules": told}, ensure_ascii=False, indent=1)
