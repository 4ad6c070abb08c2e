"""One's own account: name, keys, a new password by a link."""

import datetime as dt

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from annotator.accounts.actions import create_user, make_password_link, make_token, person_named, slug_of
from annotator.accounts.models import PasswordLink, Token, User
from annotator.history.models import Event
from annotator.web.errors import BadInput

SECRET = "correct horse battery"


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture(autouse=True)
def _quick_hashes(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


# --- people


@pytest.mark.parametrize("name", ["", "Alice", "a b", "-a", "a/b", "ä", "a" * 61, "a\n"])
@pytest.mark.django_db
def test_a_user_name_that_is_no_slug_is_refused(name):
    with pytest.raises(BadInput, match="user name"):
        create_user(username=name)
    assert not User.objects.exists()


def test_a_taken_user_name_is_refused(alice):
    with pytest.raises(BadInput, match="taken"):
        create_user(username="alice")


@pytest.mark.django_db
def test_a_weak_password_is_refused():
    with pytest.raises(BadInput, match="too common"):
        create_user(username="eve", password="password")


@pytest.mark.django_db
def test_a_person_named_freely_gets_a_user_name_and_no_password():
    made = person_named("Reviewer Ä, 2nd")
    assert (made.username, made.display_name) == ("reviewer-a-2nd", "Reviewer Ä, 2nd")
    assert not made.has_usable_password()
    assert person_named("Reviewer Ä, 2nd") == made


def test_a_name_without_letters_is_refused():
    with pytest.raises(BadInput, match="gives no user name"):
        slug_of("日本")


# --- signing in


@pytest.mark.django_db
def test_the_front_door_leads_to_signing_in(client):
    answer = client.get("/")
    assert (answer.status_code, answer.url) == (302, "/accounts/login/?next=/")
    assert b"Sign in" in client.get("/", follow=True).content


@pytest.mark.django_db
def test_signing_in_and_out(client):
    create_user(username="eve", password=SECRET)
    answer = client.post("/accounts/login/", {"login": "eve", "password": SECRET})
    assert (answer.status_code, answer.url) == (302, "/")
    client.post("/accounts/logout/")
    assert client.get("/").status_code == 302


@pytest.mark.django_db
def test_guessing_is_slowed_down(client):
    create_user(username="eve", password=SECRET)
    for _ in range(6):
        client.post("/accounts/login/", {"login": "eve", "password": "wrong"})
    answer = client.post("/accounts/login/", {"login": "eve", "password": SECRET})
    assert answer.status_code in {200, 429}
    assert "_auth_user_id" not in client.session


@pytest.mark.parametrize("address", ["/accounts/signup/", "/accounts/password/reset/", "/accounts/login/"])
@pytest.mark.django_db
def test_pages_for_strangers_answer(client, address):
    assert client.get(address).status_code == 200


@pytest.mark.django_db
def test_nobody_signs_up_uninvited(client):
    client.post("/accounts/signup/", {"username": "eve", "password1": SECRET, "password2": SECRET})
    assert not User.objects.filter(username="eve").exists()


def test_no_page_offers_mail(alice):
    assert signed_in(alice).get("/accounts/email/").url == "/account/"


@pytest.mark.django_db
def test_changing_the_password_needs_the_present_one(client):
    create_user(username="eve", password=SECRET)
    client.post("/accounts/login/", {"login": "eve", "password": SECRET})
    page = {"oldpassword": "wrong", "password1": "another horse battery", "password2": "another horse battery"}
    assert client.post("/accounts/password/change/", page).status_code == 200
    assert client.post("/accounts/password/change/", page | {"oldpassword": SECRET}).status_code == 302
    assert User.objects.get(username="eve").check_password("another horse battery")


# --- profile and keys


@pytest.mark.parametrize("address", ["/account/", "/account/tokens/"])
@pytest.mark.django_db
def test_ones_account_needs_signing_in(client, address):
    assert client.get(address).url == f"/accounts/login/?next={address}"


def test_a_display_name_is_free(alice):
    signed_in(alice).post("/account/", {"display_name": "Alice  Ångström"})
    alice.refresh_from_db()
    assert alice.display_name == "Alice Ångström"
    assert Event.objects.get(verb="changed a display name").actor_name == "alice"


def test_a_key_is_shown_once_and_stored_as_a_digest(alice):
    client = signed_in(alice)
    answer = client.post("/account/tokens/", {"name": "notebook", "scopes": ["read", "write"], "days": "30"})
    token = Token.objects.get()
    secret = answer.context["secret"]
    assert secret in answer.content.decode()
    assert secret not in client.get("/account/tokens/").content.decode()
    assert secret not in str(Token.objects.values().get())
    assert token.scopes == ["read", "write"]
    assert token.expires_at - timezone.now() < dt.timedelta(days=30)


@pytest.mark.parametrize("filled", [{}, {"scopes": ["admin"]}, {"scopes": []}, {"days": "4000"}, {"name": " "}])
def test_a_bad_key_is_not_made(alice, filled):
    whole = {"name": "n", "scopes": ["read"], "days": "30"} if filled else {}
    assert signed_in(alice).post("/account/tokens/", whole | filled).status_code == 400
    assert not Token.objects.exists()


def test_one_revokes_only_ones_own_keys(alice, charlie):
    token, _ = make_token(user=alice, name="n", scopes=["read"], days=1)
    assert signed_in(charlie).post(f"/account/tokens/{token.hint}/revoke/").status_code == 404
    assert signed_in(alice).post(f"/account/tokens/{token.hint}/revoke/").status_code == 302
    token.refresh_from_db()
    assert token.revoked_at is not None


# --- a new password by a link


def test_a_link_sets_the_password_once_and_ends_sessions(alice, lee):
    there = signed_in(alice)
    secret = make_password_link(user=alice, by=lee)
    assert secret not in str(list(PasswordLink.objects.values()))
    new = {"password": SECRET, "again": SECRET}
    assert Client().post(f"/reset/{secret}/", new).url == "/accounts/login/"
    alice.refresh_from_db()
    assert alice.check_password(SECRET)
    assert there.get("/account/").status_code == 302
    assert Client().post(f"/reset/{secret}/", new).status_code == 404
    assert Event.objects.get(verb="set a password by a link").actor_name == "alice"


def test_a_newer_link_ends_the_older(alice, lee):
    older, newer = (make_password_link(user=alice, by=lee) for _ in range(2))
    assert Client().get(f"/reset/{older}/").status_code == 404
    assert Client().get(f"/reset/{newer}/").status_code == 200


def test_a_link_ends_with_the_password_that_it_was_to_replace(alice, lee):
    secret = make_password_link(user=alice, by=lee)
    alice.set_password(SECRET)
    alice.save()
    assert Client().get(f"/reset/{secret}/").status_code == 404
    assert Client().post(f"/reset/{secret}/", {"password": SECRET + "x", "again": SECRET + "x"}).status_code == 404
    alice.refresh_from_db()
    assert alice.check_password(SECRET)


def test_a_link_ends_by_itself(alice, lee):
    secret = make_password_link(user=alice, by=lee)
    with time_machine.travel(timezone.now() + dt.timedelta(days=3)):
        assert Client().get(f"/reset/{secret}/").status_code == 404


@pytest.mark.parametrize(("one", "two"), [("password", "password"), (SECRET, "other"), ("short", "short")])
def test_a_weak_or_mistyped_password_leaves_the_link_alive(alice, lee, one, two):
    secret = make_password_link(user=alice, by=lee)
    assert Client().post(f"/reset/{secret}/", {"password": one, "again": two}).status_code == 400
    assert Client().get(f"/reset/{secret}/").status_code == 200


@pytest.mark.parametrize("token", ["x", "ä", "x" * 3000])
@pytest.mark.django_db
def test_a_made_up_link_is_a_clear_404(client, token):
    answer = client.get(f"/reset/{token}/")
    assert answer.status_code == 404
    assert b"does not work any more" in answer.content
