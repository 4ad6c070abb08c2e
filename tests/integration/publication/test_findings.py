"""A finding's numbers are those of the data, are frozen in a release, and are marked when the data move."""

import json
import re

import pytest
from django.test import Client

from annotator.adjudication import actions as adjudication
from annotator.adjudication.models import Dispute
from annotator.adjudication.queries import final_labels
from annotator.codebook.models import Category
from annotator.labeling.models import Answer
from annotator.publication import stating
from annotator.publication.findings import told
from annotator.publication.frozen import document
from annotator.publication.models import Finding
from annotator.publication.options import Options
from annotator.publication.pseudonyms import pseudonyms_of
from annotator.publication.releasing import make
from annotator.studies.actions import set_roles
from annotator.web.errors import BadInput, Refused

SENTENCE = "{share} of bugs are of the type system ({count} of {n}, {low} to {high})."
ASKED = {"facet": "cause", "categories": ["type"]}


def counts(study, facet):
    labels = list(final_labels(study).filter(facet__key=facet).values_list("bug", "label_name"))
    return labels, len({bug for bug, _ in labels})


def test_its_numbers_are_those_of_the_final_labels(labelled, lee):
    stating.state(study=labelled, sentence=SENTENCE, asked=ASKED, by=lee)
    labels, n = counts(labelled, "cause")
    k = len({bug for bug, name in labels if name == "type"})
    (one,) = told(labelled)
    assert (one.numbers["count"], one.numbers["n"]) == (k, n)
    assert 0 < k < n
    assert one.text.startswith(f"{k / n * 100:.1f} % of bugs are of the type system ({k} of {n}, ")
    assert one.numbers["low"] < k / n < one.numbers["high"]


def test_within_a_repository_it_looks_at_that_alone(labelled, lee):
    asked = ASKED | {"across": "repository", "within": ["tessera/tessera"]}
    stating.state(study=labelled, sentence="{share} of {n}; everywhere {everywhere}.", asked=asked, by=lee)
    there = final_labels(labelled).filter(facet__key="cause", bug__item__repository__label="tessera/tessera")
    (one,) = told(labelled)
    assert one.numbers["n"] == there.values("bug").distinct().count() < counts(labelled, "cause")[1]
    assert one.numbers["count"] == there.filter(label_name="type").count()


def test_across_a_facet_it_looks_within_its_categories(labelled, lee):
    asked = ASKED | {"across": "impact", "within": ["low"], "labels": "alice"}
    stating.state(study=labelled, sentence="{count} of {n}, {lift}", asked=asked, by=lee)
    mine = final_labels(labelled, "alice")
    low = set(mine.filter(facet__key="impact", label_name="low").values_list("bug", flat=True))
    cause = dict(mine.filter(facet__key="cause").values_list("bug", "label_name"))
    (one,) = told(labelled)
    assert (one.numbers["n"], one.numbers["count"]) == (len(low), sum(cause[bug] == "type" for bug in low))
    assert "(" in one.text, "too few bugs for a lift: said, not invented"


def test_a_release_freezes_it_and_marks_it_when_the_data_move(labelled, lee, ada):
    stating.state(study=labelled, sentence=SENTENCE, asked=ASKED, by=lee)
    release = make(labelled, Options(), by=lee)
    (before,) = told(labelled)
    assert document(release, "findings.json")[0]["text"] == before.text == before.released
    assert not before.has_moved
    dispute = Dispute.objects.filter(study=labelled, is_open=True, facet__key="cause").first()
    given = Answer.objects.current().filter(bug=dispute.bug, facet=dispute.facet)[0]
    adjudication.adjudicate(bug=dispute.bug, facet=dispute.facet, categories=[given.category], reason="slip", by=ada)
    (after,) = told(labelled)
    assert after.has_moved
    assert (after.released, document(release, "findings.json")[0]["text"]) == (before.text, before.text)


def test_whose_labels_it_counts_is_hidden_in_a_release(labelled, lee):
    stating.state(study=labelled, sentence="{count}", asked=ASKED | {"labels": "alice"}, by=lee)
    frozen = document(make(labelled, Options(), by=lee), "findings.json")
    assert frozen[0]["asked"]["labels"] == pseudonyms_of(labelled)("alice")
    assert "alice" not in json.dumps(frozen)


@pytest.mark.parametrize(
    ("sentence", "asked"),
    [
        ("{rate} of bugs", ASKED),
        (" ", ASKED),
        (SENTENCE, {"facet": "colour", "categories": ["red"]}),
        (SENTENCE, {"facet": "cause", "categories": ["red"]}),
        (SENTENCE, {"facet": "cause", "categories": []}),
        (SENTENCE, ASKED | {"across": "impact"}),
        (SENTENCE, ASKED | {"labels": "charlie"}),
        (SENTENCE, ASKED | {"across": "impact", "within": ["\x00"]}),
    ],
)
def test_what_cannot_be_counted_is_refused(labelled, lee, sentence, asked):
    with pytest.raises(BadInput):
        stating.state(study=labelled, sentence=sentence, asked=asked, by=lee)
    assert not Finding.objects.exists()


def test_a_change_is_a_further_version_and_a_withdrawal_ends_it(labelled, lee):
    first = stating.state(study=labelled, sentence=SENTENCE, asked=ASKED, by=lee)
    second = stating.change(finding=first, sentence="{count}", asked=ASKED, why="Shorter.", by=lee)
    assert (second.number, second.version) == (1, 2)
    assert Finding.objects.get(pk=first.pk).why == "Shorter."
    with pytest.raises(Refused):
        stating.change(finding=first, sentence="{n}", asked=ASKED, why="Late.", by=lee)
    stating.withdraw(finding=second, why="Wrong.", by=lee)
    assert told(labelled) == []


def test_a_lead_states_changes_and_withdraws_in_the_browser(labelled, lee, alice, charlie):
    url = "/tensors/publication/findings/"
    cause = {name: f"cause:{Category.objects.get(facet__key='cause', name=name).uid}" for name in ("type", "shape")}
    form = {"sentence": SENTENCE, "categories": list(cause.values()), "labels": "final"}
    client = Client()
    for person, status in ((charlie, 404), (alice, 403)):
        client.force_login(person)
        assert client.post(url, form).status_code == status
    client.force_login(lee)
    assert client.post(url, form | {"sentence": ""}).status_code == 422
    low = f"impact:{Category.objects.get(facet__key='impact', name='low').uid}"
    refused = client.post(url, form | {"categories": [cause["type"], low]}).content.decode()
    assert "Take boxes of one heading." in refused and SENTENCE in refused
    assert client.post(url, form).status_code == 302
    assert client.post(url, form | {"within": ["repository:tessera/tessera"]}).status_code == 302
    assert [finding.asked["within"] for finding in Finding.objects.order_by("number")] == [[], ["tessera/tessera"]]
    page = client.get(f"{url}2/").content.decode()
    checked = re.findall(r'name="(categories|within)"[^>]* checked', page)
    assert checked == ["categories", "categories", "within"]
    assert client.post(f"{url}2/withdraw/", {"reason": "Tried."}).status_code == 302
    assert client.post(f"{url}1/", form | {"sentence": "{count} in all", "why": "Shorter."}).status_code == 302
    assert client.post(f"{url}1/", form | {"categories": "typo", "why": "Slip."}).status_code == 422
    page = client.get(url).content.decode()
    assert "in all" in page and "in no release yet" in page
    assert client.get(f"{url}1/").status_code == 200
    client.force_login(alice)
    assert client.get(url).status_code == 200
    assert client.get(f"{url}1/").status_code == 403
    client.force_login(lee)
    assert client.post(f"{url}1/withdraw/", {"reason": "Wrong."}).status_code == 302
    assert "in all" not in client.get(url).content.decode()


def test_a_finding_names_no_more_than_a_database_takes(labelled, lee):
    many = [f"owner/repository-{number}" for number in range(501)]
    with pytest.raises(BadInput, match="at most 500"):
        stating.state(study=labelled, sentence="{n}", asked=ASKED | {"across": "repository", "within": many}, by=lee)
    with pytest.raises(BadInput, match="at most 500 categories"):
        stating.state(study=labelled, sentence="{n}", asked=ASKED | {"categories": ["type"] * 501}, by=lee)


def test_a_finding_on_a_raters_labels_outlives_her_membership(labelled, lee, alice):
    stating.state(study=labelled, sentence="{count} of {n}", asked=ASKED | {"labels": "alice"}, by=lee)
    (before,) = told(labelled)
    set_roles(study=labelled, user=alice, roles=[], by=lee)
    (after,) = told(labelled)
    assert before.numbers == after.numbers
    assert after.numbers["n"] > 0
