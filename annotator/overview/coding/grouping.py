"""The board on which codes become categories: codes with what they stand on, and the categories they go to.

Answers count only of rounds that are no longer open, and codes that were proposed in an open round are not there yet.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from django.db.models import Count, Exists, OuterRef

from annotator.accounts.models import User
from annotator.adjudication.models import Resolution
from annotator.codebook import living
from annotator.codebook.models import Category, Change, Facet, Memo
from annotator.codebook.similar import Pair, folded, near_duplicates
from annotator.labeling.models import Answer, Round
from annotator.overview.changes import changing
from annotator.sampling.models import Bug
from annotator.web.errors import BadInput

ACTIVE, MERGED = Category.State.ACTIVE, Category.State.MERGED
ALIKE, COUNT, NAME = "alike", "count", "name"
ORDERS = {ALIKE: "Alike together", COUNT: "Most used first", NAME: "By name"}
STEPS = (Change.Act.MOVE, Change.Act.MERGE, Change.Act.ADD)
MOST_NEAR = 3
MOST_BUGS = 200


@dataclass(frozen=True)
class Near:
    """A code or category that is nearly called the same, and where it stands now."""

    uid: str
    name: str
    why: str
    nearness: float
    group: str  # uid of the category that it is in, or is; empty for a code that waits
    group_name: str


@dataclass(frozen=True)
class Code:
    uid: str
    name: str
    definition: str
    answers: int
    near: tuple[Near, ...] = ()
    like: str = ""  # uid of the most used of those that are nearly called the same, itself included; empty: none is
    is_first: bool = True

    @property
    def beside(self) -> Near | None:
        """The nearest that stands in a category already."""
        return next((near for near in self.near if near.group), None)

    @property
    def twin(self) -> str:
        """Uid of what it can be merged into: the most used of its like, or the nearest that is placed."""
        beside = self.beside
        return self.like if self.like and not self.is_first else beside.uid if beside else ""


@dataclass(frozen=True)
class Group:
    uid: str
    name: str
    definition: str
    key: str
    codes: tuple[Code, ...]
    answers: int  # with those of its codes


@dataclass(frozen=True)
class Board:
    facet: Facet
    codes: tuple[Code, ...]  # those that wait
    groups: tuple[Group, ...]
    merged: int
    order: str = ALIKE

    @property
    def placed(self) -> int:
        return sum(len(group.codes) for group in self.groups) + self.merged

    @property
    def total(self) -> int:
        return self.placed + len(self.codes)


@dataclass
class _Rows:
    """The facet's categories as rows, and what was answered with each."""

    facet: Facet
    rows: list[Category]
    answers: Mapping[int, int]
    below: dict[int, list[Category]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for row in self.rows:
            if row.parent_id:
                self.below[row.parent_id].append(row)

    @cached_property
    def by_id(self) -> dict[int, Category]:
        return {row.pk: row for row in self.rows}

    def top(self, row: Category) -> Category:
        while row.parent_id in self.by_id:
            row = self.by_id[row.parent_id]
        return row

    def under(self, row: Category) -> Iterable[Category]:
        for each in self.below[row.pk]:
            yield each
            yield from self.under(each)


def board(facet: Facet, *, order: str = ALIKE) -> Board:
    """Three queries, whatever the number of codes."""
    every = facet.categories.filter(is_not_applicable=False)
    rows = _Rows(facet, list(every.filter(state=ACTIVE).order_by("position", "pk")), answers_by_category(facet))
    waiting = [row for row in rows.rows if row.is_code and row.parent_id is None]
    pairs = near_duplicates([row.name for row in rows.rows])
    near = _near(rows, pairs)
    codes = [_code(rows, row, near.get(row.pk, ())) for row in waiting]
    alike = _alike(codes, [(rows.rows[pair.first].uid, rows.rows[pair.second].uid) for pair in pairs])
    groups = [_group(rows, row) for row in rows.rows if row.parent_id is None and not row.is_code]
    return Board(
        facet=facet,
        codes=tuple(_ordered(alike, order)),
        groups=tuple(sorted(groups, key=lambda group: (not group.key, group.key))),
        merged=every.filter(state=MERGED, is_code=True).count(),
        order=order if order in ORDERS else ALIKE,
    )


def answers_by_category(facet: Facet) -> dict[int, int]:
    rows = visible_answers(facet).order_by().values_list("category").annotate(n=Count("pk"))
    return dict(rows)


def visible_answers(facet: Facet):  # type: ignore[no-untyped-def]  # a queryset of answers
    rounds = Round.objects.with_agreement().filter(study=facet.codebook.study_id)
    return Answer.objects.current().filter(facet=facet, round__in=rounds)


def _code(rows: _Rows, row: Category, near: Sequence[Near]) -> Code:
    return Code(row.uid, row.name, row.definition, rows.answers.get(row.pk, 0), tuple(near))


def _group(rows: _Rows, row: Category) -> Group:
    codes = tuple(_code(rows, each, ()) for each in rows.under(row))
    answers = rows.answers.get(row.pk, 0) + sum(code.answers for code in codes)
    return Group(row.uid, row.name, row.definition, row.hotkey, codes, answers)


def _near(rows: _Rows, pairs: Sequence[Pair]) -> dict[int, list[Near]]:
    """Of each row the nearest few, by the row's id."""
    found: dict[int, list[Near]] = defaultdict(list)
    for pair in pairs:  # the nearest first
        for one, other in ((pair.first, pair.second), (pair.second, pair.first)):
            mine, theirs = rows.rows[one], rows.rows[other]
            top = rows.top(theirs)
            if len(found[mine.pk]) < MOST_NEAR:
                group = None if top.is_code else top
                found[mine.pk].append(
                    Near(
                        uid=theirs.uid,
                        name=theirs.name,
                        why=pair.why,
                        nearness=pair.nearness,
                        group=group.uid if group else "",
                        group_name=group.name if group else "",
                    )
                )
    return found


def _ordered(alike: list[Code], order: str) -> list[Code]:
    if order == NAME:
        return sorted(alike, key=lambda code: folded(code.name))
    return sorted(alike, key=_most_used_first) if order == COUNT else alike


def _most_used_first(code: Code) -> tuple[int, str]:
    return -code.answers, folded(code.name)


def _alike(codes: list[Code], pairs: Iterable[tuple[str, str]]) -> list[Code]:
    """The most used first, each followed by all that are nearly called the same and follow no other yet."""
    waiting = {code.uid: code for code in sorted(codes, key=_most_used_first)}
    near: dict[str, list[str]] = defaultdict(list)
    for one, other in pairs:
        near[one].append(other)
        near[other].append(one)
    found: list[Code] = []
    for first in list(waiting.values()):
        if first.uid in waiting:
            others = [waiting.pop(uid) for uid in near[first.uid] if uid in waiting and uid != first.uid]
            like = first.uid if others else ""
            found.append(replace(waiting.pop(first.uid), like=like))
            found += [replace(other, like=like, is_first=False) for other in others]
    return found


# --- steps


def merge(facet: Facet, *, sources: Sequence[str], into: str, by: User, reason: str = "") -> Change:
    """Codes that say the same become one; while a round is open it is written down and waits."""
    rows = {row.uid: row for row in facet.categories.select_related("facet__codebook", "parent")}
    if into not in rows or not set(sources) <= rows.keys():
        raise BadInput("One of the codes is not in use any more. Load the page again.")
    chosen = [rows[uid] for uid in dict.fromkeys(sources)]
    return changing.make(
        facet.codebook.study,
        living.merge_categories,
        sources=chosen,
        into=rows[into],
        reason=reason.strip() or "The same in other words",
        by=by,
    )


def last_step(facet: Facet, *, by: User) -> Change | None:
    """What the person did last on the board and has not taken back."""
    undone = Change.objects.filter(undoes=OuterRef("pk"), withdrawn_at=None)
    mine = Change.objects.filter(facet=facet, by=by, undoes=None, withdrawn_at=None).exclude(Exists(undone))
    return mine.filter(act__in=STEPS).order_by("-number").first()


def undo(facet: Facet, *, by: User) -> str:
    last = last_step(facet, by=by)
    if last is None:
        raise BadInput("There is no step of yours to take back.")
    if last.applied_at is None:
        living.withdraw_change(change=last, by=by)
    else:
        changing.undo(change=last, by=by, reason=f"Undoes change {last.number}")
    return f"Taken back: {last.reason}."


# --- what a code stands on


@dataclass(frozen=True)
class Said:
    """What one rater answered on a bug, and the category that it stands in now."""

    rater: str
    names: tuple[str, ...]
    groups: tuple[str, ...]
    is_this: bool
    note: str


@dataclass(frozen=True)
class Standing:
    """A bug on which the code stands: each rater's words beside each other."""

    bug: Bug
    round: str
    said: tuple[Said, ...]
    final: str


@dataclass(frozen=True)
class Detail:
    category: Category
    bugs: tuple[Standing, ...]
    total: int
    memos: tuple[Memo, ...]


def detail(category: Category) -> Detail:
    facet = category.facet
    here = visible_answers(facet).filter(category=category)
    places = list(here.order_by("bug__number", "round__number").values_list("round_id", "bug_id").distinct())
    shown = places[:MOST_BUGS]
    return Detail(
        category=category,
        bugs=tuple(_standings(facet, category, shown)),
        total=len(places),
        memos=tuple(category.memos.select_related("by").order_by("-at", "-pk")),
    )


def _standings(facet: Facet, category: Category, places: Sequence[tuple[int, int]]) -> Iterable[Standing]:
    """One at a time, by bug: who answered what in the round, and what is settled."""
    bugs = {bug for _, bug in places}
    rows = visible_answers(facet).filter(bug__in=bugs).select_related("category", "rater", "assignment", "round")
    given: dict[tuple[int, int], dict[User, list[Answer]]] = defaultdict(lambda: defaultdict(list))
    for row in rows.order_by("rater__username", "slot"):
        given[row.round_id, row.bug_id][row.rater].append(row)
    tops = _top_names(facet)
    finals = _finals(facet, bugs)
    found = Bug.objects.filter(pk__in=bugs).select_related("item__repository").in_bulk()
    for round_id, bug in places:
        said = tuple(_said(rater, answers, category, tops) for rater, answers in given[round_id, bug].items())
        name = next(iter(given[round_id, bug].values()))[0].round.name
        yield Standing(found[bug], name, said, finals.get(bug, ""))


def _said(rater: User, answers: Sequence[Answer], category: Category, tops: Mapping[int, str]) -> Said:
    return Said(
        rater=rater.username,
        names=tuple(answer.category.name for answer in answers),
        groups=tuple(dict.fromkeys(tops[answer.category_id] for answer in answers if answer.category_id in tops)),
        is_this=any(answer.category_id == category.pk for answer in answers),
        note=answers[0].assignment.note,
    )


def _top_names(facet: Facet) -> dict[int, str]:
    """Of each category that stands below another, the name at the top."""
    rows = list(facet.categories.all())
    tree = _Rows(facet, rows, {})
    return {row.pk: tree.top(row).name for row in rows if row.parent_id}


def _finals(facet: Facet, bugs: Iterable[int]) -> dict[int, str]:
    rows = Resolution.objects.current().filter(facet=facet, bug__in=bugs, category__isnull=False, is_stale=False)
    found: dict[int, list[str]] = defaultdict(list)
    for bug, name in rows.order_by("slot").values_list("bug_id", "category__name"):
        found[bug].append(name)
    return {bug: " + ".join(names) for bug, names in found.items()}
