"""Harvests, their findings, items and tokens over REST: whatever the pages can do."""

import json
from typing import Any

import pytest
from django.test import Client

from annotator.collection.models import GitHubToken, Harvest, Item
from tests.services.github_server.server import TOKEN
from tests.services.github_server.world import odd

API = "/api/v1/studies/frameworks"
ASKED = {"repositories": ["frame/wood"], "moment": "merged", "first": "2021-01-01", "last": "2021-12-31"}


def sent(client: Client, method: str, path: str, body: Any = None) -> Any:
    more = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
    return getattr(client, method)(f"{API}/{path}", **more)


def test_a_harvest_from_its_query_to_its_items(lead, study, github, token, work, carried_out):
    odd(work, files=3)
    started = sent(lead, "post", "harvests/", ASKED | {"words": ["Fix", "bug"], "refresh_days": 7})
    assert started.status_code == 202
    harvest = started.json()["harvest"]
    assert (harvest["number"], harvest["state"], harvest["created_by"], harvest["refresh_days"]) == (
        1,
        "waiting",
        "lee",
        7,
    )
    assert harvest["query"]["words"] == ["fix", "bug"]
    assert harvest["words"].endswith("begins with fix or bug.")
    assert github.log == []
    carried_out()
    told = sent(lead, "get", "harvests/1/").json()
    assert told["harvest"]["state"] == "done"
    assert told["sum"]["found"] == told["sum"]["fetched"] + told["sum"]["unavailable"]
    assert [line["repository"] for line in told["repositories"]] == ["frame/wood"]
    assert told["requests"]["rest"] == len(github.sent("rest"))
    assert told["passed_over"] == [{"reason": "words", "count": told["sum"]["passed_over"]}]
    assert [key["name"] for key in told["budget"]] == ["Lee’s"]
    found = sent(lead, "get", "harvests/1/findings/?show=fetched&repository=frame/wood").json()["results"]
    assert len(found) == told["sum"]["fetched"]
    assert found[0]["item"] == f"github.com/frame/wood#{found[0]['number']}"
    assert sent(lead, "get", "harvests/1/windows/").json()["results"][0]["hits"] == 49
    items = sent(lead, "get", "items/?harvest=1&page_size=5").json()
    assert len(items["results"]) == 5 and items["next"]
    number = found[0]["number"]
    whole = sent(lead, "get", f"items/github.com/frame/wood%23{number}/").json()
    assert (whole["number"], whole["files"][0]["path"]) == (number, "src/a.py")
    assert sent(lead, "get", "items/?q=nothing-like-it").json()["results"] == []


def test_unavailable_findings_have_their_reasons(lead, study, github, token, work, carried_out):
    odd(work, files=3)
    sent(lead, "post", "harvests/", ASKED)
    carried_out()
    assert sent(lead, "get", "harvests/1/").json()["unavailable"] == [
        {"reason": "404", "count": 1},
        {"reason": "410", "count": 1},
        {"reason": "451", "count": 1},
    ]
    gone = sent(lead, "get", "harvests/1/findings/?show=unavailable&reason=451").json()["results"]
    assert [(row["state"], row["reason"], row["lacks"]) for row in gone] == [("unavailable", "451", [])]
    assert sent(lead, "get", "harvests/1/findings/?show=all").status_code == 400


def test_a_list_of_addresses(lead, study, github, token, carried_out):
    urls = ["https://github.com/frame/wood/pull/3", "frame/wood#35"]
    assert sent(lead, "post", "harvests/", {"urls": urls}).status_code == 202
    carried_out()
    assert set(Item.objects.filter(study=study).values_list("kind", "number")) == {("pull_request", 3), ("issue", 35)}


def test_a_preview_asks_github_only_when_told_to(lead, study, github, token):
    told = sent(lead, "post", "harvests/preview/", ASKED).json()
    assert (told["hits"], told["is_complete"], github.log) == (None, None, [])
    told = sent(lead, "post", "harvests/preview/", ASKED | {"count": True}).json()
    assert (told["hits"], told["is_complete"], len(github.log)) == (30, True, 1)
    assert Harvest.objects.count() == 0


def test_it_is_paused_resumed_looked_at_again_and_cancelled(lead, study, github, token, carried_out):
    sent(lead, "post", "harvests/", ASKED)
    assert sent(lead, "post", "harvests/1/pause/").json()["harvest"]["state"] == "paused"
    assert sent(lead, "post", "harvests/1/again/").status_code == 409
    assert sent(lead, "post", "harvests/1/resume/").json()["harvest"]["state"] == "waiting"
    carried_out()
    assert sent(lead, "post", "harvests/1/again/").json()["harvest"]["state"] == "waiting"
    assert sent(lead, "patch", "harvests/1/", {"refresh_days": 3}).json()["harvest"]["refresh_days"] == 3
    assert sent(lead, "patch", "harvests/1/", {"refresh_days": None}).json()["harvest"]["refresh_days"] is None
    why = sent(lead, "put", "harvests/1/sampling/", {"reason": "Looked at by hand."}).json()
    assert why["harvest"]["override_reason"] == "Looked at by hand."
    assert sent(lead, "post", "harvests/1/cancel/").json()["harvest"]["state"] == "cancelled"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"repositories": ["frame"]}, 400),
        ({"repositories": ["frame/wood"], "kind": "commit"}, 400),
        ({"repositories": ["frame/wood"], "urls": ["frame/wood#1"]}, 400),
        ({"repositories": ["frame/wood"], "host": "evil.example"}, 400),
        ({"repositories": ["frame/wood"], "refresh_days": 0}, 400),
        ({"repositories": ["frame/wood"] * 2, "first": "yesterday"}, 400),
        ({"urls": [f"frame/wood#{2**40}"]}, 400),
    ],
)
def test_what_cannot_be_asked_is_a_problem_document(lead, study, github, body, status):
    answer = sent(lead, "post", "harvests/", body)
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    assert Harvest.objects.count() == 0


def test_a_token_goes_in_and_never_out(lead, study, github):
    stored = sent(lead, "post", "github-tokens/", {"name": "Lee’s", "token": TOKEN})
    assert stored.status_code == 201
    assert TOKEN not in stored.content.decode()
    (one,) = sent(lead, "get", "github-tokens/").json()
    assert (one["name"], one["host"], one["added_by"], one["used_at"]) == ("Lee’s", "github.com", "lee", None)
    wrong = sent(lead, "post", "github-tokens/", {"name": "x", "token": "ghp_one two"})
    assert (wrong.status_code, "ghp_one" in wrong.content.decode()) == (400, False)
    assert sent(lead, "delete", f"github-tokens/{one['key'][:5]}/").status_code == 404
    assert sent(lead, "delete", f"github-tokens/{one['key']}/").status_code == 204
    assert GitHubToken.objects.get().sealed == ""
    assert sent(lead, "get", "github-tokens/").json() == []


READ = ["harvests/", "harvests/1/", "harvests/1/findings/", "harvests/1/windows/", "items/"]
LEADS = [
    ("post", "harvests/", ASKED),
    ("post", "harvests/preview/", ASKED),
    ("patch", "harvests/1/", {"refresh_days": 1}),
    ("post", "harvests/1/pause/", None),
    ("post", "harvests/1/resume/", None),
    ("post", "harvests/1/again/", None),
    ("post", "harvests/1/cancel/", None),
    ("put", "harvests/1/sampling/", {"reason": "x"}),
    ("get", "github-tokens/", None),
    ("post", "github-tokens/", {"name": "x", "token": "y"}),
    ("delete", "github-tokens/000000000000/", None),
]


def test_members_read_leads_act_and_strangers_meet_nothing(lead, study, github, token, alice, charlie):
    sent(lead, "post", "harvests/", ASKED)
    for person, reads, acts in ((alice, 200, 403), (charlie, 404, 404)):
        client = Client()
        client.force_login(person)
        assert {sent(client, "get", path).status_code for path in READ} == {reads}
        assert {sent(client, *call).status_code for call in LEADS} == {acts}
    client.force_login(alice)
    assert sent(client, "get", "harvests/1/").json()["budget"] == []
