"""Changes of the codebook over REST, under the rules of the pages."""

import json
from typing import Any

import pytest
from django.test import Client

from annotator.codebook.models import Category
from annotator.overview.rounds.closing import close_round
from tests.factories import answer

AT = "/api/v1/studies/frameworks/codebook/changes/"
GOOD = {"cause": "type", "stage": "training"}


class Caller:
    def __init__(self, user: Any) -> None:
        self.client = Client()
        if user:
            self.client.force_login(user)

    def __call__(self, method: str, path: str = "", body: Any = None) -> Any:
        return self.client.generic(method, AT + path, json.dumps(body or {}), "application/json")


def uid(name: str) -> str:
    return Category.objects.get(name=name, state="active").uid


def merge(**more: Any) -> dict[str, Any]:
    return {"act": "merge", "categories": [uid("shape")], "into": uid("type"), "reason": "one thing"} | more


@pytest.fixture
def lead(main_round, bugs, alice, bob, lee) -> Caller:
    """After a closed round of which Alice and Bob differ on one bug."""
    for place, bug in enumerate(bugs):
        answer(main_round, bug, alice, GOOD | {"cause": "shape" if place < 2 else "type"})
        answer(main_round, bug, bob, GOOD | {"cause": "shape" if place == 1 else "type"})
    close_round(round_=main_round, by=lee)
    return Caller(lee)


def test_a_preview_counts_and_stores_nothing(lead):
    told = lead("POST", "preview/", merge()).json()
    assert (told["says"], told["answers"], told["labels"], told["due_bugs"]) == ("3 answers in 1 round.", 3, 1, 0)
    (one,) = told["rounds"]
    (kappa,) = one["kappas"]
    assert (one["round"], one["answers"], kappa["raters"], kappa["n"]) == ("Round 1", 3, ["alice", "bob"], 6)
    assert kappa["as_answered"] == pytest.approx(4 / 7)
    assert kappa["as_mapped"] is None  # one category is left
    assert lead("GET").json()["results"] == []


def test_a_merge_is_made_read_and_undone(lead):
    made = lead("POST", "", merge())
    assert (made.status_code, made.json()["says"]) == (201, "“shape” was merged into “type”")
    assert lead("GET", "1/").json()["state"] == "in force"
    undone = lead("POST", "1/undo/", {"reason": "they differ"})
    assert (undone.status_code, undone.json()["undoes"]) == (201, 1)
    listed = lead("GET").json()["results"]
    assert [(one["number"], one["undone_by"]) for one in listed] == [(2, None), (1, 2)]


def test_a_split_leads_to_a_relabel_round(lead):
    split = {"act": "split", "categories": [uid("type")], "parts": [{"name": "a"}, {"name": "b"}], "reason": "two"}
    assert lead("POST", "", split).json()["due_bugs"] == 5
    opened = lead("POST", "1/relabel/")
    assert (opened.status_code, opened.json()["kind"]) == (201, "relabel")
    told = lead("GET", "1/").json()
    assert (told["due_bugs"], told["relabel_rounds"]) == (0, [2])
    assert lead("POST", "1/relabel/").status_code == 409


def test_a_meaning_is_changed(lead):
    made = lead("POST", "", {"act": "redefine", "categories": [uid("type")], "definition": "d", "reason": "narrower"})
    assert (made.status_code, made.json()["due_bugs"]) == (201, 5)


def test_what_waits_says_for_what_and_is_withdrawn(study, bugs, main_round, lee):
    lead = Caller(lee)
    assert lead("POST", "", merge()).json()["waits_for"] == ["Round 1"]
    assert lead("POST", "1/carry-out/").status_code == 409
    assert lead("POST", "1/withdraw/").json()["state"] == "withdrawn"


def test_who_read_an_older_version_is_told(lead):
    assert lead("POST", "", merge(version=1)).status_code == 201
    told = lead(
        "POST", "", {"act": "redefine", "categories": [uid("type")], "definition": "d", "reason": "r", "version": 1}
    )
    assert (told.status_code, told["Content-Type"]) == (409, "application/problem+json")
    assert "was merged into" in told.json()["detail"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"act": "paint"}, 400),
        ({"categories": []}, 400),
        ({"categories": ["0123456789"]}, 400),
        ({"into": ""}, 400),
        ({"reason": " "}, 400),
        ({"reason": "a\x00"}, 400),
        ({"act": "split"}, 400),
        ({"act": "redefine"}, 400),
    ],
)
def test_bad_input_changes_nothing(lead, body, status):
    sent = merge(**body) if body else {}
    assert lead("POST", "", sent).status_code == status
    assert lead("GET").json()["results"] == []


ACTS = ["", "preview/", "1/undo/", "1/withdraw/", "1/carry-out/", "1/relabel/"]


def test_everybody_in_the_study_reads_and_only_leads_act(lead, alice):
    lead("POST", "", merge())
    assert Caller(alice)("GET").status_code == Caller(alice)("GET", "1/").status_code == 200
    for path in ACTS:
        assert Caller(alice)("POST", path).status_code == 403, path


def test_a_stranger_finds_nothing(lead, charlie):
    lead("POST", "", merge())
    for method, path in [("GET", ""), ("GET", "1/"), *(("POST", path) for path in ACTS)]:
        assert Caller(charlie)(method, path).status_code == 404, path
        assert Caller(None)(method, path).status_code == 401, path
