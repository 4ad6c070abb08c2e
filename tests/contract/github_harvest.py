"""A harvest in memory, as workers carry it out: every wait is a new start, and nothing that is held is asked again."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import TypeVar

from annotator.clients.github.budget import InMemoryBudget
from annotator.clients.github.client import GitHub
from annotator.clients.github.copies import Copy, FilesCopy, PullRequestCopy
from annotator.clients.github.errors import Broken, Gone, Limited, Unreachable
from annotator.clients.github.search import Query
from annotator.clients.github.windows import CAP, Settled, Window, pieces
from annotator.clients.github.wire import Key
from tests.services.github_server import Clock, GitHubServer
from tests.services.github_server.server import TOKEN

T = TypeVar("T")
MERGED = Query("frame/wood", state="merged", moment="merged")
CLOSED = Query("frame/wood", kind="issue", state="closed", moment="closed")
EVER = Window.of_days(date(2020, 12, 1), date(2021, 12, 31))


def github(server: GitHubServer, clock: Clock, *tokens: str) -> GitHub:
    keys = [Key(token, InMemoryBudget(clock), name=f"key {place}") for place, token in enumerate(tokens or (TOKEN,), 1)]
    return GitHub(server.url, keys, clock=clock, pause=clock.pause)


@dataclass
class Harvest:
    github: GitHub
    clock: Clock
    query: Query = MERGED
    window: Window = EVER
    with_files: bool = True
    windows: list[Settled] = field(default_factory=list)
    items: dict[int, Copy] = field(default_factory=dict)
    files: dict[int, FilesCopy] = field(default_factory=dict)
    unavailable: dict[int, int] = field(default_factory=dict)
    broken: dict[int, str] = field(default_factory=dict)
    waits: list[Limited | Unreachable] = field(default_factory=list)
    short: int = 0  # hits that the search counts and never gave

    def run(self) -> "Harvest":
        self._settle()
        for settled in self.windows:
            self._search(settled)
        for item in list(self.items.values()):
            self._one(item)
        return self

    @property
    def found(self) -> int:
        return sum(settled.count.total for settled in self.windows)

    @property
    def capped(self) -> int:
        return sum(settled.capped for settled in self.windows)

    @property
    def numbers(self) -> set[int]:
        return {item.number for item in self.items.values()}

    def _settle(self) -> None:
        waiting = [self.window]
        while waiting:
            current = waiting.pop()
            count = self._patiently(lambda window=current: self.github.count(self.query, window))
            smaller = pieces(current, count)
            waiting.extend(reversed(smaller))
            if not smaller and count.total:
                self.windows.append(Settled(current, count))

    def _search(self, settled: Settled) -> None:
        held: set[int] = set()
        after = ""

        def go_on() -> None:
            nonlocal after
            for page in self.github.all_hits(self.query, settled.window, after=after, known=held):
                held.update(hit.id for hit in page.hits)
                self.items |= {hit.id: hit for hit in page.hits}
                after = page.after

        self._patiently(go_on)
        if len(held) < min(settled.count.total, CAP):
            held |= self._by_number(settled.window, held)
        self.short += min(settled.count.total, CAP) - len(held)

    def _by_number(self, window: Window, held: set[int]) -> set[int]:
        unheld = self._patiently(lambda: self.github.unheld(self.query, window, held))
        numbers = [glance.number for glance in unheld]
        for number, found in self._patiently(lambda: self.github.fetch_many(self.query.repository, numbers)).items():
            if isinstance(found, Gone):
                self.unavailable[number] = found.reason
            elif isinstance(found, Broken):
                self.broken[number] = str(found)
            else:
                self.items[found.id] = found
        return {glance.id for glance in unheld}

    def _one(self, item: Copy) -> None:
        try:
            self.items[item.id] = self._patiently(lambda: self.github.complete(item))
            if self.with_files and isinstance(item, PullRequestCopy):
                self.files[item.number] = self._patiently(
                    lambda: self.github.files(item.repository, item.number, expected=item.changed_files)
                )
        except Gone as gone:
            self.unavailable[item.number] = gone.reason
        except Broken as broken:
            self.broken[item.number] = str(broken)

    def _patiently(self, act: Callable[[], T]) -> T:
        for _time in range(100):
            try:
                return act()
            except Limited as limited:
                self.waits.append(limited)
                self.clock.move_to(limited.until)
            except Unreachable as unreachable:
                self.waits.append(unreachable)
                self.clock.move_to(unreachable.retry_at)
        raise AssertionError(f"a hundred waits: {self.waits[-1]}")
