"""Published votes through the commands: import, then agreement. The data lie beside the repository, where they are there."""

import csv
import json
from pathlib import Path

import pytest
from django.core.management import call_command

from annotator.stats.intervals import Z

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        not DATA.is_dir(), reason="the published label tables (../shared/data) are not beside the repository"
    ),
]
AS_IT_STANDS = {"trim": False, "fold_case": False, "blank": [""], "unknown": "add"}
FOLDED = {"trim": True, "fold_case": True, "blank": [""], "unknown": "add"}
PILOT = ("abhishek", "david", "michel")


def expected():
    path = DATA / "kappa_expected.json"
    return [row for row in json.loads(path.read_text()) if " + " not in row["file"]] if path.is_file() else []


@pytest.fixture
def run(capsys):
    def command(*arguments):
        call_command(*map(str, arguments), "--json")
        return json.loads(capsys.readouterr().out)

    return command


@pytest.fixture
def written(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write


def study(run, written, *raters, facet="f"):
    book = written("book.yaml", {"title": "Published", "facets": [{"id": facet, "categories": []}]})
    members = [part for rater in raters for part in ("--member", f"{rater}:rater")]
    run("create_study", "published", "--title", "Published", "--codebook", book, *members)


@pytest.mark.parametrize("row", expected(), ids=lambda row: f"{row['rater_a']}-{row['rater_b']}-{row['normalisation']}")
def test_each_row_of_the_published_votes_comes_out(run, written, row):
    study(run, written, "a", "b")
    with (DATA / row["file"]).open(encoding="utf-8", newline="") as file:
        heads = next(csv.reader(file))
    mapping = {
        "row": "bug",
        "item": {"kind": "other", "key": "url" if "url" in heads else "pr_url"},
        "raters": {"a": {"f": row["rater_a"]}, "b": {"f": row["rater_b"]}},
        "clean": AS_IT_STANDS if row["normalisation"] == "none" else FOLDED,
    }
    report = run("import_sheet", "published", DATA / row["file"], "--mapping", written("map.yaml", mapping))
    (entry,) = run("agreement", "published")
    assert (entry["n"], entry["n"] + entry["excluded"]) == (row["n"], report["rows"])
    assert entry["kappa"] == pytest.approx(row["cohen_kappa"], abs=1e-6)
    assert entry["observed"] == pytest.approx(row["percent_agreement"], abs=1e-6)
    assert entry["blindness"] == "unknown"


def votes(name):
    with (DATA / "linux_pilot" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_three_raters_of_the_linux_pilot_give_the_published_kappas_with_the_repeat_as_a_second_bug(run, written):
    study(run, written, *PILOT, facet="bfc")
    older = votes("pilot130_michel_f270e39_with_duplicate_row.csv")
    for rater in PILOT:
        rows = older if rater == "michel" else votes(f"pilot130_{rater}.csv")
        run(
            "import_sheet",
            "published",
            written(f"{rater}.csv", twice(rows)),
            "--mapping",
            written("map.yaml", by_commit(rater)),
        )
    found = {tuple(entry["raters"]): entry for entry in run("agreement", "published")}
    assert found["abhishek", "michel"]["kappa"] == pytest.approx(0.5470383275261324, abs=1e-12)
    assert found["david", "michel"]["kappa"] == pytest.approx(0.7540983606557377, abs=1e-12)
    pair = found["david", "michel"]
    assert pair["ci"] == pytest.approx([pair["kappa"] - Z * pair["se"], pair["kappa"] + Z * pair["se"]])
    assert found[PILOT]["alpha"] is not None


def test_two_raters_of_the_linux_pilot_as_released_give_the_published_kappa(run, written):
    study(run, written, *PILOT[:2], facet="bfc")
    for rater in PILOT[:2]:
        path = DATA / "linux_pilot" / f"pilot130_{rater}.csv"
        run("import_sheet", "published", path, "--mapping", written("map.yaml", by_commit(rater)))
    (entry,) = run("agreement", "published")
    assert entry["kappa"] == pytest.approx(0.6801031169439888, abs=1e-12)


def by_commit(rater):
    return {
        "row": "vote",
        "item": {"kind": "other", "repository": {"value": "torvalds/linux"}, "key": "commit_hash"},
        "raters": {rater: {"bfc": "is_bug_fixing_commit"}},
        "clean": AS_IT_STANDS,
    }


def twice(rows):
    """The commit that one file holds twice, as two bugs of it in each file."""
    mine = [row for row in rows if row["commit_hash"].startswith("c579792562")]
    if len(mine) == 2:
        mine[1]["commit_hash"] += " 2"
    else:
        rows = [*rows, mine[0] | {"commit_hash": mine[0]["commit_hash"] + " 2"}]
    lines = [",".join(("commit_hash", "is_bug_fixing_commit"))]
    return "\n".join(lines + [f"{row['commit_hash']},{row['is_bug_fixing_commit']}" for row in rows]) + "\n"


def test_three_screening_reviewers_give_the_published_fleiss(run, written):
    study(run, written, "r1", "r2", "r3")
    mapping = {
        "row": "bug",
        "item": {"kind": "issue", "url": "url"},
        "votes": {
            f"r{n}": {"include": f"reviewer{n}", "when": ["TRUE"], "reason": f"reviewer{n}_comment"} for n in (1, 2, 3)
        },
    }
    path = DATA / "tambon2023/derived/voting_three_reviewers_1168.csv"
    run("import_sheet", "published", path, "--mapping", written("map.yaml", mapping))
    found = run("agreement", "published")
    assert [entry["n"] for entry in found] == [1168] * 4
    assert found[0]["kappa"] == pytest.approx(0.671875, abs=1e-6)
    assert found[3]["fleiss"] == pytest.approx(0.70, abs=0.005)
