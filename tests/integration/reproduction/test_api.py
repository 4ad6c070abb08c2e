"""Recipes, series, runs and hosts by program: everything that is there, and to nobody more than to whom it belongs."""

import io
import zipfile

import pytest

from annotator.reproduction import leases, recipes
from annotator.reproduction.models import Host, Recipe, Run
from tests.contract.interface import Interface
from tests.factories import RepositoryFactory, UserFactory, make_round, member
from tests.factories.reproduction import SHOWS, claimed, document, end_all, ended, make_recipe, make_series

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
    files = {"recipe.yaml", "repro.py", "README.md", "replay.py", "Dockerfile"}
    assert {f"R-1-v1/{name}" for name in files} <= set(names)
    assert all(name.startswith("R-1-v1/") for name in names)


def test_an_earlier_version_is_read_and_handed_out_as_it_was(people, study, bugs, ada):
    row = make_recipe(bugs[0], ada)
    people["ada"].ask("put", f"{STUDY}/recipes/1/", {"document": document(repeats=5), "why": "More."}, status=200)
    first, second = (people["alice"].get(f"{STUDY}/recipes/1/versions/{version}/") for version in (1, 2))
    assert [(one["version"], one["document"]["repeats"]) for one in (first, second)] == [(1, 2), (2, 5)]
    assert (first["digest"], first["script"]) == (row.digest, row.script)
    content = people["alice"].ask("get", f"{STUDY}/recipes/1/versions/1/replay/", status=200)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert "repeats: 2" in archive.read("R-1-v1/recipe.yaml").decode()
    for at in ("recipes/1/versions/3/", "recipes/1/versions/3/replay/", "recipes/2/versions/1/"):
        people["alice"].ask("get", f"{STUDY}/{at}", status=404)


@pytest.fixture
def several(study, bugs, ada, lee):
    """Of Ada, Lee and Ada: reproduced, never run, not reproduced; the last one of another repository."""
    end_all(make_series(bugs[0], ada, name="the first"), buggy="bug", fixed="no_bug")
    make_recipe(bugs[1], lee, name="the second")
    end_all(make_series(bugs[2], ada, name="the third"), buggy="no_bug", fixed="no_bug")


@pytest.mark.parametrize(
    ("asked", "numbers"),
    [
        ("", [1, 2, 3]),
        ("verdict=reproduced", [1]),
        ("verdict=not_reproduced", [3]),
        ("verdict=never_run", [2]),
        ("verdict=flaky", []),
        ("mine=true", [1, 3]),
        ("mine=1&verdict=reproduced", [1]),
        ("q=SECOND", [2]),
        ("q=R-3", [3]),
        ("bug=2&q=first", []),
        ("repository=nowhere", []),
    ],
)
def test_recipes_are_narrowed_as_on_the_page(people, several, asked, numbers):
    told = people["ada"].get(f"{STUDY}/recipes/?{asked}")
    assert [one["number"] for one in told["results"]] == numbers


def test_recipes_of_one_repository(people, several, study, bugs):
    bugs[1].item.repository = RepositoryFactory(study=study, label="odd one")
    bugs[1].item.save()
    told = people["ada"].get(f"{STUDY}/recipes/?repository=odd one")["results"]
    assert [one["number"] for one in told] == [2]


def test_a_verdict_is_followed_from_page_to_page(people, several, monkeypatch):
    monkeypatch.setattr("annotator.reproduction.listing.CHUNK", 1)
    told = people["ada"].get(f"{STUDY}/recipes/?verdict=reproduced&page_size=1")
    assert [one["number"] for one in told["results"]] == [1] and told["next"] is None


@pytest.mark.parametrize(("at", "said"), [("recipes/?verdict=good", "verdict"), ("runs/{}/lines/?stream=x", "stream")])
def test_a_filter_that_is_none_is_refused(people, everything, at, said):
    told = people["ada"].ask("get", f"{STUDY}/{at.format(everything)}", status=400)
    assert told["detail"].startswith(said)


def test_a_log_is_searched_line_by_line(people, study, bugs, ada):
    series = make_series(bugs[0], ada)
    run = series.runs.first()
    leases.end(claimed(run), ended(stdout="one\nNaN here\nthree\n", stderr="nan there\n"))
    at = f"{STUDY}/runs/{run.key}/lines/"
    every = people["alice"].get(at)
    assert (every["total"], [line["number"] for line in every["lines"]]) == (4, [1, 2, 3, 4])
    found = people["alice"].get(f"{at}?q=nan")["lines"]
    assert [(line["number"], line["text"], line["is_error"]) for line in found] == [
        (2, "NaN here", False), (4, "nan there", True),
    ]  # fmt: skip
    assert [line["number"] for line in people["alice"].get(f"{at}?q=nan&stream=err")["lines"]] == [1]


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


def test_all_that_is_wrong_with_a_recipe_is_told_at_once(people, study, bugs):
    wrong = document(repeats=0, limits={"seconds": "soon", "gpus": 9}, oracle={"stdout_matches": "(", "exit_code": "x"})
    wrong["environments"][0] |= {"python": "latest", "requirements": ["-e ."]}
    told = people["ada"].ask("post", f"{STUDY}/recipes/", {"bug": 1, "script": " ", "document": wrong}, status=400)
    said = told["errors"]["non_field_errors"]
    assert told["detail"] == said[0]
    places = [
        "“buggy”: python",
        "“-e .”",
        "stdout_matches",
        "exit_code",
        "repeats",
        "seconds",
        "gpus",
        "script is empty",
    ]
    assert len(said) == len(places) and all(any(place in one for one in said) for place in places)
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
    ("get", "recipes/1/versions/1/", None),
    ("get", "recipes/1/versions/1/replay/", None),
    ("get", "recipes/1/series/", None),
    ("get", "recipes/1/versions/1/series/1/", None),
    ("get", "runs/{key}/", None),
    ("get", "runs/{key}/log/", None),
    ("get", "runs/{key}/lines/", None),
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
