"""Outcomes, oracles and limits in the words that pages use."""

import json
from collections.abc import Iterator
from typing import Any

from annotator.reproduction import verdicts
from annotator.reproduction.models import Run, Runner
from annotator.reproduction.queries import Told
from annotator.reproduction.recipe_parts import Limits, Metric, Oracle
from annotator.reproduction.recipes import Recipe

SHORT = {  # what fits a cell
    Run.Outcome.BUG: "bug",
    Run.Outcome.NO_BUG: "no bug",
    Run.Outcome.OBSERVED: "observed",
    Run.Outcome.NO_INTERPRETER: "no Python",
    Run.Outcome.NOT_INSTALLED: "not installed",
    Run.Outcome.OUT_OF_MEMORY: "memory",
    Run.Outcome.TIMED_OUT: "time",
    Run.Outcome.TOO_MUCH: "output",
    Run.Outcome.NO_GPU: "no GPU",
    Run.Outcome.REFUSED: "no sandbox",
    Run.Outcome.LOST: "lost",
    Run.Outcome.FAULT: "runner",
}
LOOKS = {  # of a verdict's chip
    verdicts.REPRODUCED: "good",
    verdicts.NOT_REPRODUCED: "",
    verdicts.FLAKY: "warn",
    verdicts.FIXED_ALSO_FAILS: "bad",
    verdicts.INFRASTRUCTURE: "o",
    verdicts.WAITING: "acc",
}
NEVER = "never_run"
MINUTE, HOUR = 60, 3600


def chip(told: Told | None) -> tuple[str, str]:
    """A verdict as a chip: kind and word."""
    if told is None:
        return "o", "never run"
    if told.runs and all(run.state == Run.State.CANCELLED for run in told.runs):
        return "o", "cancelled"
    found = told.verdict.verdict
    return LOOKS[found], verdicts.SAID[found].lower()


def run_chip(run: Run) -> tuple[str, str]:
    if run.state != Run.State.ENDED:
        return "acc" if run.state == Run.State.RUNNING else "o", run.get_state_display().lower()
    look = {Run.Outcome.BUG: "bad", Run.Outcome.NO_BUG: "good", Run.Outcome.OBSERVED: "acc"}
    return look.get(Run.Outcome(run.outcome), "o"), run.get_outcome_display().lower()


def contained_by(runner: str) -> str:
    return str(dict(Runner.choices).get(runner, runner))


def duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 2 * MINUTE:
        return f"{seconds:.0f} s"
    if seconds < 2 * HOUR:
        return f"{seconds / MINUTE:.0f} min"
    return f"{seconds / HOUR:.1f} h"


def memory(megabytes: float | None) -> str:
    if megabytes is None:
        return ""
    return f"{megabytes / 1024:.1f} GB" if megabytes >= 1024 else f"{megabytes:.0f} MB"


def limits_in_words(limits: Limits) -> str:
    told = [duration(limits.seconds), memory(limits.memory_mb), f"{limits.processes} processes"]
    told += [f"{memory(limits.disk_mb)} disk", f"{memory(limits.output_kb / 1024) or '0 MB'} output"]
    if limits.gpus:
        told.append(f"1 GPU{f' with {memory(limits.gpu_memory_mb)}' if limits.gpu_memory_mb else ''}")
    return ", ".join([*told, "no network"])


def oracle_in_words(recipe: Recipe) -> list[str]:
    """What is looked at, one sentence each: all of it holds at once."""
    if recipe.oracle is None:
        return [_compared(recipe)]
    return list(_asked(recipe.oracle))


def _compared(recipe: Recipe) -> str:
    what = {"stdout": "standard output", "json": "the JSON on standard output"}.get(
        recipe.compare, f"the figure {recipe.metric}"
    )
    near = f", figures within {recipe.tolerance:g}" if recipe.tolerance else ""
    return f"Environments are compared by {what}{near}; the majority is the reference."


def _asked(oracle: Oracle) -> Iterator[str]:
    if oracle.timeout:
        yield "It does not come to an end in time."
    if oracle.out_of_memory:
        yield "It runs out of memory."
    if oracle.stdout_matches:
        yield f"Standard output matches {oracle.stdout_matches}"
    if oracle.stderr_matches:
        yield f"Standard error matches {oracle.stderr_matches}"
    if oracle.exit_code is not None:
        yield f"It ends with exit code {oracle.exit_code}."
    if oracle.exception:
        yield f"It raises {oracle.exception}."
    if oracle.nan_in_output:
        yield "The output has NaN."
    if oracle.infinity_in_output:
        yield "The output has an infinity."
    if oracle.metric is not None:
        yield _beyond(oracle.metric)


def _beyond(metric: Metric) -> str:
    bounds = [(metric.above, "above"), (metric.below, "below")]
    return f"The figure {metric.name} is {' or '.join(f'{word} {value:g}' for value, word in bounds if value is not None)}."


def shown(value: Any, *, limit: int = 60) -> str:
    """A value that a run gave, on one line."""
    text = " ".join((value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
