"""The main study's sheet, released: other programs read it without a warning, and the shipped script counts it again.

The sheet lies in ../shared beside the repository; where it is not there, this says so.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

from annotator.analysis.tables import tables
from annotator.studies.models import Study

ROOT = Path(__file__).resolve().parents[3]
SHEET = ROOT.parent / "shared/data/chen2023/dataset_1000.csv"
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not SHEET.exists(), reason="the published sheets are not beside the repository (../shared)"),
]


def test_a_release_of_the_main_study_is_read_by_others_and_counted_again(tmp_path, capsys):
    call_command("create_study", "chen", "--title", "Bugs in frameworks", "--codebook", "dl-framework-bugs")
    call_command("import_sheet", "chen", str(SHEET), "--mapping", str(ROOT / "docs/mappings/chen2023.yaml"))
    folder = tmp_path / "release"
    capsys.readouterr()
    call_command("release", "chen", "--out", str(folder), "--json")
    assert json.loads(capsys.readouterr().out)["version"] == 1
    ended = subprocess.run(
        [sys.executable, "-I", "-S", str(folder / "check.py")], cwd="/", capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert "630 counts of final labels" in ended.stdout
    told = json.loads((folder / "tables.json").read_text())
    assert told["facets"] == tables(Study.objects.get())["facets"]
    read = subprocess.run(
        [sys.executable, "-m", "tests.services.readers", str(folder)], capture_output=True, text=True, check=False
    )
    assert read.returncode == 0, read.stderr[-2000:]
    found = json.loads(read.stdout)
    assert found["croissant"]["warnings"] == found["croissant"]["errors"] == []
    assert found["frictionless"] | {"rows": None} == {"valid": True, "errors": [], "warnings": [], "rows": None}
    assert found["duckdb"]["bugs"] == found["pandas"]["bugs"] == [1000, 1000, 1000]
    assert found["pyarrow"]["finals"] == found["croissant"]["rows"]["finals"] == found["frictionless"]["rows"]["finals"]
