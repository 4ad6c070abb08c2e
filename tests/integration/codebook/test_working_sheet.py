"""Free wording of two raters becomes categories by the platform's own steps, and agreement is counted at that level.

The sheet is the working sheet of a published study; which string belongs to which of its 13 causes and 6 symptoms
comes from the table made for the check of the kappas. Both lie beside the repository, where they are there.
"""

import csv
import json
from collections import defaultdict
from pathlib import Path

import pytest
from django.core.management import call_command

from annotator.agreement.queries import entries
from annotator.codebook import coding
from annotator.codebook.models import Category, Change, Facet
from annotator.codebook.similar import SAME, near_duplicates
from annotator.history.models import Event
from annotator.labeling.models import Answer
from annotator.studies.models import Study
from tests.factories import UserFactory, member

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT.parent / "shared" / "data"
MAPPINGS = ROOT / "docs" / "mappings"
SHEET, TABLE = "chen2023/label_data_v1_tensorflow.csv", "chen2023/two_raters_and_final_tensorflow_200.csv"
MAPPED = {"root_cause": "mapped13", "symptom": "mapped6"}
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        not DATA.is_dir(), reason="the published label tables (../shared/data) are not beside the repository"
    ),
]


@pytest.fixture
def lead(db):
    return UserFactory(username="lee")


@pytest.fixture
def study(lead):
    codebook = MAPPINGS / "chen2023-working-sheet.codebook.yaml"
    call_command("create_study", "working", "--title", "Working sheet", "--codebook", str(codebook))
    call_command(
        "import_sheet", "working", str(DATA / SHEET), "--mapping", str(MAPPINGS / "chen2023-working-sheet.yaml")
    )
    study = Study.objects.get(slug="working")
    member(study, lead, "lead")
    return study


def table():
    with (DATA / TABLE).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def belongs(facet: str) -> dict[str, str]:
    """From each string, as the import cleans it, to the category that it belongs to."""
    found = {}
    for row in table():
        for rater in "ab":
            text = " ".join(row[f"rater_{rater}_{facet}"].split())
            found[text] = row[f"rater_{rater}_{facet}_{MAPPED[facet]}"]
    return {text: category for text, category in found.items() if category}


def expected(facet: str) -> dict[str, float]:
    names = [f"rater_{rater}_{facet}_{MAPPED[facet]}" for rater in "ab"]
    listed = json.loads((DATA / "kappa_expected.json").read_text())
    return next(row for row in listed if [row["rater_a"], row["rater_b"]] == names)


def group(facet: Facet, *, by) -> None:
    """Each category is made with all its codes in one step; what belongs nowhere stays a code."""
    codes = defaultdict(list)
    for code in facet.categories.filter(is_code=True):
        codes[belongs(facet.key)[code.name]].append(code)
    for name, mine in codes.items():
        if not name.startswith("(unmapped)"):
            same = next((code for code in mine if code.name == name), None)  # a code that is called as the category
            if same is None:
                coding.new_category(facet=facet, name=name, codes=[code.uid for code in mine], by=by)
            else:
                coding.make_category(facet=facet, code=same.uid, by=by)
                rest = [code.uid for code in mine if code != same]
                if rest:
                    coding.place(facet=facet, codes=rest, under=same.uid, by=by)


def test_the_sheet_comes_in_with_its_codes(study):
    counts = {
        facet.key: facet.categories.filter(is_code=True).count()
        for facet in Facet.objects.filter(codebook__study=study, takes_codes=True)
    }
    assert counts["root_cause"] == len(belongs("root_cause"))
    assert counts["symptom"] == len(belongs("symptom"))
    assert not Category.objects.filter(facet__codebook__study=study, is_code=True).exclude(hotkey="").exists()


def test_near_duplicates_are_pointed_out(study):
    names = list(Category.objects.filter(facet__key="root_cause").values_list("name", flat=True))
    pairs = {(names[pair.first], names[pair.second]): pair for pair in near_duplicates(names)}
    pairs |= {(second, first): pair for (first, second), pair in pairs.items()}
    assert pairs["API Misuse：wrong API", "API misuse:wrong API"].why == SAME
    assert ("tensor type confution", "tensor type confusion") in pairs
    assert ("tesnor type", "tensor type") in pairs
    right = [belongs("root_cause")[first] == belongs("root_cause")[second] for first, second in pairs]
    assert sum(right) / len(right) > 0.95


@pytest.mark.parametrize("key", ["root_cause", "symptom"])
def test_grouping_gives_the_published_kappas_over_the_same_answers(study, lead, key):
    facet = Facet.objects.get(codebook__study=study, key=key)
    answers = list(Answer.objects.order_by("pk").values())
    before = entries(study, facet=key)
    group(facet, by=lead)
    (grouped,) = entries(study, facet=key, level="top")
    assert grouped["basis"] == "grouped_after"
    assert grouped["n"] == expected(key)["n"]
    assert grouped["kappa"] == pytest.approx(expected(key)["cohen_kappa"], abs=0.02)
    assert len([row for row in grouped["categories"] if any(row["votes"])]) == expected(key)["categories"]
    assert [entry["kappa"] for entry in entries(study, facet=key)] == [entry["kappa"] for entry in before]
    assert list(Answer.objects.order_by("pk").values()) == answers


def test_every_step_is_in_history_and_can_be_taken_back(study, lead):
    facet = Facet.objects.get(codebook__study=study, key="symptom")
    group(facet, by=lead)
    steps = list(Change.objects.filter(facet=facet, act="move"))
    assert Event.objects.filter(study_id=study.pk, verb="placed codes").count() >= 5
    assert all(step.by == lead and step.version for step in steps)
    while step := coding.last_step(facet, by=lead):
        coding.undo(change=step, by=lead)
    assert not facet.categories.exclude(parent=None).exists()
    assert entries(study, facet="symptom", level="top")[0]["kappa"] == entries(study, facet="symptom")[0]["kappa"]
