"""The tables of recipes and runs in a release: what they hold, what they leave out, and that formats and names hold."""

import csv
import hashlib
import io
import json

import pyarrow.parquet as pq
import pytest
from django.utils import timezone

from annotator.overview.rounds.closing import close_round
from annotator.publication import reproduced
from annotator.publication.contents import tables_of
from annotator.publication.formats import pieces
from annotator.publication.options import Options
from annotator.publication.pseudonyms import pseudonyms_of
from annotator.reproduction import actions, leases
from annotator.reproduction.ledger import Used
from annotator.reproduction.models import Recipe, Run
from tests.factories import StudyFactory, answer, make_bugs, make_round
from tests.factories.reproduction import SHOWS, claimed, end_all, ended, make_recipe, make_series, recipe

ODD = 'said "NaN",\r\n=1+1\tü\u2028end'


def rows(study, name, options=None):
    return list(csv.DictReader(io.StringIO(written(study, name, "csv", options).decode(), newline="")))


def written(study, name, format_, options=None):
    """A table of a release of the present state."""
    table = next(table for table in tables_of(study, options or Options()) if table.name == name)
    return b"".join(pieces(table, format_))


@pytest.fixture
def tried(study, bugs, lee, ada):
    """The second bug: a recipe in two versions, the first run to its end, the second half run. The first bug: one, by Ada."""
    series = make_series(bugs[1], lee)
    used = Used(python="3.11.7", locked="numpy==1.26.4 --hash=sha256:00\n", image="")
    for run in series.runs.order_by("position", "repeat"):
        measured = {"seconds": 1.5, "cpu_seconds": 0.25, "peak_mb": 64.0, "input_digest": "ab" * 32, "used": used}
        outcome = "bug" if run.environment == "buggy" else "no_bug"
        assert leases.end(claimed(run), ended(outcome, stdout=ODD, **measured))
    later = actions.change_recipe(
        row=series.recipe, recipe=recipe(repeats=1), script=SHOWS, why="One repeat is enough.", by=lee
    )
    half = actions.ask(recipe=later, by=lee)
    waiting, cancelled = half.runs.order_by("position")
    actions.cancel_run(run=cancelled, by=lee)
    assert Run.objects.get(pk=waiting.pk).state == "waiting"
    make_recipe(bugs[0], ada)
    return study


def test_a_study_without_recipes_has_no_such_tables(study, bugs):
    assert [table.name for table in tables_of(study, Options())][-1] == "side_by_side"
    assert reproduced.tables(study) == []


def test_every_version_of_a_recipe_is_a_row_by_bug_and_version(tried, lee):
    found = rows(tried, "recipes")
    assert list(found[0]) == [column.name for column in reproduced.RECIPE]
    told = [(row["bug"], row["recipe"], row["version"], row["is_current"], row["why"]) for row in found]
    assert told == [
        ("1", "2", "1", "true", ""),
        ("2", "1", "1", "false", ""),
        ("2", "1", "2", "true", "One repeat is enough."),
    ]
    first = Recipe.objects.get(number=1, version=1)
    assert json.loads(found[1]["document"]) == first.document
    assert found[1]["document"] == json.dumps(first.document, ensure_ascii=False, sort_keys=True)
    assert (found[1]["name"], found[1]["script_name"], found[1]["script"]) == ("NaN in the sum", "repro.py", SHOWS)
    assert (found[1]["digest"], found[1]["created_at"][:10]) == (first.digest, f"{first.created_at:%Y-%m-%d}")


def test_every_run_that_ended_is_a_row_with_what_was_measured(tried):
    found = rows(tried, "runs")
    assert list(found[0]) == [column.name for column in reproduced.RUN]
    order = [
        (row["bug"], row["recipe"], row["version"], row["series"], row["environment"], row["repeat"]) for row in found
    ]
    assert order == [
        ("2", "1", "1", "1", "buggy", "1"),
        ("2", "1", "1", "1", "buggy", "2"),
        ("2", "1", "1", "1", "fixed", "1"),
        ("2", "1", "1", "1", "fixed", "2"),
    ]
    run = Run.objects.get(environment="buggy", repeat=1, series__recipe__version=1)
    assert run.locked
    expected = {
        "seed": str(run.seed), "expects": "bug", "outcome": "bug", "said": "As told.", "is_void": "false", "exit_code": "0",
        "seconds": "1.5", "cpu_seconds": "0.25", "peak_mb": "64.0", "gpu_peak_mb": "", "python": "3.11.7",
        "locked": "numpy==1.26.4 --hash=sha256:00\n", "image": "", "environment_digest": run.locked.digest,
        "input_digest": "ab" * 32, "stdout": ODD, "stderr": "",
    }  # fmt: skip
    assert {name: found[0][name] for name in expected} == expected
    assert found[0]["ended_at"] and found[2]["expects"] == "no_bug"


def test_runs_that_wait_or_were_cancelled_are_left_out(tried):
    assert set(Run.objects.values_list("state", flat=True)) == {"ended", "waiting", "cancelled"}
    assert {row["version"] for row in rows(tried, "runs")} == {"1"}


def test_a_run_that_counts_no_more_is_told_as_void(tried):
    Run.objects.filter(environment="fixed", state="ended").update(voided_at=timezone.now())
    assert [row["is_void"] for row in rows(tried, "runs")] == ["false", "false", "true", "true"]


def test_nothing_of_a_bug_in_an_open_round_is_told_until_it_closes(tried, bugs, alice, bob, lee):
    round_ = make_round(tried, bugs=bugs[1:2], raters=[alice, bob], by=lee, name="Round 1")
    assert {row["bug"] for row in rows(tried, "recipes")} == {"1"}
    assert rows(tried, "runs") == []
    for rater in (alice, bob):
        answer(round_, bugs[1], rater, {"cause": "type", "stage": "training"})
    close_round(round_=round_, by=lee)
    assert {row["bug"] for row in rows(tried, "recipes")} == {"1", "2"}
    assert len(rows(tried, "runs")) == 4


def test_only_bugs_in_open_rounds_have_recipes_then_there_is_no_table(tried, bugs, alice, bob, lee):
    make_round(tried, bugs=bugs[:2], raters=[alice, bob], by=lee, name="Round 1")
    assert reproduced.tables(tried) == []


def test_who_wrote_a_recipe_has_the_pseudonym_of_the_release_or_a_name_with_consent(tried, lee, ada):
    hide = pseudonyms_of(tried)
    assert [row["created_by"] for row in rows(tried, "recipes")] == [hide("ada"), hide("lee"), hide("lee")]
    for name in ("recipes", "runs"):
        text = written(tried, name, "jsonl").decode()
        assert '"lee"' not in text and '"ada"' not in text
    named = rows(tried, "recipes", Options(named=("ada",)))
    assert [row["created_by"] for row in named] == ["ada", hide("lee"), hide("lee")]


@pytest.mark.parametrize("name", ["recipes", "runs"])
def test_the_three_formats_hold_the_same_rows(tried, name):
    as_csv = rows(tried, name)
    as_json = [json.loads(line) for line in written(tried, name, "jsonl").decode().splitlines()]
    as_parquet = pq.read_table(io.BytesIO(written(tried, name, "parquet"))).to_pylist()
    assert len(as_csv) == len(as_json) == len(as_parquet) > 2
    for text, plain, typed in zip(as_csv, as_json, as_parquet, strict=True):
        assert list(text) == list(plain) == list(typed)
        for column, value in plain.items():
            assert text[column] == as_cell(value)
            assert same_time(typed[column], value) if column.endswith("_at") else typed[column] == value


def as_cell(value):
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def same_time(typed, text):
    """Parquet has times, JSON their text; either may be missing."""
    return typed is text is None or f"{typed:%Y-%m-%dT%H:%M:%S.%f}Z" == text


@pytest.mark.parametrize("format_", ["csv", "jsonl", "parquet"])
def test_the_same_state_is_the_same_bytes(tried, format_):
    def digests():
        return [hashlib.sha256(written(tried, name, format_)).hexdigest() for name in ("recipes", "runs")]

    first = digests()
    other = StudyFactory(slug="other")
    end_all(make_series(make_bugs(other, 1)[0], other.created_by), buggy="bug", fixed="no_bug")
    assert digests() == first, "another study's recipes are none of this one's"
    assert leases.end(claimed(Run.objects.get(state="waiting", series__recipe__study=tried)), ended("bug"))
    assert digests()[0] == first[0]
    assert digests()[1] != first[1]
