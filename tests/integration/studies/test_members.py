"""People come by a link that works once, and hold the roles that a lead gives."""

import datetime as dt
import re

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from annotator.accounts.models import User
from annotator.history.models import Event
from annotator.studies.actions import accept, give_role, invite, make_reset_link, set_roles
from annotator.studies.models import Invitation, Membership, Study
from annotator.web.errors import BadInput, Refused
from tests.factories import StudyFactory, member

SECRET = "correct horse battery"
NEWCOMER = {"username": "dora", "display_name": "Dora", "password": SECRET, "again": SECRET}


@pytest.fixture(autouse=True)
def _quick_hashes(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def roles(study: Study, user: User) -> set[str]:
    return set(Membership.objects.filter(study=study, user=user).values_list("role", flat=True))


def link_in(answer) -> str:
    found = re.search(r"http://testserver(/(?:join|reset)/[\w-]+/)", answer.content.decode())
    assert found
    return found[1]


# --- invitations


def test_a_lead_invites_and_a_newcomer_joins(study, lee):
    lead, stranger = signed_in(lee), Client()
    link = link_in(lead.post("/frameworks/members/", {"roles": ["rater"], "note": "Dora"}))
    assert b"as rater" in stranger.get(link).content
    answer = stranger.post(link, NEWCOMER)
    assert answer.status_code == 302
    dora = User.objects.get(username="dora")
    assert roles(study, dora) == {"rater"}
    assert stranger.get("/frameworks/members/").status_code == 200
    assert Client().post(link, NEWCOMER | {"username": "eve"}).status_code == 404


def test_the_link_is_shown_once_and_stored_as_a_digest(study, lee):
    lead = signed_in(lee)
    secret = link_in(lead.post("/frameworks/members/", {"roles": ["rater"]})).split("/")[2]
    assert secret not in lead.get("/frameworks/members/").content.decode()
    assert secret not in str(Invitation.objects.values().get())
    assert secret not in str(list(Event.objects.values()))


def test_who_is_signed_in_joins_as_oneself(study, lee, charlie):
    _, secret = invite(study=study, roles=["rater", "adjudicator"], by=lee)
    assert b"Join as charlie" in signed_in(charlie).get(f"/join/{secret}/").content
    signed_in(charlie).post(f"/join/{secret}/")
    assert roles(study, charlie) == {"rater", "adjudicator"}
    assert Invitation.objects.get().used_by == charlie


def test_an_invitation_works_once(study, lee, charlie, ada):
    _, secret = invite(study=study, roles=["reader"], by=lee)
    accept(secret=secret, user=charlie)
    with pytest.raises(Refused, match="used"):
        accept(secret=secret, user=ada)


def test_an_invitation_ends_and_can_be_revoked(study, lee, charlie):
    _, late = invite(study=study, roles=["rater"], by=lee)
    with time_machine.travel(timezone.now() + dt.timedelta(days=15)):
        assert Client().get(f"/join/{late}/").status_code == 404
    other, revoked = invite(study=study, roles=["rater"], by=lee)
    lead = signed_in(lee)
    assert lead.post(f"/frameworks/invitations/{other.digest[:16]}/revoke/").status_code == 302
    assert signed_in(charlie).post(f"/join/{revoked}/").status_code == 404
    assert lead.post(f"/frameworks/invitations/{other.digest[:16]}/revoke/").status_code == 409
    assert not roles(study, charlie)


@pytest.mark.parametrize(
    "wrong",
    [{"username": "Dora"}, {"username": "alice"}, {"password": "password", "again": "password"}, {"again": "other"}],
)
def test_a_bad_account_keeps_the_invitation(study, lee, wrong):
    _, secret = invite(study=study, roles=["rater"], by=lee)
    before = User.objects.count()
    assert Client().post(f"/join/{secret}/", NEWCOMER | wrong).status_code == 400
    assert User.objects.count() == before
    assert Client().get(f"/join/{secret}/").status_code == 200


@pytest.mark.parametrize("chosen", [[], ["boss"], ["rater", "boss"]])
def test_an_unknown_role_is_not_invited(study, lee, chosen):
    with pytest.raises(BadInput, match="lead, rater"):
        invite(study=study, roles=chosen, by=lee)
    assert signed_in(lee).post("/frameworks/members/", {"roles": chosen}).status_code == 400
    assert not Invitation.objects.exists()


# --- roles


def test_a_lead_changes_roles_and_history_tells(study, lee, alice):
    filled = {"roles": ["rater", "lead"], "experience": "6 years of C++", "tie": ""}
    assert signed_in(lee).post("/frameworks/members/alice/", filled).url == "/frameworks/members/"
    assert roles(study, alice) == {"rater", "lead"}
    assert Membership.objects.filter(user=alice).first().experience == "6 years of C++"
    event = Event.objects.get(verb="changed roles")
    assert (event.old, event.new, event.label) == (["rater"], ["lead", "rater"], "alice")


def test_a_study_keeps_a_lead(study, lee):
    answer = signed_in(lee).post("/frameworks/members/lee/", {"roles": ["rater"]})
    assert answer.status_code == 400
    assert b"needs a lead" in answer.content
    assert roles(study, lee) == {"lead"}


def test_a_person_leaves_without_roles(study, lee, alice):
    signed_in(lee).post("/frameworks/members/alice/", {"roles": []})
    assert signed_in(alice).get("/frameworks/members/").status_code == 404


def test_a_lead_who_leaves_comes_home(study, lee, ada):
    give_role(study=study, user=ada, role="lead", by=lee)
    assert signed_in(lee).post("/frameworks/members/lee/", {"roles": []}).url == "/"


def test_roles_are_for_members(study, lee, charlie):
    with pytest.raises(BadInput, match="not a member"):
        set_roles(study=study, user=charlie, roles=["rater"], by=lee)
    assert signed_in(lee).get("/frameworks/members/charlie/").status_code == 404


# --- passwords


def test_a_lead_makes_a_password_link_and_it_is_recorded(study, lee, alice):
    link = link_in(signed_in(lee).post("/frameworks/members/alice/reset/"))
    Client().post(link, {"password": SECRET, "again": SECRET})
    alice.refresh_from_db()
    assert alice.check_password(SECRET)
    event = Event.objects.get(verb="made a password link")
    assert (event.actor_name, event.label, event.study_id) == ("lee", "alice", study.pk)


def test_who_belongs_elsewhere_too_is_not_reset_by_one_lead(study, lee, alice):
    other = StudyFactory()
    member(other, alice, "reader")
    assert signed_in(lee).post("/frameworks/members/alice/reset/").status_code == 409
    member(other, lee, "rater")
    with pytest.raises(Refused, match="administrator"):
        make_reset_link(study=study, user=alice, by=lee)
    member(other, lee, "lead")
    assert make_reset_link(study=study, user=alice, by=lee)


def test_an_administrator_is_reset_by_no_lead(study, lee, alice):
    User.objects.filter(pk=alice.pk).update(is_superuser=True)
    assert signed_in(lee).post("/frameworks/members/alice/reset/").status_code == 409


def test_nobody_resets_oneself(study, lee):
    assert signed_in(lee).post("/frameworks/members/lee/reset/").status_code == 409


# --- who may

LEADS_ONLY = [
    ("post", "/frameworks/members/"),
    ("get", "/frameworks/members/alice/"),
    ("post", "/frameworks/members/alice/"),
    ("post", "/frameworks/members/alice/reset/"),
    ("post", "/frameworks/invitations/0123456789abcdef/revoke/"),
    ("post", "/frameworks/protocol/"),
]
EVERY = [*LEADS_ONLY, ("get", "/frameworks/members/"), ("get", "/frameworks/protocol/")]


@pytest.mark.parametrize(("method", "address"), EVERY)
def test_a_stranger_finds_no_study(study, charlie, method, address):
    assert getattr(signed_in(charlie), method)(address).status_code == 404


@pytest.mark.parametrize(("method", "address"), EVERY)
def test_who_has_not_signed_in_is_sent_to_do_so(study, method, address):
    answer = getattr(Client(), method)(address)
    assert (answer.status_code, answer.url) == (302, f"/accounts/login/?next={address}")


@pytest.mark.parametrize(("method", "address"), LEADS_ONLY)
def test_only_a_lead_manages(study, alice, method, address):
    assert getattr(signed_in(alice), method)(address).status_code == 403


def test_a_rater_sees_members_but_no_forms(study, alice):
    page = signed_in(alice).get("/frameworks/members/").content.decode()
    assert "bob" in page
    assert "Make the link" not in page
