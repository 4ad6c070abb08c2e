"""What each environment of a series was: as asked for, and as it was found."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from annotator.reproduction.matrix import Matrix
from annotator.reproduction.models import Run
from annotator.reproduction.recipe_parts import Environment
from annotator.reproduction.recipes import Recipe
from annotator.reproduction.wording import contained_by, memory

EXPECTED = {"bug": "the bug", "no_bug": "no bug"}


@dataclass(frozen=True, kw_only=True)
class Item:
    """One row of the table: its name, and for each environment the lines that stand there."""

    label: str
    cells: tuple[tuple[str, ...], ...]
    is_code: bool = False
    is_long: bool = False  # folded away

    @property
    def is_same(self) -> bool:
        """In all environments: told once."""
        return len(self.cells) > 1 and len({*self.cells}) == 1

    @property
    def is_there(self) -> bool:
        return any(self.cells)


def items_of(recipe: Recipe, matrix: Matrix | None) -> list[Item]:
    """Rows that say something. Without runs: as asked for."""
    environments = recipe.environments
    runs = {one.name: _counted(matrix, one.name) for one in environments}
    found = _installed(matrix) if matrix else {}

    def row(label: str, lines: Callable[[Environment], Iterable[str]], **more: bool) -> Item:
        return Item(label=label, cells=tuple(tuple(lines(one)) for one in environments), **more)

    items = [
        row("Expects", lambda one: [EXPECTED[one.expect]] if one.expect else []),
        row("Python", lambda one: _python(one, runs[one.name])),
        row("Requirements", lambda one: one.requirements, is_code=True),
        row("Image", lambda one: _image(one, runs[one.name]), is_code=True),
        row("Variables", lambda one: [f"{name}={value}" for name, value in one.variables.items()], is_code=True),
        row("Set-up", lambda one: one.setup, is_code=True),
        row(
            "Locked as", lambda one: [run.locked.digest[:12] for run in runs[one.name] if run.locked][:1], is_code=True
        ),
        row("Installed", lambda one: found.get(one.name, ()), is_code=True, is_long=True),
        row("Ran on", lambda one: _hosts(runs[one.name])),
        row("GPU", lambda one: _gpus(runs[one.name])),
    ]
    return [item for item in items if item.is_there]


def _counted(matrix: Matrix | None, name: str) -> list[Run]:
    return [run for run in matrix.told.runs if run.environment == name and run.outcome in Run.COUNTED] if matrix else []


def _python(asked: Environment, runs: list[Run]) -> list[str]:
    ran = dict.fromkeys(run.locked.python for run in runs if run.locked and run.locked.python)
    return [asked.python or "the image's", *(f"ran on {one}" for one in ran if one != asked.python)]


def _image(asked: Environment, runs: list[Run]) -> list[str]:
    if not asked.image:
        return []
    ran = dict.fromkeys(run.locked.image for run in runs if run.locked and run.locked.image)
    return [asked.image, *(one for one in ran if one != asked.image)]


def _hosts(runs: list[Run]) -> list[str]:
    where = dict.fromkeys(
        (run.host.name if run.host else "this server", contained_by(run.measures.get("runner", ""))) for run in runs
    )
    return [f"{name}, {runner}" if runner else name for name, runner in where]


def _gpus(runs: list[Run]) -> list[str]:
    told = (gpu for run in runs for gpu in run.measures.get("gpus", []) if isinstance(gpu, dict))
    return [*dict.fromkeys(_gpu(gpu) for gpu in told)]


def _gpu(gpu: Mapping[str, Any]) -> str:
    size = memory(gpu["memory_mb"]) if isinstance(gpu.get("memory_mb"), int | float) else ""
    versions = [f"{name} {gpu[key]}" for key, name in (("driver", "driver"), ("cuda", "CUDA")) if gpu.get(key)]
    return ", ".join(filter(None, [str(gpu.get("model") or gpu.get("name") or "GPU"), size, *versions]))


def _installed(matrix: Matrix) -> dict[str, list[str]]:
    """Distributions with versions, of the first run of each environment that tells them."""
    rows = Run.objects.filter(series=matrix.told.series).exclude(installed={}).order_by("repeat")
    found: dict[str, list[str]] = {}
    for name, installed in rows.values_list("environment", "installed"):
        found.setdefault(name, [f"{key}=={version}" for key, version in sorted(installed.items())])
    return found
