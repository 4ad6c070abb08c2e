"""What no page of ours sends: refused with a sentence, and nothing is stored."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection

from annotator.labeling.models import Assignment, Evidence
from annotator.studies.actions import invite
from annotator.web.middleware import MOST_SENT

BUG = "/frameworks/rounds/1/bugs/1/"


@pytest.fixture
def page(client, alice, main_round):
    client.raise_request_exception = False
    client.force_login(alice)
    return client


def pin(**parts: str) -> str:
    return json.dumps({"kind": "line", "anchor": "f1n1", "place": "a.py:1", "quote": "x"} | parts)


@pytest.mark.parametrize("part", ["anchor", "place", "quote"])
@pytest.mark.parametrize("sign", ["\0", "\ud800"])
def test_pin_that_cannot_be_stored_is_refused(page, main_round, part, sign):
    facets = main_round.study.codebook.facets.exclude(key="verdict")
    chosen = {f"f-{facet.key}": facet.categories.first().uid for facet in facets}
    answer = page.post(BUG, chosen | {"act": "submit", "revision": "0", "pin": pin(**{part: sign})})
    assert answer.status_code in {400, 422}
    assert not Evidence.objects.exists() and not Assignment.objects.filter(state="submitted").exists()


@pytest.mark.parametrize("sent", [{"note": "a\0b"}, {"f-cause": "\0"}, {"f-\0": "x"}, {"pin": pin(place="\ud800")}])
def test_draft_that_cannot_be_stored_is_refused(page, sent):
    assert page.post(f"{BUG}draft/", sent).status_code == 400
    assert not Assignment.objects.exclude(draft=None).exists()


@pytest.mark.parametrize(
    ("address", "sent"),
    [
        ("/frameworks/rounds/1/hand-on/", {"rater": "\0", "bug": "1", "to": "alice"}),
        ("/frameworks/adjudication/meeting/start/", {"participant": ["\0", "alice"]}),
        ("/frameworks/adjudication/bugs/1/", {"facet": "\0"}),
    ],
)
def test_nul_in_any_form_is_no_failure_of_ours(client, lee, ada, main_round, address, sent):
    client.raise_request_exception = False
    client.force_login(ada if "bugs" in address else lee)
    assert client.post(address, sent).status_code in ({400} if connection.vendor == "postgresql" else {400, 404, 422})


@pytest.mark.parametrize("address", ["/accounts/login/", "/api/v1/studies/"])
def test_request_larger_than_any_upload_is_not_read(client, db, address):
    class Endless:
        def read(self, *_: int) -> bytes:
            raise AssertionError("the body was read")

        readline = read

    environment = {"CONTENT_LENGTH": str(MOST_SENT + 1), "wsgi.input": Endless()}
    answer = client.post(address, **environment)
    assert answer.status_code == 413
    assert "was not read" in answer.content.decode()


def test_upload_of_the_largest_size_is_read(page, lee):
    page.force_login(lee)
    sheet = SimpleUploadedFile("s.csv", b"id,x\n1," + b"x" * 1_000_000)
    assert page.post("/frameworks/import/", {"file": sheet}).status_code == 302


@pytest.mark.parametrize(
    "address", ["bugs/?cursor=cD1hYmM%3D", "bugs/?cursor=cD0lMDA%3D", "answers/?cursor=cD1hYmM%3D"]
)
def test_cursor_that_no_page_gave_is_refused(page, address):
    assert page.get(f"/api/v1/studies/frameworks/{address}").status_code in {200, 404}


def test_number_that_no_bug_can_have_is_refused(page, lee):
    page.force_login(lee)
    sent = {"name": "Round 2", "raters": ["alice"], "bugs": {"numbers": [10**30]}}
    assert page.post("/api/v1/studies/frameworks/rounds/", sent, content_type="application/json").status_code == 400


def test_invitation_is_revoked_by_its_whole_name_alone(page, study, lee):
    page.force_login(lee)
    made, _ = invite(study=study, roles=["reader"], by=lee)
    assert page.post(f"/frameworks/invitations/{made.digest[:1]}/revoke/").status_code == 404
    assert page.post(f"/frameworks/invitations/{made.digest[:16]}/revoke/").status_code == 302


def test_header_rows_of_five_thousand_digits_are_guessed(page, lee):
    page.force_login(lee)
    page.post("/frameworks/import/", {"file": SimpleUploadedFile("s.csv", b"id,x\n1,2\n")})
    sent = {"c0": "item.key", "header_rows": "9" * 5000}
    assert page.post("/frameworks/import/1/preview/", sent).status_code == 200
