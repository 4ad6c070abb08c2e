"""Recipes, series, runs and hosts by program: everything that is there, and to nobody more than to whom it belongs."""

import io
import zipfile

import pytest

from annotator.reproduction import recipes
from annotator.reproduction.models import Host, Recipe, Run
from tests.contract.interface import Interface
from tests.factories import UserFactory, make_round, member
from tests.factories.reproduction import SHOWS, document, end_all, make_series

STUDY = "studies/frameworks"


@pytest.fixture
def people(study, alice, bob, ada, lee, charlie):
    rita = member(study, UserFactory(username="rita"), "reader")
    users = {"alice": alice, "bob": bob, "ada": ada, "lee": lee, "charlie": charlie, "rita": rita}
    return {name: Interface(user) for name, user in users.items()} | {"nobody": Interface()}


def test_a_recipe_goes_its_whole_way_by_program(people, study, bugs):
    ada, alice = people["ada"], people["alice"]
    made = ada.post(f"{STUDY}/recipes/", {"bug": 1, "document": document(), "script": SHOWS}, status=201)
    assert (made["number"], made["version"], made["bug"], made["verdict"]) == (1, 1, 1, None)
    again = recipes.read(made["yaml"])
    assert again.document() == made["document"]
    sent = {"yaml": made["yaml"].replace("repeats: 2", "repeats: 1"), "why": "One will do."}
    changed = ada.ask("put", f"{STUDY}/recipes/1/", sent, status=200)
    assert [(one["version"], one["why"]) for one in changed["versions"]] == [(2, "One will do."), (1, "")]
    series = ada.post(f"{STUDY}/recipes/1/series/", {}, status=201)
    assert (series["number"], series["verdict"], len(series["runs"])) == (1, "waiting", 2)
    assert series["runs"][0]["waits_for"] == "Waiting for a runner."
    end_all(Recipe.objects.get(version=2).series.get(), buggy="bug", fixed="fault")
    place = f"{STUDY}/recipes/1/versions/2/series/1"
    told = alice.get(f"{place}/")
    assert (told["verdict"], told["faults"], told["environments"][0]["rate"]) == ("infrastructure", 1, 1.0)
    assert len(ada.post(f"{place}/retry/")["runs"]) == 3
    assert ada.post(f"{place}/cancel/")["runs"][2]["state"] == "cancelled"
    run = alice.get(f"{STUDY}/runs/{told['runs'][0]['key']}/")
    assert (run["outcome"], run["stdout"], run["python"]) == ("bug", "NaN\n", "3.11.7")
    assert alice.get(f"{STUDY}/runs/{run['key']}/log/")["state"] == "ended"
    assert [one["verdict"] for one in alice.get(f"{STUDY}/recipes/?bug=1")["results"]] == ["infrastructure"]
    assert alice.get(f"{STUDY}/recipes/?bug=2")["results"] == []
    assert [one["number"] for one in alice.get(f"{STUDY}/recipes/1/series/")["results"]] == [1]


def test_a_proposal_says_what_could_not_be_known(people, study, bugs):
    told = people["ada"].get(f"{STUDY}/bugs/1/recipe-proposal/")
    assert recipes.read(told["yaml"]).environments[0].expect == "bug"
    assert len(told["unknown"]) == 3


def test_a_recipe_is_handed_out_as_a_folder(people, study, bugs, ada):
    end_all(make_series(bugs[0], ada), buggy="bug", fixed="no_bug")
    content = people["alice"].ask("get", f"{STUDY}/recipes/1/replay/", status=200)
    names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    assert {"recipe.yaml", "repro.py", "README.md", "replay.py", "Dockerfile"} <= set(names)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"bug": 1, "script": "x"}, "one of both"),
        ({"bug": 1, "script": "x", "yaml": "a: 1"}, "no key"),
        ({"bug": 1, "script": " \n", "document": document()}, "script is empty"),
        ({"bug": 99, "script": "x", "document": document()}, "no such bug"),
        ({"bug": 1, "script": "x", "document": document() | {"repeats": 0}}, "repeats"),
    ],
)
def test_bad_input_stores_nothing(people, study, bugs, body, said):
    told = people["ada"].ask("post", f"{STUDY}/recipes/", body)
    assert told["status"] in (400, 404) and said in told["detail"]
    assert not Recipe.objects.exists()


WRITES = [
    ("post", "recipes/", {"bug": 1, "document": document(), "script": SHOWS}),
    ("put", "recipes/1/", {"document": document(repeats=1), "why": "Because."}),
    ("post", "recipes/1/series/", {}),
    ("post", "recipes/1/versions/1/series/1/retry/", None),
    ("post", "recipes/1/versions/1/series/1/cancel/", None),
    ("post", "runs/{key}/cancel/", None),
    ("get", "bugs/1/recipe-proposal/", None),
]
LEADS = [
    ("get", "hosts/", None),
    ("post", "hosts/", {"name": "box-2"}),
    ("delete", "hosts/box-1/", None),
    ("post", "hosts/box-1/void/", {"why": "Broken."}),
]
READS = [
    ("get", "recipes/", None),
    ("get", "recipes/1/", None),
    ("get", "recipes/1/replay/", None),
    ("get", "recipes/1/series/", None),
    ("get", "recipes/1/versions/1/series/1/", None),
    ("get", "runs/{key}/", None),
    ("get", "runs/{key}/log/", None),
]


@pytest.fixture
def everything(people, study, bugs, ada, lee):
    series = make_series(bugs[0], ada)
    people["lee"].post(f"{STUDY}/hosts/", {"name": "box-1"}, status=201)
    return series.runs.first().key


def test_strangers_find_nothing_and_nobody_has_to_sign_in(people, everything):
    before = (Recipe.objects.count(), Run.objects.count(), Host.objects.count())
    for method, path, body in [*WRITES, *LEADS, *READS]:
        at = f"{STUDY}/{path.format(key=everything)}"
        people["charlie"].ask(method, at, body, status=404)
        people["nobody"].ask(method, at, body, status=401)
    assert (Recipe.objects.count(), Run.objects.count(), Host.objects.count()) == before


def test_raters_and_readers_write_nothing(people, everything):
    before = (Recipe.objects.count(), Run.objects.filter(state="waiting").count())
    for method, path, body in WRITES:
        for who in ("alice", "rita"):
            people[who].ask(method, f"{STUDY}/{path.format(key=everything)}", body, status=403)
    assert (Recipe.objects.count(), Run.objects.filter(state="waiting").count()) == before


def test_hosts_are_the_leads(people, everything):
    for method, path, body in LEADS:
        for who in ("alice", "rita", "ada"):
            people[who].ask(method, f"{STUDY}/{path}", body, status=403)
    assert Host.objects.present().count() == 1


def test_every_member_reads_the_same_while_no_round_hides_it(people, everything):
    for method, path, body in READS:
        at = f"{STUDY}/{path.format(key=everything)}"
        lead, *others = (
            people[who].ask(method, at, body, status=200) for who in ("lee", "ada", "alice", "bob", "rita")
        )
        assert lead
        assert others == [lead] * 4


def test_who_rates_the_bug_finds_nothing_while_the_round_is_open(people, everything, study, bugs, alice, bob, lee):
    make_round(study, bugs=bugs[:1], raters=[alice, bob], by=lee)
    assert people["alice"].get(f"{STUDY}/recipes/")["results"] == []
    for method, path, body in READS[1:]:
        at = f"{STUDY}/{path.format(key=everything)}"
        for who in ("alice", "rita"):
            people[who].ask(method, at, body, status=404)
        people["ada"].ask(method, at, body, status=200)


def test_a_rating_lead_writes_no_recipe_of_a_bug_in_hand(people, study, bugs, alice, lee):
    member(study, lee, "rater")
    make_round(study, bugs=bugs[:1], raters=[alice, lee], by=lee)
    sent = {"bug": 1, "document": document(), "script": SHOWS}
    assert "You rate" in people["lee"].ask("post", f"{STUDY}/recipes/", sent, status=409)["detail"]


def test_a_host_is_added_told_of_and_removed(people, study):
    lee = people["lee"]
    added = lee.post(f"{STUDY}/hosts/", {"name": "box-1", "days": 30}, status=201)
    assert added["secret"].startswith("cc_")
    (told,) = lee.get(f"{STUDY}/hosts/")
    assert (told["name"], told["is_present"], "secret" in told) == ("box-1", False, False)
    assert lee.post(f"{STUDY}/hosts/box-1/void/", {"why": "Broken."}) == {"runs": 0}
    lee.ask("delete", f"{STUDY}/hosts/box-1/", status=204)
    assert lee.get(f"{STUDY}/hosts/") == []
