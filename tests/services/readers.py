"""Reads a release as others would, each reader strictly: python -m tests.services.readers FOLDER. Prints JSON.

Warnings are errors. A process of its own, since these libraries bring warnings of their own to a test run.
"""

import json
import logging
import sys
import warnings
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pyarrow.parquet


class Heard(logging.Handler):
    """What a library warned of in its log."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


def main(folder: Path) -> dict[str, Any]:
    tables = sorted(path.stem for path in folder.glob("*.parquet"))
    return {
        "pandas": {table: by_pandas(folder, table) for table in tables},
        "pyarrow": {table: pyarrow.parquet.read_table(folder / f"{table}.parquet").num_rows for table in tables},
        "duckdb": {table: by_duckdb(folder, table) for table in tables},
        "croissant": by_croissant(folder),
        "frictionless": by_frictionless(folder),
    }


def by_pandas(folder: Path, table: str) -> list[int]:
    frames = [
        pandas.read_csv(folder / f"{table}.csv", keep_default_na=False, low_memory=False),
        pandas.read_json(folder / f"{table}.jsonl", lines=True),
        pandas.read_parquet(folder / f"{table}.parquet"),
    ]
    assert all(list(frame.columns) == list(frames[0].columns) for frame in frames)
    return [len(frame) for frame in frames]


def by_duckdb(folder: Path, table: str) -> list[int]:
    how = {"csv": "read_csv('{}', header=true)", "jsonl": "read_json('{}')", "parquet": "read_parquet('{}')"}
    found = []
    for format_, call in how.items():
        query = f"SELECT count(*) FROM {call.format(folder / f'{table}.{format_}')}"
        found.append(duckdb.sql(query).fetchall()[0][0])
    return found


def by_croissant(folder: Path) -> dict[str, Any]:
    import mlcroissant  # type: ignore[import-untyped]  # it has none

    heard = Heard()
    for name in (None, "absl"):
        logging.getLogger(name).addHandler(heard)
    data = mlcroissant.Dataset(jsonld=folder / "croissant.json")
    issues = data.metadata.ctx.issues
    sets = {each.id: sum(1 for _ in data.records(each.id)) for each in data.metadata.record_sets}
    return {"errors": sorted(issues.errors), "warnings": sorted(issues.warnings) + heard.said, "rows": sets}


def by_frictionless(folder: Path) -> dict[str, Any]:
    import frictionless

    report = frictionless.validate(str(folder / "datapackage.json"))
    return {
        "valid": report.valid,
        "errors": [str(error) for error in report.flatten(["type", "message"])][:5],
        "warnings": [*report.warnings, *(warning for task in report.tasks for warning in task.warnings)],
        "rows": {task.name: task.stats.get("rows") for task in report.tasks},
    }


if __name__ == "__main__":
    warnings.simplefilter("error", FutureWarning)
    print(json.dumps(main(Path(sys.argv[1]))))
