"""What is another in a release than in an earlier one, from their files."""

import csv
import io
from contextlib import nullcontext

from annotator.publication.changes import changes_between
from annotator.publication.columns import BUGS, FINALS


def table(columns, rows):
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, [column.name for column in columns], restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def release_of(bugs, finals):
    """`bugs` to why they left, `finals`: (bug, uid, name, note)."""
    labels = [
        {"bug": bug, "facet": "cause", "category_uid": uid, "category": name, "source": "adjudicated", "note": note}
        for bug, uid, name, note in finals
    ]
    files = {
        "bugs.csv": table(BUGS, [{"bug": bug, "left": left} for bug, left in bugs.items()]),
        "finals.csv": table(FINALS, labels),
    }
    return lambda path: nullcontext(io.BytesIO(files[path])) if path in files else nullcontext()


def test_bugs_that_came_went_and_left_are_told_apart():
    old = release_of({2: "", 3: "", 9: "", 10: "withdrawn"}, [])
    new = release_of({3: "", 9: "duplicate", 10: "withdrawn", 11: "", 12: "duplicate"}, [])
    found = changes_between(old, new, since=1)
    assert (found["bugs_added"], found["bugs_gone"], found["bugs_left"]) == (2, 1, [9])


def test_a_changed_label_is_told_with_its_cause_and_only_of_bugs_in_both():
    old = release_of({1: "", 2: "", 3: ""}, [(1, "a", "API", ""), (2, "a", "API", ""), (3, "a", "API", "")])
    new = release_of(
        {1: "", 2: "", 4: ""}, [(1, "a", "API", ""), (2, "t", "Type", "two,\r\nlines"), (4, "t", "Type", "")]
    )
    found = changes_between(old, new, since=1)
    assert found["counts"] == {"cause": 1}
    assert [(each["bug"], each["before"], each["after"]) for each in found["labels"]] == [(2, ["API"], ["Type"])]
    assert found["labels"][0]["cause"] == "adjudicated: two,\r\nlines"


def test_another_note_or_name_is_no_other_label():
    old = release_of({1: "", 2: ""}, [(1, "a", "API", "one"), (2, "t", "Type", "")])
    new = release_of({1: "", 2: ""}, [(1, "a", "API", "other"), (2, "t", "Types", "")])
    found = changes_between(old, new, since=1)
    assert found["labels"] == []
    assert found["names"] == [{"uid": "t", "facet": "cause", "before": "Type", "after": "Types"}]


def test_a_table_that_was_left_out_has_no_rows():
    none = lambda path: nullcontext()  # noqa: E731
    new = release_of({1: ""}, [(1, "a", "API", "")])
    assert changes_between(none, new, since=1)["bugs_added"] == 1
    assert changes_between(new, none, since=1)["bugs_gone"] == 1
    assert changes_between(none, none, since=1)["labels"] == []
