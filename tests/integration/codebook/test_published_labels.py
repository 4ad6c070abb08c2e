"""Every label of the published sheets leads to a category of the preset, by its name or another name of it."""

import csv
from pathlib import Path

import pytest

from annotator.codebook.actions import create_codebook
from annotator.codebook.presets import preset
from annotator.codebook.queries import Names, names_in
from tests.factories import StudyFactory

DATA = Path(__file__).parents[4] / "shared/data"
MAIN = {
    "symptom": ["symptom"],
    "root_cause": ["root_cause", "root_cause-sub"],
    "level": ["component", "component-sub"],
    "stage": ["stage"],
}
SILENT = {"scenario": ["Final Scenario"], "impact": ["Impact"], "component": ["Final Component 1", "Final Component 2"]}
SHEN = {
    "symptom": ["symptoms"],
    "stage": ["stages"],
    "root_cause": ["root causes"],
    "front_framework": ["front framework"],
}


def labels(path: Path, column: str, delimiter: str) -> set[str]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        found = {(row[column] or "").strip() for row in csv.DictReader(file, delimiter=delimiter)}
    return found - {"", "None"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("slug", "file", "delimiter", "columns"),
    [
        ("dl-framework-bugs", "chen2023/dataset_1000.csv", ",", MAIN),
        ("silent-bugs", "tambon2023/final_77.csv", ";", SILENT),
        ("dl-compiler-bugs-shen", "shen2021/dataset_603.csv", ",", SHEN),
    ],
)
def test_each_published_label_is_found(slug, file, delimiter, columns):
    path = DATA / file
    if not path.exists():
        pytest.skip("needs the published sheets in ../shared/data, which are not part of the project")
    names: Names = names_in(create_codebook(study=StudyFactory(), document=preset(slug), by=None))
    missing = [
        (key, label)
        for key, headers in columns.items()
        for header in headers
        for label in sorted(labels(path, header, delimiter))
        if names.category(names.facets[key], label) is None
    ]
    assert missing == []
