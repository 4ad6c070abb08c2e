"""A release says so where a text names somebody whom it hides, by whatever name and in whatever case."""

import time

import pytest

from annotator.accounts.models import User
from annotator.adjudication.actions import adjudicate
from annotator.adjudication.models import Dispute
from annotator.labeling.models import Answer
from annotator.publication.options import Options
from annotator.publication.personal import kinds_in
from annotator.publication.release_page import cited
from annotator.publication.releasing import make
from annotator.studies.actions import set_roles


def personal(study, options, lee):
    release = make(study, options, by=lee)
    return next(each for each in release.checks if each["check"] == "personal")


def write(study, note):
    """In a decision."""
    dispute = Dispute.objects.filter(study=study, is_open=True, facet__is_many=False).first()
    given = Answer.objects.current().filter(bug=dispute.bug, facet=dispute.facet).first()
    ada = User.objects.get(username="ada")
    adjudicate(bug=dispute.bug, facet=dispute.facet, categories=[given.category], reason="slip", note=note, by=ada)


@pytest.mark.parametrize(
    "note", ["As alice said.", "As Alice said.", "I follow ALICE, here.", "So says Alys Ångström."]
)
def test_a_note_that_names_a_hidden_rater_is_told(labelled, lee, alice, note):
    alice.display_name = "Alys Ångström"
    alice.save()
    assert personal(labelled, Options(), lee)["passed"]
    write(labelled, note)
    found = personal(labelled, Options(), lee)
    assert not found["passed"]
    assert "Names of people in finals.csv" in found["says"]


def test_a_rater_who_left_is_looked_for_as_well(labelled, lee, alice):
    set_roles(study=labelled, user=alice, roles=[], by=lee)
    write(labelled, "As Alice said.")
    assert not personal(labelled, Options(), lee)["passed"]


def test_who_is_named_or_cited_is_no_finding(labelled, lee, alice):
    alice.display_name = "Alys Ångström"
    alice.save()
    write(labelled, "As Alys Ångström said.")
    assert personal(labelled, Options(named=("alice",)), lee)["passed"]
    cited = Options(creators=({"name": "Alys Ångström"},))
    assert personal(labelled, cited, lee)["passed"]


def test_names_with_braces_leave_a_citation_whole(labelled, lee):
    labelled.title = "Bugs {in tensor code"
    labelled.save()
    release = make(labelled, Options(creators=({"name": "A } B"},)), by=lee)
    said = cited(release).bibtex
    assert said.count("{") == said.count("}")
    assert r"\textbraceleft{}in tensor code" in said


def test_a_file_of_one_long_word_is_searched_in_no_time():
    began = time.monotonic()
    assert kinds_in([b"f" * 2_000_000 + b" @ "], []) == set()
    assert time.monotonic() - began < 2
    assert kinds_in([b"write to <a.b+c@mail.example.org>"], []) == {"e-mail addresses"}
    assert kinds_in([b"@pytest.mark, a @b.c, x@y"], []) == set()
