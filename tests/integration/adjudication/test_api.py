"""Adjudication over REST, under the rules of the pages."""

import pytest

from annotator.adjudication.models import AuditPick, Resolution
from annotator.labeling.models import Round
from annotator.studies.models import Study
from tests.factories import answer

STUDY = "/api/v1/studies/frameworks/"
CAUSE = f"{STUDY}bugs/1/facets/cause/"


@pytest.fixture
def ask(client):
    def send(person, address, data=None):
        client.force_login(person)
        if data is None:
            return client.get(address)
        return client.post(address, data, content_type="application/json")

    return send


def test_disputes_are_listed_and_filtered(disputed, ada, ask):
    rows = ask(ada, f"{STUDY}disputes/").json()["results"]
    assert [(row["bug"], row["facet"], row["is_open"]) for row in rows] == [(1, "cause", True), (2, "verdict", True)]
    assert [row["bug"] for row in ask(ada, f"{STUDY}disputes/?facet=cause").json()["results"]] == [1]
    assert ask(ada, f"{STUDY}disputes/?state=mad").status_code == 400


def test_a_stranger_finds_nothing(disputed, charlie, ask):
    for address in (f"{STUDY}disputes/", CAUSE, f"{STUDY}bugs/1/decisions/", f"{STUDY}meeting/"):
        response = ask(charlie, address)
        assert (response.status_code, response["Content-Type"]) == (404, "application/problem+json")


def test_sides_hide_names_as_the_protocol_says(study, disputed, ada, ask):
    item = ask(ada, CAUSE).json()
    assert [side["rater"] for side in item["sides"]] == [None, None]
    assert {side["categories"][0]["name"] for side in item["sides"]} == {"type", "shape"}
    Study.objects.filter(pk=study.pk).update(protocol={"hide_names": False})
    assert {side["rater"] for side in ask(ada, CAUSE).json()["sides"]} == {"alice", "bob"}


def test_an_open_round_is_refused_alike_whatever_was_answered(main_round, bugs, alice, bob, ada, ask):
    before = ask(ada, CAUSE)
    answer(main_round, bugs[0], alice, {"cause": "type", "stage": "training"})
    answer(main_round, bugs[0], bob, {"cause": "api", "stage": "training"})
    after = ask(ada, CAUSE)
    assert (before.status_code, before.content) == (409, after.content)


def test_an_adjudicator_decides_and_changes(disputed, ada, alice, cause, ask):
    data = {"categories": [cause("type")[0].uid], "reason": "slip"}
    assert ask(alice, f"{CAUSE}decision/", data).status_code == 403
    item = ask(ada, f"{CAUSE}decision/", data).json()
    assert (item["is_open"], item["settled"][0]["source"], item["settled"][0]["by"]) == (False, "adjudicated", "ada")
    assert ask(ada, f"{CAUSE}decision/", data).status_code == 409
    changed = {"categories": [cause("shape")[0].uid], "reason": "misread", "seen_at": item["settled"][0]["at"]}
    assert ask(ada, f"{CAUSE}change/", changed).status_code == 200
    assert [row["is_current"] for row in ask(ada, f"{STUDY}bugs/1/decisions/").json() if row["facet"] == "cause"] == [
        False,
        True,
    ]


@pytest.mark.parametrize("data", [{"categories": ["none"], "reason": "slip"}, {"categories": [], "reason": "slip"}])
def test_a_label_that_is_none_is_bad_input(data, disputed, ada, ask):
    response = ask(ada, f"{CAUSE}decision/", data)
    assert (response.status_code, response["Content-Type"]) == (400, "application/problem+json")


def test_raters_come_to_agree(disputed, alice, bob, ask):
    ask(bob, f"{CAUSE}stand/", {"move": "accept"})
    assert ask(alice, f"{CAUSE}stand/", {"move": "keep"}).json()["settled"][0]["source"] == "discussed"
    assert ask(alice, f"{CAUSE}stand/", {"move": "nod"}).status_code == 400


def test_remarks_are_written_and_read(disputed, ada, alice, ask):
    ask(ada, f"{STUDY}bugs/1/remarks/", {"text": "Why?", "is_question": True, "facet": "cause"})
    rows = ask(alice, f"{STUDY}bugs/1/remarks/", {"text": "Line 3."}).json()
    assert [(row["text"], row["is_question"]) for row in rows] == [("Why?", True), ("Line 3.", False)]
    assert ask(alice, f"{STUDY}bugs/1/remarks/", {"text": "?", "is_question": True}).status_code == 403


def test_a_meeting_settles(disputed, alice, bob, lee, cause, ask):
    assert ask(lee, f"{STUDY}meeting/").status_code == 409
    assert ask(lee, f"{STUDY}meeting/", {"participants": ["alice", "bob"]}).json()["participants"] == ["alice", "bob"]
    data = {"categories": [cause("api")[0].uid], "confirmed": True}
    assert ask(alice, f"{CAUSE}decision-together/", data).json()["settled"][0]["source"] == "discussed"
    assert ask(lee, f"{STUDY}meeting/end/", {"notes": "done"}).json()["notes"] == "done"


def test_unanimous_bugs_are_accepted_and_looked_at(disputed, ada, lee, ask):
    assert ask(lee, f"{STUDY}rounds/1/unanimous/", {"share": 1, "seed": 3}).json()[0]["bug"] == 3
    assert ask(ada, f"{STUDY}rounds/1/unanimous/3/", {"confirmed": True}).json()["outcome"] == "confirmed"
    assert AuditPick.objects.get().decided_by == ada


def test_a_side_looks_again(disputed, lee, ask):
    assert ask(lee, f"{STUDY}bugs/1/reopen/", {"side": "Z", "reason": "x"}).status_code == 400
    assert ask(lee, f"{STUDY}bugs/1/reopen/", {"side": "A", "reason": "misread"}).status_code == 200
    assert Round.objects.filter(kind="relabel").count() == 1


def test_not_a_bug_and_left_open(disputed, ada, ask):
    ask(ada, f"{CAUSE}decision/", {"left_open": True, "note": "both"})
    assert Resolution.objects.current().get(bug=disputed, facet__key="cause").source == "unresolved"
    verdict = f"{STUDY}bugs/2/facets/verdict/decision/"
    assert ask(ada, verdict, {"not_a_bug": True, "reason": "slip"}).status_code == 200
    assert Resolution.objects.current().get(bug__number=2).category.name == "not a bug"


def test_majority_by_protocol(study, disputed, lee, ask):
    assert ask(lee, f"{STUDY}rounds/1/majority/", {}).status_code == 409
    Study.objects.filter(pk=study.pk).update(protocol={"by_majority": True})
    assert ask(lee, f"{STUDY}rounds/1/majority/", {}).json() == {"settled": 0}
