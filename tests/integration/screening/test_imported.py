"""Votes and decisions that sheets bring: what follows from them, and what takes them back."""

from pathlib import Path
from typing import Any

import pytest

from annotator.codebook.actions import create_codebook
from annotator.codebook.presets import preset
from annotator.intake.actions import import_file
from annotator.intake.columns import choices_of, document_of
from annotator.intake.mapping import from_document, read_mapping, to_document
from annotator.intake.models import Import
from annotator.intake.sheets import read_grid, read_sheet
from annotator.intake.undoing import undo
from annotator.screening.actions import open_screening
from annotator.screening.after import decide, drop, reopen
from annotator.screening.choosing import Wanted
from annotator.screening.models import Candidate, Criterion, Outcome, Screening, Vote
from annotator.screening.queries import counts, included
from annotator.studies.models import Study
from annotator.web.errors import BadInput, Refused
from tests.factories.screening import make_criteria
from tests.integration.intake.conftest import SHARED

MAPPINGS = Path(__file__).resolve().parents[3] / "docs/mappings"
ITEM = {"kind": "issue", "key": "id"}
THREE = {f"r{n}": {"include": f"v{n}", "reason": f"c{n}"} for n in (1, 2, 3)}


def bring(study: Study, text: str, mapping: dict[str, Any] | bytes, *, by: Any = None) -> dict[str, Any]:
    data = text.encode()
    read = read_mapping(mapping) if isinstance(mapping, bytes) else from_document({"item": ITEM} | mapping)
    sheet = read_sheet(read_grid(data, filename="s.csv"), header_rows=read.header_rows)
    return import_file(study=study, filename="s.csv", data=data, sheet=sheet, mapping=read, by=by)


def votes(study: Study, *rows: str) -> dict[str, Any]:
    """Each row: a key and three votes, such as “x yyn”; a dash is no vote."""
    lines = ["id,v1,v2,v3,c1,c2,c3"]
    for row in rows:
        key, said, *comments = row.split(" ", 2)
        cells = ["yes" if sign == "y" else "no" if sign == "n" else "" for sign in said]
        lines.append(",".join([key, *cells, *(comments or [""]), "", ""][:7]))
    return bring(study, "\n".join(lines) + "\n", {"votes": THREE})


def state(study: Study) -> dict[str, tuple[str, str]]:
    current = Outcome.objects.current().filter(candidate__study=study)
    rows = current.values_list("candidate__item__key", "decision", "source")
    return {key: (decision, source) for key, decision, source in rows}


def test_all_three_are_in_two_are_open_and_fewer_are_out(study):
    votes(study, "a yyy", "b yyn", "c ynn", "d nnn")
    assert state(study) == {
        "a": ("include", "unanimous"), "c": ("exclude", "majority"), "d": ("exclude", "unanimous"),
    }  # fmt: skip
    told = counts(study)
    assert (told.candidates, told.conflict, told.kept, told.all_excluded, told.adds_up) == (4, 1, 1, 2, True)
    assert list(included(study).values_list("key", flat=True)) == ["a"]


def test_votes_of_a_further_sheet_change_what_follows(study):
    bring(study, "id,v1\na,yes\nb,no\n", {"votes": {"r1": {"include": "v1"}}})
    assert state(study) == {"a": ("include", "single"), "b": ("exclude", "single")}
    bring(study, "id,v2\na,no\nb,no\n", {"votes": {"r2": {"include": "v2"}}})
    assert state(study) == {"b": ("exclude", "unanimous")}
    undo(row=Import.objects.get(number=2), by=study.created_by)
    assert state(study) == {"a": ("include", "single"), "b": ("exclude", "single")}


def test_a_reason_that_names_a_criterion_is_counted_by_it(study, lee):
    Criterion.objects.create(study=study, kind="exclude", position=1, name="no fix")
    votes(study, "a nnn No fix", "b nnn no idea")
    assert Vote.objects.exclude(criterion=None).get().comment == "No fix"
    assert counts(study).excluded == {"no criterion given": 1, "no fix": 1}


def test_a_bug_of_a_candidate_shows_that_it_is_in(study, alice):
    votes(study, "a yyy", "b yyn", "c ynn")
    bring(study, "id,cause\nb,type\nc,type\n", {"raters": {"alice": {"cause": "cause"}}})
    assert state(study)["b"] == ("include", "labelled")
    assert state(study)["c"] == ("exclude", "majority")
    undo(row=Import.objects.get(number=2), by=study.created_by)
    assert "b" not in state(study)


def test_it_does_so_too_where_the_bugs_came_first(study, alice):
    bring(study, "id,cause\nb,type\n", {"raters": {"alice": {"cause": "cause"}}})
    votes(study, "b yyn")
    assert state(study) == {"b": ("include", "labelled")}


def test_a_sheet_says_what_became_of_candidates(study):
    votes(study, "a yyy", "b yyn", "c yyn")
    told = {"outcome": {"include": "in", "reason": "why"}}
    report = bring(study, "id,in,why\na,yes,\nb,yes,all the same\nc,no,no fix\n", told)
    assert report["outcomes"] == 2
    assert state(study) == {
        "a": ("include", "unanimous"), "b": ("include", "imported"), "c": ("exclude", "imported"),
    }  # fmt: skip
    assert Outcome.objects.get(candidate__item__key="c").note == "no fix"
    assert bring(study, "id,in,why\na,yes,\nb,yes,\nc,no,\n", told)["outcomes"] == 0
    assert not study.bugs.exists()


def test_what_is_in_and_in_no_row_was_dropped_later(study):
    votes(study, "a yyy", "b yyy", "c nnn")
    told = {"outcome": {"include": {"value": "yes"}, "others": "drop", "because": "no gist"}}
    assert bring(study, "id\na\n", told)["outcomes"] == 1
    assert state(study)["b"] == ("exclude", "dropped")
    found = counts(study)
    assert (found.included, found.kept, found.dropped) == (2, 1, {"no gist": 1})
    assert found.adds_up
    undo(row=Import.objects.get(number=2), by=study.created_by)
    assert state(study)["b"] == ("include", "unanimous")


def test_what_an_earlier_sheet_said_stands_again_after_an_undo(study):
    votes(study, "b yyn")
    bring(study, "id,in\nb,yes\n", {"outcome": {"include": "in"}})
    bring(study, "id,in\nz,no\n", {"outcome": {"include": "in", "others": "drop"}})
    assert state(study)["b"] == ("exclude", "dropped")
    undo(row=Import.objects.get(number=3), by=study.created_by)
    assert state(study) == {"b": ("include", "imported")}


def test_a_sheet_does_not_overrule_what_people_decided(study, lee):
    votes(study, "b yyn")
    candidate = Candidate.objects.get(item__key="b")
    decide(candidate=candidate, decision="include", note="We looked again.", by=lee)
    report = bring(study, "id,in\nb,no\n", {"outcome": {"include": "in"}})
    assert [error["code"] for error in report["errors"]] == ["contradicts_stored"]
    votes_sheet = Import.objects.get(number=1)
    with pytest.raises(Refused):
        undo(row=votes_sheet, by=lee)


def test_an_undo_is_refused_where_people_decided_anew(study, lee):
    votes(study, "b yyn")
    bring(study, "id,in\nb,yes\n", {"outcome": {"include": "in"}})
    drop(candidate=Candidate.objects.get(item__key="b"), reason="no gist", by=lee)
    with pytest.raises(Refused, match="decided anew"):
        undo(row=Import.objects.get(number=2), by=lee)


def test_a_decision_said_twice_in_contradiction_is_an_error(study):
    votes(study, "b yyn")
    report = bring(study, "id,in\nb,yes\nb,no\n", {"outcome": {"include": "in"}})
    assert [error["code"] for error in report["errors"]] == ["contradictory_repeat"]


def test_what_is_read_here_takes_nothing_of_a_sheet(study, alice, bob, lee):
    bring(study, "id,t\nk,seen\n", {"context": {"T": "t"}})
    make_criteria(study, by=lee)
    open_screening(study=study, name="Here", reviewers=[alice, bob], wanted=Wanted(), by=lee)
    for told in ({"votes": {"r1": {"include": "v"}}}, {"outcome": {"include": "v"}}):
        report = bring(study, "id,v\nk,yes\n", told)
        assert [error["code"] for error in report["errors"]] == ["screened_here"]


def test_a_decision_of_a_sheet_can_be_reopened(study, lee):
    votes(study, "a yyy")
    reopen(candidate=Candidate.objects.get(), reason="Two are the same.", by=lee)
    assert state(study) == {}
    assert counts(study).conflict == 1


def test_blindness_is_that_of_the_weakest_sheet_with_votes(study):
    bring(study, "id,v\na,yes\n", {"votes": {"r1": {"include": "v"}}, "blind": "yes"})
    bring(study, "id,in\na,yes\n", {"outcome": {"include": "in"}})
    assert Screening.objects.get().blindness == "declared"
    bring(study, "id,v\nb,yes\n", {"votes": {"r2": {"include": "v"}}, "blind": "unknown"})
    assert Screening.objects.get().blindness == "unknown"


# --- the published votes on silent bugs


def published(name: str) -> str:
    path = SHARED / "tambon2023" / name
    if not path.exists():
        pytest.skip(f"the published data are not here: {path}")
    return path.read_text(encoding="utf-8-sig")


def mapped(name: str) -> bytes:
    return (MAPPINGS / name).read_bytes()


@pytest.fixture
def silent(db) -> Study:
    study = Study.objects.create(slug="silent", title="Silent bugs")
    create_codebook(study=study, document=preset("silent-bugs"), by=None)
    bring(study, published("issues_voting.csv"), mapped("tambon2023-votes.yaml"))
    return study


def test_the_published_votes_give_57_in_and_38_to_discuss(silent):
    told = counts(silent)
    assert (told.candidates, told.kept, told.conflict, told.all_excluded) == (1168, 57, 38, 1073)
    tally = Candidate.objects.filter(study=silent)
    yes = [one.votes.filter(decision="include").count() for one in tally.prefetch_related("votes")]
    assert [yes.count(n) for n in (3, 2, 1, 0)] == [57, 38, 41, 1032]


def test_the_published_discussion_gives_83_and_the_published_bugs_77(silent):
    bring(silent, published("two_votes_bugs.csv"), mapped("tambon2023-discussed.yaml"))
    told = counts(silent)
    assert (told.kept, told.conflict, told.all_excluded) == (83, 0, 1085)
    report = bring(silent, published("final_77.csv"), mapped("tambon2023-kept.yaml"))
    assert report["errors"] == []
    told = counts(silent)
    assert (told.included, told.kept, told.all_dropped, told.adds_up) == (83, 77, 6, True)
    assert included(silent).count() == 77


def test_the_published_bugs_alone_show_that_83_were_in(silent):
    bring(silent, published("comparison_category_raw_two_header_rows.csv"), mapped("tambon2023-comparison.yaml"))
    told = counts(silent)
    assert (told.kept, told.conflict, told.adds_up) == (83, 12, True)


# --- the mapping


def test_the_page_that_chooses_columns_says_the_same():
    told = {"include": "in", "when": ["yes"], "reason": "why", "others": "drop", "because": "no gist"}
    mapping = from_document({"item": ITEM, "outcome": told})
    sheet = read_sheet(read_grid(b"id,in,why\na,yes,\n", filename="s.csv"), header_rows=1)
    again = from_document(document_of(choices_of(mapping, sheet), sheet))
    assert again.outcome == mapping.outcome
    assert from_document(to_document(mapping)) == mapping
    assert mapping.is_screening


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        ({}, "outcome.include must name"),
        ({"include": "in", "others": "burn"}, "keep, drop"),
        ({"include": "in", "when": [1]}, "list of texts"),
        ({"in": "in"}, "unknown key"),
    ],
)
def test_a_mapping_that_does_not_hold_together_is_refused(outcome, said):
    with pytest.raises(BadInput, match=said):
        from_document({"item": ITEM, "outcome": outcome})
