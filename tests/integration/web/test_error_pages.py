"""Every refusal is a page that says what happened and what to do."""

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse


def test_a_missing_page_says_so_within_the_frame(client, alice):
    client.force_login(alice)
    page = client.get("/no-such-study/rounds/1/label/")
    assert page.status_code == 404
    assert "Nothing here" in page.content.decode()
    assert "no-such-study" not in page.content.decode()


def test_a_missing_role_is_named(client, study, lee, main_round):
    client.force_login(lee)
    page = client.get(reverse("labeling:label", args=[study.slug, main_round.number]))
    assert page.status_code == 403
    assert "This needs the role rater" in page.content.decode()


def test_a_form_from_before_signing_in_is_refused_with_what_to_do(study, alice, main_round):
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    page = client.post(reverse("labeling:bug", args=[study.slug, main_round.number, 1]), {"act": "submit"})
    assert page.status_code == 403
    assert "Page out of date" in page.content.decode()


def test_five_megabytes_are_refused_and_nothing_is_stored(client, study, alice, main_round):
    client.force_login(alice)
    body = {"act": "submit", "note": "x" * 5_000_000}
    page = client.post(
        reverse("labeling:bug", args=[study.slug, main_round.number, 1]),
        body,
        content_type="application/x-www-form-urlencoded",
    )
    assert page.status_code in {400, 413}
    assert "Nothing was stored" in page.content.decode()


@pytest.mark.parametrize("path", ["/reset/%00/", "/accounts/login/?next=%00"])
def test_a_nul_in_an_address_is_refused_with_what_to_do(client, db, path):
    page = client.get(path)
    assert page.status_code == 400
    assert "holds a NUL character. Take it out" in page.content.decode()


def test_a_failure_of_ours_has_a_page_that_needs_nothing_of_ours(client, alice, monkeypatch, settings):
    client.raise_request_exception = False
    client.force_login(alice)

    def fail(*args, **kwargs):
        raise RuntimeError("broken")

    monkeypatch.setattr("annotator.labeling.views.rater_in", fail)
    page = client.get("/frameworks/rounds/1/label/")
    assert page.status_code == 500
    assert "Our mistake" in page.content.decode()
    assert "broken" not in page.content.decode()


@pytest.mark.parametrize("path", ["/accounts/login/", "/no-such-study/"])
def test_the_frame_holds_no_inline_script_or_style(client, db, path):
    page = client.get(path)
    text = page.content.decode()
    assert page.headers["Content-Security-Policy"] == settings.CONTENT_SECURITY_POLICY
    assert " style=" not in text
    assert " onclick=" not in text
    assert "<script>" not in text
