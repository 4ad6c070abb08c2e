"""What is another in any release than in an earlier one, from their files: bugs, answers, codebook, files."""

import io
import json
from contextlib import nullcontext

import pytest

from annotator.publication.columns import ANSWERS, BUGS
from annotator.publication.comparing import comparison, files_between
from annotator.publication.files import File
from annotator.publication.release_page import shown
from tests.unit.publication.test_changes import table


def release_of(*, bugs=(), answers=(), book=(), columns=BUGS):
    """`answers`: (bug, round number, rater, facet, category), `book`: (version, category's name) each."""
    given = [
        {"bug": bug, "round_number": round_, "round": f"Round {round_}", "rater": rater, "facet": facet,
         "category_uid": name, "category": name, "repository": "a/b", "number": bug}
        for bug, round_, rater, facet, name in answers
    ]  # fmt: skip
    versions = [{"number": number, "codebook": codebook_of(name)} for number, name in book]
    files = {
        "bugs.csv": table(columns, [{"bug": bug} | about for bug, about in bugs]),
        "answers.csv": table(ANSWERS, given),
        "codebook.json": json.dumps({"versions": versions}).encode(),
    }
    return lambda path: nullcontext(io.BytesIO(files[path])) if path in files else nullcontext()


def codebook_of(name):
    categories = [{"id": "0123456789", "name": name}, {"id": "aaaaaaaaaa", "name": "Other"}]
    return {"title": "A codebook", "facets": [{"id": "cause", "name": "Cause", "categories": categories}]}


def test_bugs_are_told_with_the_columns_that_hold_something_else():
    old = release_of(bugs=[(1, {"url": "a"}), (2, {"url": "b", "state": "open"}), (3, {})])
    new = release_of(bugs=[(1, {"url": "a"}), (2, {"url": "c", "state": "closed"}), (4, {})])
    bugs = comparison(old, new)["bugs"]
    assert bugs["counts"] == {"added": 1, "gone": 1, "changed": 1}
    assert bugs["columns"] == {"state": 1, "url": 1}
    assert [(each["bug"], each["change"], sorted(each["columns"])) for each in bugs["listed"]] == [
        (2, "changed", ["state", "url"]),
        (3, "gone", []),
        (4, "added", []),
    ]


def test_a_column_that_one_release_leaves_out_is_no_change_of_a_bug():
    without = tuple(column for column in BUGS if column.name != "title")
    old, new = release_of(bugs=[(1, {})], columns=without), release_of(bugs=[(1, {"title": "Secret title"})])
    for one, other in ((old, new), (new, old)):
        assert comparison(one, other)["bugs"]["listed"] == []


def test_answers_are_told_per_round_and_facet_and_never_whose():
    old = release_of(answers=[(1, 1, "rater-a", "cause", "API"), (1, 1, "rater-b", "cause", "Type")])
    new = release_of(
        answers=[
            (1, 1, "zoe", "cause", "Shape"),
            (1, 1, "yann", "cause", "API"),
            (1, 2, "zoe", "cause", "API"),
            (2, 2, "zoe", "cause", "API"),
        ]
    )
    found = comparison(old, new)["answers"]
    assert found["counts"] == {"added": 2, "gone": 0, "changed": 1}
    assert (found["facets"], found["rounds_added"]) == ({"cause": 1}, {"Round 2": 2})
    told = {"bug": 1, "repository": "a/b", "number": "1", "round": "Round 1", "facet": "cause"}
    assert found["listed"] == [told | {"before": ["API", "Type"], "after": ["API", "Shape"]}]
    assert not any(name in str(comparison(old, new)) for name in ("rater-a", "rater-b", "zoe", "yann"))


def test_other_names_of_the_raters_are_no_other_answers():
    old = release_of(answers=[(1, 1, "rater-a", "cause", "API"), (1, 1, "rater-b", "cause", "Type")])
    new = release_of(answers=[(1, 1, "alice", "cause", "Type"), (1, 1, "rater-a", "cause", "API")])
    assert comparison(old, new)["answers"]["counts"] == {"added": 0, "gone": 0, "changed": 0}


def test_answers_that_are_gone_are_listed():
    old = release_of(answers=[(1, 1, "a", "cause", "API"), (3, 1, "a", "cause", "API")])
    found = comparison(old, release_of(answers=[(1, 1, "a", "cause", "API")]))["answers"]
    assert [(each["bug"], each["before"], each["after"]) for each in found["listed"]] == [(3, ["API"], [])]


def test_the_latest_versions_of_the_codebook_are_compared_in_sentences():
    old, new = release_of(book=[(1, "API")]), release_of(book=[(1, "API"), (2, "Wrong API")])
    book = comparison(old, new)["codebook"]
    assert (book["since"], book["version"]) == (1, 2)
    assert [(each["kind"], each["facet"], each["category"], each["says"]) for each in book["entries"]] == [
        ("renamed", "cause", "0123456789", "“API” was renamed “Wrong API”")
    ]
    assert comparison(old, release_of())["codebook"] == {"since": 1, "version": None, "entries": []}


@pytest.mark.parametrize(
    ("was", "now", "change", "sizes"),
    [
        (File("a", "1", 3), File("a", "1", 3), "same", (3, 3)),
        (File("a", "1", 3), File("a", "2", 4), "changed", (3, 4)),
        (None, File("a", "2", 4), "added", (None, 4)),
        (File("a", "1", 0), None, "gone", (0, None)),
    ],
)
def test_files_are_compared_by_their_hashes(was, now, change, sizes):
    found = files_between([was] if was else [], [now] if now else [])
    assert found == [{"path": "a", "change": change, "before": sizes[0], "after": sizes[1]}]


def test_all_are_counted_and_the_first_are_listed(monkeypatch):
    monkeypatch.setattr("annotator.publication.comparing.MOST_LISTED", 2)
    monkeypatch.setattr("annotator.publication.release_page.LISTED", 1)
    given = [(bug, 1, "a", "cause", "API") for bug in range(1, 6)]
    old = release_of(bugs=[(bug, {}) for bug in range(1, 6)], answers=given)
    found = comparison(old, release_of())
    assert (found["bugs"]["counts"]["gone"], len(found["bugs"]["listed"])) == (5, 2)
    assert (found["answers"]["counts"]["gone"], len(found["answers"]["listed"])) == (5, 2)
    page = shown(found | {"files": []}, {"cause": "Cause"}, withholds=False)
    for part in ("bugs", "answers"):
        assert (page[part]["all"], len(page[part]["listed"])) == (5, 1)
    assert page["answers"]["listed"][0]["facet_name"] == "Cause"
