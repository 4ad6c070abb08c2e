"""The figures as a table for people and a file for later."""

import json
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path(__file__).with_name("results.json")


@dataclass(frozen=True)
class Figure:
    """One line: what was measured, the bound it has to keep, and the least that anything here could take."""

    name: str
    value: float
    unit: str
    bound: float
    at_least: bool = False  # the bound is a lower one
    floor: float | None = None
    floor_is: str = ""

    @property
    def is_kept(self) -> bool:
        return self.value >= self.bound if self.at_least else self.value <= self.bound


def table(figures: list[Figure]) -> str:
    head = f"{'figure':58} {'measured':>12} {'bound':>12}  {'floor':>10}  what the floor is"
    return "\n".join([head, "-" * len(head), *map(line, figures)])


def line(figure: Figure) -> str:
    sign = "≥" if figure.at_least else "≤"
    bound = f"{sign} {figure.bound:g} {figure.unit}"
    floor = f"{figure.floor:.2f}" if figure.floor is not None else ""
    missed = "" if figure.is_kept else "   MISSED"
    return f"{figure.name:58} {figure.value:8.2f} {figure.unit:3} {bound:>12}  {floor:>10}  {figure.floor_is}{missed}"


def write(figures: list[Figure]) -> None:
    """The latest run, with the machine it ran on."""
    machine = {"cores": os.cpu_count(), "system": platform.system(), "python": platform.python_version()}
    rows = [asdict(figure) | {"is_kept": figure.is_kept} for figure in figures]
    RESULTS.write_text(json.dumps({"machine": machine, "figures": rows}, indent=1, ensure_ascii=False) + "\n")
