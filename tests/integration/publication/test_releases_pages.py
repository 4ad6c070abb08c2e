"""Releases in the browser: who may read, ask for and open one, what its page tells, and what stays withheld."""

import io
import json
import zipfile

import pandas
import pytest
from django.test import Client

from annotator.adjudication import actions as adjudication
from annotator.adjudication.models import Dispute, Resolution
from annotator.history.models import Event
from annotator.labeling.models import Answer
from annotator.publication.actions import ask, set_public
from annotator.publication.models import Release
from annotator.publication.options import Options
from annotator.publication.releasing import make
from annotator.publication.running import perform
from annotator.web.errors import Refused
from tests.factories import make_bugs, member

LIST = "/tensors/publication/releases/"
ONE = f"{LIST}1/"
FORM = {
    "texts": "left_out",
    "authors": "left_out",
    "figures": "included",
    "licence": "CC0-1.0",
    "creators": "Lee Roe; A Lab; 0000-0002-1825-0097",
}


@pytest.fixture
def as_(labelled):
    def client(person=None):
        client = Client()
        if person is not None:
            client.force_login(person)
        return client

    return client


@pytest.fixture
def published(labelled, lee):
    return make(labelled, Options(), by=lee)


def settle_all(study, ada):
    for dispute in Dispute.objects.filter(study=study, is_open=True):
        chosen = Answer.objects.current().filter(bug=dispute.bug, facet=dispute.facet).order_by("rater", "slot")
        mine = [row.category for row in chosen if row.rater_id == chosen[0].rater_id]
        adjudication.adjudicate(bug=dispute.bug, facet=dispute.facet, categories=mine, reason="slip", note="x", by=ada)


def body(response):
    return b"".join(response.streaming_content) if response.streaming else response.content


def test_a_lead_publishes_and_a_worker_writes_it(as_, labelled, lee, bob):
    asked = as_(lee).post(LIST, FORM | {"named": ["bob"], "notes": "The first."})
    assert (asked.status_code, asked.headers["Location"]) == (302, LIST)
    row = Release.objects.get()
    assert row.number is None
    assert "Waiting for a worker" in as_(bob).get(LIST).content.decode()
    assert perform(row.pk)
    assert not perform(row.pk), "delivered twice it is done once"
    release = Release.objects.get()
    assert (release.number, release.notes, release.asked_by) == (1, "The first.", lee)
    assert release.options["creators"] == [{"name": "Lee Roe", "affiliation": "A Lab", "orcid": "0000-0002-1825-0097"}]
    assert "Lee Roe" in as_(bob).get(ONE).content.decode()
    assert [event.verb for event in Event.objects.filter(kind="release")] == [
        "asked for a release",
        "published a release",
    ]


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"licence": "mine"}, 422),
        ({"named": ["charlie"]}, 422),
        ({"creators": "; no name"}, 400),
        ({"creators": "A; b; 12"}, 400),
    ],
)
def test_what_cannot_be_published_is_said_and_nothing_is_asked_for(as_, lee, sent, said):
    assert as_(lee).post(LIST, FORM | sent).status_code == said
    assert not Release.objects.exists()


def test_one_release_is_written_at_a_time(labelled, lee):
    ask(study=labelled, options=Options(), by=lee)
    with pytest.raises(Refused, match="being written"):
        ask(study=labelled, options=Options(), by=lee)


def test_nothing_new_is_said_and_makes_no_release(as_, labelled, published, lee):
    row = ask(study=labelled, options=Options(), by=lee)
    assert perform(row.pk)
    assert Release.objects.published().count() == 1
    page = as_(lee).get(LIST).content.decode()
    assert "There is no new release." in page and "Nothing has changed since release 1." in page


def test_only_a_lead_publishes(as_, alice, charlie, published):
    for person, status in ((alice, 403), (charlie, 404)):
        assert as_(person).post(LIST, FORM).status_code == status
        assert as_(person).post(f"{ONE}public/", {"public": "1"}).status_code == status
    assert as_().post(LIST, FORM).status_code == 302
    assert not Release.objects.exclude(state="published").exists()


@pytest.mark.parametrize("place", ["", "files/finals.csv", "files/bugs.parquet", "all.zip"])
def test_members_read_a_release_and_nobody_else(as_, published, labelled, alice, charlie, ada, place):
    settle_all(labelled, ada)
    assert as_(alice).get(ONE + place).status_code == 200
    assert as_(charlie).get(ONE + place).status_code == 404
    answer = as_().get(ONE + place)
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/accounts/login/")


def test_a_public_release_is_read_by_anyone_and_nothing_else_is(as_, labelled, lee, ada, charlie):
    settle_all(labelled, ada)
    first = make(labelled, Options(), by=lee)
    make_bugs(labelled, 1)
    make(labelled, Options(), by=lee)
    set_public(release=first, is_public=True, by=lee)
    for reader in (as_(), as_(charlie)):
        page = reader.get(ONE).content.decode()
        assert "Bugs in tensor code" in page
        for word in ("/tensors/rounds/", "/tensors/members/", "All releases", "alice", "lead"):
            assert word not in page
        assert reader.get(f"{ONE}files/answers.csv").status_code == 200
        assert reader.get(f"{LIST}2/").status_code in (302, 404)
        assert reader.get(f"{LIST}2/files/finals.csv").status_code in (302, 404)
        assert reader.get("/tensors/publication/").status_code in (302, 404)
        assert reader.get(LIST).status_code in (302, 404)
    set_public(release=Release.objects.get(number=1), is_public=False, by=lee)
    assert as_(charlie).get(ONE).status_code == 404


def test_who_decides_without_names_is_not_told_them_by_a_release(as_, published, ada, alice):
    assert as_(alice).get(f"{ONE}files/answers.csv").status_code == 200
    for file in ("answers.csv", "answers.jsonl", "history.parquet", "side_by_side.csv"):
        assert as_(ada).get(f"{ONE}files/{file}").status_code == 403
    assert as_(ada).get(f"{ONE}all.zip").status_code == 403
    assert as_(ada).get(f"{ONE}files/finals.csv").status_code == 200
    page = as_(ada).get(ONE).content.decode()
    assert "kept from you until then" in page and "files/answers.csv" not in page


def test_no_release_is_public_while_disputes_wait_for_a_nameless_decision(published, lee):
    with pytest.raises(Refused, match="Settle them first"):
        set_public(release=published, is_public=True, by=lee)


def test_the_archive_holds_every_file(as_, published, alice):
    packed = zipfile.ZipFile(io.BytesIO(body(as_(alice).get(f"{ONE}all.zip"))))
    assert packed.testzip() is None
    assert {name.partition("/")[2] for name in packed.namelist()} == {file["path"] for file in published.manifest}
    assert body(as_(alice).get(f"{ONE}all.zip")) == body(as_(alice).get(f"{ONE}all.zip"))


def test_a_file_that_a_reader_has_is_not_sent_again(as_, published, alice):
    sent = as_(alice).get(f"{ONE}files/finals.csv")
    again = as_(alice).get(f"{ONE}files/finals.csv", headers={"If-None-Match": sent.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("file", ["no-such.csv", "..%2F..%2Fsecret", "finals", "%00"])
def test_a_file_that_is_not_in_the_release_does_not_exist(as_, published, alice, file):
    assert as_(alice).get(f"{ONE}files/{file}").status_code in (400, 404)


def test_what_changed_is_told_with_its_cause(as_, labelled, published, lee, ada, alice):
    settle_all(labelled, ada)
    make_bugs(labelled, 2)
    cause = labelled.codebook.facets.get(key="cause")
    chosen, first = cause.categories.get(name="type"), labelled.bugs.get(number=1)
    seen = Resolution.objects.current().get(bug=first, facet=cause).at.isoformat()
    adjudication.change_decision(
        bug=first, facet=cause, categories=[chosen], reason="misread", note="Read again.", by=ada, seen_at=seen
    )
    second = make(labelled, Options(), by=lee)
    told = json.loads(body(as_(alice).get(f"{LIST}2/files/changes.json")))
    assert (told["since"], told["bugs_added"]) == (1, 2)
    of_first = next(label for label in told["labels"] if label["bug"] == 1 and label["facet"] == "cause")
    assert (of_first["before"], of_first["after"]) == (["api"], ["type"])
    assert "Read again." in of_first["cause"] and "misread" in of_first["cause"]
    assert sum(told["counts"].values()) == len(told["labels"]) > 3
    assert second.number == 2
    page = as_(alice).get(f"{LIST}2/").content.decode()
    assert "Since release 1" in page and "every changed label" in page
    assert "Read again." in as_(alice).get(f"{LIST}2/changes/").content.decode()
    assert "No release comes before this one." in as_(alice).get(f"{ONE}changes/").content.decode()
    assert f'{LIST}2/changes/?since=1">since release 1</a>' in as_(alice).get(LIST).content.decode()


def test_pandas_reads_a_release_by_its_address(labelled, live_server, alice, ada, lee):
    """With a key, and without one where the release is public: as the page says."""
    from annotator.accounts.actions import make_token

    settle_all(labelled, ada)
    release = make(labelled, Options(), by=lee)
    url = f"{live_server.url}/api/v1/studies/tensors/releases/1/files/finals.parquet"
    _, secret = make_token(user=alice, name="notebook", scopes=["read"], days=1)
    finals = pandas.read_parquet(url, storage_options={"Authorization": f"Token {secret}"})
    set_public(release=release, is_public=True, by=lee)
    assert finals.equals(pandas.read_parquet(url))
    assert set(finals["facet"]) >= {"cause", "part", "impact"}


def test_a_reader_of_the_study_reads_its_releases(as_, labelled, published, charlie):
    member(labelled, charlie, "reader")
    assert as_(charlie).get(ONE).status_code == 200
    assert as_(charlie).post(LIST, FORM).status_code == 403
