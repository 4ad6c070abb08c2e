"""Exports under an earlier version of the codebook: what was renamed, merged or split since reads as it did then."""

import csv
import io

import pytest

from annotator.codebook.actions import edit_category
from annotator.codebook.changes import CategoryChange
from annotator.codebook.living import merge_categories, split_category
from annotator.codebook.models import Category
from annotator.overview.rounds.closing import close_round
from annotator.publication.exports import export
from annotator.web.errors import BadInput
from tests.factories import answer


def rows(study, table, **options):
    data = b"".join(export(study, table, "csv", **options).pieces)
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def causes(study, table, **options):
    return [row["category"] for row in rows(study, table, **options) if row["facet"] == "cause"]


def row(name):
    return Category.objects.get(name=name, state="active")


@pytest.fixture
def changed(study, main_round, bugs, alice, bob, lee):
    """Three bugs type, three shape; then type was renamed, shape merged into it, and it was split."""
    for place, bug in enumerate(bugs):
        for rater in (alice, bob):
            answer(main_round, bug, rater, {"cause": "type" if place < 3 else "shape", "stage": "training"})
    close_round(round_=main_round, by=lee)
    before = rows(study, "answers"), rows(study, "finals")
    edit_category(category=row("type"), by=lee, change=CategoryChange(name="kind"))
    merge_categories(sources=[row("shape")], into=row("kind"), reason="one thing", by=lee)
    parts = [CategoryChange(name="of values"), CategoryChange(name="of dtypes")]
    split_category(category=row("kind"), parts=parts, reason="two", by=lee)
    return before


def test_as_of_the_first_version_it_is_what_it_was(changed, study):
    assert (rows(study, "answers", codebook="1"), rows(study, "finals", codebook="v1")) == changed


def test_after_a_rename_answers_and_labels_read_the_new_name(changed, study):
    assert causes(study, "answers", codebook="2") == ["kind"] * 6 + ["shape"] * 6
    assert causes(study, "finals", codebook="2") == ["kind"] * 3 + ["shape"] * 3


def test_after_a_merge_labels_count_as_what_took_its_place_and_answers_stay(changed, study):
    assert causes(study, "finals", codebook="3") == ["kind"] * 6
    assert causes(study, "answers", codebook="3") == ["kind"] * 6 + ["shape"] * 6


def test_after_a_split_no_label_is_guessed(changed, study):
    assert causes(study, "finals") == causes(study, "finals", codebook="4") == [""] * 6
    assert {r["source"] for r in rows(study, "finals") if r["facet"] == "cause"} == {"unresolved"}
    assert {r["category"] for r in rows(study, "finals") if r["facet"] == "stage"} == {"training"}


def test_the_file_says_which_version_it_is_of(changed, study):
    assert export(study, "finals", "csv", codebook="v2").filename == "frameworks-finals-codebook-v2.csv"


@pytest.mark.parametrize(
    ("table", "version"), [("answers", "9"), ("answers", "x"), ("bugs", "1"), ("side_by_side", "1")]
)
def test_what_cannot_be_had_is_bad_input(changed, study, table, version):
    with pytest.raises(BadInput):
        export(study, table, "csv", codebook=version)
