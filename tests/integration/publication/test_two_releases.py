"""Any two releases compared: once, by a worker; read by who may read both, and telling nothing that one of them hides."""

import json
import re
from functools import partial

import pytest
from django.core.cache import cache
from django.core.files.storage import default_storage
from django.test import Client

from annotator.adjudication import actions as adjudication
from annotator.adjudication.models import Dispute, Resolution
from annotator.adjudication.names import nameless_bugs
from annotator.labeling.models import Answer
from annotator.overview.rounds.closing import close_round
from annotator.publication import compared, tasks
from annotator.publication.actions import set_public
from annotator.publication.keeping import place_of
from annotator.publication.models import Release
from annotator.publication.options import Options
from annotator.publication.releasing import make
from tests.factories import StudyFactory, answer, make_bugs, make_codebook, make_round, member

PAGES, API = "/tensors/publication/releases/", "/api/v1/studies/tensors/releases/"
PAGE, REST = f"{PAGES}3/changes/", f"{API}3/changes/"


@pytest.fixture(autouse=True)
def woken(monkeypatch):
    """Which tasks a worker would be woken for; nothing is kept from another test."""
    heard = []
    monkeypatch.setattr(compared, "wake", lambda task, *arguments: heard.append((task, *arguments)))
    cache.clear()
    return heard


def settle_all(study, ada):
    for dispute in Dispute.objects.filter(study=study, is_open=True):
        chosen = Answer.objects.current().filter(bug=dispute.bug, facet=dispute.facet).order_by("rater", "slot")
        mine = [row.category for row in chosen if row.rater_id == chosen[0].rater_id]
        adjudication.adjudicate(bug=dispute.bug, facet=dispute.facet, categories=mine, reason="slip", note="x", by=ada)


@pytest.fixture
def three(labelled, lee, ada, alice, bob):
    """Everything is settled in the first; the second has two bugs more, the third a round and another decision."""
    settle_all(labelled, ada)
    first = make(labelled, Options(), by=lee)
    bugs = make_bugs(labelled, 2)
    second = make(labelled, Options(texts="included"), by=lee)
    round_ = make_round(labelled, bugs=bugs, raters=[alice, bob], by=lee, name="Second round")
    for bug in bugs:
        for rater in (alice, bob):
            answer(round_, bug, rater, {"cause": "type", "part": ["docs"], "impact": "low"})
    close_round(round_=round_, by=lee)
    bug, cause = labelled.bugs.get(number=1), labelled.codebook.facets.get(key="cause")
    seen = Resolution.objects.current().get(bug=bug, facet=cause).at.isoformat()
    chosen = [cause.categories.get(name="type")]
    adjudication.change_decision(
        bug=bug, facet=cause, categories=chosen, reason="misread", note="Read again.", by=ada, seen_at=seen
    )
    third = make(labelled, Options(named=("alice", "bob")), by=lee)
    return first, second, third


@pytest.fixture
def ready(three):
    """The first and the third, compared by a worker."""
    assert tasks.compare(three[0].pk, three[2].pk)
    return three


def signed_in(person=None):
    client = Client()
    if person is not None:
        client.force_login(person)
    return client


def words(response):
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def test_a_worker_compares_them_once_and_the_page_waits_for_it(three, alice, woken):
    waiting = signed_in(alice).get(f"{PAGE}?since=1")
    assert "A worker compares them." in words(waiting)
    assert waiting.headers["Refresh"] == "3"
    assert signed_in(alice).get(f"{REST}?since=1").status_code == 202
    assert woken == [("annotator.publication.tasks.compare", three[0].pk, three[2].pk)], "one worker is enough"
    assert tasks.compare(three[0].pk, three[2].pk)
    page = signed_in(alice).get(f"{PAGE}?since=1")
    assert "Refresh" not in page.headers
    assert words(page) == words(signed_in(alice).get(f"{PAGE}?since=1"))
    assert len(woken) == 1


def test_the_page_tells_bugs_labels_answers_codebook_and_files(ready, alice):
    page = signed_in(alice).get(f"{PAGE}?since=1")
    said = words(page)
    assert "What release 3 changed since release 1" in said
    assert "Bugs 2 0 0" in said
    assert "6 added in Second round" in said
    assert "Cause api type adjudicated by" in said and "Read again." in said
    assert "v1 in both" in said
    for place in ("1/files/finals.csv", "3/files/finals.csv", "3/", "1/"):
        assert f'href="{PAGES}{place}"' in page.content.decode()
    assert 'href="/tensors/bugs/1/"' in page.content.decode()


def test_a_program_reads_the_same(ready, alice):
    found = signed_in(alice).get(f"{REST}?since=1").json()
    assert (found["since"], found["bugs_added"], found["counts"]) == (1, 2, {"cause": 1})
    assert [each["bug"] for each in found["bugs"]["listed"]] == [13, 14]
    assert found["answers"]["rounds_added"] == {"Second round": 6}
    assert found["codebook"] == {"since": 1, "version": 1, "entries": []}
    files = {file["path"]: file["change"] for file in found["files"]}
    assert (files["finals.csv"], files["codebook.json"], files["changes.json"]) == ("changed", "same", "added")
    without = signed_in(alice).get(REST).json()
    assert without["since"] == 2 and "answers" not in without, "as changes.json of the release has it"


def test_no_rater_is_told_of_though_one_release_names_them(ready, alice):
    told = json.dumps(signed_in(alice).get(f"{REST}?since=1").json()["answers"])
    assert "alice" not in told and "rater-" not in told


def test_texts_that_one_of_them_has_are_in_no_comparison(three, alice):
    tasks.compare(three[0].pk, three[1].pk)
    found = signed_in(alice).get(f"{API}2/changes/?since=1").json()
    assert found["bugs"]["counts"] == {"added": 2, "gone": 0, "changed": 0}
    bugs = next(file for file in found["files"] if file["path"] == "bugs.csv")
    assert bugs["change"] == "changed"
    titles = three[0].study.bugs.values_list("item__title", flat=True)
    assert not any(title in json.dumps(found) for title in titles if title)


def test_what_cannot_be_compared_has_one_clear_answer(three, alice, woken):
    for since, status, said in (
        ("3", 400, "Release 3 is the same release: name another one."),
        ("two", 400, "“two” is no number of a release."),
        ("-1", 400, "“-1” is no number of a release."),
        ("²", 400, "“²” is no number of a release."),
        ("9" * 40, 400, "is no number of a release."),
        ("0", 404, "There is no such release."),
    ):
        assert signed_in(alice).get(PAGE, {"since": since}).status_code == status
        answered = signed_in(alice).get(REST, {"since": since})
        assert answered.status_code == status
        assert said in answered.json()["detail"]
    assert woken == []


def test_the_later_release_has_the_page(three, alice):
    turned = signed_in(alice).get(f"{PAGES}1/changes/?since=3")
    assert (turned.status_code, turned.headers["Location"]) == (302, f"{PAGES}3/changes/?since=1")
    refused = signed_in(alice).get(f"{API}1/changes/?since=3")
    assert refused.json()["detail"] == "Release 3 is later: ask what it changed since release 1."


def test_a_number_that_only_another_study_has_does_not_exist(three, labelled, lee, ada, alice):
    other = StudyFactory(slug="other")
    member(other, lee, "lead")
    make_codebook(other, {"cause": ["type"]})
    make(other, Options(), by=lee)
    assert signed_in(lee).get("/other/publication/releases/3/changes/?since=1").status_code == 404
    assert signed_in(lee).get("/other/publication/releases/1/changes/?since=3").status_code == 404


def test_strangers_read_a_comparison_only_where_both_are_public(ready, lee, charlie, woken):
    first, _, third = ready
    make_public = partial(set_public, is_public=True, by=lee)
    for release, readable in ((None, False), (third, False), (first, True)):
        if release:
            make_public(release=release)
        for reader, closed, unsigned in ((signed_in(charlie), 404, 404), (signed_in(), 302, 401)):
            assert reader.get(f"{PAGE}?since=1").status_code == (200 if readable else closed)
            assert reader.get(f"{REST}?since=1").status_code == (200 if readable else unsigned)
    page = signed_in().get(f"{PAGE}?since=1").content.decode()
    assert "Cause" in page
    for word in ("/tensors/bugs/", "/tensors/codebook/", "All releases", "Compare with", "alice"):
        assert word not in page
    assert woken == []


def test_who_decides_without_names_is_led_to_no_file_that_tells_them(labelled, lee, ada):
    first = make(labelled, Options(), by=lee)
    make_bugs(labelled, 1)
    second = make(labelled, Options(), by=lee)
    tasks.compare(first.pk, second.pk)
    labelled.my_roles = frozenset({"adjudicator"})
    assert nameless_bugs(labelled, ada, labelled.my_roles)
    page = signed_in(ada).get(f"{PAGES}2/changes/?since=1").content.decode()
    assert "side_by_side.csv" in page
    assert "files/side_by_side" not in page and "files/bugs.csv" in page


def test_a_study_with_one_release_says_so(labelled, lee, alice):
    make(labelled, Options(), by=lee)
    page = signed_in(alice).get(f"{PAGES}1/changes/")
    assert page.status_code == 200
    assert "This is the only release." in words(page) and "Compare with" not in words(page)
    assert "Compare with" not in words(signed_in(alice).get(f"{PAGES}1/"))


def test_a_release_offers_the_others(three, alice):
    page = signed_in(alice).get(f"{PAGES}2/").content.decode()
    assert f'action="{PAGES}2/changes/"' in page
    assert '<option value="3">Release 3</option><option value="1">Release 1</option>' in page
    assert "No release comes before this one." in words(signed_in(alice).get(f"{PAGES}1/changes/"))


def test_files_that_cannot_be_read_are_said_and_tried_again(three, alice, woken):
    assert signed_in(alice).get(f"{REST}?since=1").status_code == 202
    lost = next(file for file in three[2].manifest if file["path"] == "finals.csv")
    default_storage.delete(place_of(lost["sha256"]))
    with pytest.raises(FileNotFoundError):
        tasks.compare(three[0].pk, three[2].pk)
    refused = signed_in(alice).get(f"{REST}?since=1")
    assert (refused.status_code, refused.json()["detail"]) == (409, compared.CANNOT)
    cache.delete(compared.key_of(three[0], three[2]))
    assert signed_in(alice).get(f"{REST}?since=1").status_code == 202
    assert len(woken) == 2


def test_a_release_that_is_gone_is_compared_with_nothing(db):
    assert not tasks.compare(0, 1)
    assert not Release.objects.exists()
