"""Facets that are decided jointly: nobody answers them, people of the study set the label together."""

import re

import pytest

from annotator.adjudication.jointly import decide_jointly, waiting_for_joint
from annotator.adjudication.meetings import start_meeting
from annotator.adjudication.models import Resolution
from annotator.adjudication.queries import final_labels
from annotator.codebook.models import Category, Facet
from annotator.history.models import Event
from annotator.labeling.models import Round
from annotator.overview.rounds.closing import close_round
from annotator.web.errors import BadInput, Refused
from tests.factories import answer, make_bugs, make_round, member

QUEUE = "/frameworks/adjudication/"


@pytest.fixture
def stage(study):
    """The second facet, decided jointly from the start."""
    Facet.objects.filter(codebook__study=study, key="stage").update(decided="joint")
    return Facet.objects.get(codebook__study=study, key="stage")


@pytest.fixture
def closed(study, stage, alice, bob, lee):
    """Bug 1 is one, bug 2 is none, of bug 3 it is in dispute, bug 4 is one."""
    bugs = make_bugs(study, 4)
    round_ = make_round(study, bugs=bugs, raters=[alice, bob], by=lee)
    for number, bug in enumerate(bugs, 1):
        for rater in (alice, bob):
            denies = number == 2 or (number == 3 and rater == bob)
            given = {"answers": {}, "not_a_bug": "upkeep"} if denies else {"answers": {"cause": "type"}}
            answer(round_, bug, rater, given.pop("answers"), **given)
    close_round(round_=round_, by=lee)
    return bugs


def uid(name):
    return Category.objects.get(facet__key="stage", name=name).uid


def label(name):
    return [Category.objects.get(facet__key="stage", name=name)]


def text(response):
    return re.sub(r"\s+", " ", response.content.decode())


def test_a_lead_sets_the_label_with_those_who_decided_it(client, closed, lee):
    client.force_login(lee)
    page = text(client.get(f"{QUEUE}bugs/1/?facet=stage"))
    assert "Who decided it together?" in page
    assert "Stage, decided jointly, waits on 2 bugs" in page
    data = {"facet": "stage", "other": uid("training"), "participant": ["alice", "lee"], "note": "by the log"}
    response = client.post(f"{QUEUE}bugs/1/joint/", data)
    assert (response.status_code, response["Location"]) == (302, f"{QUEUE}bugs/4/?facet=stage")
    row = final_labels(closed[0].study).get(bug=closed[0], facet__key="stage")
    assert (row.category.name, row.source, row.participants) == ("training", "joint", ["alice", "lee"])
    assert (row.by, row.round.number, row.note) == (None, 1, "by the log")
    assert Event.objects.filter(verb="decided jointly", actor_id=lee.pk).count() == 1
    assert [one.numbers for one in waiting_for_joint(closed[0].study)] == [(4,)]


def test_a_new_label_takes_the_place_of_the_one_before_if_that_was_seen(closed, stage, alice, bob, ada):
    more = {"bug": closed[0], "facet": stage, "participants": [alice, bob], "by": ada}
    first = decide_jointly(**more, categories=label("training"), seen_at="")[0]
    with pytest.raises(Refused, match="Another decision"):
        decide_jointly(**more, categories=label("deployment"), seen_at="")
    decide_jointly(**more, categories=label("deployment"), seen_at=first.at.isoformat())
    rows = Resolution.objects.filter(bug=closed[0], facet=stage).order_by("pk")
    assert [(row.category.name, row.is_current) for row in rows] == [("training", False), ("deployment", True)]


@pytest.mark.parametrize("people", [[], ["alice"], ["alice", "charlie"]])
def test_fewer_than_two_members_are_refused_and_nothing_is_lost(client, closed, ada, charlie, people):
    client.force_login(ada)
    data = {"facet": "stage", "other": uid("training"), "participant": people, "note": "by the log"}
    response = client.post(f"{QUEUE}bugs/1/joint/", data)
    page = text(response)
    assert response.status_code == 422
    assert "Tick at least two members" in page
    assert f'<option value="{uid("training")}" selected>' in page
    assert "by the log" in page
    assert not Resolution.objects.filter(source="joint").exists()


@pytest.mark.parametrize("number", [2, 3])
def test_what_is_no_bug_or_in_dispute_takes_no_joint_label(client, closed, stage, alice, bob, ada, number):
    with pytest.raises(Refused, match="Only a bug has other labels"):
        decide_jointly(
            bug=closed[number - 1],
            facet=stage,
            categories=label("training"),
            participants=[alice, bob],
            by=ada,
            seen_at="",
        )
    client.force_login(ada)
    assert "Who decided it together?" not in text(client.get(f"{QUEUE}bugs/{number}/?facet=stage"))


def test_a_facet_that_raters_answer_is_not_decided_jointly(closed, alice, bob, ada):
    facet = Facet.objects.get(key="cause")
    with pytest.raises(Refused, match="is not decided jointly"):
        decide_jointly(bug=closed[0], facet=facet, categories=[], participants=[alice, bob], by=ada, seen_at="")


def test_a_joint_label_needs_a_category_of_its_facet(closed, stage, alice, bob, ada):
    with pytest.raises(BadInput, match="Choose a category of Stage"):
        decide_jointly(bug=closed[0], facet=stage, categories=[], participants=[alice, bob], by=ada, seen_at="")


def test_raters_and_readers_see_the_label_and_have_no_form(client, study, closed, stage, alice, bob, ada, charlie):
    decide_jointly(
        bug=closed[0], facet=stage, categories=label("training"), participants=[alice, bob], by=ada, seen_at=""
    )
    for person in (alice, member(study, charlie, "reader")):
        client.force_login(person)
        page = text(client.get(f"{QUEUE}bugs/1/?facet=stage"))
        assert "Decided jointly" in page
        assert "Who decided it together?" not in page
        assert client.post(f"{QUEUE}bugs/1/joint/", {"facet": "stage"}).status_code == 403


def test_while_a_bug_is_labelled_again_its_joint_label_waits(study, closed, stage, alice, bob, ada, lee):
    make_round(study, bugs=[closed[0]], raters=[alice, bob], by=lee, kind=Round.Kind.RELABEL)
    with pytest.raises(Refused, match="Not yet"):
        decide_jointly(
            bug=closed[0], facet=stage, categories=label("training"), participants=[alice, bob], by=ada, seen_at=""
        )
    assert [one.numbers for one in waiting_for_joint(study)] == [(4,)]


def test_a_meeting_sets_a_joint_label_with_its_participants(client, study, closed, alice, bob, lee):
    meeting = start_meeting(study=study, participants=[alice, bob], by=lee)
    client.force_login(lee)
    page = text(client.get(f"{QUEUE}meeting/?bug=1&facet=stage"))
    assert re.findall(r'name="participant" value="(\w+)" checked', page) == ["alice", "bob"]
    data = {"facet": "stage", "other": uid("training"), "participant": ["alice", "bob"], "back": "meeting"}
    assert client.post(f"{QUEUE}bugs/1/joint/", data)["Location"] == f"{QUEUE}meeting/?bug=1"
    assert Resolution.objects.current().get(source="joint").session == meeting


# --- over REST

REST = "/api/v1/studies/frameworks/"


def post(client, user, data, bug=1):
    client.force_login(user)
    return client.post(f"{REST}bugs/{bug}/facets/stage/joint/", data, content_type="application/json")


def test_the_interface_tells_what_waits_and_sets_labels(client, closed, ada, alice):
    client.force_login(alice)
    assert client.get(f"{REST}joint/").json() == [{"facet": "stage", "bugs": [1, 4]}]
    data = {"categories": [uid("training")], "participants": ["alice", "ada"], "note": "by the log"}
    assert post(client, alice, data).status_code == 403
    done = post(client, ada, data)
    assert (done.status_code, done.json()["settled"][0]["source"]) == (200, "joint")
    assert client.get(f"{REST}joint/").json() == [{"facet": "stage", "bugs": [4]}]
    again = data | {"categories": [uid("deployment")]}
    assert post(client, ada, again).status_code == 409
    assert post(client, ada, again | {"seen_at": done.json()["settled"][0]["at"]}).status_code == 200


@pytest.mark.parametrize("people", [["ada"], ["ada", "nobody"], ["ada", "charlie"]])
def test_the_interface_refuses_who_did_not_decide_it_together(client, closed, ada, charlie, people):
    assert post(client, ada, {"categories": [uid("training")], "participants": people}).status_code == 400
    assert post(client, charlie, {"categories": [], "participants": []}).status_code == 404


def test_the_interface_sets_no_label_of_an_open_round(client, stage, main_round, bugs, ada, alice, bob):
    data = {"categories": [uid("training")], "participants": ["alice", "ada"]}
    before = post(client, ada, data)
    answer(main_round, bugs[0], alice, {"cause": "type"})
    after = post(client, ada, data)
    assert (before.status_code, before.content) == (409, after.content)
