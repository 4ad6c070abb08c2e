"""Which machine can run what. Pure: from what a run needs and what a machine says of itself to a reason against it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from annotator.reproduction.recipe_parts import Environment, Limits

LOCAL, DOCKER, SLURM = RUNNERS = ("local", "docker", "slurm")


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What a run asks of a machine."""

    python: str = ""
    image: str = ""
    memory_mb: int = 0
    gpus: int = 0
    gpu_memory_mb: int = 0
    runner: str = ""

    def document(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, environment: Environment, limits: Limits, runner: str = "") -> "Needs":
        return cls(
            python=environment.python,
            image=environment.image,
            memory_mb=limits.memory_mb,
            gpus=limits.gpus,
            gpu_memory_mb=limits.gpu_memory_mb,
            runner=runner,
        )


@dataclass(frozen=True, kw_only=True)
class Can:
    """What a machine can do now."""

    pythons: Sequence[str] = ()  # exact versions: 3.8.18
    memory_mb: int = 0
    memory_held_mb: int = 0  # that runs there may use now
    gpu_free_mb: Sequence[int] = ()  # of each device that no job holds
    gpus: int = 0  # devices in all
    runners: Mapping[str, str] = field(default_factory=dict)  # by name: empty, or why it does not work here

    def document(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "Can":
        """From what a host sent; what is not as it should be counts as not there."""
        runners = told.get("runners")
        return cls(
            pythons=[str(one)[:20] for one in _list(told.get("pythons"))],
            memory_mb=_whole(told.get("memory_mb")),
            gpu_free_mb=[_whole(one) for one in _list(told.get("gpu_free_mb"))],
            gpus=_whole(told.get("gpus")),
            runners={str(name)[:10]: str(why)[:500] for name, why in runners.items()}
            if isinstance(runners, dict)
            else {},
        )


def _list(value: Any) -> list[Any]:
    return value[:100] if isinstance(value, list) else []


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**40 else 0


@dataclass(frozen=True, kw_only=True)
class Against:
    """Why a machine cannot run it: an outcome of a run, and a sentence."""

    outcome: str
    said: str


def against(needs: Needs, can: Can) -> Against | None:
    """The first reason; None where the machine can."""
    if needs.gpus and not can.gpus:
        return Against(outcome="no_gpu", said="It waits for a GPU runner: this machine has no GPU.")
    runner = runner_for(needs, can)
    if runner is None:
        return Against(outcome="refused", said=_no_runner(needs, can))
    if needs.gpus and not any(free >= needs.gpu_memory_mb for free in can.gpu_free_mb):
        return Against(outcome="no_gpu", said="It waits for a GPU with enough free memory.")
    if needs.python and not needs.image and not has_python(needs.python, can.pythons):
        return Against(outcome="no_interpreter", said=no_python(needs.python, can.pythons))
    if needs.memory_mb > can.memory_mb > 0:
        said = f"It may use {needs.memory_mb:,} MB, and this machine has {can.memory_mb:,} MB: lower limits.memory_mb."
        return Against(outcome="refused", said=said)
    return None


def has_room(needs: Needs, can: Can) -> bool:
    """Beside what runs there now; where a machine does not tell its memory, always."""
    return not can.memory_mb or needs.memory_mb <= can.memory_mb - can.memory_held_mb


def runner_for(needs: Needs, can: Can) -> str | None:
    """The sandbox to use: the one that was asked for, else the first that works here."""
    wanted = [needs.runner] if needs.runner else [DOCKER] if needs.image else list(RUNNERS)
    return next((name for name in wanted if can.runners.get(name) == ""), None)


def _no_runner(needs: Needs, can: Can) -> str:
    name = needs.runner or (DOCKER if needs.image else LOCAL)
    why = can.runners.get(name) or "it is not here"
    return f"No sandbox: {name} does not work on this machine ({why.rstrip('.')})."


def has_python(wanted: str, pythons: Sequence[str]) -> bool:
    """3.8 is any 3.8.x; a full path is for the machine to find."""
    if wanted.startswith("/"):
        return True
    return any(one == wanted or one.startswith(f"{wanted}.") for one in pythons)


def no_python(wanted: str, pythons: Sequence[str]) -> str:
    there = ", ".join(sorted(set(pythons), key=_version)) or "none"
    return (
        f"There is no interpreter {wanted} here (there is {there}). Install python{wanted}, or add a host that has it."
    )


def _version(text: str) -> list[int]:
    return [int(piece) for piece in text.split(".") if piece.isdigit()]
