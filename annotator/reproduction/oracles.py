"""What a try shows: whether it looks like the bug, by the recipe's oracle; or what a differential compares."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotator.clients.patterns import Search, TooSlow, search
from annotator.clients.sandboxes.job import Ended, How
from annotator.reproduction.ledger import storable
from annotator.reproduction.recipe_parts import Metric, Oracle
from annotator.reproduction.recipes import Recipe

BUG, NO_BUG, OBSERVED = "bug", "no_bug", "observed"
OUT_OF_MEMORY, TIMED_OUT, TOO_MUCH, FAULT = "out_of_memory", "timed_out", "too_much", "fault"
NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf(?:inity)?)"
FIGURE = re.compile(rf"(?<![\w.])(?>{NUMBER})(?![\w.]*\w)", re.IGNORECASE)  # atomic: output is hostile, and long
NAN = re.compile(r"(?<![\w])[-+]?nan(?![\w])", re.IGNORECASE)
INFINITY = re.compile(r"(?<![\w])[-+]?inf(?:inity)?(?![\w])", re.IGNORECASE)
RAISED = re.compile(r"^(?P<name>[A-Za-z_][\w.]*)(?::\s?(?P<said>.*))?$")
NO_MEMORY = re.compile(r"\b(MemoryError|_ArrayMemoryError|std::bad_alloc|Cannot allocate memory|ENOMEM)\b")
LONGEST_SAID = 300
LONGEST_COMPARED = 100_000  # characters: what is compared is kept with the run, and read with every list of them


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What one try gave. Only `bug`, `no_bug` and `observed` say something of the bug."""

    outcome: str
    said: str
    measures: Mapping[str, Any] = field(default_factory=dict)  # what was read: value, exception, observed


def judge(ended: Ended, recipe: Recipe, *, search: Search = search) -> Seen:
    """The outcome of a job that came to an end in a sandbox."""
    oracle = recipe.oracle
    if how := _kept_from_ending(ended, oracle, seconds=recipe.limits.seconds, output_kb=recipe.limits.output_kb):
        return how
    if oracle is None:
        return observe(ended, recipe)
    try:
        return look(ended, oracle, search)
    except (TooSlow, ValueError) as problem:
        return Seen(outcome=FAULT, said=f"The oracle could not be read: {problem}. Make its pattern simpler.")


def _kept_from_ending(ended: Ended, oracle: Oracle | None, *, seconds: float, output_kb: int) -> Seen | None:
    """Limits say nothing of the bug, unless the oracle asks for them."""
    if ended.how == How.TIMED_OUT and not (oracle and oracle.timeout):
        return Seen(outcome=TIMED_OUT, said=f"It was not through in {seconds:g} s: raise limits.seconds.")
    if ran_out_of_memory(ended) and not (
        oracle and (oracle.out_of_memory or oracle.exception or oracle.stderr_matches)
    ):
        return Seen(outcome=OUT_OF_MEMORY, said="It needed more memory than it may use: raise limits.memory_mb.")
    if ended.how == How.TOO_MUCH_OUTPUT:
        return Seen(
            outcome=TOO_MUCH, said=f"It wrote more than {output_kb:,} KB: raise limits.output_kb, or write less."
        )
    return None


def ran_out_of_memory(ended: Ended) -> bool:
    """Killed for it, or ended by an allocation that was refused."""
    if ended.how == How.OUT_OF_MEMORY:
        return True
    if ended.how != How.EXITED or not ended.exit_code:
        return False
    last = text_of(ended.stderr).rstrip().rsplit("\n", 3)[-3:]
    return any(NO_MEMORY.search(line) for line in last)


def look(ended: Ended, oracle: Oracle, search: Search) -> Seen:
    """Whether everything that the oracle says holds; the first thing that doesn't is told."""
    stdout, stderr = text_of(ended.stdout), text_of(ended.stderr)
    measures: dict[str, Any] = {}
    held: list[str] = []
    for holds, told in _checks(ended, oracle, stdout, stderr, measures, search):
        if not holds:
            return Seen(outcome=NO_BUG, said=f"{told}{_crashed(ended, oracle)}", measures=measures)
        held.append(told)
    return Seen(outcome=BUG, said=" ".join(held), measures=measures)


def _checks(
    ended: Ended, oracle: Oracle, stdout: str, stderr: str, measures: dict[str, Any], search: Search
) -> "list[tuple[bool, str]]":
    """Each thing that the oracle asks for: whether it holds, and how that is said."""
    found = [
        _asked(oracle.timeout, ended.how == How.TIMED_OUT, "It hangs.", "It came to an end."),
        _asked(oracle.out_of_memory, ran_out_of_memory(ended), "It ran out of memory.", "The memory was enough."),
        _matches(oracle.stdout_matches, stdout, "standard output", search),
        _matches(oracle.stderr_matches, stderr, "standard error", search),
        _exit_code(oracle.exit_code, ended),
        _raises(oracle.exception, ended, stderr, measures),
        _asked(oracle.nan_in_output, bool(NAN.search(stdout)), "The output has NaN.", "The output has no NaN."),
        _asked(
            oracle.infinity_in_output,
            bool(INFINITY.search(stdout)),
            "The output has an infinity.",
            "The output has no infinity.",
        ),
        _beyond(oracle.metric, stdout, measures),
    ]
    return [one for one in found if one is not None]


Check = tuple[bool, str] | None


def _asked(is_asked: bool, holds: bool, yes: str, no: str) -> Check:
    return (holds, yes if holds else no) if is_asked else None


def _matches(pattern: str, text: str, where: str, search: Search) -> Check:
    if not pattern:
        return None
    found = search(pattern, text)
    if found is None:
        return False, f"Nothing on {where} matches {_short(pattern)}."
    return True, f"“{_short(found)}” stands on {where}."


def _exit_code(wanted: int | None, ended: Ended) -> Check:
    if wanted is None:
        return None
    found = ended.exit_code
    same = found is not None and shell_code(found) == shell_code(wanted)
    return same, f"It ended with exit code {found}."


def shell_code(code: int) -> int:
    """A signal's as a shell tells it: −11 is 139."""
    return 128 - code if code < 0 else code


def _raises(wanted: str, ended: Ended, stderr: str, measures: dict[str, Any]) -> Check:
    if not wanted:
        return None
    raised = exception_in(stderr) if ended.exit_code else ""
    measures["exception"] = raised
    same = raised == wanted or raised.rpartition(".")[2] == wanted
    return same, f"It raised {raised}." if raised else "It raised no exception."


def exception_in(stderr: str) -> str:
    """The name of the exception that ended a Python program: the last line that begins a traceback's last sentence."""
    if "Traceback (most recent call last)" not in stderr:
        return ""
    after = stderr.rpartition("Traceback (most recent call last)")[2].split("\n")[1:]
    lines = [line for line in after if line and not line[0].isspace()]
    found = RAISED.match(lines[0]) if lines else None
    return found["name"] if found else ""


def _beyond(metric: Metric | None, stdout: str, measures: dict[str, Any]) -> Check:
    if metric is None:
        return None
    value = figure(metric.name, stdout)
    if value is None:
        return False, f"The output has no figure named {metric.name}."
    measures["metric"] = value if math.isfinite(value) else str(value)
    told = f"{metric.name} is {repr(value).removesuffix('.0')}"
    if metric.above is not None and not value > metric.above:
        return False, f"{told}, not above {metric.above:g}."
    if metric.below is not None and not value < metric.below:
        return False, f"{told}, not below {metric.below:g}."
    bounds = [f"above {metric.above:g}"] if metric.above is not None else []
    bounds += [f"below {metric.below:g}"] if metric.below is not None else []
    return True, f"{told}, {' and '.join(bounds)}."


def figure(name: str, text: str) -> float | None:
    """The last number after the name: `loss 5`, `loss: 5.0`, `loss = nan`, `{"loss": 5}`, `loss (5)`."""
    after = rf"""(?<![\w.]){re.escape(name)}(?![\w])["']?\s*+[:=(]?\s*+(?P<value>(?>{NUMBER}))(?![\w.]*\w)"""
    found = [match["value"] for match in re.finditer(after, text, re.IGNORECASE)]
    return float(found[-1]) if found else None


def _crashed(ended: Ended, oracle: Oracle) -> str:
    """A script that fell over before it could show anything is told of, whatever the oracle asks for."""
    if not ended.exit_code or oracle.exit_code is not None or oracle.exception:
        return ""
    raised = exception_in(text_of(ended.stderr))
    return f" It ended with exit code {ended.exit_code}{f' ({raised})' if raised else ''}."


# --- differential


def observe(ended: Ended, recipe: Recipe) -> Seen:
    """What is compared: standard output, the JSON on it, a figure; or that it crashed."""
    stdout = text_of(ended.stdout)
    if ended.exit_code:
        raised = exception_in(text_of(ended.stderr)) or f"exit code {ended.exit_code}"
        return Seen(outcome=OBSERVED, said=f"It crashed: {raised}.", measures={"observed": {"crashed": raised}})
    if recipe.compare == "metric":
        value = figure(recipe.metric, stdout)
        told = None if value is None else told_number(value)
        said = (
            f"{recipe.metric} is {told}." if value is not None else f"The output has no figure named {recipe.metric}."
        )
        return Seen(outcome=OBSERVED, said=said, measures={"observed": {"value": told}})
    if len(stdout) > LONGEST_COMPARED:
        said = f"Its output has more than {LONGEST_COMPARED:,} characters: print less of it, or compare a figure."
        return Seen(outcome=TOO_MUCH, said=said)
    if recipe.compare == "json":
        found, is_there = json_in(stdout)
        said = "JSON was read." if is_there else "The output has no JSON."
        return Seen(
            outcome=OBSERVED, said=said, measures={"observed": {"value": found} if is_there else {"none": True}}
        )
    return Seen(outcome=OBSERVED, said="The output was read.", measures={"observed": {"value": stdout.strip()}})


def _read_number(text: str) -> float | str:
    """What is beyond every float, such as 1e999, stays a word."""
    return told_number(float(text))


def told_number(value: float) -> float | str:
    """Strict JSON has no NaN."""
    return value if math.isfinite(value) else str(value)


def json_in(text: str) -> tuple[Any, bool]:
    """The whole text as JSON, else its last line that is."""
    for candidate in (text, *reversed(text.strip().split("\n"))):
        try:
            return storable(json.loads(candidate, parse_constant=str, parse_float=_read_number)), True
        except (ValueError, RecursionError):
            continue
    return None, False


def text_of(output: bytes) -> str:
    """Output as text that a database can hold."""
    return output.decode("utf-8", "replace").replace("\x00", "�")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_SAID else f"{text[: LONGEST_SAID - 1]}…"
