"""Studies, people and one's account over REST, under the rules of the pages."""

import json
from typing import Any

import pytest
from django.test import Client

from annotator.accounts.actions import make_token
from annotator.accounts.models import Token, User
from annotator.studies.models import Deviation, Membership, Study
from annotator.studies.protocol import Protocol

API = "/api/v1/"
STUDY = f"{API}studies/frameworks/"


class Caller:
    def __init__(self, user: User | None, key: str = "") -> None:
        self.client = Client(headers={"Authorization": f"Token {key}"} if key else {})
        if user and not key:
            self.client.force_login(user)

    def __call__(self, method: str, address: str, body: Any = None) -> Any:
        return self.client.generic(method, address, json.dumps({} if body is None else body), "application/json")


@pytest.fixture
def lead(study, lee) -> Caller:
    return Caller(lee)


# --- studies


def test_a_study_is_started_and_listed(charlie):
    call = Caller(charlie)
    made = call("POST", f"{API}studies/", {"title": "My bugs", "codebook": "silent-bugs"})
    assert (made.status_code, made.json()["slug"], made.json()["roles"]) == (201, "my-bugs", ["lead"])
    own = {"title": "T", "facets": [{"id": "f", "categories": [{"name": "a"}]}]}
    assert call("POST", f"{API}studies/", {"title": "B", "slug": "b", "codebook": own}).status_code == 201
    assert [s["slug"] for s in call("GET", f"{API}studies/").json()["results"]] == ["b", "my-bugs"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"title": "T", "codebook": "no-such"},
        {"title": "T", "codebook": 3},
        {"title": "T", "codebook": {"title": "T"}},
        {"title": "T", "slug": "A B", "codebook": "silent-bugs"},
        {"title": "T", "slug": "api", "codebook": "silent-bugs"},
        {"title": "a\0", "codebook": "silent-bugs"},
    ],
)
def test_a_bad_study_is_not_started(charlie, body):
    answer = Caller(charlie)("POST", f"{API}studies/", body)
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert not Study.objects.exists()


def test_one_sees_ones_own_studies_alone(study, lead, charlie):
    assert lead("GET", STUDY).json()["roles"] == ["lead"]
    assert Caller(charlie)("GET", f"{API}studies/").json()["results"] == []


# --- people


def test_a_lead_invites_and_a_signed_in_person_joins(lead, study, charlie):
    made = lead("POST", f"{STUDY}invitations/", {"roles": ["rater"], "note": "Charlie"})
    assert made.status_code == 201
    token = made.json()["link"].rstrip("/").rpartition("/")[2]
    assert lead("GET", f"{STUDY}invitations/").json()[0]["note"] == "Charlie"
    assert Caller(charlie)("POST", f"{API}join/", {"token": token}).json()["roles"] == ["rater"]
    assert Caller(charlie)("POST", f"{API}join/", {"token": token}).status_code == 409


def test_a_lead_revokes_an_invitation(lead, study):
    lead("POST", f"{STUDY}invitations/", {"roles": ["rater"]})
    key = lead("GET", f"{STUDY}invitations/").json()[0]["key"]
    assert lead("DELETE", f"{STUDY}invitations/{key}/").status_code == 204
    assert lead("GET", f"{STUDY}invitations/").json() == []


def test_a_lead_sets_roles(lead, study, alice):
    told = lead("PUT", f"{STUDY}members/alice/", {"roles": ["rater", "reader"], "experience": "much"}).json()
    mine = next(m for m in told if m["username"] == "alice")
    assert (mine["roles"], mine["experience"]) == (["rater", "reader"], "much")
    lead("PUT", f"{STUDY}members/alice/", {"roles": []})
    assert not Membership.objects.filter(user=alice).exists()
    assert lead("PUT", f"{STUDY}members/lee/", {"roles": []}).status_code == 409
    assert lead("PUT", f"{STUDY}members/bob/", {"roles": ["boss"]}).status_code == 400


def test_a_signed_in_lead_makes_a_password_link_a_key_does_not(lead, study, lee):
    assert "/reset/" in lead("POST", f"{STUDY}members/alice/password-link/").json()["link"]
    _, key = make_token(user=lee, name="n", scopes=["read", "write"], days=1)
    assert Caller(None, key)("POST", f"{STUDY}members/alice/password-link/").status_code == 409


def test_the_protocol_deviates_with_a_reason(lead, study):
    now = lead("GET", f"{STUDY}protocol/").json()
    assert now == Protocol().as_dict()
    assert lead("PUT", f"{STUDY}protocol/", now | {"gate_bound": 0.7, "reason": ""}).status_code == 400
    assert lead("PUT", f"{STUDY}protocol/", now | {"gate_bound": 0.7, "reason": "pilot"}).json()["gate_bound"] == 0.7
    assert lead("GET", f"{STUDY}protocol/deviations/").json()[0]["new"] == {"gate_bound": 0.7}
    assert Deviation.objects.count() == 1


READ = ["", "members/", "protocol/", "protocol/deviations/"]
LEADS = [
    ("GET", "invitations/"),
    ("POST", "invitations/"),
    ("DELETE", "invitations/0123456789abcdef/"),
    ("PUT", "members/alice/"),
    ("POST", "members/alice/password-link/"),
    ("PUT", "protocol/"),
]


@pytest.mark.parametrize(("method", "path"), [*(("GET", path) for path in READ), *LEADS])
def test_a_stranger_finds_nothing(study, charlie, method, path):
    assert Caller(charlie)(method, STUDY + path).status_code == 404
    assert Caller(None)(method, STUDY + path).status_code == 401


@pytest.mark.parametrize(("method", "path"), LEADS)
def test_only_a_lead_manages(study, alice, method, path):
    assert Caller(alice)(method, STUDY + path).status_code == 403


# --- oneself


def test_one_reads_and_names_oneself(alice):
    call = Caller(alice)
    assert call("PATCH", f"{API}me/", {"display_name": "Alice A."}).json() == {
        "username": "alice",
        "display_name": "Alice A.",
    }
    assert call("PATCH", f"{API}me/", {"username": "boss"}).json()["username"] == "alice"


def test_keys_do_what_their_scopes_say_and_make_no_keys(alice):
    _, reading = make_token(user=alice, name="r", scopes=["read"], days=1)
    token, writing = make_token(user=alice, name="w", scopes=["read", "write"], days=1)
    new = {"name": "n", "scopes": ["runner"], "days": 300}
    assert Caller(None, reading)("GET", f"{API}me/").status_code == 200
    assert Caller(None, reading)("PATCH", f"{API}me/", {"display_name": "x"}).status_code == 403
    assert Caller(None, writing)("POST", f"{API}me/tokens/", new).status_code == 409
    assert Caller(alice)("POST", f"{API}me/tokens/", new).status_code == 201
    assert Caller(alice)("DELETE", f"{API}me/tokens/{token.hint}/").status_code == 204
    assert Caller(None, writing)("GET", f"{API}me/").status_code == 401


def test_one_revokes_ones_own_keys_alone(alice, charlie):
    token, _ = make_token(user=alice, name="w", scopes=["read"], days=1)
    assert Caller(charlie)("DELETE", f"{API}me/tokens/{token.hint}/").status_code == 404
    assert Token.objects.get().revoked_at is None
