"""Path rules beside what they take, and beside what was settled."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import Count, Exists, OuterRef

from annotator.adjudication.models import Resolution
from annotator.codebook.models import Category, Facet
from annotator.codebook.path_rules import NONE, ONE, Rule, Rules
from annotator.collection.changed import listed_in, names_of
from annotator.collection.models import ChangedFile, Context, Repository
from annotator.labeling.suggesting import suggest_for
from annotator.sampling.models import Bug
from annotator.studies.models import Study

ANY = ""
BATCH = 500
MOST_FOLDERS = 8


@dataclass(frozen=True)
class Line:
    """A rule, and how many changed files fall under it."""

    rule: Rule
    category: str  # name; empty: it says nothing
    files: int


@dataclass(frozen=True)
class Ruled:
    """The rules of one repository, and the files that none of them takes."""

    repository: str
    lines: tuple[Line, ...]
    files: int
    unmatched: int
    folders: tuple[tuple[str, int], ...]  # where those lie, the fullest first


def ruled(study: Study, facet: Facet) -> list[Ruled]:
    """Of every repository of the study and of every name that has rules; those for any repository last."""
    rules = Rules(facet)
    names = dict(facet.categories.values_list("uid", "name"))
    repositories = list(Repository.objects.filter(study=study).order_by("label"))
    paths = _paths(study)
    found = [_of(one.label, rules, names_of(one), names, paths.get(one.pk, Counter())) for one in repositories]
    known = {one.repository for one in found}
    for name in sorted(rules.by_repository):
        if name not in known and name != ANY:
            found.append(_of(name, rules, [name], names, Counter()))
    everything = sum((paths[key] for key in paths), Counter())
    return [*found, _of(ANY, rules, [], names, everything)]


def _of(repository: str, rules: Rules, called: Sequence[str], names: dict[str, str], paths: Counter[str]) -> Ruled:
    mine, all_of_it = rules.by_repository.get(repository, []), rules.of(called)
    taken: Counter[str] = Counter()
    free: Counter[str] = Counter()
    for path, count in paths.items():
        rule = next((one for one in all_of_it if path.startswith(one.prefix)), None)
        if rule is None:
            free[_folder(path)] += count
        else:
            taken[rule.prefix] += count
    return Ruled(
        repository=repository,
        lines=tuple(Line(rule, names.get(rule.category, ""), taken[rule.prefix]) for rule in mine),
        files=sum(paths.values()),
        unmatched=sum(free.values()),
        folders=tuple(free.most_common(MOST_FOLDERS)),
    )


def _folder(path: str) -> str:
    """The first two steps of where it lies."""
    steps = path.split("/")[:-1][:2]
    return "/".join(steps) + "/" if steps else path


def _paths(study: Study) -> dict[int | None, Counter[str]]:
    """By repository: each path with the number of items that change it."""
    found: dict[int | None, Counter[str]] = defaultdict(Counter)
    rows = ChangedFile.objects.filter(item__study=study).order_by()
    for repository, path, count in rows.values_list("item__repository", "path").annotate(n=Count("pk")).iterator():
        found[repository][path] += count
    fetched = ChangedFile.objects.filter(item=OuterRef("item"))
    columns = Context.objects.filter(~Exists(fetched), item__study=study).order_by()
    for repository, values in columns.values_list("item__repository", "values").iterator():
        found[repository].update(listed_in(values))
    return found


# --- against what was settled


@dataclass
class Report:
    """The rules beside labels that did not come of them."""

    n: int = 0
    right: int = 0  # one value, and the settled one
    among: int = 0  # several values, the settled one among them
    wrong: int = 0
    undecided: int = 0  # no value
    cells: Counter[tuple[str, str]] = field(default_factory=Counter)  # one value by settled label: names

    @property
    def share(self) -> float | None:
        """Of the bugs for which the rules say one value: how many are right."""
        said = sum(self.cells.values())
        return self.right / said if said else None

    @property
    def rows(self) -> list[tuple[str, list[int]]]:
        return [(one, [self.cells[one, other] for other in self.settled]) for one in self.suggested]

    @property
    def suggested(self) -> list[str]:
        return sorted({one for one, _ in self.cells})

    @property
    def settled(self) -> list[str]:
        return sorted({other for _, other in self.cells})


def report(study: Study, facet: Facet) -> Report:
    """Compared at the top of the tree: a rule may name a category and the label a narrower one of it."""
    rules, told = Rules(facet), Report()
    if not rules:
        return told
    tops = _tops(facet)
    labels = _labels(study, facet)
    for start in range(0, len(labels), BATCH):
        numbers = list(labels)[start : start + BATCH]
        bugs = list(Bug.objects.filter(pk__in=numbers).select_related("item__repository"))
        said = suggest_for(bugs, facet, rules)
        for bug in bugs:
            settled = {tops[pk] for pk in labels[bug.pk]}
            found = [tops[uid] for uid in said[bug.pk].found if uid in tops]
            _count(told, list(dict.fromkeys(found)), settled, kind=said[bug.pk].kind)
    return told


def _count(told: Report, found: Sequence[str], settled: Iterable[str], *, kind: str) -> None:
    wanted = set(settled)
    told.n += 1
    if kind == NONE or not found:
        told.undecided += 1
        return
    if kind == ONE or len(found) == 1:
        told.cells[found[0], " + ".join(sorted(wanted))] += 1
    if wanted == set(found):
        told.right += 1
    elif wanted & set(found):
        told.among += 1
    else:
        told.wrong += 1


def _labels(study: Study, facet: Facet) -> dict[int, list[int]]:
    """Category ids by bug, in the order of the bugs' ids."""
    rows = Resolution.objects.current().filter(study=study, facet=facet, is_stale=False, category__isnull=False)
    found: dict[int, list[int]] = defaultdict(list)
    settled = rows.exclude(source=Resolution.Source.DERIVED).order_by("bug_id", "slot")
    for bug, category in settled.values_list("bug_id", "category_id"):
        found[bug].append(category)
    return found


def _tops(facet: Facet) -> dict[int | str, str]:
    """The name at the top, by id and by uid."""
    rows = {row.pk: row for row in Category.objects.filter(facet=facet)}
    found: dict[int | str, str] = {}
    for row in rows.values():
        top = row
        while (above := top.merged_into_id or top.parent_id) is not None and above in rows:
            top = rows[above]
        found[row.pk] = found[row.uid] = top.name
    return found
