"""What goes wrong on demand: one fault at a place, or many by chance."""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import Literal

Kind = Literal[
    "500", "502", "503",  # with an error page, not JSON
    "cut", "reset",  # the connection
    "bad_json",
    "errors", "null_node", "half",  # GraphQL 200: nothing and an error; one hit empty; a list that ends too early
    "incomplete",  # REST search: incomplete_results, and half the count
    "primary", "secondary", "secondary_untold", "429",  # limits: seconds tell for how long
    "revoked",  # 401 from now on
    "403", "404", "410", "451",
]  # fmt: skip
On = Literal["rest", "graphql", "files", "search", "any"]


@dataclass
class Fault:
    """Strikes requests of that sort: `times` in a row, after letting `skip` through."""

    kind: Kind
    on: On = "any"
    times: int = 1
    skip: int = 0
    seconds: int = 60

    def fits(self, sorts: Iterable[str]) -> bool:
        return self.on == "any" or self.on in sorts


@dataclass
class Faults:
    waiting: list[Fault] = field(default_factory=list)
    by_chance: list[Fault] = field(default_factory=list)
    rate: float = 0.0
    struck: list[str] = field(default_factory=list)
    chance: random.Random = field(default_factory=lambda: random.Random(5))
    _lock: Lock = field(default_factory=Lock)

    def add(self, *faults: Fault) -> None:
        with self._lock:
            self.waiting.extend(faults)

    def at_random(self, rate: float, *faults: Fault, seed: int = 5) -> None:
        """Each request is struck with this chance by one of these that fits it."""
        self.rate, self.by_chance, self.chance = rate, list(faults), random.Random(seed)

    def next_for(self, sorts: Iterable[str]) -> Fault | None:
        with self._lock:
            fault = self._due(sorts) or self._lucky(sorts)
            if fault:
                self.struck.append(fault.kind)
            return fault

    def _due(self, sorts: Iterable[str]) -> Fault | None:
        for fault in self.waiting:
            if not fault.fits(sorts):
                continue
            if fault.skip:
                fault.skip -= 1
                continue
            fault.times -= 1
            if not fault.times:
                self.waiting.remove(fault)
            return fault
        return None

    def _lucky(self, sorts: Iterable[str]) -> Fault | None:
        fitting = [fault for fault in self.by_chance if fault.fits(sorts)]
        if fitting and self.chance.random() < self.rate:
            return self.chance.choice(fitting)
        return None
