"""One bug as the pages of adjudication show it: its facets, the sides of one of them, and what can be chosen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from annotator.accounts.models import User
from annotator.adjudication.deciding import in_open_round
from annotator.adjudication.grouped import Tree
from annotator.adjudication.models import Dispute, Remark, Resolution
from annotator.adjudication.positions import LETTERS as SIDES
from annotator.adjudication.positions import Label, Positions, Side, basis_of, ids, positions_of, shuffled, sides_of
from annotator.codebook.models import Category, Facet
from annotator.labeling.suggesting import Shown, of_bug
from annotator.sampling.models import Bug
from annotator.studies.models import Study
from annotator.studies.protocol import protocol_of

PROPOSED, OTHER, NOT_A_BUG, LEFT_OPEN = "P", "O", "D", "U"


@dataclass(frozen=True)
class Tab:
    """A facet of the bug and how it stands."""

    facet: Facet
    is_open: bool
    label: str  # empty where nothing is settled
    source: str
    is_stale: bool

    @property
    def is_joint(self) -> bool:
        return self.facet.decided == Facet.Decided.JOINT


@dataclass(frozen=True)
class Pick:
    """One of the labels that can be chosen by a key."""

    key: str
    text: str
    label: Label


@dataclass(frozen=True)
class Option:
    uid: str
    name: str
    path: str


@dataclass(frozen=True)
class Said:
    """A remark as it is shown: the author's name, or the side where names are hidden."""

    author: str
    text: str
    is_question: bool
    facet: str


@dataclass(frozen=True)
class Item:
    bug: Bug
    positions: Positions | None  # None: nothing can be told yet
    waits: bool  # it is in an open round
    tabs: tuple[Tab, ...] = ()
    facet: Facet | None = None
    sides: tuple[Side, ...] = ()
    picks: tuple[Pick, ...] = ()
    options: tuple[Option, ...] = ()
    settled: tuple[Resolution, ...] = ()
    suggested: Shown | None = None  # what path rules say, where the facet is decided jointly
    remarks: tuple[Said, ...] = ()

    @property
    def is_open(self) -> bool:
        return any(tab.is_open and tab.facet == self.facet for tab in self.tabs)

    @property
    def is_joint(self) -> bool:
        return self.facet is not None and self.facet.decided == Facet.Decided.JOINT

    @property
    def takes_joint(self) -> bool:
        """The verdict is neither in dispute nor not a bug."""
        verdict = [tab for tab in self.tabs if tab.facet.is_verdict]
        return not any(tab.is_open or tab.label == Category.NOT_A_BUG for tab in verdict)

    @property
    def has_not_a_bug(self) -> bool:
        """Whether "not a bug" can be chosen beside the facet's own labels."""
        return self.facet is not None and not self.facet.is_verdict


def bug_of(study: Study, number: int) -> Bug | None:
    return (
        Bug.objects.filter(study=study, number=number).select_related("study", "item__repository", "item__text").first()
    )


def item_of(bug: Bug, *, facet_key: str = "") -> Item:
    """The bug with one of its facets: the one asked for, else the first in dispute, else the first."""
    waits = in_open_round(bug)
    basis = None if waits else basis_of(bug)
    if basis is None:
        return Item(bug=bug, positions=None, waits=waits)
    positions = positions_of(bug, basis)
    tabs = _tabs(bug)
    facet = _chosen(tabs, facet_key)
    hidden = protocol_of(bug.study).hide_names
    sides = sides_of(positions, facet, names_hidden=hidden)
    if facet.is_verdict:
        sides = _with_others(positions, tabs, sides)
    return Item(
        bug=bug,
        positions=positions,
        waits=False,
        tabs=tabs,
        facet=facet,
        sides=sides,
        picks=picks_of(positions, facet, sides),
        options=options_of(facet),
        settled=tuple(settled_on(bug, facet)),
        suggested=of_bug(bug, facet) if facet.decided == Facet.Decided.JOINT else None,
        remarks=remarks_of(positions, names_hidden=hidden),
    )


def settled_on(bug: Bug, facet: Facet) -> list[Resolution]:
    rows = Resolution.objects.current().filter(bug=bug, facet=facet)
    return list(rows.select_related("category__parent", "by", "recorded_by", "round").order_by("slot"))


def _tabs(bug: Bug) -> tuple[Tab, ...]:
    facets = Facet.objects.filter(codebook__study=bug.study_id, retired_at=None)
    waiting = set(Dispute.objects.filter(bug=bug, is_open=True).values_list("facet", flat=True))
    rows: dict[int, list[Resolution]] = {}
    for row in Resolution.objects.current().filter(bug=bug).select_related("category__parent").order_by("slot"):
        rows.setdefault(row.facet_id, []).append(row)
    return tuple(_tab(facet, rows.get(facet.pk, []), is_open=facet.pk in waiting) for facet in facets)


def _tab(facet: Facet, rows: Sequence[Resolution], *, is_open: bool) -> Tab:
    label = " + ".join(path_of(row.category) for row in rows if row.category)
    return Tab(
        facet=facet,
        is_open=is_open,
        label=label,
        source=rows[0].get_source_display() if rows else "",
        is_stale=any(row.is_stale for row in rows),
    )


def _chosen(tabs: Sequence[Tab], key: str) -> Facet:
    asked = [tab.facet for tab in tabs if tab.facet.key == key]
    waiting = [tab.facet for tab in tabs if tab.is_open]
    return (asked or waiting or [tab.facet for tab in tabs if not tab.facet.is_verdict] or [tabs[0].facet])[0]


def path_of(category: Category) -> str:
    return f"{category.parent.name} › {category.name}" if category.parent else category.name


def words(label: Label) -> str:
    return " + ".join(path_of(category) for category in label)


def picks_of(positions: Positions, facet: Facet, sides: Sequence[Side]) -> tuple[Pick, ...]:
    """The sides' labels, each once, and what they propose now; codes as the category that they stand in."""
    if facet.takes_codes:
        return _grouped(positions, facet, sides)
    picks: list[Pick] = []
    known: set[frozenset[int]] = set()
    for side in sides:
        label = positions.before(side.rater.pk, facet.pk)
        if label and ids(label) not in known:
            known.add(ids(label))
            picks.append(Pick(side.letter, words(label), label))
    for side in sides:
        label = positions.standing(side.rater.pk, facet.pk)
        if label and ids(label) not in known:
            known.add(ids(label))
            key = PROPOSED if all(pick.key != PROPOSED for pick in picks) else f"{PROPOSED}{len(picks)}"
            picks.append(Pick(key, f"{words(label)} (proposed by {side.letter})", label))
    return tuple(picks)


def _grouped(positions: Positions, facet: Facet, sides: Sequence[Side]) -> tuple[Pick, ...]:
    """One for each category in which a side's codes stand; a code that waits is not a label to settle on."""
    tree = Tree.of(facet)
    letters: dict[Label, list[str]] = {}
    for side in sides:
        if label := tree.tops(positions.standing(side.rater.pk, facet.pk)):
            letters.setdefault(label, []).append(side.letter)
    return tuple(Pick(of[0], f"{words(label)} ({', '.join(of)})", label) for label, of in letters.items())


def options_of(facet: Facet) -> tuple[Option, ...]:
    """All labels of the facet, for choosing another one."""
    rows = Category.objects.filter(facet=facet, state=Category.State.ACTIVE).select_related("parent")
    if facet.takes_codes:
        rows = rows.filter(is_code=False)
    if facet.is_verdict:
        rows = rows.filter(name__in=[Category.BUG, Category.NOT_A_BUG])
    return tuple(Option(category.uid, category.name, path_of(category)) for category in rows)


def _with_others(positions: Positions, tabs: Sequence[Tab], sides: Sequence[Side]) -> tuple[Side, ...]:
    """Beside a disputed verdict stands what each side answered otherwise."""
    facets = [tab.facet for tab in tabs if not tab.facet.is_verdict]
    out = []
    for side in sides:
        given = positions.blind.get(side.rater.pk, {})
        others = tuple((facet.name, words(given[facet.pk])) for facet in facets if facet.pk in given)
        out.append(replace(side, others=others))
    return tuple(out)


def remarks_of(positions: Positions, *, names_hidden: bool) -> tuple[Said, ...]:
    rows = Remark.objects.filter(bug=positions.bug).select_related("by", "facet")
    letters = letters_of(positions) if names_hidden else {}
    return tuple(
        Said(
            author=f"Rater {letters[row.by_id]}" if row.by_id in letters else row.by.username,
            text=row.text,
            is_question=row.is_question,
            facet=row.facet.name if row.facet else "",
        )
        for row in rows
    )


def letters_of(positions: Positions) -> dict[int, str]:
    return {rater.pk: letter for letter, rater in zip(SIDES, shuffled(positions), strict=False)}


def name_for(user: User, letters: dict[int, str]) -> str:
    return f"Rater {letters[user.pk]}" if user.pk in letters else user.username
