"""What goes wrong on demand: one fault at a place, or many by chance."""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
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
            self.waiting.extend(replace(fault) for fault in faults)

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


# What passes: it costs nothing but time.
PASSING = [
    Fault("500"),
    Fault("502", times=2),
    Fault("502", on="graphql", times=4),
    Fault("502", on="files", times=7),
    Fault("503"),
    Fault("cut", on="graphql", skip=1),
    Fault("cut", on="files", skip=3),
    Fault("reset", on="graphql", skip=1),
    Fault("reset", on="files", skip=3, times=2),
    Fault("bad_json", on="graphql"),
    Fault("bad_json", on="files", skip=2),
    Fault("errors", on="graphql", skip=1, times=2),
    Fault("null_node", on="graphql", skip=1),
    Fault("null_node", on="graphql", times=3),
    Fault("half", on="graphql"),
    Fault("incomplete", on="search"),
    Fault("primary", on="files", skip=4, seconds=1_200),
    Fault("primary", on="graphql", skip=1, seconds=900),
    Fault("primary", on="search", seconds=50),
    Fault("secondary", on="files", skip=5, seconds=90),
    Fault("secondary", on="graphql", seconds=1),
    Fault("secondary_untold", on="files", skip=5),
    Fault("secondary_untold", on="graphql", times=2),
    Fault("429", on="files", skip=2, seconds=7),
]
