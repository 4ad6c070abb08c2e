"""The command: one JSON document, one line of refusal."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotator.agreement.queries import entries
from annotator.intake.models import Import
from annotator.sampling.models import Bug
from annotator.studies.models import Study

MAPPING = "item: {key: id}\nraters: {alice: {cause: c}}\n"


def command(*args: object) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("import_sheet", *map(str, args), stdout=out, stderr=err)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    sheet, mapping = tmp_path / "s.csv", tmp_path / "m.yaml"
    sheet.write_text("id,c\nx,type\ny,api\n")
    mapping.write_text(MAPPING)
    return sheet, mapping


def test_json_has_the_promised_keys(study: Study, files: tuple[Path, Path]) -> None:
    sheet, mapping = files
    code, out, err = command(study.slug, sheet, "--mapping", mapping, "--json")
    document = json.loads(out)
    assert (code, err) == (0, "")
    expected = {"rows": 2, "items_created": 2, "bugs_created": 2, "bugs_matched": 0, "answers": 2, "finals": 0}
    assert {key: document[key] for key in expected} == expected
    assert (document["warnings"], document["errors"], document["new_categories"]) == ([], [], [])
    assert Import.objects.get().filename == "s.csv"


def test_dry_run_stores_nothing(study: Study, files: tuple[Path, Path]) -> None:
    code, out, _ = command(study.slug, files[0], "--mapping", files[1], "--dry-run", "--json")
    assert (code, json.loads(out)["bugs_created"], json.loads(out)["dry_run"]) == (0, 2, True)
    assert not Bug.objects.exists()


def test_people_are_told_that_a_dry_run_stored_nothing(study: Study, files: tuple[Path, Path]) -> None:
    _, out, _ = command(study.slug, files[0], "--mapping", files[1], "--dry-run")
    assert "This was a dry run: nothing was stored." in out
    _, out, _ = command(study.slug, files[0], "--mapping", files[1])
    assert "dry run" not in out


def test_a_remark_on_no_row_names_none(study: Study, files: tuple[Path, Path]) -> None:
    files[1].write_text("item: {key: id}\nraters: {dora: {cause: c}}\n")
    _, out, _ = command(study.slug, files[0], "--mapping", files[1])
    assert "dora" in out
    assert "None" not in out


def test_a_column_named_by_its_place_is_told_with_its_header(study: Study, files: tuple[Path, Path]) -> None:
    files[0].write_text("id,c\nx,Crush\n")
    files[1].write_text('item: {key: "#1"}\nraters: {alice: {cause: "#2"}}\n')
    _, out, err = command(study.slug, files[0], "--mapping", files[1], "--json")
    assert json.loads(out)["errors"][0]["column"] == "#2 (c)"
    assert "row 2, column #2 (c): " in err


@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_errors_are_in_the_json_and_the_first_in_one_line(
    study: Study, files: tuple[Path, Path], dry: list[str]
) -> None:
    files[0].write_text("id,c\nx,Crush\ny,Boom\n")
    code, out, err = command(study.slug, files[0], "--mapping", files[1], "--json", *dry)
    assert code == 2
    assert [(error["row"], error["column"]) for error in json.loads(out)["errors"]] == [(2, "c"), (3, "c")]
    assert len(err.strip().splitlines()) == 1
    assert "row 2, column c: x: “Crush” is no category" in err
    assert "(2 errors in all)" in err
    assert not Bug.objects.exists()


@pytest.mark.parametrize(
    ("slug", "sheet", "mapping", "said"),
    [
        ("nobody", "s.csv", "m.yaml", "There is no study “nobody”"),
        ("frameworks", "missing.csv", "m.yaml", "cannot be read: No such file"),
        ("frameworks", "", "m.yaml", "is a folder, not a sheet"),
        ("frameworks", "s.csv", "missing.yaml", "cannot be read: No such file"),
        ("frameworks", "s.csv", "s.csv", "The mapping"),
    ],
)
def test_bad_input_is_one_line(
    study: Study, files: tuple[Path, Path], slug: str, sheet: str, mapping: str, said: str
) -> None:
    folder = files[0].parent
    code, out, err = command(slug, folder / sheet, "--mapping", folder / mapping, "--json")
    assert (code, out, len(err.strip().splitlines())) == (2, "", 1)
    assert said in err


# --- the published data, with the mappings that the project keeps

MAPPINGS = Path(__file__).resolve().parents[3] / "docs" / "mappings"


def study_of(slug: str, codebook: str | dict[str, Any]) -> Study:
    from annotator.codebook.presets import preset
    from annotator.codebook.reading import to_document
    from annotator.overview.actions import create_study

    document = preset(codebook) if isinstance(codebook, str) else to_document(codebook)
    return create_study(slug=slug, title=slug, document=document, by=None)


def imported(slug: str, file: Path, mapping: str | Path) -> dict[str, Any]:
    code, out, err = command(slug, file, "--mapping", MAPPINGS / mapping, "--json")
    assert code == 0, err
    report: dict[str, Any] = json.loads(out)
    return report


def kappas(study: Study) -> dict[tuple[str, str, str], float]:
    return {(e["facet"], *e["raters"]): e["kappa"] for e in entries(study) if len(e["raters"]) == 2}


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["dataset_1000.csv", "dataset.xlsx"])
def test_main_study_has_1000_bugs_on_943_pull_requests(shared: Any, name: str) -> None:
    study = study_of("chen", "dl-framework-bugs")
    report = imported("chen", shared(f"chen2023/{name}"), "chen2023.yaml")
    counted = [report[key] for key in ("rows", "items_created", "bugs_created", "finals", "answers")]
    assert counted == [1000, 943, 1000, 3845, 0]
    warned = [warning["code"] for warning in report["warnings"]]
    assert warned.count("duplicate_row") == 5
    seven = study.bugs.filter(item__number=7293, item__repository__label="DL4J").order_by("number")
    assert list(seven.values_list("ordinal", flat=True)) == [4, 3, 2, 1, 5]
    again = imported("chen", shared(f"chen2023/{name}"), "chen2023.yaml")
    assert [again[key] for key in ("items_created", "bugs_created", "bugs_matched", "finals")] == [0, 0, 1000, 0]


@pytest.mark.django_db
def test_linux_pilot_gives_the_published_kappa(shared: Any, tmp_path: Path) -> None:
    study = study_of("pilot", {"title": "P", "facets": [{"id": "bfc", "categories": [{"name": "true"}]}]})
    text = (MAPPINGS / "linux-pilot.yaml").read_text()
    for rater in ("david", "abhishek", "michel"):
        mapping = tmp_path / f"{rater}.yaml"
        mapping.write_text(text.replace("david:", f"{rater}:"))
        imported("pilot", shared(f"linux_pilot/pilot130_{rater}.csv"), mapping)
    found = kappas(study)
    assert found["bfc", "abhishek", "david"] == pytest.approx(0.6801031169439888, abs=1e-12)
    assert found["bfc", "abhishek", "michel"] == pytest.approx(0.542769, abs=1e-6)
    assert found["bfc", "david", "michel"] == pytest.approx(0.750869, abs=1e-6)


@pytest.mark.django_db
def test_file_with_two_contradictory_votes_is_refused_by_commit(shared: Any) -> None:
    study_of("older", {"title": "P", "facets": [{"id": "bfc", "categories": [{"name": "true"}]}]})
    sheet = shared("linux_pilot/pilot130_michel_f270e39_with_duplicate_row.csv")
    code, _, err = command("older", sheet, "--mapping", MAPPINGS / "linux-pilot.yaml", "--json")
    assert code == 2
    assert "c579792562" in err
    assert "two contradictory votes" in err
    assert not Bug.objects.exists()


@pytest.mark.django_db
def test_screening_votes_agree_as_counted(shared: Any) -> None:
    study = study_of("tambon", "silent-bugs")
    report = imported("tambon", shared("tambon2023/issues_voting.csv"), "tambon2023-votes.yaml")
    assert [report[key] for key in ("rows", "rows_skipped", "items_created", "votes")] == [1168, 5, 1168, 3504]
    found = kappas(study)
    assert found["vote", "reviewer1", "reviewer2"] == pytest.approx(0.671875, abs=1e-6)
    (three,) = [entry for entry in entries(study) if len(entry["raters"]) == 3]
    assert three["fleiss"] == pytest.approx(0.701130, abs=1e-6)


@pytest.mark.django_db
def test_two_header_sheet_gives_impact_and_root_cause(shared: Any) -> None:
    scale = [{"name": str(n), "order": n} for n in range(1, 5)]
    causes = {"id": "root_cause", "categories": [{"name": "Type Confusion"}]}
    facets = [{"id": "impact", "kind": "ordinal", "categories": scale}, causes]
    study = study_of("tambon", {"title": "T", "facets": facets})
    name = "tambon2023/comparison_category_raw_two_header_rows.csv"
    report = imported("tambon", shared(name), "tambon2023-comparison.yaml")
    assert [report[key] for key in ("rows", "rows_skipped", "bugs_created")] == [83, 1, 83]
    found = kappas(study)
    assert found["impact", "reviewer-a", "reviewer-b"] == pytest.approx(0.56496, abs=1e-6)
    assert found["root_cause", "reviewer-1", "reviewer-2"] == pytest.approx(0.910145, abs=1e-6)


@pytest.mark.django_db
def test_compiler_bugs_come_to_603(shared: Any) -> None:
    study = study_of("shen", "dl-compiler-bugs-shen")
    report = imported("shen", shared("shen2021/dataset_603.csv"), "shen2021.yaml")
    assert [report[key] for key in ("rows", "bugs_created", "items_created")] == [603, 603, 585]
    assert {"row": 250, "code": "number_differs"} in [
        {"row": warning["row"], "code": warning["code"]} for warning in report["warnings"]
    ]
    symptoms = study.resolutions.filter(facet__key="symptom")
    assert symptoms.filter(category__name="Crash").count() == 358
    assert symptoms.filter(category__name="Build Failure").count() == 50
