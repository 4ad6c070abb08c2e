"""What somebody asks for: which table or figure, of which labels, and how it looks. Its digest is its address."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final

from annotator.adjudication.queries import FINAL
from annotator.web.errors import BadInput
from annotator.web.texts import check_texts

DISTRIBUTION, CROSS, CORRELATION = "distribution", "cross", "correlation"
TREND, TIME, COMPARISON, AGREEMENT = "trend", "time", "comparison", "agreement"
ASSOCIATION = "association"
KINDS: Final = {
    DISTRIBUTION: "Distribution",
    CROSS: "One facet across another",
    ASSOCIATION: "Which facets go together",
    CORRELATION: "Likeness of repositories",
    TREND: "Over time",
    TIME: "Time per bug",
    COMPARISON: "Two studies side by side",
    AGREEMENT: "Agreement by round",
}
REPOSITORY = "repository"
CHOICES: Final[dict[str, dict[str, str]]] = {
    "level": {"given": "Categories as given", "top": "Top categories"},
    "period": {"month": "By month", "quarter": "By quarter"},
    "moment": {"merged": "When merged", "closed": "When closed"},
    "show": {"counts": "Counts", "rows": "Row shares", "columns": "Column shares", "lift": "Lift"},
    "shape": {"auto": "Bars, or a heat map of many", "bars": "Bars", "heat": "Heat map"},
    "order": {"frequency": "Most frequent first", "codebook": "As in the codebook", "name": "By name"},
    "colours": {"colour": "Colours", "grey": "Greys"},
    "fill": {"solid": "Solid", "hatched": "Hatched, for print"},
}
LONGEST = {"title": 200, "published_as": 200}
LONGEST_NAME, MOST_PUBLISHED = 200, 200
USES: Final[dict[str, tuple[str, ...]]] = {
    DISTRIBUTION: ("by", "labels", "level", "order"),
    CROSS: ("by", "across", "labels", "level", "show", "shape", "order", "fill"),
    ASSOCIATION: ("labels", "level"),
    CORRELATION: ("by", "labels", "level"),
    TREND: ("by", "labels", "level", "period", "moment", "order"),
    TIME: ("by", "labels", "level", "order"),
    COMPARISON: ("by", "across", "labels", "level", "other", "published", "published_as"),
    AGREEMENT: ("by",),
}
OF_EVERY_KIND = ("title", "colours")


@dataclass(frozen=True)
class Asked:
    """`by` and `across` are facets' keys, or "repository"; `other` is the slug of a study to compare with.

    `published` are counts by category of a study that is not here, as a paper gives them.
    """

    kind: str
    by: str = ""
    across: str = ""
    labels: str = FINAL
    level: str = "given"
    period: str = "month"
    moment: str = "merged"
    show: str = "counts"
    shape: str = "auto"
    order: str = "frequency"
    colours: str = "colour"
    fill: str = "solid"
    title: str = ""
    other: str = ""
    published: Mapping[str, int] = field(default_factory=dict)
    published_as: str = ""

    def document(self) -> dict[str, Any]:
        """What is not as usual: the same question has one document."""
        usual = Asked(kind=self.kind)
        return {name: value for name, value in asdict(self).items() if name == "kind" or value != getattr(usual, name)}

    @property
    def key(self) -> str:
        return digest_of(self.document())

    def query(self) -> dict[str, str]:
        """As an address holds it; published counts do not stand in one."""
        return {name: value for name, value in self.document().items() if name not in ("kind", "published")}


def digest_of(document: Any) -> str:
    return hashlib.sha256(canonical(document)).hexdigest()


def canonical(document: Any) -> bytes:
    """One way to write a document down, whoever does."""
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode()


NEEDED = {
    DISTRIBUTION: ("by",), CROSS: ("by", "across"), CORRELATION: ("by",), TREND: ("by",), TIME: ("by",),
    COMPARISON: ("by",), AGREEMENT: (), ASSOCIATION: (),
}  # fmt: skip


def read_asked(kind: str, sent: Mapping[str, Any]) -> Asked:
    """From an address, a form or a document, with everything checked that needs no database."""
    if kind not in KINDS:
        raise BadInput(f"There is no table “{kind[:40]}”. There are: {', '.join(KINDS)}.")
    known = {part.name for part in fields(Asked)} - {"kind", "published"}
    given = {name: sent[name] for name in known if sent.get(name)}
    _check_given(given)
    asked = used_of(Asked(kind=kind, published=read_published(sent.get("published") or {}), **given))
    _check_whole(asked)
    return asked


def used_of(asked: Asked) -> Asked:
    """Without what its kind makes nothing of, so that the same figure has one address."""
    uses = {name: getattr(asked, name) for name in (*OF_EVERY_KIND, *USES[asked.kind])}
    if asked.kind == COMPARISON:
        uses |= {"published_as": ""} if asked.other else {"across": ""}
    return Asked(kind=asked.kind, **uses)


def _check_given(given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        if not isinstance(value, str):
            raise BadInput(f"{name} is a text.")
    check_texts(dict(given), "What is asked for")
    for name, choices in CHOICES.items():
        if given.get(name, next(iter(choices))) not in choices:
            raise BadInput(f"{name} is one of {', '.join(choices)}, not “{given[name][:40]}”.")
    for name, most in LONGEST.items():
        if len(given.get(name, "")) > most:
            raise BadInput(f"{'A title' if name == 'title' else 'The name of a study'} has at most {most} characters.")


def _check_whole(asked: Asked) -> None:
    for name in NEEDED[asked.kind]:
        if not getattr(asked, name):
            raise BadInput(f"Say which facet: {name}=FACET.")
    if asked.by and asked.by.casefold() == asked.across.casefold():
        raise BadInput("A table needs two different sides.")
    if asked.kind == COMPARISON and bool(asked.other) == bool(asked.published):
        raise BadInput("Say what to compare with: another study, or the counts of a published one.")


def read_published(sent: Any) -> dict[str, int]:
    """Counts by category."""
    if not isinstance(sent, Mapping):
        raise BadInput("Published counts are given by category: {category: count}.")
    if len(sent) > MOST_PUBLISHED:
        raise BadInput(f"At most {MOST_PUBLISHED} categories can be compared.")
    check_texts(list(sent), "A published category")
    for name, n in sent.items():
        if isinstance(n, bool) or not isinstance(n, int) or not 0 <= n < 10**9:
            raise BadInput(f"The published count of “{str(name)[:60]}” is no whole number.")
        if not name.strip() or len(name) > LONGEST_NAME:
            raise BadInput(f"A published category has a name of at most {LONGEST_NAME} characters.")
    if sent and not sum(sent.values()):
        raise BadInput("The published counts are all 0.")
    return dict(sent)
