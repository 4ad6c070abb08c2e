"""Whatever the pages of screening can do, a program can do; and it learns no more."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from annotator.screening.actions import close
from annotator.screening.models import Criterion, Reading
from tests.factories.screening import make_screening, screen

AT = "/api/v1/studies/frameworks/"


@pytest.fixture
def ask() -> Any:
    """The answer to a request as one of the cast."""

    def ask(user: Any, method: str, path: str, body: Any = None) -> Any:
        client = APIClient()
        client.force_login(user)
        return getattr(client, method)(AT + path, body, format="json")

    return ask


def test_a_whole_screening_goes_by_program(ask, study, bugs, alice, bob, lee):
    made = ask(lee, "post", "criteria/", {"kind": "exclude", "name": "no fix"})
    assert (made.status_code, made.json()["code"], made.json()["hotkey"]) == (201, "E1", "1")
    sent = {"name": "First", "reviewers": ["alice", "bob"], "items": {"newest": 2}, "rule": "unanimous"}
    opened = ask(lee, "post", "screenings/", sent)
    assert (opened.status_code, opened.json()["overlap"], opened.json()["choice"]) == (201, 2, {"newest": 2})
    assert [one["total"] for one in opened.json()["progress"]] == [2, 2]
    mine = ask(alice, "post", "screenings/1/next/").json()
    place = f"screenings/1/candidates/{mine['candidate']}/"
    voted = ask(alice, "put", f"{place}vote/", {"decision": "exclude", "criterion": "E1", "comment": "Dead."})
    assert (voted.json()["state"], voted.json()["vote"]["criterion"]) == ("voted", "E1")
    assert ask(alice, "get", f"{place}reading/").json() == voted.json()
    assert ask(alice, "delete", f"{place}vote/").json()["vote"] is None
    assert ask(alice, "post", f"{place}later/").json()["state"] == "later"
    for who in (alice, bob):
        for at in (1, 2):
            decision = "include" if who == alice or at == 1 else "exclude"
            sent = {"decision": decision, "criterion": "" if decision == "include" else "E1"}
            assert ask(who, "put", f"screenings/1/candidates/{at}/vote/", sent).status_code == 200
    assert ask(alice, "post", "screenings/1/next/").status_code == 204
    assert [row["state"] for row in ask(alice, "get", "screenings/1/mine/?state=voted").json()["results"]] == [
        "voted", "voted",
    ]  # fmt: skip
    assert ask(lee, "post", "screenings/1/close/").json()["state"] == "closed"
    told = ask(bob, "get", "screening-counts/").json()
    assert (told["items"], told["candidates"], told["kept"], told["conflict"]) == (6, 2, 1, 1)
    (line,) = ask(bob, "get", "candidates/?what=conflict").json()["results"]
    assert [(one["reviewer"], one["vote"]["decision"]) for one in line["said"]] == [
        ("alice", "include"), ("bob", "exclude"),
    ]  # fmt: skip
    settled = ask(bob, "post", "screenings/1/candidates/2/vote-again/", {"decision": "include"}).json()
    assert (settled["outcome"]["source"], settled["outcome"]["participants"]) == ("discussed", ["alice", "bob"])
    assert ask(lee, "post", "screenings/1/candidates/2/reopen/", {"reason": "Too quick."}).json()["outcome"] is None
    decided = {"decision": "include", "note": "We met.", "participants": ["alice", "bob"]}
    whole = ask(lee, "post", "screenings/1/candidates/2/decision/", decided).json()
    assert (whole["outcome"]["source"], [one["source"] for one in whole["earlier"]]) == ("discussed", ["discussed"])
    dropped = ask(lee, "post", "screenings/1/candidates/2/drop/", {"reason": "No gist.", "criterion": "E1"})
    assert dropped.json()["outcome"]["reason"] == "no fix"
    assert ask(lee, "get", "screening-counts/?screening=1").json()["dropped"] == {"no fix": 1}


def test_criteria_are_reworded_retired_and_removed(ask, study, lee, alice):
    for name in ("no fix", "too big"):
        ask(lee, "post", "criteria/", {"kind": "exclude", "name": name})
    changed = ask(lee, "put", "criteria/E1/", {"name": "not mended", "text": "", "hotkey": "7"})
    assert (changed.json()["name"], changed.json()["hotkey"]) == ("not mended", "7")
    assert ask(lee, "delete", "criteria/E2/").status_code == 204
    assert ask(lee, "post", "criteria/E1/retire/", {"reason": "Unused."}).json()["retired_reason"] == "Unused."
    assert ask(lee, "delete", "criteria/E9/").status_code == 404
    assert [row["code"] for row in ask(alice, "get", "criteria/").json()] == ["E1"]
    assert Criterion.objects.count() == 1


def test_while_it_is_open_nobody_gets_anothers_vote(ask, screening, alice, bob, lee):
    screen(screening, bob, {1: "in", 2: "E1"}, comment="secret")
    for who in (alice, lee):
        whole = ask(who, "get", "screenings/1/candidates/1/").json()
        assert (whole["said"], whole["outcome"], whole["earlier"]) == ([], None, [])
        assert "secret" not in ask(who, "get", "candidates/").content.decode()
    assert [one["reviewer"] for one in ask(alice, "get", "screenings/1/").json()["progress"]] == ["alice"]
    assert ask(bob, "get", "screenings/1/candidates/1/reading/").json()["vote"]["comment"] == "secret"
    assert ask(lee, "get", "screenings/1/candidates/1/reading/").status_code == 403


def test_candidates_are_paged(ask, study, alice, lee):
    opened = make_screening(study, reviewers=[alice], by=lee, count=60)
    screen(opened, alice, dict.fromkeys(range(1, 61), "in"))
    close(screening=opened, by=lee)
    first = ask(alice, "get", "candidates/?what=kept").json()
    second = ask(alice, "get", first["next"].partition("/frameworks/")[2]).json()
    numbers = [row["candidate"]["candidate"] for row in [*first["results"], *second["results"]]]
    assert (numbers, second["next"]) == (list(range(1, 61)), None)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("screenings/", {"name": "A", "reviewers": ["nobody"]}, 400),
        ("screenings/", {"name": "A", "reviewers": ["alice"], "items": {"harvest": 9}}, 400),
        ("screenings/1/candidates/1/decision/", {"decision": "include", "note": "x"}, 409),
        ("screenings/1/candidates/9/decision/", {"decision": "include", "note": "x"}, 404),
        ("criteria/", {"kind": "exclude", "name": "late"}, 400),
    ],
)
def test_what_cannot_be_is_refused_in_words(ask, screening, lee, path, body, status):
    answer = ask(lee, "post", path, body)
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["detail"]


def test_strangers_and_roles(ask, screening, alice, ada, charlie):
    for path in ("criteria/", "screenings/", "screenings/1/", "screening-counts/", "candidates/", "screenings/1/mine/"):
        assert ask(charlie, "get", path).status_code == 404
    assert ask(ada, "post", "screenings/1/next/").status_code == 403
    assert ask(alice, "post", "screenings/1/close/").status_code == 403
    assert ask(alice, "post", "criteria/", {"kind": "exclude", "name": "x"}).status_code == 403
    assert ask(alice, "get", "candidates/?what=secrets").status_code == 404
    assert ask(alice, "get", "candidates/?screening=9").status_code == 404
    assert ask(alice, "get", "screenings/1/candidates/99/").status_code == 404
    assert Reading.objects.filter(state="voted").count() == 0
