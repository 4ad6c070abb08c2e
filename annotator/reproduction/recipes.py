"""A recipe: how a bug is made to happen. Read from its file, checked to the last key, frozen; and written again.

The document is the file as plain values in one canonical form: what was left out is filled in, so that equal recipes
have equal digests whoever wrote them.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotator.reproduction import recipe_parts as part
from annotator.reproduction.recipe_parts import Environment, Limits, Oracle
from annotator.reproduction.recipe_text import plain, written
from annotator.web.errors import BadInput, Gathering
from annotator.web.texts import check_texts

TOP = (
    "name",
    "bug",
    "kind",
    "script",
    "environments",
    "oracle",
    "compare",
    "metric",
    "tolerance",
    "repeats",
    "seed",
    "limits",
)
KINDS = ("contrast", "differential")
COMPARED = ("stdout", "json", "metric")
MOST_ENVIRONMENTS, MOST_REPEATS = 20, 100
LONGEST_SCRIPT = 500_000
LARGEST_SEED = 2**32 - 1  # what numpy takes


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """One way to make a bug happen. A contrast expects the bug in some environments and not in others; a differential
    compares what environments give, with no right answer known beforehand.
    """

    name: str
    script: str  # its file's name, relative to the recipe
    environments: tuple[Environment, ...]
    kind: str = "contrast"
    repository: str = ""  # of the bug
    number: int | None = None
    oracle: Oracle | None = None  # what the bug looks like; none in a differential
    compare: str = ""  # of a differential
    metric: str = ""  # that a differential compares
    tolerance: float = 0.0  # |a − b| ≤ tolerance × max(1, |a|, |b|)
    repeats: int = 3
    seed: int = 1  # of the first repeat; each further one takes the next
    limits: Limits = field(default_factory=Limits)

    @property
    def is_differential(self) -> bool:
        return self.kind == "differential"

    def environment(self, name: str) -> Environment:
        return next(one for one in self.environments if one.name == name)

    def document(self) -> dict[str, Any]:
        """Plain values, of which `from_document` makes the same recipe."""
        told: dict[str, Any] = {"name": self.name}
        if self.repository or self.number:
            told["bug"] = {"repository": self.repository, "number": self.number}
        told |= {"kind": self.kind, "script": self.script}
        told["environments"] = [one.document() for one in self.environments]
        if self.oracle is not None:
            told["oracle"] = self.oracle.document()
        if self.is_differential:
            told |= {"compare": self.compare, "tolerance": self.tolerance}
            told |= {"metric": self.metric} if self.metric else {}
        return told | {"repeats": self.repeats, "seed": self.seed, "limits": self.limits.document()}

    def yaml(self) -> str:
        return written(self.document())


def read(content: str | bytes) -> Recipe:
    """The recipe in a file. BadInput names the key that is wrong."""
    return from_document(plain(content))


def from_document(raw: Any) -> Recipe:
    """A recipe from plain values: texts as YAML has them, or numbers as JSON does. BadInput tells all that is wrong."""
    check_texts(raw, "The recipe")
    top, each = part.mapping(raw, "The recipe", TOP), Gathering()
    kind = each(part.choice, top, "kind", KINDS)
    is_differential = kind == "differential"
    named = each(_bug, top.get("bug"))
    environments = each(_environments, top, is_differential=is_differential)
    compared = each(_compared, top) if is_differential else ("", "")
    each(_refuse_foreign, top, is_differential=is_differential)
    name = each(part.line, top, "name", limit=200)
    script = each(_script, top)
    oracle = None if is_differential else each(part.oracle, top.get("oracle"))
    tolerance = each(part.number, top, "tolerance", least=0.0, default=0.0)
    repeats = each(part.whole, top, "repeats", least=1, most=MOST_REPEATS, default=3)
    seed = each(part.whole, top, "seed", least=0, most=LARGEST_SEED - MOST_REPEATS, default=1)
    limits = each(part.limits, top.get("limits"))
    each.refuse()
    return Recipe(
        name=name,
        script=script,
        environments=environments,
        kind=kind,
        repository=named[0],
        number=named[1],
        oracle=oracle,
        compare=compared[0],
        metric=compared[1],
        tolerance=tolerance,
        repeats=repeats,
        seed=seed,
        limits=limits,
    )


def digest(document: Mapping[str, Any], script: str) -> str:
    """Names a recipe by all that it says and the script that it runs."""
    return digest_of({"document": document, "script": script})


def digest_of(value: Any) -> str:
    """SHA-256 of plain values in canonical JSON."""
    said = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(said.encode()).hexdigest()


def checked_script(text: str | bytes) -> str:
    """A script as it may be stored and run."""
    try:
        told = text.decode("utf-8-sig") if isinstance(text, bytes) else text
    except UnicodeDecodeError:
        raise BadInput("The script is not UTF-8 text: save it as UTF-8.") from None
    told = told.replace("\r\n", "\n")
    check_texts(told, "The script")
    if not told.strip():
        raise BadInput("The script is empty: it has to make the bug happen.")
    if len(told) > LONGEST_SCRIPT:
        raise BadInput(f"The script has more than {LONGEST_SCRIPT:,} characters: shorten it.")
    return told


# --- pieces


def _bug(raw: Any) -> tuple[str, int | None]:
    if raw is None:
        return "", None
    given = part.mapping(raw, "bug", ("repository", "number"))
    most = 10**15
    number = part.whole(given, "number", least=1, most=most, default=0, where="bug") or None
    return part.line(given, "repository", limit=200, where="bug", is_needed=False), number


def _script(top: Mapping[str, Any]) -> str:
    name = part.line(top, "script", limit=200)
    pieces = name.split("/")
    if name.startswith("/") or "\\" in name or any(piece in ("", ".", "..") for piece in pieces):
        raise BadInput("script: give a file in the recipe's own folder, such as repro.py.")
    if not part.PLAIN_NAME.fullmatch(pieces[-1]):
        raise BadInput("script: a file's name takes letters, digits, dots, dashes and underscores, such as repro.py.")
    return name


def _environments(top: Mapping[str, Any], *, is_differential: bool) -> tuple[Environment, ...]:
    listed = top.get("environments")
    if not isinstance(listed, list) or not listed:
        raise BadInput("environments: list them, each with a name, a python and its requirements.")
    if len(listed) > MOST_ENVIRONMENTS:
        raise BadInput(f"environments: there may be at most {MOST_ENVIRONMENTS}.")
    each = Gathering()
    found = tuple(each(part.environment, raw, place) for place, raw in enumerate(listed, 1))
    each.refuse()
    each(_check_names, [one.name for one in found])
    each(_check_differential if is_differential else _check_contrast, found)
    each.refuse()
    return found


def _check_names(names: list[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadInput(f"environments: two are named “{twice}”. Give each a name of its own.")


def _check_contrast(found: tuple[Environment, ...]) -> None:
    silent = next((one.name for one in found if not one.expect), None)
    if silent is not None:
        raise BadInput(f"environments: “{silent}” needs expect: bug or expect: no_bug. (Or write kind: differential.)")
    if all(one.expect != "bug" for one in found):
        raise BadInput("environments: at least one has to expect the bug (expect: bug).")


def _check_differential(found: tuple[Environment, ...]) -> None:
    if any(one.expect for one in found):
        raise BadInput("environments: in a differential none has expect; they are compared with one another.")
    if len(found) < 2:
        raise BadInput("environments: a differential compares two or more.")


def _compared(top: Mapping[str, Any]) -> tuple[str, str]:
    compare = part.choice(top, "compare", COMPARED)
    metric = part.line(top, "metric", limit=100, is_needed=False)
    if compare == "metric" and not metric:
        raise BadInput("metric: name the figure that is compared, as the script prints it.")
    if compare != "metric" and metric:
        raise BadInput("metric: is read where compare is metric. Leave it out, or write compare: metric.")
    return compare, metric


def _refuse_foreign(top: Mapping[str, Any], *, is_differential: bool) -> None:
    if is_differential and top.get("oracle") is not None:
        raise BadInput("oracle: a differential has none; it compares by stdout, json or metric.")
    foreign = next((key for key in ("compare", "metric", "tolerance") if top.get(key) is not None), None)
    if foreign and not is_differential:
        raise BadInput(f"{foreign}: belongs to a differential. Leave it out, or write kind: differential.")
