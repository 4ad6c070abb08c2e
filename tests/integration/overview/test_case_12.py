"""Case 12: rename, merge, split and delete a code. Old labels are not lost, not guessed, and not counted anew."""

import csv
import io
from typing import Any

import pytest

from annotator.accounts.models import User
from annotator.adjudication.queries import final_labels
from annotator.agreement.actions import digest_of
from annotator.agreement.comparing import recompute
from annotator.agreement.models import Snapshot
from annotator.agreement.queries import entries
from annotator.codebook.actions import add_category, edit_category, remove_category, restore_category
from annotator.codebook.changes import CategoryChange
from annotator.codebook.living import merge_categories, split_category
from annotator.codebook.models import Category, Change
from annotator.labeling.models import Answer, Round
from annotator.overview.changes.changing import make
from annotator.overview.changes.previewing import preview
from annotator.overview.changes.relabelling import due_to, open_relabel_round
from annotator.overview.rounds.closing import close_round
from annotator.publication.exports import export
from annotator.studies.models import Study
from tests.factories import StudyFactory, answer, make_bugs, make_codebook, make_round, member

# Two raters, ten bugs: 12 votes Crash, 5 Hang, 3 Other.
VOTES = [
    ("Crash", "Crash"),
    ("Crash", "Crash"),
    ("Crash", "Crash"),
    ("Crash", "Crash"),
    ("Crash", "Crash"),
    ("Crash", "Hang"),
    ("Hang", "Hang"),
    ("Hang", "Hang"),
    ("Other", "Other"),
    ("Crash", "Other"),
]


@pytest.fixture
def case(lee: User, alice: User, bob: User) -> Study:
    """Round 1 is closed, with the codebook at v1."""
    study = StudyFactory(slug="case-12")
    member(study, lee, "lead")
    for rater in (alice, bob):
        member(study, rater, "rater")
    make_codebook(study, {"symptom": ["Crash", "Hang", "Other"]})
    first = make_round(study, bugs=make_bugs(study, len(VOTES)), raters=[alice, bob], by=lee, name="Round 1")
    for bug, votes in zip(study.bugs.order_by("number"), VOTES, strict=True):
        for rater, vote in zip((alice, bob), votes, strict=True):
            answer(first, bug, rater, {"symptom": vote})
    close_round(round_=first, by=lee)
    return study


def code(name: str, **more: Any) -> Category:
    return Category.objects.get(facet__key="symptom", name=name, **({"state": "active"} | more))


def votes_of(category: Category) -> int:
    return Answer.objects.filter(category=category, is_current=True).count()


def read_as(study: Study, **options: Any) -> dict[str, int]:
    """How often each name stands in the table of answers."""
    data = b"".join(export(study, "answers", "csv", **options).pieces)
    found: dict[str, int] = {}
    for row in csv.DictReader(io.StringIO(data.decode(), newline="")):
        found[row["category"]] = found.get(row["category"], 0) + 1
    return found


def kappa(study: Study, **more: Any) -> float:
    (entry,) = entries(study, facet="symptom", **more)
    value: float = entry["kappa"]
    return value


def rename(lee: User) -> Category:
    return edit_category(category=code("Crash"), by=lee, change=CategoryChange(name="Abort"))


def merge(study: Study, lee: User) -> Change:
    sources = [code("Hang")]
    return make(study, merge_categories, sources=sources, into=code("Abort"), reason="Both end the run.", by=lee)


def split(study: Study, lee: User) -> Change:
    parts = [CategoryChange(name="Abort-CPU"), CategoryChange(name="Abort-GPU")]
    return make(study, split_category, category=code("Abort"), parts=parts, reason="Devices differ.", by=lee)


def test_the_votes_are_those_of_the_case(case):
    assert read_as(case) == {"Crash": 12, "Hang": 5, "Other": 3}


def test_v2_a_rename_leaves_kappa_and_every_vote_reads_the_new_name(case, lee):
    before, kept = kappa(case), Snapshot.objects.get()
    renamed = rename(lee)
    assert kappa(case) == before
    assert Snapshot.objects.get().entries == kept.entries
    assert read_as(case) == {"Abort": 12, "Hang": 5, "Other": 3}
    assert votes_of(renamed) == 12


def test_v3_a_merge_previews_votes_and_kappa_before_and_after(case, lee):
    renamed = rename(lee)
    hang = code("Hang")
    told = preview(renamed.facet, act="merge", touched=[hang.uid], into=renamed.uid)
    assert told.sentence == "5 answers in 1 round."
    (figure,) = told.rounds[0].figures
    assert figure.as_answered.value == kappa(case)
    merge(case, lee)
    assert figure.as_mapped.value == kappa(case, level="v3")
    assert figure.as_mapped.value != figure.as_answered.value


def test_v3_the_old_id_is_kept_and_leads_to_the_new_one(case, lee):
    renamed, hang = rename(lee), code("Hang")
    change = merge(case, lee)
    hang.refresh_from_db()
    assert (hang.state, hang.merged_into, votes_of(hang)) == ("merged", renamed, 5)
    assert change.version is not None
    assert change.version.number == 3
    labels = final_labels(case).filter(facet__key="symptom")
    assert sorted(labels.values_list("label_name", flat=True)) == ["Abort"] * 7 + ["Other"]


def test_v4_a_split_touches_all_17_votes_and_guesses_none(case, lee, alice, bob):
    rename(lee)
    merge(case, lee)
    abort = code("Abort")
    told = preview(abort.facet, act="split", touched=[abort.uid])
    assert told.sentence == "17 answers in 1 round."
    assert told.due.bugs == 9
    change = split(case, lee)
    assert votes_of(code("Abort-CPU")) == votes_of(code("Abort-GPU")) == 0
    assert read_as(case) == {"Abort": 12, "Hang": 5, "Other": 3}
    labels = final_labels(case).filter(facet__key="symptom")
    assert list(labels.values_list("label_name", flat=True)) == ["Other"]
    opened = open_relabel_round(change=change, by=lee)
    assert (opened.kind, opened.due_to, opened.blindness) == ("relabel", change, "no")
    touched = {bug for bug, votes in zip(case.bugs.order_by("number"), VOTES, strict=True) if set(votes) != {"Other"}}
    assert {turn.bug for turn in opened.assignments.all()} == touched
    assert {turn.rater for turn in opened.assignments.all()} == {alice, bob}
    assert due_to(change).bugs == 0


def test_v4_what_is_labelled_again_is_final_and_the_first_kappa_stays(case, lee, alice, bob):
    first = Snapshot.objects.get()
    rename(lee)
    merge(case, lee)
    opened = open_relabel_round(change=split(case, lee), by=lee)
    for bug in case.bugs.filter(round_bugs__round=opened).order_by("number"):
        for rater in (alice, bob):
            answer(opened, bug, rater, {"symptom": "Abort-GPU" if bug.number % 2 else "Abort-CPU"})
    close_round(round_=opened, by=lee)
    labels = final_labels(case).filter(facet__key="symptom").order_by("bug__number")
    assert list(labels.values_list("label_name", flat=True)) == [
        "Abort-GPU", "Abort-CPU", "Abort-GPU", "Abort-CPU", "Abort-GPU", "Abort-CPU", "Abort-GPU", "Abort-CPU",
        "Other", "Abort-CPU",
    ]  # fmt: skip
    again = recompute(Round.objects.get(number=1))
    assert (again, digest_of(again)) == (first.entries, first.digest)


def test_deleting_a_used_code_retires_it(case, lee):
    kept = remove_category(category=code("Other"), by=lee, reason="Too wide.")
    assert kept is not None
    assert (kept.state, votes_of(kept)) == ("retired", 3)
    assert read_as(case) == {"Crash": 12, "Hang": 5, "Other": 3}


def test_a_name_that_is_added_again_is_a_new_code_without_votes(case, lee):
    old = code("Other")
    remove_category(category=old, by=lee, reason="Too wide.")
    crash = rename(lee)
    for name, before in (("Other", old), ("Crash", crash)):
        new = add_category(facet=crash.facet, by=lee, change=CategoryChange(name=name))
        assert new.uid != before.uid
        assert votes_of(new) == 0
    remove_category(category=code("Other"), by=lee, reason="The old one does.")
    assert votes_of(restore_category(category=old, by=lee)) == 3


def test_what_was_made_at_v1_is_made_again_as_v1(case, lee):
    made = {name: b"".join(export(case, name, "csv", codebook="1").pieces) for name in ("answers", "finals", "history")}
    rename(lee)
    merge(case, lee)
    split(case, lee)
    remove_category(category=code("Other"), by=lee, reason="Too wide.")
    again = {name: b"".join(export(case, name, "csv", codebook="1").pieces) for name in made}
    assert again == made
