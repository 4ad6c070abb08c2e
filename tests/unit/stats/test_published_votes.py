"""Real votes with known kappas, read from the shared data beside the repository where it is there."""

import csv
import json
from pathlib import Path

import pytest

from annotator.stats.cohen import cohen, weighted
from annotator.stats.many import fleiss
from annotator.stats.tables import Table

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="the published label tables (../shared/data) are not beside the repository"
)


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def expected() -> list[dict]:
    path = DATA / "kappa_expected.json"
    return json.loads(path.read_text()) if path.is_file() else []


def side_by_side(row: dict) -> list[tuple[str, str]]:
    clean = str.lower if row["normalisation"] == "strip+lower" else str
    pairs = [(r[row["rater_a"]], r[row["rater_b"]]) for r in rows(row["file"])]
    if row["normalisation"] == "strip+lower":
        pairs = [(a.strip(), b.strip()) for a, b in pairs]
    return [(clean(a), clean(b)) for a, b in pairs if a.strip() and b.strip()]


def by_commit(row: dict) -> list[tuple[str, str]]:
    """A commit that one file holds twice is a second bug of that commit for the other file too."""
    first, second = (rows(f"linux_pilot/{name.split('/')[-1]}") for name in row["file"].split(" + "))
    other = {r["commit_hash"]: r[row["rater_b"]] for r in second}
    return [(r[row["rater_a"]], other[r["commit_hash"]]) for r in first if r["commit_hash"] in other]


@pytest.mark.parametrize("row", expected(), ids=lambda row: f"{row['rater_a']}-{row['rater_b']}")
def test_kappa_of_published_votes(row):
    pairs = by_commit(row) if " + " in row["file"] else side_by_side(row)
    table = Table.of_pairs(pairs)
    assert (table.n, table.agreements, len(table.used)) == (row["n"], row["agreements"], row["categories"])
    assert cohen(table).value == pytest.approx(row["cohen_kappa"], abs=1e-6)
    if isinstance(row["published"], float):
        assert cohen(table).value == pytest.approx(row["published"], abs=1e-12)


def test_weighted_kappa_of_published_votes():
    table = Table.of_pairs(
        (r["impact_reviewer_a"], r["impact_reviewer_b"])
        for r in rows("tambon2023/derived/raters_side_by_side_83.csv")
        if r["impact_reviewer_a"].strip() and r["impact_reviewer_b"].strip()
    )
    assert weighted(table, order="1234", power=1).value == pytest.approx(0.761905, abs=1e-6)
    assert weighted(table, order="1234", power=2).value == pytest.approx(0.891832, abs=1e-6)


def test_fleiss_of_three_published_reviewers():
    from collections import Counter

    patterns = Counter(
        (r["reviewer1"], r["reviewer2"], r["reviewer3"])
        for r in rows("tambon2023/derived/voting_three_reviewers_1168.csv")
    )
    assert fleiss(patterns, raters=3).value == pytest.approx(0.70, abs=0.005)
