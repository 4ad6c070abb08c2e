"""Notes on how to tell categories apart: one a pair, in the codebook's versions and files, before the raters at once."""

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from rest_framework.test import APIClient

from annotator.agreement.queries import entries
from annotator.codebook import differing, living, tell_apart
from annotator.codebook.actions import edit_category, remove_category
from annotator.codebook.changes import CategoryChange
from annotator.codebook.models import Change, TellApart
from annotator.codebook.queries import as_document
from annotator.codebook.reading import read, to_document
from annotator.overview.rounds.closing import close_round
from annotator.web.errors import BadInput
from tests.factories import answer, make_round

NOTE = "A type when the element type alone is wrong."


@pytest.fixture
def facet(study):
    return study.codebook.facets.get(key="cause")


@pytest.fixture
def pair(facet):
    rows = facet.categories.select_related("facet__codebook")
    return rows.get(name="type"), rows.get(name="shape")


def write(pair, by, text=NOTE):
    return tell_apart.write_note(first=pair[1], second=pair[0], text=text, by=by)


def test_a_pair_has_one_note_and_the_one_before_is_kept(pair, lee):
    write(pair, lee, "Look twice.")
    note = write(pair, lee)
    assert TellApart.objects.in_use().get() == note
    assert TellApart.objects.count() == 2
    assert write(pair, lee) == note
    assert Change.objects.filter(act="clarify").count() == 2


def test_the_database_holds_one_current_note_a_pair_in_order(pair, lee):
    write(pair, lee)
    for first, second in (pair, pair[::-1]):
        with pytest.raises(IntegrityError), transaction.atomic():
            TellApart.objects.create(first=first, second=second, text="Another.", by=lee)


def test_it_is_a_version_told_in_words_and_undone(study, pair, lee):
    before = as_document(study.codebook)
    write(pair, lee)
    study.codebook.refresh_from_db()
    after = as_document(study.codebook)
    (said,) = differing.differences(before, after)
    assert said.says == "How to tell “type” from “shape” was written"
    assert said.uids == {pair[0].uid, pair[1].uid}
    living.undo_change(change=Change.objects.get(act="clarify"), by=lee)
    assert as_document(study.codebook) == before
    assert not TellApart.objects.in_use().exists()


def test_a_withdrawn_note_stays_in_the_history(pair, lee):
    note = write(pair, lee)
    tell_apart.withdraw_note(note=note, by=lee)
    tell_apart.withdraw_note(note=note, by=lee)
    assert TellApart.objects.get().is_current is False
    assert Change.objects.latest("number").old == {"tell_apart": NOTE}


def test_it_follows_a_new_name_and_rests_while_one_is_retired(study, pair, lee, main_round):
    write(pair, lee)
    edit_category(category=pair[0], by=lee, change=CategoryChange(name="Type issue"))
    (note,) = as_document(study.codebook).facet("cause").tell_apart
    assert note.names == {"Type issue", "shape"}
    remove_category(category=pair[1], by=lee)
    assert as_document(study.codebook).facet("cause").tell_apart == ()


@pytest.mark.parametrize("text", [" ", "x" * 10_001, "\x00"])
def test_a_text_that_cannot_be_kept_is_refused(pair, lee, text):
    with pytest.raises(BadInput):
        write(pair, lee, text)


def test_a_pair_of_one_or_of_two_facets_is_refused(study, pair, lee):
    other = study.codebook.facets.get(key="stage").categories.first()
    for second in (pair[0], other):
        with pytest.raises(BadInput):
            tell_apart.write_note(first=pair[0], second=second, text=NOTE, by=lee)


# --- in files


def test_a_file_holds_the_notes(study, pair, lee):
    write(pair, lee)
    document = as_document(study.codebook)
    assert read(document.as_yaml()) == document
    assert document.as_dict()["facets"][0]["tell_apart"] == [{"between": ["type", "shape"], "text": NOTE}]


@pytest.mark.parametrize(
    ("note", "says"),
    [
        ({"between": ["a", "c"], "text": "x"}, "no category"),
        ({"between": ["a"], "text": "x"}, "two different"),
        ({"between": ["a", "a"], "text": "x"}, "two different"),
        ({"between": ["a", "b"]}, "text"),
        ("a", "key: value"),
    ],
)
def test_a_note_that_leads_nowhere_is_refused_with_its_place(note, says):
    facet = {"id": "f", "categories": ["a", "b"], "tell_apart": [note]}
    with pytest.raises(BadInput, match=says):
        to_document({"title": "T", "facets": [facet]})


def test_two_notes_on_a_pair_are_refused():
    notes = [{"between": ["a", "b"], "text": "x"}, {"between": ["b", "a"], "text": "y"}]
    with pytest.raises(BadInput, match="twice"):
        to_document({"title": "T", "facets": [{"id": "f", "categories": ["a", "b"], "tell_apart": notes}]})


# --- pages


def test_a_lead_writes_changes_and_withdraws_on_the_page(client, study, facet, pair, lee, alice, charlie):
    address = reverse("codebook:apart", args=[study.slug, "cause"])
    client.force_login(lee)
    sent = {"first": pair[0].uid, "second": pair[1].uid, "text": NOTE}
    assert NOTE in client.post(address, sent, follow=True).content.decode()
    page = client.get(f"{address}?first={pair[0].uid}&second={pair[1].uid}").content.decode()
    assert f">\n{NOTE}</textarea>" in page
    assert client.post(address, sent | {"second": pair[0].uid}).status_code == 400
    client.post(address, sent | {"text": ""})
    assert not TellApart.objects.in_use().exists()
    assert client.post(address, sent | {"text": ""}).status_code == 400
    client.force_login(alice)
    assert client.get(address).status_code == 200
    assert client.post(address, sent).status_code == 403
    client.force_login(charlie)
    assert client.get(address).status_code == 404


def test_raters_see_it_at_either_category(client, study, pair, lee, alice, main_round):
    write(pair, lee)
    client.force_login(alice)
    page = client.get(reverse("labeling:label", args=[study.slug, main_round.number])).content.decode()
    assert page.count(NOTE) == 2
    assert "type or shape?" in page


def test_the_confusion_matrix_offers_a_note_where_raters_differ(client, study, bugs, pair, lee, alice, bob):
    round_ = make_round(study, bugs=bugs, raters=[alice, bob], by=lee)
    for place, bug in enumerate(bugs):
        answer(round_, bug, alice, {"cause": "type", "stage": "training"})
        answer(round_, bug, bob, {"cause": "shape" if place < 3 else "type", "stage": "training"})
    close_round(round_=round_, by=lee)
    assert entries(study)
    page = reverse("agreement:pair", args=[study.slug, round_.number, "cause", "alice", "bob"])
    client.force_login(lee)
    text = client.get(page).content.decode()
    assert "write how to tell these apart" in text
    link = f"?first={pair[0].uid}&amp;second={pair[1].uid}"
    assert link in text
    write(pair, lee)
    text = client.get(page).content.decode()
    assert "change the note" in text
    assert NOTE in text
    client.force_login(alice)
    assert link not in client.get(page).content.decode()


def test_over_rest(study, pair, lee, alice, charlie):
    api = APIClient()
    address = "/api/v1/studies/frameworks/codebook/facets/cause/apart/"
    api.force_authenticate(lee)
    sent = {"first": pair[0].uid, "second": pair[1].uid, "text": NOTE}
    (note,) = api.put(address, sent, format="json").json()
    assert (note["names"], note["text"], note["by"]) == (["type", "shape"], NOTE, "lee")
    assert api.put(address, sent | {"second": "none"}, format="json").status_code == 400
    assert api.put(address, sent | {"text": ""}, format="json").json() == []
    api.force_authenticate(alice)
    assert api.put(address, sent, format="json").status_code == 403
    api.force_authenticate(charlie)
    assert api.get(address).status_code == 404
