"""A session and its person, as each request finds them."""

import datetime as dt

import pytest
import time_machine
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from annotator.accounts.models import User

NAME = settings.SESSION_COOKIE_NAME


@pytest.fixture
def browser(alice) -> Client:
    client = Client()
    client.force_login(alice)
    return client


def is_in(client: Client) -> bool:
    return client.get("/").status_code == 200


def test_who_signed_in_stays_so_until_the_session_ends(browser):
    assert is_in(browser)
    key = browser.cookies[NAME].value
    with time_machine.travel(timezone.now() + dt.timedelta(seconds=settings.SESSION_COOKIE_AGE + 60)):
        browser.cookies[NAME] = key  # a browser that keeps what it should have thrown away
        assert not is_in(browser)


def test_who_signs_out_or_is_put_out_is_out(browser, alice):
    kept = browser.cookies[NAME].value
    browser.post("/accounts/logout/")
    browser.cookies[NAME] = kept
    assert not is_in(browser)
    browser.force_login(alice)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert not is_in(browser)


def test_a_session_outlives_neither_its_person_nor_the_password(browser, alice):
    alice.set_password("another horse battery")
    alice.save()
    assert not is_in(browser)
    browser.force_login(alice)
    User.objects.filter(pk=alice.pk).delete()
    assert not is_in(browser)


@pytest.mark.parametrize("key", ["", "nobodys", "x" * 32, "x" * 5000, "%00" * 10, "a\x00b", "é" * 32, "' OR 1=1 --"])
@pytest.mark.django_db
def test_a_key_that_is_none_is_a_strangers(key):
    client = Client()
    answer = client.get("/", headers={"cookie": f"{NAME}={key}"})
    assert answer.status_code == 302
    assert not Session.objects.exists()


def test_each_is_asked_for_once(browser, django_assert_num_queries):
    is_in(browser)
    with django_assert_num_queries(3):  # the session, the person, the studies
        assert is_in(browser)
