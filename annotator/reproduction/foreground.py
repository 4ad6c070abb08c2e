"""A recipe carried out here and now: no database, no server. The same running as a worker's, with a ledger in memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotator.reproduction import recipes, verdicts
from annotator.reproduction.ledger import Piece, Result, Used, Work, cut
from annotator.reproduction.recipes import Recipe
from annotator.reproduction.running import carry_out
from annotator.reproduction.verdicts import Try
from annotator.reproduction.workshop import Workshop
from annotator.web.errors import BadInput

Say = Callable[[str], None]
LONGEST_SHOWN = 100_000  # characters of a run's output in the document
LARGEST_FILE = 2_000_000


@dataclass
class Kept:
    """The ledger of one run, which nobody else can take."""

    ended: Result | None = None

    def renew(self, work: Work) -> bool:
        return True

    def log(self, work: Work, pieces: Sequence[Piece]) -> None:
        return

    def result(self, work: Work, result: Result) -> bool:
        self.ended = result
        return True

    def rest(self) -> None:
        return


@dataclass(kw_only=True)
class Reproduction:
    """Every environment of a recipe, as often as it says."""

    recipe: Recipe
    script: str
    workshop: Workshop
    runner: str = ""
    say: Say = lambda text: None
    results: dict[str, list[Result]] = field(default_factory=dict)

    def carry_out(self) -> dict[str, Any]:
        for environment in self.recipe.environments:
            self.results[environment.name] = []
            for repeat in range(1, self.recipe.repeats + 1):
                result = self._run(environment.name, repeat)
                self.say(f"{environment.name}, {repeat}: {result.said}")
                self.results[environment.name].append(result)
        return self.document()

    def _run(self, environment: str, repeat: int) -> Result:
        ledger, seed = Kept(), self.recipe.seed + repeat - 1
        known = next((one.used for one in self.results[environment] if one.used), None)
        document = self.recipe.document()
        work = Work(
            run=recipes.digest_of([document, self.script, environment, repeat]),
            lease="",
            attempt=1,
            recipe=document,
            script=self.script,
            environment=environment,
            repeat=repeat,
            seed=seed,
            runner=self.runner,
            locked=known.locked if known else "",
            python=known.python if known else "",
            image=known.image if known else "",
        )
        carry_out(work, ledger, self.workshop)
        return ledger.ended or Result(outcome="fault", said="The runner gave no result.")

    def verdict(self) -> verdicts.Verdict:
        tries = {
            name: [Try(outcome=one.outcome, said=one.said, observed=one.measures.get("observed")) for one in ended]
            for name, ended in self.results.items()
        }
        return verdicts.judge(self.recipe, tries)

    def locks(self) -> dict[str, Used]:
        found = {name: next((one.used for one in ended if one.used), None) for name, ended in self.results.items()}
        return {name: used for name, used in found.items() if used}

    def document(self) -> dict[str, Any]:
        """What the command prints."""
        told = self.verdict()
        sums = {one.name: one for one in told.environments}
        return {
            "name": self.recipe.name,
            "verdict": told.verdict,
            "said": told.said,
            "environments": [_environment(sums[name], ended) for name, ended in self.results.items()],
            "votes": told.votes.document() if told.votes else None,
        }


def _environment(one: verdicts.Sum, ended: Sequence[Result]) -> dict[str, Any]:
    used = next((result.used for result in ended if result.used), None)
    return {
        "name": one.name,
        "expects": one.expects or None,
        "outcome": one.outcome,
        "counted": one.counted,
        "bugs": one.bugs,
        "rate": one.rate,
        "interval": list(one.interval) if one.interval else None,
        "python": used.python if used else None,
        "image": (used.image or None) if used else None,
        "installed": next((dict(result.installed) for result in ended if result.installed), {}),
        "runs": [_run(result) for result in ended],
    }


def _run(result: Result) -> dict[str, Any]:
    return {
        "exit_code": result.exit_code,
        "seconds": result.seconds,
        "cpu_seconds": result.cpu_seconds,
        "peak_mb": result.peak_mb,
        "outcome": result.outcome,
        "said": result.said,
        "output": cut(result.stdout, longest=LONGEST_SHOWN),
        "errors": cut(result.stderr, longest=LONGEST_SHOWN),
        "measures": dict(result.measures),
        "input_digest": result.input_digest,
    }


def read_files(path: Path) -> tuple[Recipe, str]:
    """A recipe file and the script beside it."""
    recipe = recipes.read(_bytes(path, "recipe"))
    place = path.parent / recipe.script
    if not place.resolve().is_relative_to(path.parent.resolve()):
        raise BadInput(f"script: {recipe.script} leads out of the recipe's folder.")
    return recipe, recipes.checked_script(_bytes(place, "script"))


def _bytes(path: Path, what: str) -> bytes:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise BadInput(f"The {what} {path} is larger than {LARGEST_FILE:,} bytes.")
        return path.read_bytes()
    except IsADirectoryError:
        raise BadInput(f"{path} is a folder, not a {what}.") from None
    except OSError as problem:
        raise BadInput(f"The {what} {path} cannot be read: {problem.strerror}.") from None
    except ValueError:
        raise BadInput(f"The {what}'s name holds a NUL character.") from None
