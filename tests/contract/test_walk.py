"""A study from its start to its export by programs alone; each answer is as the schema says."""

import csv
import io

import pytest

from annotator.accounts.actions import make_token
from tests.contract.interface import Interface
from tests.factories import UserFactory, make_bugs, member

CODEBOOK = {
    "title": "Walk",
    "facets": [
        {"id": "cause", "categories": [{"name": "type"}, {"name": "shape"}, {"name": "api"}]},
        {"id": "stage", "optional": True, "categories": [{"name": "training"}, {"name": "deployment"}]},
    ],
}
STUDY = "studies/walk"


@pytest.fixture
def people(db):
    from annotator.studies.models import Study

    users = {name: UserFactory(username=name) for name in ("lee", "alice", "bob", "ada", "charlie")}
    asking = {name: Interface(user) for name, user in users.items()}
    asking["lee"].post("studies/", {"slug": "walk", "title": "A walk", "codebook": CODEBOOK}, status=201)
    study = Study.objects.get(slug="walk")
    for name, role in (("alice", "rater"), ("bob", "rater"), ("ada", "adjudicator")):
        member(study, users[name], role)
    make_bugs(study, 4)
    return asking


def submit(who, bug, cause, **more):
    answers = {"cause": [cause], "stage": ["training"]}
    return who.put(f"{STUDY}/rounds/1/bugs/{bug}/answers/", {"answers": answers, **more})


@pytest.fixture
def closed(people):
    """One round over four bugs, of which the raters differ on two; closed."""
    lee, alice, bob = (people[name] for name in ("lee", "alice", "bob"))
    opened = lee.post(f"{STUDY}/rounds/", {"name": "Main", "raters": ["alice", "bob"], "seed": 3}, status=201)
    assert (opened["number"], opened["bugs"], opened["state"]) == (1, 4, "open")
    for bug in (1, 2, 3, 4):
        submit(alice, bug, "type", confidence="sure", note="Slot is half.")
        submit(bob, bug, "type" if bug < 3 else "shape")
    lee.post(f"{STUDY}/rounds/1/close/")
    return people


def test_raters_work_by_the_interface(people):
    lee, alice = people["lee"], people["alice"]
    lee.post(f"{STUDY}/rounds/", {"name": "Main", "raters": ["alice", "bob"]}, status=201)
    turn = alice.post(f"{STUDY}/rounds/1/next/")
    place = f"{STUDY}/rounds/1/bugs/{turn['bug']}"
    assert turn["state"] == "todo" and turn["answers"] == {}
    text = alice.get(f"{STUDY}/bugs/{turn['bug']}/")
    assert text["number"] == turn["bug"] and text["comments"] == []
    alice.put(f"{place}/draft/", {"answers": {"cause": ["api"]}, "note": "first thought"})
    assert alice.get(f"{place}/")["draft"]["note"] == "first thought"
    done = alice.put(f"{place}/answers/", {"answers": {"cause": ["api"], "stage": ["not applicable"]}, "key": "k1"})
    assert done["state"] == "submitted" and done["revision"] == 1 and done["draft"] is None
    again = alice.put(f"{place}/answers/", {"answers": {"cause": ["api"], "stage": ["not applicable"]}, "key": "k1"})
    assert again["revision"] == 1
    alice.post(f"{place}/further-bugs/", {"note": "it also frees twice"}, status=201)
    parked = alice.post(f"{STUDY}/rounds/1/next/")["bug"]
    assert alice.post(f"{STUDY}/rounds/1/bugs/{parked}/park/")["state"] == "parked"
    skipped = alice.post(f"{STUDY}/rounds/1/next/")["bug"]
    reason = "Needs knowledge I do not have"
    assert alice.post(f"{STUDY}/rounds/1/bugs/{skipped}/skip/", {"reason": reason})["state"] == "skipped"
    listed = alice.get(f"{STUDY}/rounds/1/mine/")["results"]
    assert sorted(row["state"] for row in listed) == ["parked", "skipped", "submitted", "todo"]
    assert [row["position"] for row in listed] == [0, 1, 2, 3]
    assert [row["rater"] for row in alice.get(f"{STUDY}/rounds/1/")["progress"]] == ["alice"]
    assert {row["bug"] for row in lee.get(f"{STUDY}/rounds/1/skipped/")} == {skipped}
    lee.put(f"{STUDY}/rounds/1/gate/", {"coefficient": "ac1", "method": "value", "bound": 0.7, "min_n": 2}, status=409)


def test_answers_and_what_follows_are_seen_after_the_close(closed):
    lee, alice, bob, ada = (closed[name] for name in ("lee", "alice", "bob", "ada"))
    answers = lee.get(f"{STUDY}/answers/?facet=cause")["results"]
    assert len(answers) == 8
    undecided = ada.get(f"{STUDY}/answers/?facet=cause")["results"]
    assert len(undecided) == 4, "who still decides is not told whose answer is whose"
    entries = ada.get(f"{STUDY}/agreement/?facet=cause")
    assert [(entry["n"], entry["raters"]) for entry in entries] == [(4, ["alice", "bob"])]
    assert ada.get(f"{STUDY}/agreement/pooled/")
    disputes = ada.get(f"{STUDY}/disputes/")["results"]
    assert len(disputes) == 2
    bob.post(f"{STUDY}/bugs/3/facets/cause/stand/", {"move": "keep"})
    types = {row["category"]: row["category_uid"] for row in answers}
    item = ada.get(f"{STUDY}/bugs/3/facets/cause/")
    assert len(item["sides"]) == 2
    ada.post(f"{STUDY}/bugs/3/facets/cause/decision/", {"categories": [types["type"]], "reason": "slip"})
    assert ada.get(f"{STUDY}/bugs/3/decisions/")
    finals = ada.get(f"{STUDY}/finals/?facet=cause")["results"]
    assert [(row["bug"], row["category"], row["source"], row["decided_by"]) for row in finals] == [
        (1, "type", "unanimous", ""),
        (2, "type", "unanimous", ""),
        (3, "type", "adjudicated", "ada"),
    ]
    assert ada.get(f"{STUDY}/tables/")["facets"]["cause"] == {"type": 3}
    alice.post(f"{STUDY}/rounds/1/bugs/1/flags/", {"facet": "cause", "reason": "I misread it"}, status=201)
    which = {"bug": 1, "rater": "alice", "facet": "cause"}
    decided = lee.post(f"{STUDY}/rounds/1/flags/", {"flags": [which], "accept": True, "name": "Second look"})
    assert [(row["state"], row["relabel_round"]) for row in decided] == [("accepted", 2)]
    assert [row["name"] for row in lee.get(f"{STUDY}/rounds/")["results"]] == ["Main", "Second look"]
    assert lee.get(f"{STUDY}/events/")["results"]


def test_further_bugs_are_followed_after_the_close(people):
    lee, alice = people["lee"], people["alice"]
    lee.post(
        f"{STUDY}/rounds/", {"name": "Main", "raters": ["alice"], "bugs": {"numbers": [1, 2]}, "overlap": 1}, status=201
    )
    alice.post(f"{STUDY}/rounds/1/bugs/1/further-bugs/", {"note": "it also frees twice"}, status=201)
    assert lee.get(f"{STUDY}/rounds/1/further-bugs/") == []
    lee.post(f"{STUDY}/rounds/1/close/")
    assert lee.get(f"{STUDY}/rounds/1/further-bugs/")[0]["note"] == "it also frees twice"
    told = lee.post(f"{STUDY}/rounds/1/further-bugs/", {"bug": 1, "rater": "alice", "act": "follow"})
    assert told[0]["became"] == 5
    assert lee.get(f"{STUDY}/bugs/5/")["ordinal"] == 2


def test_exports_are_files_that_a_standard_reader_takes(closed):
    alice = closed["alice"]
    listed = alice.get(f"{STUDY}/exports/")
    assert len(listed) == 15
    for row in listed:
        assert alice.get(row["url"].removeprefix("http://testserver"))
    text = alice.get(f"{STUDY}/exports/answers.csv").decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    told = alice.get(f"{STUDY}/answers/")["results"]
    of_csv = sorted((int(row["bug"]), row["rater"], row["facet"], row["category_uid"], row["note"]) for row in rows)
    of_api = sorted(
        (row["bug"], row["rater"], row["facet"], row["category_uid"], row["note"])
        for row in told
        if row["facet"] != "verdict"
    )
    assert of_csv == of_api
    assert alice.get(f"{STUDY}/exports/side_by_side.mapping.yaml").startswith(b"row: bug")
    assert alice.get(f"{STUDY}/exports/finals-spreadsheet-safe.csv?pseudonyms=1")


def test_lists_come_page_by_page_without_loss_or_repeat(closed):
    url, seen = f"{STUDY}/answers/?page_size=3", []
    while url:
        page = closed["lee"].get(url.removeprefix("http://testserver"))
        seen += [(row["bug"], row["rater"], row["facet"]) for row in page["results"]]
        url = page["next"]
    assert len(seen) == len(set(seen)) == 16
    assert seen == sorted(seen, key=lambda row: row[0])


def test_a_key_reads_or_writes_as_its_scopes_say(people):
    from annotator.accounts.models import User

    _, secret = make_token(user=User.objects.get(username="lee"), name="notebook", scopes=["read"], days=3)
    program = Interface()
    key = {"HTTP_AUTHORIZATION": f"Token {secret}"}
    assert program.get(f"{STUDY}/", **key)["slug"] == "walk"
    program.ask("post", f"{STUDY}/rounds/", {"name": "X", "raters": ["alice"]}, status=403, **key)
    program.ask("get", f"{STUDY}/", status=401)
    program.ask("get", f"{STUDY}/", status=401, HTTP_AUTHORIZATION="Token wrong")
