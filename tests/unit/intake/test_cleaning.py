"""Cells: what is blank, what is the same, and which category a label names."""

import re
from typing import Any

import pytest

from annotator.intake.cleaning import Choice, Cleaner, New, Problem, Reader, trim
from annotator.intake.mapping import Clean

AS_IT_STANDS = Clean(trim=False, fold_case=False, normalise="", unknown="add")


def reader(*names: str, clean: Clean | None = None, **more: Any) -> Reader:
    clean = clean or Clean()
    choices = more.pop("choices", [Choice(name, name) for name in names])
    split = more.pop("split", None)
    return Reader(
        facet="Symptom",
        is_many=more.pop("is_many", False),
        choices=choices,
        cleaner=Cleaner(clean),
        aliases=more.pop("aliases", {}),
        split=re.compile(split) if split else None,
        may_add=clean.unknown == "add",
    )


def code(read: object) -> str:
    assert isinstance(read, Problem)
    return read.code


@pytest.mark.parametrize(
    ("text", "trimmed"),
    [
        ("Crash ", "Crash"),
        ("\u200b\ufeffCrash\n\n", "Crash"),
        ("\u00a0Build\u2003\u200b\u3000Failure\u2028", "Build Failure"),
        ("Build \t\n Failure", "Build Failure"),
        (" \u2800\u2060\u00ad ", ""),
        ("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),
    ],
)
def test_trim_takes_every_blank(text: str, trimmed: str) -> None:
    assert trim(text) == trimmed


@pytest.mark.parametrize("cell", ["Crash", " crash", "CRASH\n\n", "\u200bCrash\u00a0"])
def test_spelling_makes_no_difference(cell: str) -> None:
    assert reader("Crash", "Hang").read(cell) == ("Crash",)


def test_normal_forms_are_the_same_and_full_width_under_nfkc() -> None:
    assert reader("Größe").read("Gro\u0308ße") == ("Größe",)
    assert reader("Crash: type", clean=Clean(normalise="NFKC")).read("Crash： type") == ("Crash: type",)


@pytest.mark.parametrize("cell", ["", "  ", "\n", "\u200b", "None", "none ", "-"])
def test_blank_is_no_answer(cell: str) -> None:
    assert reader("Crash", clean=Clean(blank=("", "None", "-"))).read(cell) == ()


def test_code_that_sounds_blank_is_a_code() -> None:
    assert reader("Unclear").read("Unclear") == ("Unclear",)


@pytest.mark.parametrize("cell", ["None", "NA", "null", "007", "1e5", " Crash", "crash", "TRUE"])
def test_as_it_stands_every_cell_is_a_category(cell: str) -> None:
    assert reader("Crash", clean=AS_IT_STANDS).read(cell) == (New(cell),)


def test_as_it_stands_spellings_stay_apart() -> None:
    found = reader(clean=AS_IT_STANDS)
    for cell in ("true", "True", "true ", "e\u0301", "é", "true"):
        found.read(cell)
    assert [new.name for new in found.added.values()] == ["true", "True", "true ", "e\u0301", "é"]


def test_added_under_folding_the_spelling_met_first_stays() -> None:
    found = reader("Hang", clean=Clean(unknown="add"))
    assert found.read("Type Issue") == found.read("type  issue") == (New("Type Issue"),)
    assert found.read("hang") == ("Hang",)
    assert len(found.added) == 1


def test_label_outside_the_codebook_is_a_problem() -> None:
    read = reader("Crash").read("Crush")
    assert code(read) == "unknown_label"
    assert "“Crush” is no category of Symptom" in read.text


def test_alias_is_compared_after_cleaning() -> None:
    assert reader("Type Issue", aliases={" type  CONFUSION": "type issue"}).read("Type Confusion ") == ("Type Issue",)


def test_alias_to_no_category_is_a_problem_even_where_labels_may_be_added() -> None:
    found = reader("Crash", clean=Clean(unknown="add"), aliases={"Boom": "Crush"})
    assert [problem.code for problem in found.problems] == ["alias_to_nothing"]


def test_name_wins_over_other_names_and_ids() -> None:
    choices = [Choice(1, "low", uid="minor", aka=("high",)), Choice(2, "high", uid="low", aka=("severe",))]
    found = reader(choices=choices)
    assert [found.read(cell) for cell in ("low", "high", "severe", "minor")] == [(1,), (2,), (2,), (1,)]


def test_same_name_under_two_parents_needs_the_path() -> None:
    choices = [Choice(1, "Other", parents=("API",)), Choice(2, "Other", parents=("Type",))]
    found = reader(choices=choices)
    assert code(found.read("Other")) == "ambiguous_label"
    assert found.read("type > other") == (2,)


def test_retired_category_takes_nothing() -> None:
    found = reader(choices=[Choice(1, "Crash", is_retired=True), Choice(2, "Hang")])
    assert code(found.read("Crash")) == "retired_label"


def test_split_counts_a_repeat_once() -> None:
    found = reader("Layer", "Loss", "Keras/TF", is_many=True, split="[,/]")
    assert found.read("Loss, layer / LOSS,") == ("Loss", "Layer")
    assert found.read("keras/tf") == ("Keras/TF",)


def test_two_answers_in_a_one_answer_facet_are_a_problem() -> None:
    found = reader("Layer", "Loss", split="/")
    assert code(found.read("Layer/Loss")) == "several_answers"
    assert found.read("Loss/ loss") == ("Loss",)


def test_label_longer_than_a_category_is_a_problem() -> None:
    assert code(reader(clean=Clean(unknown="add")).read("x" * 601)) == "label_too_long"


def test_control_characters_are_no_category() -> None:
    assert code(reader(clean=Clean(unknown="add")).read("bell\x07")) == "control_character"
