"""Who rates beside another in an open round cannot come to sign in as that person."""

import re

import pytest
from django.test import Client

from annotator.labeling.actions import hand_on, skip
from annotator.labeling.models import Assignment
from annotator.overview.resetting import reset_password
from annotator.overview.rounds.closing import close_round
from annotator.web.errors import Refused
from tests.factories import make_round, member
from tests.together import while_it_lasts

RESET = "/frameworks/members/alice/reset/"


@pytest.fixture
def rating_lead(study, lee):
    return member(study, lee, "rater")


@pytest.fixture
def together(study, bugs, alice, rating_lead):
    return make_round(study, bugs=bugs, raters=[alice, rating_lead], by=rating_lead, name="Round 1")


def works(secret: str) -> bool:
    return Client().get(f"/reset/{secret}/").status_code == 200


def test_no_link_between_two_who_rate_in_an_open_round(client, together, lee):
    client.force_login(lee)
    answer = client.post(RESET)
    assert answer.status_code == 409
    assert "both rate in Round 1" in answer.content.decode()
    page = client.get("/frameworks/members/alice/").content.decode()
    assert RESET not in page and "both rate in Round 1" in page


def test_a_program_gets_none_either(client, together, lee):
    client.force_login(lee)
    answer = client.post("/api/v1/studies/frameworks/members/alice/password-link/")
    assert (answer.status_code, answer["Content-Type"]) == (409, "application/problem+json")


def test_a_link_is_made_once_the_round_is_closed(client, together, lee):
    close_round(round_=together, by=lee)
    client.force_login(lee)
    assert RESET in client.get("/frameworks/members/alice/").content.decode()
    assert re.search(r"/reset/[\w-]+/", client.post(RESET).content.decode())


def test_a_lead_who_does_not_rate_there_makes_links(study, main_round, alice, lee):
    assert works(reset_password(study=study, user=alice, by=lee))


def test_a_link_made_before_ends_when_both_come_to_rate(study, bugs, alice, bob, rating_lead):
    mine = reset_password(study=study, user=alice, by=rating_lead)
    others = reset_password(study=study, user=bob, by=rating_lead)
    make_round(study, bugs=bugs, raters=[alice, rating_lead], by=rating_lead)
    assert (works(mine), works(others)) == (False, True)


def test_a_link_made_before_ends_when_a_bug_is_handed_on(study, main_round, bugs, alice, rating_lead):
    secret = reset_password(study=study, user=alice, by=rating_lead)
    turn = skip(assignment=Assignment.objects.get(rater=alice, bug=bugs[0]), reason="I wrote it", by=alice)
    hand_on(assignment=turn, to=rating_lead, by=rating_lead)
    assert not works(secret)


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_link_made_while_the_round_opens_is_refused(study, bugs, alice, rating_lead):
    opened, refused = while_it_lasts(
        lambda: make_round(study, bugs=bugs, raters=[alice, rating_lead], by=rating_lead),
        lambda: reset_password(study=study, user=alice, by=rating_lead),
    )
    assert opened.is_open
    assert isinstance(refused, Refused)


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_round_that_opens_while_a_link_is_made_ends_it(study, bugs, alice, rating_lead):
    secret, opened = while_it_lasts(
        lambda: reset_password(study=study, user=alice, by=rating_lead),
        lambda: make_round(study, bugs=bugs, raters=[alice, rating_lead], by=rating_lead),
    )
    assert opened.is_open
    assert not works(secret)
