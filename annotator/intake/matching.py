"""Which item and which bug each row speaks of."""

from dataclasses import dataclass, field

from annotator.intake.cleaning import Cleaner, is_blank
from annotator.intake.identity import Identity, ItemCells, NoIdentity, Place, identify, read_repository, read_url
from annotator.intake.mapping import Mapping
from annotator.intake.mapping_parts import Column, Source
from annotator.intake.plans import Known, Plan, PlannedBug, PlannedItem
from annotator.intake.sheets import Row, Sheet


@dataclass(frozen=True, slots=True)
class Cell:
    """Where the text of a source stands: a place in the row, or nowhere for a constant."""

    place: int
    constant: str
    column: str

    def of(self, row: Row) -> str:
        return row.cells[self.place] if self.place >= 0 else self.constant


NOWHERE = Cell(-1, "", "")


def locate(sheet: Sheet, source: Source | None, path: str = "") -> Cell:
    if source is None:
        return NOWHERE
    if isinstance(source, Column):
        return Cell(sheet.place(source.reference), "", sheet.said(source.reference))
    return Cell(-1, source.value, path)


@dataclass(slots=True)
class Located:
    """A row that names an item, and after matching its bug."""

    row: Row
    identity: Identity
    rater: str = ""  # in the long form: whose row it is
    item: PlannedItem = field(init=False)
    bug: PlannedBug | None = None


class Matcher:
    """Turns rows into items and bugs; says what is doubtful about it."""

    def __init__(self, sheet: Sheet, mapping: Mapping, known: Known, plan: Plan) -> None:
        self.sheet, self.mapping, self.known, self.plan = sheet, mapping, known, plan
        columns = mapping.item
        self.repository = locate(sheet, columns.repository)
        self.number, self.url = locate(sheet, columns.number), locate(sheet, columns.url)
        self.title, self.key = locate(sheet, columns.title), locate(sheet, columns.key)
        self.ordinal, self.rater = locate(sheet, columns.ordinal), locate(sheet, mapping.rater)
        self.cleaner = Cleaner(mapping.clean)
        self.items: dict[str, PlannedItem] = {}
        self.bugs: dict[tuple[PlannedItem, int], PlannedBug] = {}
        self.per_item = known.bugs_per_item
        self.warned: set[str] = set()

    def match(self, label_cells: list[Cell], other_cells: list[Cell]) -> list[Located]:
        """The rows that name an item, in their order, each with its bug."""
        places = self.places()
        located = [found for row in self.sheet.rows if (found := self.find(row, places, label_cells, other_cells))]
        self.plan.places = places
        self.plan.rows = len(located)
        if self.mapping.row == "vote":
            self.number_votes(located)
        else:
            self.number_bugs(located)
        return located

    def places(self) -> dict[str, Place]:
        """Where each repository label lies, as far as the study or an address in the sheet says."""
        found: dict[str, Place] = {}
        clashes: set[str] = set()
        for row in self.sheet.rows if self.url is not NOWHERE and self.repository is not NOWHERE else ():
            label, _ = read_repository(self.repository.of(row))
            address = read_url(self.url.of(row)) if label else None
            if address and address[1]:
                place = found.setdefault(label.lower(), address[1])
                if place.text != address[1].text:
                    clashes.add(label.lower())
        return {**{label: place for label, place in found.items() if label not in clashes}, **self.known.places}

    def find(
        self, row: Row, places: dict[str, Place], label_cells: list[Cell], other_cells: list[Cell]
    ) -> Located | None:
        key = self.key.of(row)
        cells = ItemCells(
            repository=self.repository.of(row),
            number=self.number.of(row),
            url=self.url.of(row),
            key=self.cleaner.tidy(key) if key else "",
            ordinal=self.ordinal.of(row),
        )
        try:
            identity = identify(cells, places=places, moved=self.known.moved)
        except NoIdentity as missing:
            self.miss(row, missing, label_cells, other_cells)
            return None
        for code, text in identity.doubts:
            self.plan.warn(row.number, (self.url if code == "bad_url" else self.number).column, code, text)
        return Located(row, identity, rater=self.cleaner.key(self.rater.of(row)))

    def miss(self, row: Row, missing: NoIdentity, label_cells: list[Cell], other_cells: list[Cell]) -> None:
        """A row that names no item is a mistake where it holds labels, else a footer or a note."""
        column = {"bad_url": self.url, "bad_number": self.number, "bad_ordinal": self.ordinal}.get(
            missing.code, self.key
        )
        column = next((cell for cell in (column, self.key, self.url, self.number) if cell.column), NOWHERE)
        telling = label_cells or other_cells
        if missing.code == "bad_ordinal" or any(cell.place >= 0 and not is_blank(cell.of(row)) for cell in telling):
            self.plan.fail(row.number, column.column, missing.code, missing.text)
            return
        self.plan.skipped += 1
        self.plan.warn(
            row.number, column.column, "row_skipped", f"{missing.text} It holds no label either and was left out."
        )

    # --- bugs

    def number_votes(self, located: list[Located]) -> None:
        """Rows of the same item speak of the same bug unless they say another."""
        seen: set[tuple[str, ...]] = set()
        for found in located:
            ordinal = found.identity.ordinal
            item = self.item(found)
            if ordinal is None and item.id is not None and self.per_item.get(item.id, 0) > 1:
                text = (
                    f"{found.identity.said} has {self.per_item[item.id]} bugs; the row says of none that it means it."
                )
                self.plan.warn(
                    found.row.number, self.number.column, "matched_by_position", f"{text} It was taken as bug 1."
                )
            content = tuple(found.row.cells)
            if content in seen:
                self.plan.warn(found.row.number, "", "duplicate_row", "The row repeats an earlier one and counts once.")
            seen.add(content)
            found.bug = self.bug(item, ordinal or 1, found.row.number)

    def number_bugs(self, located: list[Located]) -> None:
        """Each row is a bug: those that carry an ordinal take it, the others the next free ones in their order."""
        taken: dict[tuple[str, str], set[int]] = {}
        seen: set[tuple[str, ...]] = set()
        waiting: list[tuple[Located, bool]] = []
        for found in located:
            content = (found.rater, *found.row.cells)
            is_copy = content in seen
            seen.add(content)
            mine = taken.setdefault((found.identity.text, found.rater), set())
            ordinal = found.identity.ordinal
            if ordinal is None or ordinal in mine:
                waiting.append((found, is_copy))
            else:
                mine.add(ordinal)
                found.bug = self.bug(self.item(found), ordinal, found.row.number)
        for found, is_copy in waiting:
            self.take_next(found, taken[found.identity.text, found.rater], is_copy=is_copy)
        self.plan.bugs.sort(key=lambda bug: bug.row)
        self.plan.items = list(dict.fromkeys(bug.item for bug in self.plan.bugs)) or self.plan.items

    def take_next(self, found: Located, mine: set[int], *, is_copy: bool) -> None:
        ordinal = next(number for number in range(1, len(mine) + 2) if number not in mine)
        is_first = not mine
        mine.add(ordinal)
        item = self.item(found)
        found.bug = self.bug(item, ordinal, found.row.number)
        name, row = found.identity.said, found.row.number
        if is_copy:
            self.plan.warn(
                row,
                "",
                "duplicate_row",
                f"The row repeats an earlier one exactly; it was kept as bug {ordinal} of {name}.",
            )
        elif found.identity.ordinal is not None:
            text = f"Bug {found.identity.ordinal} of {name} is taken by an earlier row; this one became bug {ordinal}."
            self.plan.warn(row, self.number.column, "ordinal_taken", text)
        elif not is_first or self.per_item.get(item.id or 0, 0) > 1:
            self.warn_position(found, ordinal)

    def warn_position(self, found: Located, ordinal: int) -> None:
        """Once for each item: its rows carry no ordinal and there are, or will be, several bugs of it."""
        if found.identity.text not in self.warned:
            self.warned.add(found.identity.text)
            text = f"{found.identity.said} has several bugs and the row names none: by its place it is bug {ordinal}."
            self.plan.warn(found.row.number, self.number.column, "matched_by_position", text)

    def item(self, found: Located) -> PlannedItem:
        identity = found.identity
        item = self.items.get(identity.text)
        title = self.title.of(found.row)
        if item is None:
            known = self.known.items.get(identity.text) or self.known.items.get(identity.also)
            item = PlannedItem(identity, self.mapping.item.kind, title, id=known)
            self.items[identity.text] = item
            self.plan.items.append(item)
        elif not item.title:
            item.title = title
        if item.id in self.known.untitled and not is_blank(item.title):
            self.plan.titles[item] = item.title
        found.item = item
        return item

    def bug(self, item: PlannedItem, ordinal: int, row: int) -> PlannedBug | None:
        if self.mapping.is_screening:
            return None
        bug = self.bugs.get((item, ordinal))
        if bug is None:
            known = self.known.bugs.get((item.id, ordinal)) if item.id is not None else None
            bug = self.bugs[item, ordinal] = PlannedBug(item, ordinal, row, id=known)
            self.plan.bugs.append(bug)
        return bug
