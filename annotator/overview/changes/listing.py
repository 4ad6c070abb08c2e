"""The changes of a codebook as they are listed: in words, with what became of each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotator.codebook import living
from annotator.codebook.differing import TOP
from annotator.codebook.models import Category, Change, Codebook
from annotator.codebook.wording import FIELDS, sentence
from annotator.overview.changes.previewing import Preview, preview_of
from annotator.web.errors import Refused

PAGE = 50
WAITING, IN_FORCE, WITHDRAWN = "waiting", "in force", "withdrawn"


@dataclass(frozen=True)
class Line:
    """One change. `undone_by` is the number of the one that takes it back."""

    change: Change
    says: str
    names: dict[str, str]
    undone_by: int | None

    @property
    def state(self) -> str:
        if self.change.withdrawn_at:
            return WITHDRAWN
        return IN_FORCE if self.change.applied_at else WAITING

    @property
    def is_waiting(self) -> bool:
        return self.state == WAITING

    @property
    def can_undo(self) -> bool:
        try:
            living.refuse_undoing(self.change)
        except Refused:
            return False
        return True

    @property
    def looks_undoable(self) -> bool:
        """As far as its own row tells, for lists."""
        row = self.change
        return bool(row.applied_at and not row.undoes_id and not self.undone_by and not row.new.get("deleted"))

    @property
    def preview(self) -> Preview | None:
        return preview_of(self.change) if self.is_waiting and self.change.act in living.WAITING else None

    @property
    def words(self) -> list[tuple[str, str, str]]:
        """What, as it was, as it is: of an edit and of a changed meaning."""
        now = self.change.new.get("fields", {})
        was = self.change.old.get("fields", {})
        return [
            (FIELDS.get(name, name), self._plain(name, was.get(name)), self._plain(name, now[name])) for name in now
        ]

    def _plain(self, name: str, value: object) -> str:
        if name == "parent":
            return self.names.get(str(value), TOP)
        if isinstance(value, list):
            return "\n".join(map(str, value))
        return (
            {True: "yes", False: "no", None: ""}.get(value, str(value))
            if isinstance(value, bool | None)
            else str(value)
        )


@dataclass(frozen=True)
class Page:
    lines: list[Line]
    before: int | None  # the number below which the next page begins


def lines_of(changes: Sequence[Change]) -> list[Line]:
    """Two queries, whatever their number."""
    names = dict(Category.objects.filter(uid__in=_unnamed(changes)).values_list("uid", "name"))
    counters = Change.objects.filter(undoes__in=[change.pk for change in changes], withdrawn_at=None)
    undone = dict(counters.values_list("undoes_id", "number"))
    return [
        Line(change, sentence(change, names), names | change.new.get("names", {}), undone.get(change.pk))
        for change in changes
    ]


def line_of(change: Change) -> Line:
    return lines_of([change])[0]


def _unnamed(changes: Iterable[Change]) -> set[str]:
    """Ids of categories that the changes speak of and did not note the names of."""
    found: set[str] = set()
    for change in changes:
        known = change.new.get("names", {})
        parents = {place["parent"] for place in change.new.get("places", {}).values()}
        parents |= {side.get("fields", {}).get("parent") or "" for side in (change.old, change.new)}
        found |= {uid for uid in (*change.categories, *parents) if uid and uid not in known}
    return found


def page_of(codebook: Codebook, *, before: int | None) -> Page:
    """Those that wait for nothing, the latest first."""
    rows = Change.objects.filter(codebook=codebook).select_related("facet", "by", "undoes", "version")
    rows = rows.exclude(applied_at=None, withdrawn_at=None)
    if before:
        rows = rows.filter(number__lt=before)
    found = list(rows.order_by("-number")[: PAGE + 1])
    return Page(lines_of(found[:PAGE]), found[PAGE - 1].number if len(found) > PAGE else None)
