"""The study's figures in its releases: the same bytes from the same state, and nothing in them that may not be told."""

import json
import subprocess
import sys

import pytest
from django.test import Client
from rest_framework.test import APIClient

from annotator.analysis import actions
from annotator.analysis.asked import read_asked
from annotator.analysis.models import Drawing
from annotator.codebook.models import Facet
from annotator.publication.models import Release
from annotator.publication.options import Options
from annotator.publication.releasing import make
from tests.factories import StudyFactory, UserFactory, make_bugs, make_codebook, member

PLAIN = {"by": "cause", "title": "Causes of *all* bugs"}


@pytest.fixture
def keep(labelled, lee):
    def ask(kind="distribution", **options):
        return actions.ask(study=labelled, asked=read_asked(kind, PLAIN | options), by=lee)

    return ask


def listed(folder):
    return json.loads((folder / "figures.json").read_text())


def test_kept_figures_are_drawn_with_their_numbers_and_named_wherever_files_are(keep, released, check):
    keep()
    keep("cross", across="repository", title="")
    folder, told = released()
    figures = listed(folder)
    assert [each["title"] for each in figures] == ["Causes of *all* bugs", "Cause by repository"]
    assert figures[0]["asked"] == {"kind": "distribution"} | PLAIN
    begins = {"svg": b"<svg", "pdf": b"%PDF", "csv": b"category,bugs,share"}
    paths = figures[0]["files"]
    assert {ending: (folder / path).read_bytes().startswith(begins[ending]) for ending, path in paths.items()} == {
        "svg": True, "pdf": True, "csv": True,
    }  # fmt: skip
    every = {path for figure in figures for path in figure["files"].values()}
    assert len(every) == 6
    assert every | {"figures.json"} <= {file["path"] for file in told["files"]}
    croissant = json.loads((folder / "croissant.json").read_text())
    package = json.loads((folder / "datapackage.json").read_text())
    assert every <= {each["contentUrl"] for each in croissant["distribution"]}
    assert every == {each["path"] for each in package["resources"] if each["profile"] == "data-resource"}
    card = (folder / "datacard.md").read_text()
    assert r"Causes of \*all\* bugs" in card and all(path in card for path in every)
    assert check(folder)[0] == 0


def test_other_programs_read_a_release_with_figures(keep, released):
    keep()
    folder, _ = released()
    command = [sys.executable, "-m", "tests.services.readers", str(folder)]
    read = subprocess.run(command, capture_output=True, text=True, check=False)
    assert read.returncode == 0, read.stderr[-2000:]
    found = json.loads(read.stdout)
    assert found["croissant"]["warnings"] == found["croissant"]["errors"] == []
    assert (found["frictionless"]["valid"], found["frictionless"]["errors"]) == (True, [])


def test_the_same_state_is_the_same_release_whatever_was_drawn_meanwhile(keep, released):
    keep()
    _, first = released("first")
    Drawing.objects.update(state="failed", svg="another", drawn_of="another")
    _, again = released("again")
    assert (again["version"], again["sha256"]) == (1, first["sha256"])
    keep(order="name")
    assert released("next")[1]["version"] == 2


def test_one_raters_labels_and_other_studies_stay_out(keep, released, labelled, lee):
    other = StudyFactory(slug="other", title="Embargoed matter")
    make_codebook(other, {"cause": ["type", "leak"]})
    make_bugs(other, 1)
    member(other, lee, "lead")
    keep()
    keep(labels="alice")
    keep("comparison", other="other")
    keep("comparison", published={"type": 3, "leak": 4}, published_as="A paper")
    folder, _ = released()
    assert [each["asked"]["kind"] for each in listed(folder)] == ["distribution", "comparison"]
    assert all("Embargoed" not in path.read_text() for path in (folder / "figures").glob("*.[sc]*"))


def test_raters_of_a_figure_have_the_names_of_the_release(keep, released, labelled, alice):
    keep("agreement", by="", title="")
    folder, _ = released()
    whole = "".join(path.read_text() for path in (folder / "figures").glob("*.[sc]*"))
    assert "rater-" in whole
    assert not any(name in whole for name in ("alice", "bob", "carol"))
    pairs = {
        entry for row in (folder / "figures").glob("*.csv") for entry in row.read_text().split(",") if " and " in entry
    }
    assert all(pair.split(" and ") == sorted(pair.split(" and ")) for pair in pairs) and len(pairs) == 3
    folder, _ = released("second", "--named", "alice")
    assert "alice and rater-" in "".join(path.read_text() for path in (folder / "figures").glob("*.csv"))


def test_a_figure_of_a_facet_that_is_gone_holds_nothing_up(keep, released):
    keep()
    keep(order="name")
    Drawing.objects.filter(asked__order="name").update(asked=PLAIN | {"kind": "distribution", "by": "colour"})
    folder, _ = released()
    assert len(listed(folder)) == 1
    assert Facet.objects.filter(key="cause").exists()


def test_a_lead_leaves_them_out(keep, released):
    keep()
    folder, _ = released("without", "--figures", "left_out")
    assert not (folder / "figures").exists() and not (folder / "figures.json").exists()
    folder, told = released("again")
    assert told["version"] == 1, "as in the last release"
    assert "## Figures" not in (folder / "datacard.md").read_text()


def test_readers_find_them_on_the_page_and_each_under_its_address(keep, labelled, lee, alice):
    keep()
    release = make(labelled, Options(), by=lee)
    (figure,) = [file["path"] for file in release.manifest if file["path"].endswith(".svg")]
    page, rest = Client(), APIClient()
    page.force_login(alice)
    rest.force_authenticate(alice)
    place = f"/tensors/publication/releases/{release.number}/"
    told = page.get(place).content.decode()
    assert f"{place}files/{figure}" in told and "Causes of *all* bugs" in told
    answer = page.get(f"{place}files/{figure}")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{figure.removeprefix("figures/")}"'
    again = rest.get(f"/api/v1/studies/tensors/releases/1/files/{figure}")
    assert b"".join(again.streaming_content) == b"".join(answer.streaming_content)
    assert page.get(f"{place}files/figures/../figures.json").status_code == 404
    stranger = Client()
    stranger.force_login(UserFactory(username="dave"))
    assert stranger.get(f"{place}files/{figure}").status_code == 404
    assert Release.objects.count() == 1
