"""A made-up GitHub: repositories with pull requests and issues over days, and every oddity that real ones hold."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

WORDS = [
    "fix",
    "crash",
    "shape",
    "gradient",
    "loss",
    "tensor",
    "layer",
    "batch",
    "export",
    "docs",
    "bump",
    "error",
    "memory",
    "leak",
    "device",
    "dtype",
]
PEOPLE = ("alice", "bob", "ada", "lee", "charlie")
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Label:
    name: str
    color: str = "d73a4a"
    description: str | None = None


@dataclass(frozen=True)
class Turn:
    id: int
    author: str | None  # None: the account was deleted
    at: datetime
    body: str
    path: str = ""
    line: int | None = None
    has_no_user_key: bool = False  # REST leaves it out altogether


@dataclass(frozen=True)
class Review:
    id: int
    author: str | None
    at: datetime
    body: str
    state: str = "COMMENTED"
    inline: tuple[Turn, ...] = ()


@dataclass(frozen=True)
class GitCommit:
    sha: str
    message: str
    name: str | None  # as git holds it
    login: str | None
    at: datetime


@dataclass(frozen=True)
class File:
    path: str
    status: str = "modified"
    additions: int = 1
    deletions: int = 1
    patch: str | None = "@@ -1 +1 @@\n-old\n+new"
    old_path: str | None = None


@dataclass(frozen=True)
class Thing:
    """A pull request or an issue."""

    id: int
    number: int
    kind: Literal["pull_request", "issue"]
    title: str
    body: str | None
    author: str | None
    created: datetime
    updated: datetime
    closed: datetime | None
    merged: datetime | None = None
    labels: tuple[Label, ...] = ()
    comments: tuple[Turn, ...] = ()
    reviews: tuple[Review, ...] = ()
    commits: tuple[GitCommit, ...] = ()
    files: tuple[File, ...] = ()
    closes: tuple[int, ...] = ()
    head_repository: str | None = "charlie/fork"
    is_unreadable: bool = False  # GraphQL fails on it each time
    gone: int = 0  # 404, 410, 451: what REST answers, though search still lists it

    @property
    def state(self) -> str:
        return "MERGED" if self.merged else "CLOSED" if self.closed else "OPEN"

    @property
    def inline(self) -> tuple[Turn, ...]:
        return tuple(turn for review in self.reviews for turn in review.inline)


@dataclass
class Repository:
    id: int
    name: str
    former: tuple[str, ...] = ()
    things: dict[int, Thing] = field(default_factory=dict)

    def add(self, thing: Thing) -> Thing:
        self.things[thing.number] = thing
        return thing

    def change(self, number: int, **values: object) -> None:
        self.things[number] = replace(self.things[number], **values)


@dataclass
class World:
    repositories: list[Repository] = field(default_factory=list)

    @classmethod
    def of(cls, *repositories: Repository) -> "World":
        return cls(list(repositories))

    def named(self, name: str) -> Repository | None:
        return next((one for one in self.repositories if one.name.lower() == name.lower()), None)

    def formerly(self, name: str) -> Repository | None:
        return next((one for one in self.repositories if name.lower() in map(str.lower, one.former)), None)

    def numbered(self, number: int) -> Repository | None:
        return next((one for one in self.repositories if one.id == number), None)

    def holding(self, thing: Thing) -> Repository:
        return next(one for one in self.repositories if one.things.get(thing.number) is thing)

    def things(self) -> Iterator[tuple[Repository, Thing]]:
        for repository in self.repositories:
            for thing in list(repository.things.values()):
                yield repository, thing


def repository(
    *,
    name: str = "frame/wood",
    number: int = 900_000_001,
    pull_requests: int = 0,
    issues: int = 0,
    first: date = date(2021, 1, 1),
    days: int = 30,
    busy: dict[date, int] | None = None,
    seed: int = 7,
) -> Repository:
    """So many over so many days; `busy` days have their own number, taken from the whole."""
    chance = random.Random(seed)
    made = Repository(number, name)
    moments = _moments(pull_requests, first=first, days=days, busy=busy or {}, chance=chance)
    for place, moment in enumerate(moments, 1):
        made.add(pull_request(place, moment, chance, base=number))
    for place in range(pull_requests + 1, pull_requests + issues + 1):
        made.add(issue(place, _at(first, chance.randrange(days), chance), chance, base=number))
    return made


def _moments(total: int, *, first: date, days: int, busy: dict[date, int], chance: random.Random) -> list[datetime]:
    calm = [offset for offset in range(days) if first + DAY * offset not in busy]
    found = [_at(first, chance.choice(calm), chance) for _ in range(total - sum(busy.values()))]
    for day, count in busy.items():
        found += [_at(day, 0, chance) for _ in range(count)]
    return sorted(found)


def _at(first: date, offset: int, chance: random.Random) -> datetime:
    return datetime.combine(first + DAY * offset, time.min, UTC) + timedelta(seconds=chance.randrange(86_400))


def pull_request(number: int, merged: datetime, chance: random.Random, *, base: int = 0) -> Thing:
    created = merged - timedelta(hours=chance.randint(1, 200))
    title = " ".join(chance.sample(WORDS, 4)).capitalize()
    login = chance.choice(PEOPLE)
    turn = Turn(base * 10 + number * 100, chance.choice(PEOPLE), merged - timedelta(minutes=5), "Looks right to me.")
    review = Review(
        base * 10 + number * 100 + 1,
        chance.choice(PEOPLE),
        merged - timedelta(minutes=4),
        "One remark.",
        "APPROVED",
        (Turn(base * 10 + number * 100 + 2, "ada", merged - timedelta(minutes=4), "Off by one?", "src/a.py", 3),),
    )
    return Thing(
        id=base * 100 + number,
        number=number,
        kind="pull_request",
        title=title,
        body=f"{title}.\r\n\r\nFixes #{max(1, number - 1)}.",
        author=login,
        created=created,
        updated=merged,
        closed=merged,
        merged=merged,
        labels=(Label("bug"),) if number % 3 == 0 else (),
        comments=(turn,) if number % 2 else (),
        reviews=(review,) if number % 4 == 0 else (),
        commits=(GitCommit(f"{number:040x}", title, login.title(), login, created),),
        files=(File("src/a.py"), File("tests/test_a.py", "added", 3, 0, "@@ -0,0 +1,3 @@\n+a\n+b\n+c")),
        closes=(number - 1,) if number % 5 == 0 else (),
    )


def issue(number: int, closed: datetime, chance: random.Random, *, base: int = 0) -> Thing:
    title = " ".join(chance.sample(WORDS, 4)).capitalize()
    return Thing(
        id=base * 100 + number,
        number=number,
        kind="issue",
        title=title,
        body=f"{title}?",
        author=chance.choice(PEOPLE),
        created=closed - timedelta(hours=5),
        updated=closed,
        closed=closed,
        labels=(Label("type:bug"), Label("silent")) if number % 2 else (Label("type:bug"),),
        comments=(Turn(base * 10 + number * 100, "bob", closed - timedelta(hours=1), "Me too."),),
        head_repository=None,
    )


def odd(repository: Repository, *, files: int = 3_300) -> dict[str, int]:
    """Adds one pull request for each oddity; gives their numbers by name."""
    start = max(repository.things, default=0) + 1
    moments = [thing.merged or thing.created for thing in repository.things.values()]
    moment = max(moments, default=datetime(2021, 1, 1, 12, tzinfo=UTC))
    numbers = {}
    for place, (name, change) in enumerate(ODDITIES.items(), start):
        plain = pull_request(place, moment - timedelta(seconds=place), random.Random(place), base=repository.id)
        plain = replace(plain, comments=(), reviews=(), closes=())
        repository.add(change(plain))
        numbers[name] = place
    huge = numbers["huge"]
    repository.change(huge, files=tuple(File(f"gen/{place}.py") for place in range(files)))
    return numbers


def _turns(thing: Thing, count: int, start: int = 50_000) -> tuple[Turn, ...]:
    moment = thing.created
    return tuple(
        Turn(
            thing.id * 1_000_000 + start + place,
            "bob",
            moment + timedelta(seconds=place),
            f"Turn {place}",
            "src/a.py",
            1,
        )
        for place in range(count)
    )


def _many_reviews(thing: Thing) -> Thing:
    inline = _turns(thing, 26)
    reviews = (Review(turn.id + 500_000, "ada", turn.at, "", "COMMENTED", (turn,)) for turn in inline)
    return replace(thing, reviews=tuple(reviews))


def _long_review(thing: Thing) -> Thing:
    return replace(
        thing, reviews=(Review(thing.id + 1, "ada", thing.created, "See below.", "COMMENTED", _turns(thing, 140)),)
    )


def _commits(thing: Thing, count: int) -> Thing:
    commit = thing.commits[0]
    return replace(thing, commits=tuple(replace(commit, sha=f"{place:040x}") for place in range(count)))


def _nobody(thing: Thing) -> Thing:
    commit = replace(thing.commits[0], login=None, name="Ada by Mail")
    ghost = Turn(thing.id * 7, None, thing.created, "Written by nobody.", has_no_user_key=True)
    return replace(
        thing,
        author=None,
        body=None,
        commits=(commit, replace(commit, sha="f" * 40, name=None)),
        comments=(ghost,),
        reviews=(
            Review(
                thing.id * 9,
                None,
                thing.created,
                "From a deleted account.",
                "COMMENTED",
                (replace(ghost, id=thing.id * 8, path="src/a.py"),),
            ),
        ),
    )


ODDITIES: dict[str, Callable[[Thing], Thing]] = {
    "nul": lambda thing: replace(thing, body="before\x00after", title="NUL \x00 here"),
    "crlf": lambda thing: replace(thing, body="one\r\ntwo\rthree\n  four\t"),
    "long": lambda thing: replace(thing, body="x" * 65_535 + "é"),
    "emoji": lambda thing: replace(thing, title="Fix 🐛 in 🧪", body="👩‍🔬 ﻿ zero​width"),
    "surrogate": lambda thing: replace(thing, body="half \ud83d a pair"),
    "nobody": _nobody,
    "deleted_fork": lambda thing: replace(thing, head_repository=None),
    "huge": lambda thing: thing,
    "binary": lambda thing: replace(
        thing,
        files=(
            File("logo.png", "modified", 0, 0, None),
            File("new.py", "renamed", 0, 0, None, "old.py"),
            File("data.json", "added", 90_000, 0, None),
        ),
    ),
    "undecodable": lambda thing: replace(
        thing, files=(File("latin.txt", patch="@@ -1 +1 @@\n-caf\N{REPLACEMENT CHARACTER}\n+café\x00"),)
    ),
    "no_files": lambda thing: replace(thing, files=()),
    "many_comments": lambda thing: replace(thing, comments=_turns(thing, 230)),
    "many_reviews": _many_reviews,
    "long_review": _long_review,
    "many_commits": lambda thing: _commits(thing, 240),
    "many_labels": lambda thing: replace(thing, labels=tuple(Label(f"label {place}") for place in range(103))),
    "gone_404": lambda thing: replace(thing, gone=404),
    "gone_410": lambda thing: replace(thing, gone=410),
    "gone_451": lambda thing: replace(thing, gone=451),
}
