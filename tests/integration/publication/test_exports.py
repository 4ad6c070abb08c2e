"""The exported tables: the same rows and values in every format, nothing of open rounds, every text as it is."""

import csv
import io
import json
import os
import subprocess
import sys

import pandas as pd
import pyarrow.parquet as pq
import pytest
from rest_framework.test import APIClient

from annotator.accounts.models import User
from annotator.adjudication.models import Resolution
from annotator.codebook.models import Category
from annotator.collection.models import Context, ItemText
from annotator.labeling import actions
from annotator.labeling.models import Assignment
from annotator.overview.rounds.closing import close_round
from annotator.publication.exports import FORMATS, TABLES, export, table_of
from tests.factories import StudyFactory, UserFactory, answer, make_bugs, make_codebook, make_round, member

TEXTS = [
    'Fix "NaN" loss, again\nwhen lr=1e-3',
    "first\r\nsecond\tthird 😀 \u2028 end ' and \"",
    "=SUM(1,2)",
    "-1 means off",
    "'=kept as it is",
    "lone\rreturn\x85\u2029",
    " blanks around ",
    "back\\slash \\n \\\\t, and a tab\tbehind",
    "NA",
]


def content(study, name, format_, **options):
    return b"".join(export(study, name, format_, **options).pieces)


def csv_rows(data):
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def person(name):
    return User.objects.filter(username=name).first() or UserFactory(username=name)


@pytest.fixture
def small():
    """One facet, three bugs, two raters, one adjudicator."""
    study = StudyFactory(slug="small")
    make_codebook(study, {"cause": ["type", "shape", "api"]})
    people = {
        name: member(study, person(name), role)
        for name, role in (("alice", "rater"), ("bob", "rater"), ("ada", "adjudicator"), ("lee", "lead"))
    }
    return study, make_bugs(study, 3), people


@pytest.fixture
def case_7(db, small):
    """Three bugs twice labelled: one unanimous after a change of mind, one adjudicated to a third label, one open."""
    study, bugs, people = small
    alice, bob, ada, lee = people.values()
    round_ = make_round(study, bugs=bugs, raters=[alice, bob], by=lee, name="Main")
    given = {"alice": ["shape", "type", "type"], "bob": ["type", "shape", "api"]}
    for rater in (alice, bob):
        for bug, cause in zip(bugs, given[rater.username], strict=True):
            answer(round_, bug, rater, {"cause": cause}, confidence="sure", note=TEXTS[0])
    answer(round_, bugs[0], alice, {"cause": "type"})
    close_round(round_=round_, by=lee)
    decide(study, bugs[1], "api", by=ada, round_=round_)
    another = make_round(study, bugs=bugs[:1], raters=[alice, bob], by=lee, name="Later", kind="relabel")
    turn = Assignment.objects.get(round=another, rater=alice)
    actions.save_draft(assignment=turn, draft={"answers": {"cause": ["api"]}, "note": "a draft never sent"}, by=alice)
    return study


def decide(study, bug, name, *, by, round_):
    chosen = Category.objects.get(facet__codebook__study=study, facet__key="cause", name=name)
    return Resolution.objects.create(
        study=study,
        bug=bug,
        facet=chosen.facet,
        category=chosen,
        round=round_,
        source="adjudicated",
        by=by,
        reason="misread",
        note="Both misread it.",
    )


def test_case_7_every_vote_and_every_final_label_is_there(case_7):
    votes = csv_rows(content(case_7, "answers", "csv", pseudonyms=True))
    assert len(votes) == 6
    assert len({row["rater"] for row in votes}) == 2
    assert all(
        row["rater"].startswith("rater-") and row["answered_at"] and row["codebook_version"] == "1" for row in votes
    )
    assert [row["category"] for row in votes if row["bug"] == "1"] == ["type", "type"]
    gold = csv_rows(content(case_7, "finals", "csv"))
    assert [(row["bug"], row["category"], row["source"], row["decided_by"]) for row in gold] == [
        ("1", "type", "unanimous", ""),
        ("2", "api", "adjudicated", "ada"),
        ("3", "", "unresolved", ""),
    ]
    history = csv_rows(content(case_7, "history", "csv"))
    changed = [
        (row["act"], row["category"], row["is_current"])
        for row in history
        if row["bug"] == "1" and row["by"] == "alice"
    ]
    assert changed == [("answered", "shape", "false"), ("changed", "type", "true")]
    for name in TABLES:
        for format_ in ("csv", "jsonl"):
            assert b"draft" not in content(case_7, name, format_)
            assert b"Later" not in content(case_7, name, format_)


@pytest.mark.parametrize("name", TABLES)
def test_every_format_has_the_same_rows_and_values(case_7, name):
    table = table_of(case_7, name)
    rows = [dict(zip((column.name for column in table.columns), row, strict=True)) for row in table.rows()]
    assert rows
    from_jsonl = [json.loads(line) for line in io.StringIO(content(case_7, name, "jsonl").decode(), newline="\n")]
    assert from_jsonl == rows
    from_csv = csv_rows(content(case_7, name, "csv"))
    assert from_csv == [{key: as_cell(value) for key, value in row.items()} for row in from_jsonl]
    parquet = pq.read_table(io.BytesIO(content(case_7, name, "parquet")))
    assert [{key: as_json(value) for key, value in row.items()} for row in parquet.to_pylist()] == from_jsonl
    frame = pd.read_csv(io.BytesIO(content(case_7, name, "csv")), keep_default_na=False, dtype=str)
    assert frame.to_dict("records") == from_csv
    assert pd.read_parquet(io.BytesIO(content(case_7, name, "parquet"))).shape == frame.shape


def as_cell(value):
    return (
        {True: "true", False: "false", None: ""}.get(value, str(value))
        if not isinstance(value, str | int) or isinstance(value, bool)
        else str(value)
    )


def as_json(value):
    return f"{value:%Y-%m-%dT%H:%M:%S.%f}Z" if hasattr(value, "isoformat") else value


@pytest.fixture
def texts(db):
    """A study whose titles, descriptions, notes and context columns hold what breaks tables."""
    study = StudyFactory(slug="texts")
    make_codebook(study, {"cause": ["type", "shape"]})
    alice, bob, lee = (
        member(study, person(name), role) for name, role in (("alice", "rater"), ("bob", "rater"), ("lee", "lead"))
    )
    bugs = make_bugs(study, len(TEXTS))
    round_ = make_round(study, bugs=bugs, raters=[alice, bob], by=lee)
    for bug, text in zip(bugs, TEXTS, strict=True):
        bug.item.title = text
        bug.item.save()
        ItemText.objects.create(item=bug.item, body=text)
        Context.objects.create(item=bug.item, ordinal=1, values={"=memo": text, "Gist": ""})
        answer(round_, bug, alice, {"cause": "type"}, note=text)
        answer(round_, bug, bob, {"cause": "type"})
    close_round(round_=round_, by=lee)
    return study


def test_case_8_texts_are_the_same_byte_for_byte(texts):
    for read in (
        csv_rows(content(texts, "bugs", "csv")),
        [json.loads(line) for line in content(texts, "bugs", "jsonl").split(b"\n")[:-1]],
        pq.read_table(io.BytesIO(content(texts, "bugs", "parquet"))).to_pylist(),
    ):
        for column in ("title", "body", "context: =memo"):
            assert [row[column] for row in read] == TEXTS
    notes = [row["note"] for row in csv_rows(content(texts, "answers", "csv")) if row["rater"] == "alice"]
    assert notes == TEXTS


def test_jsonl_has_one_line_for_a_record_whatever_the_reader_takes_for_a_line(texts):
    text = content(texts, "bugs", "jsonl").decode()
    assert len(text.splitlines()) == len(TEXTS)


def test_safe_csv_runs_nothing_and_its_name_says_so(texts):
    made = export(texts, "bugs", "csv", is_safe=True)
    assert made.filename == "texts-bugs-spreadsheet-safe.csv"
    data = b"".join(made.pieces)
    cells = [cell for row in csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")) for cell in row]
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@", "\t", "\r")]
    assert "'=SUM(1,2)" in cells
    assert "''=kept as it is" in cells


def test_safe_csv_comes_back_without_its_prefixes(texts):
    from annotator.intake.sheets import read_grid

    made = export(texts, "bugs", "csv", is_safe=True)
    grid = read_grid(b"".join(made.pieces), filename=made.filename)
    title = grid.records[0].index("title")
    assert [record[title] for record in grid.records[1:]] == TEXTS
    assert "context: =memo" in grid.records[0]


def test_pseudonyms_are_the_same_in_every_table_and_differ_between_studies(case_7, texts):
    named = {row["rater"] for row in csv_rows(content(case_7, "answers", "csv", pseudonyms=True))}
    assert {row["by"] for row in csv_rows(content(case_7, "history", "csv", pseudonyms=True))} > named
    assert not named & {row["rater"] for row in csv_rows(content(texts, "answers", "csv", pseudonyms=True))}
    for name in TABLES:
        for format_ in ("csv", "jsonl"):
            assert not [
                who for who in (b"alice", b"bob", b"ada") if who in content(case_7, name, format_, pseudonyms=True)
            ]


def test_open_rounds_are_in_no_file_even_for_their_raters(main_round, bugs, alice, bob):
    empty = {(name, format_): content(main_round.study, name, format_) for name in TABLES for format_ in FORMATS}
    for rater in (alice, bob):
        answer(main_round, bugs[0], rater, {"cause": "type", "stage": "training"}, note="secret")
    assert {key: content(main_round.study, *key) for key in empty} == empty


def listed(user, name, query=""):
    """All rows of a list over REST, as texts under the names that they have there."""
    client = APIClient()
    client.force_authenticate(user)
    found, address = [], f"/api/v1/studies/frameworks/{name}/?page_size=5{query}"
    while address:
        page = client.get(address).json()
        found += page["results"]
        address = page["next"]
    return [{key: as_text(value) for key, value in row.items()} for row in found]


def as_text(value):
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(value) if isinstance(value, list) else "" if value is None else str(value)


@pytest.mark.parametrize("denied", [{}, {"not_a_bug": "duplicate"}])
def test_lists_over_rest_have_the_names_and_values_of_the_tables(main_round, bugs, alice, bob, lee, denied):
    for rater in (alice, bob):
        for bug in bugs[:3]:
            answer(main_round, bug, rater, {"cause": "type", "stage": "training"}, note="=x", confidence="sure")
    answer(main_round, bugs[3], alice, {"cause": "type", "stage": "training"})
    answer(main_round, bugs[3], bob, {} if denied else {"cause": "api", "stage": "training"}, **denied)
    close_round(round_=main_round, by=lee)
    for name, beyond in (("answers", set()), ("finals", {"round_number"})):
        rows = listed(alice, name)
        table = [row for row in csv_rows(content(main_round.study, name, "csv")) if row["category"]]
        shared = rows[0].keys() - beyond
        assert shared <= table[0].keys()
        assert sorted([row[key] for key in sorted(shared)] for row in rows) == sorted(
            [row[key] for key in sorted(shared)] for row in table
        )
        assert {row["facet"] for row in rows} == {row["facet"] for row in table}
        assert ("verdict" in {row["facet"] for row in rows}) == bool(denied)


def test_of_an_open_round_ones_own_denial_is_listed_and_a_plain_verdict_is_not(main_round, bugs, alice, bob):
    answer(main_round, bugs[0], alice, {"cause": "type", "stage": "training"})
    answer(main_round, bugs[0], bob, {}, not_a_bug="duplicate")
    assert [row["facet"] for row in listed(alice, "answers")] == ["cause", "stage"]
    answer(main_round, bugs[1], alice, {}, not_a_bug="duplicate")
    assert [row["facet"] for row in listed(alice, "answers")] == ["cause", "stage", "verdict"]


def test_lists_take_a_round_by_number_or_name(main_round, bugs, alice, bob, lee):
    for rater, cause in ((alice, "type"), (bob, "api")):
        answer(main_round, bugs[0], rater, {"cause": cause, "stage": "training"})
    close_round(round_=main_round, by=lee)
    client = APIClient()
    client.force_authenticate(alice)
    for name, count in (("answers", 4), ("disputes", 1)):
        assert len(listed(alice, name, "&round=1")) == len(listed(alice, name, "&round=Round 1")) == count
        assert client.get(f"/api/v1/studies/frameworks/{name}/?round=2").status_code == 404
        assert client.get(f"/api/v1/studies/frameworks/{name}/?round=Pilot").status_code == 404


def test_a_bug_without_answers_names_no_round_side_by_side(study, bugs, lee):
    type_ = Category.objects.get(facet__key="cause", name="type")
    Resolution.objects.create(study=study, bug=bugs[0], facet=type_.facet, category=type_, source="imported")
    rows = csv_rows(content(study, "side_by_side", "csv"))
    assert (rows[0]["round"], rows[0]["final cause"]) == ("", "type")


def test_not_a_bug_of_one_rater_leaves_the_verdict_alone_open(main_round, bugs, alice, bob, lee):
    answer(main_round, bugs[0], alice, {}, not_a_bug="duplicate")
    answer(main_round, bugs[0], bob, {"cause": "type", "stage": "training"})
    close_round(round_=main_round, by=lee)
    rows = csv_rows(content(main_round.study, "answers", "csv"))
    assert {(row["rater"], row["facet"], row["category"], row["not_a_bug_reason"]) for row in rows} == {
        ("alice", "verdict", "not a bug", "duplicate"),
        ("bob", "verdict", "bug", ""),
        ("bob", "cause", "type", ""),
        ("bob", "stage", "training", ""),
    }
    gold = csv_rows(content(main_round.study, "finals", "csv"))
    assert [(row["facet"], row["category"], row["source"]) for row in gold] == [("verdict", "", "unresolved")]


def test_a_study_is_read_in_ranges_of_bugs(case_7, monkeypatch):
    from annotator.publication import batches

    whole = {name: content(case_7, name, "csv") for name in TABLES}
    monkeypatch.setattr(batches, "BUGS_AT_ONCE", 2)
    monkeypatch.setattr(batches, "TEXTS_AT_ONCE", 2)
    assert {name: content(case_7, name, "csv") for name in TABLES} == whole
    parquet = pq.ParquetFile(io.BytesIO(content(case_7, "answers", "parquet")))
    assert parquet.metadata.num_row_groups == 2
    assert parquet.metadata.num_rows == 6


def test_bugs_whose_keys_run_in_another_order_are_read_by_number(case_7, monkeypatch):
    from annotator.publication import batches

    whole = {name: content(case_7, name, "csv") for name in TABLES}
    make_bugs(StudyFactory(slug="beside"), 1)
    monkeypatch.setattr(batches.Range, "is_in_a_row", False)
    assert {name: content(case_7, name, "csv") for name in TABLES} == whole


def test_items_far_from_each_other_are_read_without_those_between(case_7, monkeypatch):
    from annotator.collection.models import Item
    from annotator.publication import batches

    whole = {name: content(case_7, name, "csv") for name in TABLES}
    monkeypatch.setattr(batches, "CLOSE", 0)
    assert {name: content(case_7, name, "csv") for name in TABLES} == whole
    first, second, third = Item.objects.order_by("pk").values_list("pk", flat=True)
    bugs = batches.Range(case_7, 1, 3, [1, 2], [first, third])
    assert list(bugs.of_items(Item.objects.order_by("pk"), "pk").values_list("pk", flat=True)) == [first, third]
    monkeypatch.setattr(batches, "CLOSE", 2)
    assert second in bugs.of_items(Item.objects.all(), "pk").values_list("pk", flat=True)


def test_keys_in_a_row_are_those_of_the_numbers_and_of_no_other_bug():
    from annotator.publication.batches import Range

    assert Range(None, 1, 3, [4, 5, 6], [1, 2, 3]).is_in_a_row
    assert not Range(None, 1, 3, [4, 6, 5], [1, 2, 3]).is_in_a_row
    assert not Range(None, 1, 3, [4, 6], [1, 2]).is_in_a_row


def test_pseudonyms_decide_the_order_of_raters(case_7):
    rows = csv_rows(content(case_7, "answers", "csv", pseudonyms=True))
    order = [(int(row["bug"]), int(row["round_number"]), row["rater"]) for row in rows]
    assert order == sorted(order)


def test_parquet_holds_no_name_that_no_row_has(case_7):
    assert b"Later" not in content(case_7, "answers", "parquet")
    assert b"Main" in content(case_7, "answers", "parquet")


def test_csv_and_json_lines_are_written_without_the_large_libraries():
    code = "import django; django.setup(); import annotator.publication.api, annotator.publication.views, sys"
    asked = f"{code}; print([name for name in ('pyarrow', 'numpy', 'pandas') if name in sys.modules])"
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "annotator.settings"}
    told = subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True, text=True, env=environment)
    assert told.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("stored", "told"),
    [
        ("2026-03-02 12:00:00", "2026-03-02T12:00:00.000000Z"),
        ("2026-03-02 12:00:00.12+00", "2026-03-02T12:00:00.120000Z"),
        ("2026-03-02 12:00:00.000001", "2026-03-02T12:00:00.000001Z"),
        ("", None),
        (None, None),
    ],
)
def test_a_time_has_microseconds_as_either_database_stores_it(stored, told):
    from annotator.publication.batches import moment

    assert moment(stored) == told


def test_an_empty_study_gives_tables_without_rows(study):
    for name in TABLES:
        assert csv_rows(content(study, name, "csv")) == []
        assert content(study, name, "jsonl") == b""
        assert pq.read_table(io.BytesIO(content(study, name, "parquet"))).num_rows == 0
