"""What a harvest looks for, as a person says it: checked here, stored with the harvest, the same again when asked again."""

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from annotator.clients.github.search import LOGIN, Query
from annotator.web.errors import BadInput

OWNER_NAME = re.compile(r"[\w.-]{1,100}/[\w.-]{1,100}", re.ASCII)
REPOSITORY_ADDRESS = re.compile(r"(?:https?://)?[\w.:-]+/([\w.-]+/[\w.-]+?)(?:\.git)?/?", re.ASCII)
ADDRESS = re.compile(
    r"(?:https?://)?(?:www\.)?([\w.-]+)/([\w.-]{1,100}/[\w.-]{1,100})/(?:pull|pulls|issues)/(\d{1,10})(?:[/?#]\S*)?",
    re.ASCII,
)
SHORT = re.compile(r"([\w.-]{1,100}/[\w.-]{1,100})#(\d{1,10})", re.ASCII)
PERIOD = re.compile(r"(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)", re.ASCII)
GITHUB_OPENED = dt.date(2008, 1, 1)
LARGEST_NUMBER = 2**31 - 1  # GraphQL's whole numbers end there
MOST_LISTED = 10_000
MOST_REPOSITORIES = 200
LONGEST_WORD = 200

Kind = Literal["pull_request", "issue"]
Moment = Literal["merged", "closed", "created", "updated"]
State = Literal["", "open", "closed", "merged"]


@dataclass(frozen=True)
class Wanted:
    """No `last`: until now. `limit` is of each repository: its newest so many.

    `listed` names single pull requests or issues as owner/name#number, of any kind: then nothing is searched for.
    """

    repositories: tuple[str, ...]
    kind: Kind = "pull_request"
    moment: Moment = "created"
    first: dt.date = GITHUB_OPENED
    last: dt.date | None = None
    words: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    limit: int | None = None
    state: State = ""
    authors: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if strange := [name for name in self.repositories if not OWNER_NAME.fullmatch(name)]:
            raise BadInput(f"“{strange[0][:120]}” is no repository: give it as owner/name.")
        if not self.repositories:
            raise BadInput("Name at least one repository as owner/name.")
        if len(self.repositories) > MOST_REPOSITORIES and not self.listed:
            raise BadInput(f"A harvest takes at most {MOST_REPOSITORIES} repositories: start several.")
        self._check_time()
        self._check_narrowing()

    def _check_time(self) -> None:
        if self.kind == "issue" and "merged" in (self.moment, self.state):
            raise BadInput("Issues are closed, not merged: ask for closed ones instead.")
        if self.moment == "merged" and self.state not in ("", "merged"):
            raise BadInput("What was merged in a period is merged: leave the state out, or choose another date.")
        if self.moment == "closed" and self.state == "open":
            raise BadInput("What was closed in a period is not open: leave the state out, or choose another date.")
        if self.last is not None and self.last < self.first:
            raise BadInput(f"The period ends ({self.last}) before it starts ({self.first}): swap its dates.")

    def _check_narrowing(self) -> None:
        if any('"' in label or not label.strip() for label in self.labels):
            raise BadInput("A label is not empty and holds no quotation mark.")
        if strange := [name for name in self.authors if not LOGIN.fullmatch(name)]:
            raise BadInput(f"“{strange[0][:60]}” is no user name of GitHub.")
        if any(len(text) > LONGEST_WORD for text in (*self.words, *self.labels, *self.authors)):
            raise BadInput(f"A word, label or author has at most {LONGEST_WORD} characters.")
        if self.limit is not None and self.limit < 1:
            raise BadInput("A limit is at least 1.")

    @property
    def searched_state(self) -> State:
        """What was closed or merged in the period is so, without being asked for."""
        if self.state:
            return self.state
        return self.moment if self.moment in ("closed", "merged") else ""

    def query(self, repository: str) -> Query:
        """For GitHub's search, of one repository."""
        return Query(
            repository,
            kind=self.kind,
            state=self.searched_state,
            moment=self.moment,
            labels=self.labels,
            authors=self.authors,
        )

    def listed_of(self, repository: str) -> list[int]:
        """Numbers of the repository, as the list spells it."""
        pairs = (entry.split("#") for entry in self.listed)
        return [int(number) for name, number in pairs if name.lower() == repository.lower()]

    def document(self) -> dict[str, Any]:
        """As it is stored."""
        plain = asdict(self)
        for name, value in plain.items():
            if isinstance(value, dt.date):
                plain[name] = value.isoformat()
            elif isinstance(value, tuple):
                plain[name] = list(value)
        return plain


MANY = ("repositories", "words", "labels", "authors", "listed")


def from_document(document: Mapping[str, Any]) -> Wanted:
    """What an earlier version did not know of takes its default."""
    known = {one.name for one in fields(Wanted)}
    values = {name: value for name, value in document.items() if name in known}
    for name in MANY:
        values[name] = tuple(values.get(name, ()))
    values["first"] = dt.date.fromisoformat(values["first"])
    values["last"] = dt.date.fromisoformat(values["last"]) if values["last"] else None
    return Wanted(**values)


# --- read from what people write


def period(text: str) -> tuple[dt.date, dt.date]:
    """`2018-06-01..2021-10-31`, both days included."""
    found = PERIOD.fullmatch(text.strip())
    try:
        first, last = (dt.date.fromisoformat(day) for day in found.groups()) if found else ("", "")
    except ValueError:
        first = last = ""
    if not isinstance(first, dt.date) or not isinstance(last, dt.date):
        raise BadInput(f"“{text[:40]}” is no period: write it as 2018-06-01..2021-10-31, both days included.")
    return first, last


def words(text: str) -> tuple[str, ...]:
    """`fix, defect error`: one of them is enough."""
    return tuple(dict.fromkeys(word.lower() for word in re.split(r"[\s,]+", text) if word))


def lines(text: str) -> tuple[str, ...]:
    """One entry a line, each once; commas part them, too."""
    return tuple(dict.fromkeys(filter(None, map(str.strip, re.split(r"[\n,]+", text)))))


def unique(names: Sequence[str]) -> tuple[str, ...]:
    """Each repository once, in any case, as it was spelt first; an address is taken for its owner/name."""
    plain = [name if OWNER_NAME.fullmatch(name) else _named(name) for name in names]
    return tuple({name.lower(): name for name in reversed(plain)}[key] for key in dict.fromkeys(map(str.lower, plain)))


def _named(text: str) -> str:
    found = REPOSITORY_ADDRESS.fullmatch(text.strip())
    return found[1] if found else text


def read_list(addresses: Sequence[str], *, host: str) -> tuple[Wanted, str]:
    """What a list of addresses asks for, and the host that they name. `host` is where owner/name#12 lies."""
    if len(addresses) > MOST_LISTED:
        raise BadInput(f"A list takes at most {MOST_LISTED:,} addresses: start several harvests.")
    places = [_place(address, host) for address in addresses]
    if others := {place[0] for place in places} - {places[0][0]} if places else set():
        raise BadInput(f"The list names {places[0][0]} and {min(others)}: start a harvest for each host.")
    listed = tuple(f"{name}#{number}" for name, number in _once(places))
    repositories = unique([name for _, name, _ in places])
    if not listed:
        raise BadInput("The list is empty: paste addresses of pull requests or issues, one a line.")
    return Wanted(repositories, listed=listed), places[0][0]


def _place(address: str, host: str) -> tuple[str, str, int]:
    found, short = ADDRESS.fullmatch(address.strip()), SHORT.fullmatch(address.strip())
    where, name, number = (
        (found[1].lower(), found[2], found[3]) if found else (host, short[1], short[2]) if short else ("", "", "0")
    )
    if not 0 < int(number) <= LARGEST_NUMBER:
        raise BadInput(
            f"“{address.strip()[:120]}” is no address of a pull request or issue: "
            "write it as https://github.com/owner/name/pull/12."
        )
    return where, name, int(number)


def _once(places: Sequence[tuple[str, str, int]]) -> list[tuple[str, int]]:
    """Each thing once, in any case, under its repository's first spelling."""
    spelt: dict[str, str] = {}
    for _, name, _ in places:
        spelt.setdefault(name.lower(), name)
    return list(dict.fromkeys((spelt[name.lower()], number) for _, name, number in places))
