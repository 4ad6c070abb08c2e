"""The docs name every export column and every address of the REST interface, and nothing that is not there."""

import re
from pathlib import Path

import pytest

from annotator.publication import columns
from tests.contract.interface import schema

DOCS = Path(__file__).resolve().parents[2] / "docs"
KINDS = {columns.TEXT: "text", columns.WHOLE: "whole number", columns.YES_NO: "yes or no", columns.TIME: "time"}


def section(title):
    text = (DOCS / "export.md").read_text()
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)[1]


@pytest.mark.parametrize(
    ("title", "table"),
    [
        ("answers", columns.ANSWERS),
        ("finals", columns.FINALS),
        ("history", columns.HISTORY),
        ("bugs", columns.BUGS),
        ("side_by_side", columns.SIDE_BY_SIDE),
    ],
)
def test_every_column_of_an_export_is_documented(title, table):
    rows = re.findall(r"^\| `([a-z_]+)` \| ([a-z ]+) \| (.+) \|$", section(title), re.MULTILINE)
    assert [row[:2] for row in rows] == [(column.name, KINDS[column.kind]) for column in table]
    assert all(says for _, _, says in rows)


def test_every_address_is_documented_with_its_methods():
    rows = re.findall(r"^\| `([^`]+)` \| ([A-Z ]+) \| .+ \|$", (DOCS / "api.md").read_text(), re.MULTILINE)
    documented = {
        "/api/v1/" + path.removeprefix("/api/v1/").replace("…", "studies/{slug}"): set(methods.split())
        for path, methods in rows
    }
    served = {path: {method.upper() for method in operations} for path, operations in schema()["paths"].items()}
    assert documented == served


def test_three_lines_of_pandas_read_an_export(main_round, bugs, alice, bob, lee, live_server):
    """As the docs have them, against a served study."""
    from annotator.accounts.actions import make_token
    from annotator.overview.rounds.closing import close_round
    from tests.factories import answer

    for rater in (alice, bob):
        answer(main_round, bugs[0], rater, {"cause": "type", "stage": "training"}, note="NA")
    close_round(round_=main_round, by=lee)
    _, secret = make_token(user=alice, name="notebook", scopes=["read"], days=1)
    lines = re.search(r"### pandas\n+```python\n(.*?)```", (DOCS / "api.md").read_text(), re.DOTALL)[1]
    names = {"KEY": secret}
    exec(lines.replace("https://concord.example", live_server.url), names)  # the docs' own lines
    assert list(names["answers"]["note"]) == ["NA"] * 4
