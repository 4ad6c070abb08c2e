"""A first guess at what the columns of a sheet hold, from their names and first cells."""

import re
from collections.abc import Callable

from annotator.intake.cleaning import trim
from annotator.intake.columns import (
    CONFIDENCE,
    CONTEXT,
    FINAL,
    LONG,
    NAMED,
    NOTE,
    RATER,
    ROUND,
    VOTE,
    VOTE_REASON,
    Choices,
    Chosen,
    Facet,
)
from annotator.intake.identity import read_number, read_url
from annotator.intake.sheets import Sheet, seems_headed_twice

NAMES = {
    "item.url": {"url", "link", "pr url", "issue url", "address", "html url", "bug url", "pull request url"},
    "item.number": {
        "number",
        "pr",
        "pr id",
        "pr number",
        "issue number",
        "issue id",
        "pull request",
        "pr no",
        "no",
        "nr",
    },
    "item.repository": {"repository", "repo", "project", "repository name", "repo name", "framework"},
    "item.title": {"title", "pr title", "issue title", "summary", "subject"},
    "item.key": {"key", "commit", "commit hash", "hash", "sha", "bug id", "identifier"},
    "item.ordinal": {"ordinal", "bug no", "bug of item"},
    NAMED: {"rater", "annotator", "reviewer", "labeler", "labeller", "coder"},
    ROUND: {"round", "round name", "phase", "iteration"},
}
RATER_WORDS = re.compile(r"\b(?:rater|annotator|reviewer|author|coder|labeler|labeller) ?(?:\d{1,2}|[a-z])\b")
NOTES = {"note", "notes", "comment", "comments", "rationale", "reason", "why", "remark", "remarks"}
SETTLED = ("final", "agreed", "gold", "settled")
LETTERS = "abcdef"
TRUTHS = {"true", "false", "yes", "no", "include", "exclude", "0", "1", "x"}
HALF, MOST = 0.5, 0.9


def plain(text: str) -> str:
    """Words of a header: small letters, digits, one blank between."""
    return re.sub(r"[\W_]+", " ", trim(text).casefold()).strip()


class Guesser:
    """Looks at each column once; what one column took, no other takes."""

    def __init__(self, sheet: Sheet, facets: list[Facet], people: list[str]) -> None:
        self.sheet, self.facets, self.people = sheet, facets, people
        self.taken: set[str] = set()
        self.facet_words = {word: facet for facet in facets for word in (plain(facet.key), plain(facet.name))}

    def run(self) -> Choices:
        columns: dict[int, Chosen] = {}
        for look in (self.by_name, self.by_facet, self.by_votes, self.by_cells):
            for place in range(self.sheet.width):
                cells = self.cells(place)
                if place not in columns and (chosen := look(place, cells)).meaning and self.take(chosen):
                    columns[place] = chosen
        self.settle_reasons(columns)
        for place in range(self.sheet.width):
            if place not in columns and self.cells(place):
                columns[place] = Chosen(CONTEXT)
        columns = dict(sorted(columns.items()))
        self.settle_long_form(columns)
        self.settle_key(columns)
        options = {"kind": self.kind(columns), "header_rows": str(len(self.sheet.header)), "row": "bug"}
        if any(chosen.meaning == NAMED for chosen in columns.values()):
            options["row"] = "vote"
        return Choices(columns, options)

    def words(self, place: int) -> str:
        return plain(self.sheet.labels[place])

    def lowest(self, place: int) -> str:
        """The header just above the data: what stands over several columns may not be meant for this one."""
        return plain(self.sheet.header[-1][place]) if self.sheet.header else ""

    def cells(self, place: int) -> list[str]:
        return [cell for row in self.sheet.rows if (cell := trim(row.cells[place]))]

    def take(self, chosen: Chosen) -> bool:
        slot = f"{chosen.meaning} {chosen.whose}"
        if chosen.meaning != CONTEXT and slot in self.taken:
            return False
        self.taken.add(slot)
        return True

    def by_name(self, place: int, cells: list[str]) -> Chosen:
        words = self.words(place)
        for meaning, names in NAMES.items():
            if words in names and self.suits(meaning, cells):
                return Chosen(meaning)
        return Chosen()

    def suits(self, meaning: str, cells: list[str]) -> bool:
        """The cells may contradict what the header promises."""
        if meaning == "item.url":
            return share(cells, lambda cell: read_url(cell) is not None) > HALF
        if meaning in ("item.number", "item.ordinal"):
            return share(cells, lambda cell: read_number(cell) is not None) > HALF
        return True

    def by_facet(self, place: int, cells: list[str]) -> Chosen:
        """“symptom”, “final symptom”, “symptom alice”, “alice: symptom”, “alice note”, “reviewer 1 scenario”."""
        words = self.words(place)
        if not cells:
            return Chosen()
        if words in self.facet_words:
            return self.named_alike(place, self.facet_words[words])
        for facet_words, facet in self.facet_words.items():
            rest = without(words, facet_words)
            if rest in SETTLED or without(self.lowest(place), facet_words) in SETTLED:
                return Chosen(f"{FINAL}:{facet.key}")
            if rest and (whose := self.person(rest)):
                return Chosen(f"{RATER}:{facet.key}", whose)
        for note in (*NOTES, CONFIDENCE):
            rest = without(words, note)
            if rest and (whose := self.person(rest)):
                return Chosen(f"{RATER}:{CONFIDENCE if note == CONFIDENCE else NOTE}", whose)
        return Chosen()

    def named_alike(self, place: int, facet: Facet) -> Chosen:
        """A facet's own name alone is the final label; where several columns have it, each is a rater's."""
        alike = [at for at in range(self.sheet.width) if self.words(at) == self.words(place) and self.cells(at)]
        if len(alike) == 1 or len(alike) > len(LETTERS):
            return Chosen(f"{FINAL}:{facet.key}")
        return Chosen(f"{RATER}:{facet.key}", f"rater-{LETTERS[alike.index(place)]}")

    def person(self, words: str) -> str:
        for name in self.people:
            if re.search(rf"\b{re.escape(plain(name))}\b", words):
                return name
        if found := RATER_WORDS.search(words):
            return found[0].replace(" ", "-")
        return words if re.fullmatch(r"[a-z]", words) else ""

    def by_votes(self, place: int, cells: list[str]) -> Chosen:
        """Yes and no of a reviewer, in a column that no facet is named in."""
        is_vote = share(cells, lambda cell: cell.casefold() in TRUTHS) > MOST
        whose = self.person(self.words(place)) if is_vote else ""
        if whose and f"{VOTE} {whose}" in self.taken:  # two reviewers under one name: the second is another
            whose = f"{whose}-{place + 1}"
        return Chosen(VOTE, whose) if whose else Chosen()

    def settle_reasons(self, columns: dict[int, Chosen]) -> None:
        """A comment to the right of a reviewer's vote is that reviewer's."""
        for place, chosen in list(columns.items()):
            beside = place + 1
            is_free = beside < self.sheet.width and beside not in columns
            if chosen.meaning == VOTE and is_free and self.words(beside).split(" ")[-1] in NOTES:
                columns[beside] = Chosen(VOTE_REASON, chosen.whose)

    def by_cells(self, place: int, cells: list[str]) -> Chosen:
        """Cells that are addresses, or labels of a facet."""
        if not cells:
            return Chosen()
        if share(cells, lambda cell: bool((url := read_url(cell)) and url[1])) > HALF:
            return Chosen("item.url")
        for facet in self.facets:
            labels = {plain(label) for label in facet.labels}
            if len(labels) > 1 and sum(plain(cell) in labels for cell in cells) > HALF * len(cells):
                return Chosen(f"{FINAL}:{facet.key}")
        return Chosen()

    def settle_long_form(self, columns: dict[int, Chosen]) -> None:
        """Where a column names the rater, labels are the rater's."""
        if not any(chosen.meaning == NAMED for chosen in columns.values()):
            return
        for place, chosen in columns.items():
            if chosen.meaning.startswith(f"{FINAL}:"):
                columns[place] = Chosen(f"{LONG}:{chosen.meaning.split(':')[1]}")
            elif plain(self.sheet.labels[place]) in NOTES:
                columns[place] = Chosen(f"{LONG}:{NOTE}")

    def settle_key(self, columns: dict[int, Chosen]) -> None:
        """An address or a number with its repository names the item; else the first column with a name of its own."""
        found = {chosen.meaning for chosen in columns.values()}
        named = "item.url" in found or {"item.number", "item.repository"} <= found
        for place, chosen in list(columns.items()):
            if named and chosen.meaning == "item.key":
                columns[place] = Chosen(CONTEXT)
        if named or "item.key" in found:
            return
        free = [place for place, chosen in columns.items() if chosen.meaning in (CONTEXT, "item.number")]
        unlike = [place for place in free if len(set(self.cells(place))) == len(self.sheet.rows)]
        for place in unlike[:1]:
            columns[place] = Chosen("item.key")

    def kind(self, columns: dict[int, Chosen]) -> str:
        place = next((at for at, chosen in columns.items() if chosen.meaning == "item.url"), None)
        if place is not None:
            cells = self.cells(place)
            if share(cells, lambda cell: "/issues/" in cell) > HALF:
                return "issue"
            return "pull_request" if share(cells, lambda cell: "/pull/" in cell) > HALF else "other"
        return "pull_request" if any(chosen.meaning == "item.number" for chosen in columns.values()) else "other"


def share(cells: list[str], holds: Callable[[str], bool]) -> float:
    return sum(map(holds, cells)) / len(cells) if cells else 0.0


def without(words: str, part: str) -> str:
    """What is left of a header when one of its words is taken out; nothing where the word is not there."""
    found = re.search(rf"(?:\A| ){re.escape(part)}(?: |\Z)", words)
    return (words[: found.start()] + " " + words[found.end() :]).strip() if found else ""


def guess(sheet: Sheet, facets: list[Facet], people: list[str]) -> Choices:
    return Guesser(sheet, facets, people).run()


def guess_header_rows(records: list[list[str]]) -> int:
    return 2 if seems_headed_twice(records) else 1
