"""A series as a matrix: an environment a row, a seed a column, in each cell what the last try with that seed gave."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from annotator.reproduction import queries, recipes
from annotator.reproduction.models import Run
from annotator.reproduction.queries import Told
from annotator.reproduction.verdicts import FLAKY, Sum
from annotator.reproduction.wording import SHORT, duration, shown

State, Outcome = Run.State, Run.Outcome


@dataclass(frozen=True, kw_only=True)
class Cell:
    run: Run
    word: str
    note: str
    look: str  # its class: x the bug, p no bug, i says nothing of it
    is_unexpected: bool
    before: tuple[Run, ...] = ()  # tries with the same seed that said nothing of the bug


@dataclass(frozen=True, kw_only=True)
class Row:
    name: str
    expects: str
    cells: tuple[Cell | None, ...]
    said: str
    more: str  # what does not count


@dataclass(frozen=True, kw_only=True)
class Matrix:
    told: Told
    recipe: recipes.Recipe
    seeds: tuple[int, ...]
    rows: tuple[Row, ...]
    through: int = field(default=0)  # runs that are over

    @property
    def total(self) -> int:
        return len(self.told.runs)

    @property
    def waits(self) -> str:
        """Why nothing happens, where nothing does."""
        if any(run.state == State.RUNNING for run in self.told.runs):
            return ""
        reasons = [queries.waits_for(run) for run in self.told.runs if run.state == State.WAITING]
        return reasons[0] if reasons else ""

    @property
    def waits_for_gpu(self) -> bool:
        return any(run.state == State.WAITING and run.queue == Run.Queue.GPU for run in self.told.runs)

    @property
    def void(self) -> int:
        return sum(run.voided_at is not None for run in self.told.runs)


def matrix_of(told: Told) -> Matrix:
    recipe = recipes.from_document(told.series.recipe.document)
    seeds = tuple(sorted({run.seed for run in told.runs}))
    sums = {one.name: one for one in told.verdict.environments}
    deviants = told.verdict.votes.deviants if told.verdict.votes else ()
    rows = []
    for environment in recipe.environments:
        runs = [run for run in told.runs if run.environment == environment.name]
        cells = tuple(_cell([run for run in runs if run.seed == seed], deviants) for seed in seeds)
        said, more = _sum(sums.get(environment.name), runs)
        rows.append(Row(name=environment.name, expects=environment.expect, cells=cells, said=said, more=more))
    through = sum(run.state in (State.ENDED, State.CANCELLED) for run in told.runs)
    return Matrix(told=told, recipe=recipe, seeds=seeds, rows=tuple(rows), through=through)


def _cell(tries: Sequence[Run], deviants: Sequence[str]) -> Cell | None:
    """The last try; those before it stand behind it."""
    if not tries:
        return None
    *before, run = sorted(tries, key=lambda one: one.repeat)
    deviates = run.environment in deviants
    return Cell(
        run=run,
        word=_word(run, deviates=deviates),
        note=_note(run),
        look=_look(run, deviates=deviates),
        is_unexpected=bool(run.expects) and run.outcome in (Outcome.BUG, Outcome.NO_BUG) and run.outcome != run.expects,
        before=tuple(before),
    )


def _word(run: Run, *, deviates: bool) -> str:
    if run.voided_at is not None:
        return "void"
    if run.state != State.ENDED:
        return run.get_state_display().lower()
    if run.outcome == Outcome.OBSERVED:
        return "deviates" if deviates else "observed"
    return SHORT[Outcome(run.outcome)]


def _look(run: Run, *, deviates: bool) -> str:
    if run.voided_at is not None or run.state != State.ENDED:
        return "i"
    if run.outcome == Outcome.OBSERVED:
        return "x" if deviates else "p"
    return {Outcome.BUG: "x", Outcome.NO_BUG: "p"}.get(Outcome(run.outcome), "i")


def _note(run: Run) -> str:
    if run.state == State.WAITING:
        return "for a GPU" if run.queue == Run.Queue.GPU else f"try {len(run.faults) + 1}" if run.faults else ""
    if run.state == State.RUNNING:
        return f"try {run.attempt}" if run.attempt > 1 else ""
    return duration(run.seconds)


def _sum(found: Sum | None, runs: Sequence[Run]) -> tuple[str, str]:
    """What an environment's runs say together, and what does not count."""
    lost = sum(queries.is_faulty(run) for run in runs)
    more = f"{lost} not counted" if lost else ""
    if found is None or not found.counted:
        return "none counted yet", more
    if any(run.outcome == Outcome.OBSERVED for run in runs):
        values = {shown(value_of(run)) for run in runs if run.outcome == Outcome.OBSERVED}
        return ("the same each time" if len(values) == 1 else f"{len(values)} results"), more
    said = f"{found.bugs} of {found.counted} show the bug"
    if found.outcome == FLAKY and found.interval:
        low, high = found.interval
        said += f" ({100 * low:.0f}–{100 * high:.0f} %)"
    return said, more


def value_of(run: Run) -> Any:
    """What a run of a differential gave, as it is compared."""
    observed = run.measures.get("observed")
    if not isinstance(observed, dict):
        return ""
    if "crashed" in observed:
        return f"crashed: {observed['crashed']}"
    return observed.get("value", "nothing")
