"""Which item a row speaks of, and which bug of it."""

import hashlib
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import urlsplit

from annotator.intake.cleaning import is_blank, trim

GITHUB = "github.com"
ON_FORGE = re.compile(r"/(?:repos/)?([^/\s]+)/([^/\s]+)/(pull|pulls|issues|discussions)/(\d{1,18})(?:[/?#].*)?\Z")
PLAIN_GITHUB = re.compile(r"https://github\.com/([\w.-]+)/([\w.-]+)/(?:pull|issues)/(\d{1,18})\Z", re.ASCII)
OWNER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+\Z")
NUMBER = re.compile(r"#?(\d{1,18})(?:\.0)?(?:(?:\s+|-)(\d{1,4}))?\Z")
NO_SCHEME = re.compile(r"(?:www\.)?github\.com/", re.IGNORECASE)
LONGEST_KEY, LONGEST_IDENTITY, LONGEST_LABEL = 500, 600, 300


class NoIdentity(ValueError):
    """Why the row says of no item which one it is."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


@dataclass(frozen=True, slots=True)
class Place:
    """A repository on a forge, as written."""

    host: str
    owner: str
    name: str

    @property
    def text(self) -> str:
        return f"{self.host}/{self.owner}/{self.name}".lower()


@dataclass(frozen=True, slots=True)
class Identity:
    """An item. `text` makes it the same again; `also` is what it is called where its address is not known."""

    text: str
    also: str = ""
    label: str = ""  # of the repository
    place: Place | None = None
    number: int | None = None
    ordinal: int | None = None
    key: str = ""
    url: str = ""
    doubts: tuple[tuple[str, str], ...] = ()  # (code, text)

    @property
    def said(self) -> str:
        """How an error names it."""
        if self.key:
            return self.key
        return f"{self.label or self.text}#{self.number}" if self.number is not None and self.label else self.text


def read_number(cell: str) -> tuple[int, int | None] | None:
    """`49173 2` and `49173-2` are bug 2 of 49173; `#12` and `12.0` are 12."""
    found = NUMBER.match(trim(cell))
    if not found:
        return None
    return int(found[1]), int(found[2]) if found[2] else None


@lru_cache(maxsize=4096)
def read_url(cell: str) -> tuple[str, Place | None, int | None] | None:
    """The address, and what it names on a forge; None where the cell is no web address."""
    url = trim(cell)
    if plain := PLAIN_GITHUB.match(url):
        return url, Place(GITHUB, plain[1], plain[2]), int(plain[3])
    if NO_SCHEME.match(url):
        url = f"https://{url}"
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return None
    if parts.scheme.lower() not in ("http", "https") or not host or " " in url:
        return None
    host = host.removeprefix("api.") if host == "api.github.com" else host
    found = ON_FORGE.match(parts.path + (f"?{parts.query}" if parts.query else ""))
    if not found:
        return url, None, None
    return url, Place(host, found[1], found[2]), int(found[4])


def read_repository(cell: str) -> tuple[str, Place | None]:
    """What the sheet calls it; `owner/name` and a repository's address are places on a forge."""
    label = trim(cell)
    bare = re.sub(r"(?i)\A(?:https?://)?(?:www\.)?github\.com/", "", label).removesuffix(".git").rstrip("/")
    if OWNER_NAME.match(bare):
        owner, name = bare.split("/")
        return (bare if bare != label else label), Place(GITHUB, owner, name)
    return label, None


def address_key(url: str) -> str:
    """Scheme and host in lower case, without a slash at the end."""
    parts = urlsplit(url)
    return url.replace(
        f"{url[: len(parts.scheme)]}://{parts.netloc}", f"{parts.scheme.lower()}://{parts.netloc.lower()}", 1
    ).rstrip("/")


@dataclass(frozen=True, slots=True)
class ItemCells:
    """The cells of a row that say which item it is."""

    repository: str = ""
    number: str = ""
    url: str = ""
    key: str = ""
    ordinal: str = ""


def identify(
    cells: ItemCells, *, places: "dict[str, Place] | None" = None, moved: "dict[str, Place] | None" = None
) -> Identity:
    """`key`; else a GitHub address; else another address; else repository and number.

    `places` says of repository labels (in lower case) where they are on a forge; `moved` of a place by another of its
    names where the study has it.
    """
    label, place = read_repository(cells.repository)
    place = place or (places or {}).get(label.lower())
    numbered = None if is_blank(cells.number) else read_number(cells.number)
    address = None if is_blank(cells.url) else read_url(cells.url)
    url, on_forge, url_number = address or ("", None, None)
    number = url_number if url_number is not None else numbered[0] if numbered else None
    where = on_forge or place
    found = Identity(
        text="",
        label=label or (f"{on_forge.owner}/{on_forge.name}" if on_forge else ""),
        place=(moved or {}).get(where.text, where) if where else None,
        number=number,
        ordinal=ordinal_of(cells.ordinal, numbered),
        url=url,
        doubts=tuple(doubts(cells, numbered, address)),
    )
    return checked(named(found, cells))


def named(found: Identity, cells: ItemCells) -> Identity:
    """With the text that makes it the same item again."""
    if not is_blank(cells.key):
        return replace(found, text=f"key:{cells.key}", key=cells.key)
    called = f"{found.label.lower()}#{found.number}" if found.label and found.number is not None else ""
    if found.place and found.number is not None:
        return replace(found, text=f"{found.place.text}#{found.number}", also=called)
    if found.url:
        return replace(found, text=address_key(found.url))
    if called:
        return replace(found, text=called)
    raise NoIdentity(*what_is_missing(cells, found.number))


def what_is_missing(cells: ItemCells, number: int | None) -> tuple[str, str]:
    if not is_blank(cells.url):
        return "bad_url", f"“{cells.url[:80].strip()}” is no web address, and nothing else in the row names the item."
    if number is not None:
        return (
            "no_repository",
            f"The number {number} needs a repository: map its column, or give it as {{value: owner/name}}.",
        )
    if not is_blank(cells.number):
        return "bad_number", f"“{cells.number[:80].strip()}” is no number, such as 49173, #49173 or 49173 2."
    return "no_identity", "The row names no item: key, address and number are blank."


def ordinal_of(cell: str, numbered: tuple[int, int | None] | None) -> int | None:
    if is_blank(cell):
        ordinal = numbered[1] if numbered else None
    elif re.fullmatch(r"\d{1,4}(\.0)?", trim(cell)):
        ordinal = int(trim(cell).split(".")[0])
    else:
        raise NoIdentity(
            "bad_ordinal", f"“{cell[:80].strip()}” is no ordinal: 1 for the item's first bug, 2 for the next."
        )
    if ordinal == 0:
        raise NoIdentity("bad_ordinal", "Bugs of an item count from 1, not 0.")
    return ordinal


def doubts(
    cells: ItemCells, numbered: tuple[int, int | None] | None, address: tuple[str, Place | None, int | None] | None
) -> "list[tuple[str, str]]":
    """What is odd about cells that still say which item it is."""
    out = []
    if not is_blank(cells.url) and address is None:
        out.append(("bad_url", f"“{cells.url[:80].strip()}” is no web address and was left out."))
    if not is_blank(cells.number) and numbered is None:
        out.append(("bad_number", f"“{cells.number[:80].strip()}” is no number and was left out."))
    if numbered and address and address[2] is not None and address[2] != numbered[0]:
        out.append(
            (
                "number_differs",
                f"The number is {numbered[0]} but the address leads to {address[2]}; the address counts.",
            )
        )
    return out


def checked(identity: Identity) -> Identity:
    for text, most, what in (
        (identity.key, LONGEST_KEY, "key"),
        (identity.label, LONGEST_LABEL, "repository's name"),
    ):
        if len(text) > most:
            raise NoIdentity(
                "identity_too_long", f"The {what} has {len(text):,} characters, at most {most:,} are kept."
            )
    if len(identity.text) > LONGEST_IDENTITY:  # a long address; it is kept whole beside its digest
        return replace(identity, text=f"sha256:{hashlib.sha256(identity.text.encode()).hexdigest()}")
    return identity
