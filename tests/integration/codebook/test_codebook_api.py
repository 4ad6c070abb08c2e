"""The codebook over REST, under the rules of the pages."""

import json
from typing import Any

import pytest
from django.test import Client

from annotator.accounts.models import User
from annotator.codebook.models import Category
from tests.factories import make_bugs, make_round

BOOK = "/api/v1/studies/frameworks/codebook/"


class Caller:
    def __init__(self, user: User | None) -> None:
        self.client = Client()
        if user:
            self.client.force_login(user)

    def __call__(self, method: str, address: str, body: Any = None) -> Any:
        return self.client.generic(method, address, json.dumps({} if body is None else body), "application/json")


@pytest.fixture
def lead(study, lee) -> Caller:
    return Caller(lee)


def uid(name: str) -> str:
    return Category.objects.get(name=name, state="active").uid


def names(answer: Any) -> list[str]:
    return [c["name"] for c in answer.json()["facets"][0]["categories"] if not c.get("retired")]


def test_presets_are_listed(lead):
    assert lead("GET", "/api/v1/codebooks/").json()[0]["slug"] == "dl-framework-bugs"


def test_the_whole_is_read_as_its_file_has_it(study, alice):
    told = Caller(alice)("GET", BOOK).json()
    assert (told["title"], told["version"], told["in_use"]) == ("Test codebook", 1, False)
    assert [f["id"] for f in told["facets"]] == ["cause", "stage", "verdict"]
    assert {c["id"] for c in told["facets"][0]["categories"]} == {uid("type"), uid("shape"), uid("api")}


def test_what_is_read_can_be_put_back_unchanged(lead):
    told = lead("GET", BOOK).json()
    whole = {key: told[key] for key in ("title", "facets")}
    again = lead("PUT", BOOK, whole)
    assert again.status_code == 200
    assert again.json()["facets"] == told["facets"]


def test_a_category_is_added_changed_removed(lead):
    added = lead("POST", f"{BOOK}facets/cause/categories/", {"name": "memory", "aka": ["leak"]})
    assert (added.status_code, names(added)) == (201, ["type", "shape", "api", "memory"])
    changed = lead("PATCH", f"{BOOK}categories/{uid('memory')}/", {"name": "leak of memory", "parent": uid("api")})
    assert names(changed)[-1] == "leak of memory"
    assert Category.objects.get(name="leak of memory").aka == ["leak"]
    removed = lead("DELETE", f"{BOOK}categories/{uid('leak of memory')}/")
    assert names(removed) == ["type", "shape", "api"]
    assert [v["number"] for v in lead("GET", f"{BOOK}versions/").json()] == [4, 3, 2, 1]


def test_in_use_a_category_is_retired_and_restored(lead, study, alice, bob, lee):
    make_round(study, bugs=make_bugs(study, 1), raters=[alice, bob], by=lee)
    gone = uid("api")
    assert names(lead("DELETE", f"{BOOK}categories/{gone}/", {"reason": "too broad"})) == ["type", "shape"]
    assert names(lead("POST", f"{BOOK}categories/{gone}/restore/")) == ["type", "shape", "api"]
    assert lead("PUT", BOOK, {"title": "T", "facets": [{"id": "f"}]}).status_code == 409


def test_a_facet_is_added_changed_removed(lead):
    assert lead("POST", f"{BOOK}facets/", {"id": "impact", "kind": "ordinal"}).status_code == 201
    changed = lead("PATCH", f"{BOOK}facets/impact/", {"name": "Reach", "answers": "many", "optional": True}).json()
    facet = next(f for f in changed["facets"] if f["id"] == "impact")
    assert (facet["name"], facet["answers"], facet["optional"]) == ("Reach", "many", True)
    assert lead("DELETE", f"{BOOK}facets/impact/").status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("PUT", "", {"title": "T"}, 400),
        ("PUT", "", [1], 400),
        ("PUT", "", {"title": "T", "facets": [{"id": "f", "hotky": 1}]}, 400),
        ("POST", "facets/cause/categories/", {}, 400),
        ("POST", "facets/cause/categories/", {"name": "type"}, 400),
        ("POST", "facets/cause/categories/", {"name": "a\0"}, 400),
        ("POST", "facets/cause/categories/", {"name": "a\ud800"}, 400),
        ("POST", "facets/cause/categories/", {"name": "x", "hotkey": "1"}, 400),
        ("POST", "facets/none/categories/", {"name": "x"}, 404),
        ("POST", "facets/", {"id": "cause"}, 400),
        ("POST", "facets/", {"id": "x", "kind": "odd"}, 400),
        ("DELETE", "facets/verdict/", {}, 409),
        ("PATCH", "categories/0123456789/", {"name": "x"}, 404),
    ],
)
def test_bad_input_is_a_problem_document_and_changes_nothing(lead, method, path, body, status):
    before = lead("GET", BOOK).json()
    answer = lead(method, BOOK + path, body)
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    assert lead("GET", BOOK).json() == before


CHANGES = [
    ("PUT", ""),
    ("POST", "facets/"),
    ("PATCH", "facets/cause/"),
    ("DELETE", "facets/cause/"),
    ("POST", "facets/cause/categories/"),
    ("PATCH", "categories/{uid}/"),
    ("DELETE", "categories/{uid}/"),
    ("POST", "categories/{uid}/restore/"),
]


@pytest.mark.parametrize(("method", "path"), [("GET", ""), ("GET", "versions/"), *CHANGES])
def test_a_stranger_finds_nothing(study, charlie, method, path):
    address = BOOK + path.format(uid=uid("shape"))
    assert Caller(charlie)(method, address).status_code == 404
    assert Caller(None)(method, address).status_code == 401


@pytest.mark.parametrize(("method", "path"), CHANGES)
def test_only_a_lead_changes_it(study, alice, method, path):
    assert Caller(alice)(method, BOOK + path.format(uid=uid("shape"))).status_code == 403
