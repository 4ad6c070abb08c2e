"""The parts of a recipe, each read from plain values and written back to them."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from annotator.web.errors import BadInput, Gathering

EXPECTED = ("bug", "no_bug")
PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
ENVIRONMENT_NAME = re.compile(r"[\w][\w .,+:()/-]{0,99}")
VERSION = re.compile(r"[23](\.\d{1,2}){1,2}")
PATH = re.compile(r"/[\w./+-]{1,180}")
IMAGE = re.compile(r"[a-z0-9][\w./:@-]{0,400}", re.IGNORECASE)
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
REQUIREMENT = re.compile(  # a distribution with extras, versions and a marker; no option, address or path
    r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?\s*+(\[[A-Za-z0-9._, -]*\])?"
    r"\s*+\(?\s*+((===?|[<>!~]=|[<>])\s*+[\w.*+!-]++\s*+,?\s*+)*+\)?\s*+(;[^\n\\]{1,200})?"
)
RESERVED = ("LD_", "PATH", "HOME", "CUDA_VISIBLE_DEVICES", "NVIDIA_", "RECIPE_")
MOST_REQUIREMENTS, MOST_VARIABLES, MOST_COMMANDS, LONGEST_PATTERN = 200, 50, 20, 500


# --- the parts


@dataclass(frozen=True, kw_only=True)
class Environment:
    """What a script runs in, as the recipe asks for it."""

    name: str
    python: str = ""  # 3.8, or an interpreter's full path
    requirements: tuple[str, ...] = ()
    image: str = ""  # a container's, instead of an interpreter of the host's
    variables: Mapping[str, str] = field(default_factory=dict)
    setup: tuple[str, ...] = ()  # commands before the script, without network
    expect: str = ""  # bug or no_bug; empty in a differential

    def document(self) -> dict[str, Any]:
        told: dict[str, Any] = {"name": self.name}
        told |= {"python": self.python} if self.python else {}
        told |= {"requirements": list(self.requirements)} if self.requirements else {}
        told |= {"image": self.image} if self.image else {}
        told |= {"variables": dict(sorted(self.variables.items()))} if self.variables else {}
        told |= {"setup": list(self.setup)} if self.setup else {}
        return told | ({"expect": self.expect} if self.expect else {})

    @property
    def is_on_a_path(self) -> bool:
        return self.python.startswith("/")


@dataclass(frozen=True, kw_only=True)
class Metric:
    """The last figure that the script printed under a name, and the bound beyond which it is the bug."""

    name: str
    above: float | None = None
    below: float | None = None


@dataclass(frozen=True, kw_only=True)
class Oracle:
    """What the bug looks like: all that is said here holds at once."""

    stdout_matches: str = ""
    stderr_matches: str = ""
    exit_code: int | None = None
    exception: str = ""
    timeout: bool = False
    out_of_memory: bool = False
    nan_in_output: bool = False
    infinity_in_output: bool = False
    metric: Metric | None = None

    def document(self) -> dict[str, Any]:
        told = {key: value for key, value in asdict(self).items() if value not in ("", None, False)}
        if self.metric is not None:
            told["metric"] = {key: value for key, value in asdict(self.metric).items() if value is not None}
        return told


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a run may use; as clients.sandboxes.job.Limits."""

    seconds: float = 120.0
    memory_mb: int = 2048
    processes: int = 256
    disk_mb: int = 1024
    output_kb: int = 1024
    gpus: int = 0
    gpu_memory_mb: int = 0

    def document(self) -> dict[str, Any]:
        return asdict(self)


MOST = {  # what a limit may be raised to
    "seconds": 86_400.0,
    "memory_mb": 4_000_000,
    "processes": 10_000,
    "disk_mb": 1_000_000,
    "output_kb": 8_192,
    "gpus": 1,
    "gpu_memory_mb": 1_000_000,
}


# --- reading them


def environment(raw: Any, place: int) -> Environment:
    where = f"environments, number {place}"
    given = mapping(raw, where, [one.name for one in fields(Environment)])
    each = Gathering()
    name = each(_name, given, where)
    where = f"environment “{name}”" if name else where
    found = Environment(
        name=name,
        image=each(_image, given, where),
        python=each(_python, given, where, is_needed=not given.get("image")),
        requirements=each(_requirements, given, where),
        variables=each(_variables, given.get("variables"), where),
        setup=tuple(each(texts, given, "setup", where, most=MOST_COMMANDS, limit=2000) or ()),
        expect=each(choice, given, "expect", EXPECTED, where=where, is_needed=False),
    )
    each.refuse()
    return found


def _name(given: Mapping[str, Any], where: str) -> str:
    name = line(given, "name", limit=100, where=where)
    if not ENVIRONMENT_NAME.fullmatch(name):
        raise BadInput(f"{where}: name takes letters, digits, blanks and . , + - : / ( ).")
    return name


def _image(given: Mapping[str, Any], where: str) -> str:
    image = line(given, "image", limit=401, where=where, is_needed=False)
    if image and not IMAGE.fullmatch(image):
        raise BadInput(f"{where}: image is no image's name, such as python:3.8-slim.")
    return image


def _python(given: Mapping[str, Any], where: str, *, is_needed: bool) -> str:
    python = line(given, "python", limit=200, where=where, is_needed=is_needed)
    if python and not VERSION.fullmatch(python) and not PATH.fullmatch(python):
        raise BadInput(f"{where}: python is a version such as 3.8, or an interpreter's full path.")
    return python


def _requirements(given: Mapping[str, Any], where: str) -> tuple[str, ...]:
    found = texts(given, "requirements", where, most=MOST_REQUIREMENTS, limit=300)
    wrong = next((one for one in found if not REQUIREMENT.fullmatch(one)), None)
    if wrong is not None:
        raise BadInput(
            f"{where}: “{wrong[:80]}” in requirements is none: name a distribution and its version, as in numpy==1.18.0."
        )
    return tuple(found)


def _variables(raw: Any, where: str) -> dict[str, str]:
    if raw is None:
        return {}
    if not isinstance(raw, dict) or len(raw) > MOST_VARIABLES:
        raise BadInput(f"{where}: variables is a list of at most {MOST_VARIABLES} lines NAME: value.")
    found = {str(name): _text(value) for name, value in raw.items()}
    for name, value in found.items():
        if not VARIABLE.fullmatch(name) or name.startswith(RESERVED):
            raise BadInput(f"{where}: “{name[:60]}” cannot be set under variables.")
        if value is None or len(value) > 2000 or "\x00" in value:
            raise BadInput(f"{where}: variables, {name}: give one text of at most 2,000 characters.")
    return {name: value or "" for name, value in sorted(found.items())}


def oracle(raw: Any) -> Oracle:
    if raw is None:
        raise BadInput("oracle: say what the bug looks like, such as {stdout_matches: nan}.")
    given = mapping(raw, "oracle", [one.name for one in fields(Oracle)])
    each = Gathering()
    found = Oracle(
        stdout_matches=each(_pattern, given, "stdout_matches"),
        stderr_matches=each(_pattern, given, "stderr_matches"),
        exit_code=each(_exit_code, given),
        exception=each(line, given, "exception", limit=200, where="oracle", is_needed=False),
        timeout=each(flag, given, "timeout", where="oracle"),
        out_of_memory=each(flag, given, "out_of_memory", where="oracle"),
        nan_in_output=each(flag, given, "nan_in_output", where="oracle"),
        infinity_in_output=each(flag, given, "infinity_in_output", where="oracle"),
        metric=each(_metric, given.get("metric")),
    )
    each.refuse()
    if found == Oracle():
        raise BadInput("oracle: say what the bug looks like, such as {stdout_matches: nan}.")
    return found


def _pattern(given: Mapping[str, Any], key: str) -> str:
    pattern = _text(given.get(key)) or ""
    if len(pattern) > LONGEST_PATTERN:
        raise BadInput(f"oracle, {key}: the pattern has more than {LONGEST_PATTERN} characters.")
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as problem:
        raise BadInput(f"oracle, {key}: “{pattern[:80]}” is no regular expression: {problem}.") from None
    return pattern


def _exit_code(given: Mapping[str, Any]) -> int | None:
    return None if given.get("exit_code") is None else whole(given, "exit_code", least=-255, most=255, where="oracle")


def _metric(raw: Any) -> Metric | None:
    if raw is None:
        return None
    given = mapping(raw, "oracle, metric", ("name", "above", "below"))
    where, each = "oracle, metric", Gathering()
    above, below = (
        each(number, given, key, where=where) if given.get(key) is not None else None for key in ("above", "below")
    )
    name = each(line, given, "name", limit=100, where=where)
    if given.get("above") is None and given.get("below") is None:
        each.said.append("oracle, metric: give the bound beyond which it is the bug: above or below.")
    each.refuse()
    return Metric(name=name, above=above, below=below)


def limits(raw: Any) -> Limits:
    if raw is None:
        return Limits()
    given = mapping(raw, "limits", [one.name for one in fields(Limits)])
    usual, each = Limits().document(), Gathering()
    found: dict[str, Any] = {}
    for key, most in MOST.items():
        if given.get(key) is None:
            continue
        if key == "seconds":
            found[key] = each(number, given, key, least=0.1, most=most, where="limits")
        else:
            least = 0 if key.startswith("gpu") else 1
            found[key] = each(whole, given, key, least=least, most=int(most), default=usual[key], where="limits")
    each.refuse()
    return Limits(**found)


# --- plain values


def mapping(raw: Any, what: str, keys: Sequence[str]) -> Mapping[str, Any]:
    if not isinstance(raw, dict):
        raise BadInput(f"{what}: write keys with values, among {', '.join(keys)}.")
    strange = next((str(key) for key in raw if key not in keys), None)
    if strange is not None:
        raise BadInput(f"{what}: there is no key “{strange[:60]}”; there are {', '.join(keys)}.")
    return raw


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def _named(where: str, key: str) -> str:
    return f"{where}, {key}" if where else key


def line(given: Mapping[str, Any], key: str, *, limit: int, where: str = "", is_needed: bool = True) -> str:
    """One line of text; empty where it may be left out and is."""
    value = given.get(key)
    text = "" if value is None else _text(value)
    if text is None or len(text) > limit or any(ord(sign) < 32 or ord(sign) == 127 for sign in text):
        raise BadInput(f"{_named(where, key)}: give one line of at most {limit} characters.")
    if is_needed and not text.strip():
        raise BadInput(f"{_named(where, key)}: is missing.")
    return text.strip()


def texts(given: Mapping[str, Any], key: str, where: str, *, most: int, limit: int) -> list[str]:
    """A list of lines."""
    value = given.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > most:
        raise BadInput(f"{_named(where, key)}: write a list of at most {most} lines.")
    return [line({key: one}, key, limit=limit, where=where) for one in value]


def choice(
    given: Mapping[str, Any], key: str, choices: Sequence[str], *, where: str = "", is_needed: bool = True
) -> str:
    """One of the choices; the first where it is needed and left out, else empty."""
    value = given.get(key)
    if value is None:
        return choices[0] if is_needed else ""
    if value not in choices:
        raise BadInput(f"{_named(where, key)}: “{str(value)[:40]}” is none of {', '.join(choices)}.")
    return str(value)


def flag(given: Mapping[str, Any], key: str, *, where: str) -> bool:
    value = given.get(key)
    if value in (None, False, "false", "no"):
        return False
    if value in (True, "true", "yes"):
        return True
    raise BadInput(f"{_named(where, key)}: write true or false.")


def number(
    given: Mapping[str, Any],
    key: str,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    default: float | None = None,
    where: str = "",
) -> float:
    value = given.get(key)
    if value is None and default is not None:
        return default
    try:
        found = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found) or not least <= found <= most:
        raise BadInput(f"{_named(where, key)}: “{str(value)[:40]}” is no number{_between(least, most)}.")
    return found


def whole(
    given: Mapping[str, Any], key: str, *, least: int, most: int, default: int | None = None, where: str = ""
) -> int:
    value = given.get(key)
    if value is None and default is not None:
        return default
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not re.fullmatch(r"-?\d{1,18}", text, re.ASCII) or not least <= int(text) <= most:
        raise BadInput(f"{_named(where, key)}: “{str(value)[:40]}” is no whole number{_between(least, most)}.")
    return int(text)


def _between(least: float, most: float) -> str:
    if math.isinf(most):
        return f" of at least {least:g}" if math.isfinite(least) else ""
    return f" from {least:,g} to {most:,g}"
