"""A study's title and research question."""

import pytest
from django.test import Client
from rest_framework.test import APIClient

from annotator.history.models import Event
from annotator.studies.actions import describe_study
from annotator.web.errors import BadInput

PAGE, STUDY = "/frameworks/about/", "/api/v1/studies/frameworks/"
NEW = {"title": "Bugs in compilers", "question": "Why do they arise?"}


def signed_in(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_a_lead_gives_another_title_and_question(study, lee):
    assert signed_in(lee).post(PAGE, NEW).status_code == 302
    study.refresh_from_db()
    assert (study.title, study.question, study.slug) == (*NEW.values(), "frameworks")
    event = Event.objects.get(verb="described the study")
    assert (event.actor_name, event.old["title"], event.new) == ("lee", "Bugs in frameworks", NEW)


def test_what_did_not_change_leaves_no_trace(study, lee):
    assert not describe_study(study=study, title=f" {study.title} ", question="", by=lee)
    assert not Event.objects.filter(verb="described the study").exists()


@pytest.mark.parametrize("wrong", [{"title": " "}, {"title": "x" * 201}, {"title": "a\0"}, {"question": "q" * 10_001}])
def test_what_is_wrong_is_refused(study, lee, wrong):
    with pytest.raises(BadInput):
        describe_study(study=study, by=lee, **NEW | wrong)
    assert signed_in(lee).post(PAGE, NEW | wrong).status_code == 400
    study.refresh_from_db()
    assert study.title == "Bugs in frameworks"


def test_others_read_and_strangers_find_nothing(study, alice, charlie):
    rater = signed_in(alice)
    assert b"disabled" in rater.get(PAGE).content
    assert rater.post(PAGE, NEW).status_code == 403
    stranger = signed_in(charlie)
    assert (stranger.get(PAGE).status_code, stranger.post(PAGE, NEW).status_code) == (404, 404)


def test_the_interface_changes_what_is_sent_alone(study, lee, alice):
    client = APIClient()
    client.force_authenticate(lee)
    changed = client.patch(STUDY, {"question": "Where?"}, format="json").json()
    assert (changed["title"], changed["question"], changed["roles"]) == ("Bugs in frameworks", "Where?", ["lead"])
    assert client.patch(STUDY, {"title": ""}, format="json").status_code == 400
    client.force_authenticate(alice)
    assert client.patch(STUDY, NEW, format="json").status_code == 403
