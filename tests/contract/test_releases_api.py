"""Releases over REST, each answer held against the schema."""

import pytest

from annotator.overview.rounds.closing import close_round
from annotator.publication.models import Release
from annotator.publication.running import perform
from tests.contract.interface import Interface
from tests.factories import answer, make_bugs

RELEASES = "studies/frameworks/releases"


@pytest.fixture
def closed(main_round, bugs, alice, bob, lee):
    for bug in bugs:
        for rater in (alice, bob):
            answer(main_round, bug, rater, {"cause": "type", "stage": "training"})
    close_round(round_=main_round, by=lee)
    return main_round.study


def test_a_release_is_asked_for_read_and_opened(closed, lee, alice):
    lead, rater = Interface(lee), Interface(alice)
    lead.ask("get", f"{RELEASES}/request/", status=404)
    told = lead.post(f"{RELEASES}/", {"texts": "included", "notes": "First."}, status=202)
    assert (told["state"], told["number"]) == ("waiting", None)
    lead.ask("post", f"{RELEASES}/", {}, status=409)
    assert perform(Release.objects.get().pk)
    assert rater.get(f"{RELEASES}/request/")["number"] == 1
    assert [row["number"] for row in rater.get(f"{RELEASES}/")["results"]] == [1]
    one = rater.get(f"{RELEASES}/1/")
    assert one["options"]["texts"] == "included"
    assert one["cite"]["bibtex"].startswith("@dataset{frameworks-1,")
    sizes = {file["path"]: file["bytes"] for file in one["files"]}
    for path in ("finals.csv", "answers.jsonl", "bugs.parquet", "croissant.json", "check.py"):
        assert len(rater.get(f"{RELEASES}/1/files/{path}")) == sizes[path]
    assert rater.get(f"{RELEASES}/1/all.zip").startswith(b"PK")
    rater.ask("get", f"{RELEASES}/1/changes/", status=404)
    rater.ask("get", f"{RELEASES}/1/files/no-such.csv", status=404)
    nobody = Interface()
    nobody.ask("get", f"{RELEASES}/1/", status=401)
    assert lead.ask("put", f"{RELEASES}/1/public/", {"is_public": True}, status=200)["is_public"]
    assert nobody.get(f"{RELEASES}/1/")["number"] == 1
    assert len(nobody.get(f"{RELEASES}/1/files/finals.csv")) == sizes["finals.csv"]
    nobody.ask("get", f"{RELEASES}/", status=401)


def test_what_changed_is_told(closed, lee):
    lead = Interface(lee)
    for count in (0, 2):
        make_bugs(closed, count)
        lead.post(f"{RELEASES}/", {}, status=202)
        assert perform(Release.objects.latest("pk").pk)
    assert lead.get(f"{RELEASES}/2/changes/")["bugs_added"] == 2


@pytest.mark.parametrize(
    "body",
    [
        {"texts": "all"},
        {"named": ["charlie"]},
        {"creators": [{"name": " "}]},
        {"creators": [{"name": "A", "orcid": "1"}]},
    ],
)
def test_what_cannot_be_published_is_refused(closed, lee, body):
    Interface(lee).ask("post", f"{RELEASES}/", body, status=400)
    assert not Release.objects.exists()


def test_only_a_lead_asks(closed, alice, charlie):
    for person, status in ((alice, 403), (charlie, 404)):
        Interface(person).ask("post", f"{RELEASES}/", {}, status=status)
    assert not Release.objects.exists()


def test_findings_are_stated_changed_and_withdrawn(closed, lee, alice):
    url, lead = "studies/frameworks/findings", Interface(lee)
    given = {"sentence": "{share} are wrong types ({count} of {n})", "facet": "cause", "categories": ["type"]}
    told = lead.post(f"{url}/", given, status=201)
    assert told[0]["text"] == "100.0 % are wrong types (6 of 6)"
    Interface(alice).ask("post", f"{url}/", given, status=403)
    lead.ask("post", f"{url}/", given | {"sentence": "{rate}"}, status=400)
    changed = lead.ask("put", f"{url}/1/", given | {"sentence": "{count}", "why": "Shorter."}, status=200)
    assert (changed[0]["version"], changed[0]["text"]) == (2, "6")
    lead.ask("delete", f"{url}/1/", {"why": "Wrong."}, status=204)
    assert Interface(alice).get(f"{url}/") == []


def test_methods_are_told(closed, alice):
    told = Interface(alice).get("studies/frameworks/methods/")
    assert {part["name"] for part in told["parts"]} >= {"rounds", "agreement", "disagreements"}
    assert len(told["checklist"]) == 25
