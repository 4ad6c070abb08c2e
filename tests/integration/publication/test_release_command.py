"""A study's release as files: what it holds, that it can be checked, and that the same state is the same release."""

import csv
import hashlib
import json
import re
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
import yaml
from django.core.management import call_command

from annotator.agreement.queries import entries
from annotator.history.models import Event
from annotator.publication.models import Release
from annotator.publication.pseudonyms import pseudonyms_of
from tests.factories import answer, make_bugs, make_round

FORMATS = ("csv", "jsonl", "parquet")


def rows(folder, table):
    with (folder / f"{table}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def written_anew(folder, table, change):
    """The CSV with each row as `change` makes it."""
    found = [change(dict(row)) for row in rows(folder, table)]
    with (folder / f"{table}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, found[0])
        writer.writeheader()
        writer.writerows(found)


def test_every_table_has_the_same_rows_in_all_formats(released):
    folder, told = released()
    tables = {path.stem for path in folder.glob("*.parquet")}
    assert tables == {"answers", "bugs", "finals", "history", "side_by_side"}
    for table in tables:
        of_csv = rows(folder, table)
        lines = (folder / f"{table}.jsonl").read_text().splitlines()
        parquet = pq.read_table(folder / f"{table}.parquet")
        assert len(of_csv) == len(lines) == parquet.num_rows > 0
        assert list(of_csv[0]) == list(json.loads(lines[0])) == parquet.column_names
    assert {path.name for path in folder.iterdir()} == {file["path"] for file in told["files"]}


def test_each_file_has_the_hash_and_size_it_is_said_to_have(released):
    folder, told = released()
    for file in told["files"]:
        data = (folder / file["path"]).read_bytes()
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (file["sha256"], file["bytes"])
    content = json.loads((folder / "release.json").read_text())["content"]
    lines = "".join(f"{each['sha256']}  {each['path']}\n" for each in content)
    assert hashlib.sha256(lines.encode()).hexdigest() == told["sha256"]


def test_the_same_state_is_the_same_release(released, labelled):
    first, told = released("first")
    events = Event.objects.count()
    second, again = released("second")
    assert again == told
    assert told["version"] == 1
    assert all((second / path.name).read_bytes() == path.read_bytes() for path in first.iterdir())
    assert Release.objects.count() == 1
    assert Event.objects.count() == events


def test_a_changed_state_is_the_next_release(released, labelled, alice, bob, lee):
    _, before = released("first")
    make_bugs(labelled, 1)
    _, after = released("second")
    assert (before["version"], after["version"]) == (1, 2)
    assert before["sha256"] != after["sha256"]
    latest = Release.objects.get(number=2)
    assert latest.sha256 == after["sha256"]


def test_the_shipped_script_works_everything_out_again(released, check):
    folder, _ = released()
    status, said = check(folder)
    assert status == 0, said
    assert "WRONG" not in said
    assert re.search(r"ok  \d+ agreement figures", said)


@pytest.mark.parametrize(
    ("table", "column", "other", "said"),
    [
        ("finals", "category", "category_uid", "tables.json"),
        ("answers", "category", "category_uid", "agreement.json"),
    ],
)
def test_the_shipped_script_fails_on_a_changed_label(released, check, table, column, other, said):
    folder, _ = released()
    of_cause = [row for row in rows(folder, table) if row["facet"] == "cause" and row[column]]
    flipped = next(row for row in of_cause if row[column] != of_cause[0][column])

    def change(row):
        return row | {column: flipped[column], other: flipped[other]} if row == of_cause[0] else row

    written_anew(folder, table, change)
    status, told = check(folder)
    assert status == 1
    assert f"{table}.csv is not as it was published" in told
    assert said in told


def test_the_shipped_script_fails_on_two_labels_exchanged_behind_its_hashes(released, check):
    """Counts stay as they were: the other format tells."""
    folder, _ = released()
    by_bug = {row["bug"]: row for row in rows(folder, "finals") if row["facet"] == "cause" and row["category"]}
    one = next(iter(by_bug.values()))
    other = next(row for row in by_bug.values() if row["category_uid"] != one["category_uid"])

    def change(row):
        for mine, theirs in ((one, other), (other, one)):
            if row == mine:
                return row | {name: theirs[name] for name in ("category", "category_uid")}
        return row

    written_anew(folder, "finals", change)
    sums = folder / "SHA256SUMS"
    digest = hashlib.sha256((folder / "finals.csv").read_bytes()).hexdigest()
    sums.write_text(re.sub(r"^\w+  finals\.csv$", f"{digest}  finals.csv", sums.read_text(), flags=re.MULTILINE))
    status, told = check(folder)
    assert status == 1
    assert "of finals.csv is another in finals.jsonl" in told


def test_the_shipped_script_fails_where_a_file_is_gone(released, check):
    folder, _ = released()
    (folder / "history.csv").unlink()
    status, told = check(folder)
    assert status == 1
    assert "history.csv" in told


def test_agreement_in_the_release_is_that_of_the_page(released, labelled):
    folder, _ = released()
    hide = pseudonyms_of(labelled)
    of_page = {
        (entry["round"], entry["facet"], frozenset(map(hide, entry["raters"]))): (entry["n"], entry.get("kappa"))
        for entry in entries(labelled)
    }
    told = json.loads((folder / "agreement.json").read_text())
    of_file = {
        (entry["round"], entry["facet"], frozenset(entry["raters"])): (entry["n"], entry.get("kappa")) for entry in told
    }
    assert len(of_file) > 10
    assert of_file == of_page
    assert any(kappa is not None and 0 < kappa < 1 for _, kappa in of_file.values())


def test_nobody_is_named_who_did_not_agree(released, labelled):
    folder, _ = released("hidden")
    texts = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix not in (".parquet", ".py")}
    for name in (b"alice", b"bob", b"carol", b"ada", b"lee", b"octo-cat"):
        assert [path for path, text in texts.items() if re.search(rb"\b" + name + rb"\b", text)] == []
    named, _ = released("named", "--named", "alice")
    hide = pseudonyms_of(labelled)
    assert {row["rater"] for row in rows(named, "answers")} == {"alice", hide("bob"), hide("carol")}


@pytest.mark.parametrize(
    ("texts", "columns"),
    [("left_out", []), ("hashed", ["title_sha256", "body_sha256"]), ("included", ["title", "body"])],
)
def test_texts_are_let_out_as_the_lead_decides(released, labelled, texts, columns):
    folder, _ = released(texts, "--texts", texts)
    row = rows(folder, "bugs")[0]
    assert [name for name in row if name.startswith(("title", "body"))] == columns
    item = labelled.bugs.get(number=1).item
    if texts == "hashed":
        assert row["title_sha256"] == hashlib.sha256(item.title.encode()).hexdigest()
    assert ("title" in rows(folder, "side_by_side")[0]) == (texts == "included")
    assert "author" not in row


def test_authors_are_let_out_as_the_lead_decides(released):
    folder, _ = released("authors", "--authors", "pseudonyms")
    authors = {row["author"] for row in rows(folder, "bugs")}
    assert len(authors) == 2
    assert all(re.fullmatch(r"author-[0-9a-f]{8}", name) for name in authors - {""})
    folder, _ = released("named", "--authors", "included")
    assert "octo-cat" in {row["author"] for row in rows(folder, "bugs")}


def test_history_holds_what_answers_and_finals_do_not(released, labelled, alice):
    folder, _ = released()
    acts = [(row["act"], row["source"]) for row in rows(folder, "history")]
    assert ("decided", "adjudicated") in acts
    assert ("decided", "unanimous") not in acts


def test_an_open_round_is_in_no_file(released, labelled, alice, bob, lee):
    open_ = make_round(labelled, bugs=make_bugs(labelled, 2), raters=[alice, bob], by=lee, name="Unheard of")
    bug = labelled.bugs.get(number=13)
    answer(open_, bug, alice, {"cause": "api", "part": ["docs"], "impact": "low"}, note="Nobody reads this yet")
    folder, _ = released()
    for path in folder.iterdir():
        assert b"Nobody reads this yet" not in path.read_bytes(), path
        assert b"Unheard of" not in path.read_bytes(), path
    assert {row["bug"] for row in rows(folder, "answers")} == {str(number) for number in range(1, 12)}


def test_what_others_need_to_cite_and_deposit_it_is_there(released):
    folder, told = released()
    cited = yaml.safe_load((folder / "CITATION.cff").read_text())
    assert (cited["type"], cited["title"], cited["version"]) == ("dataset", "Bugs in tensor code", "1")
    deposit = json.loads((folder / ".zenodo.json").read_text())
    assert (deposit["upload_type"], deposit["version"]) == ("dataset", "1")
    card = (folder / "datacard.md").read_text()
    assert "Main round" in card
    assert told["sha256"] in card
    assert "CC-BY-4.0" in (folder / "LICENSE.md").read_text()


def test_other_programs_read_it_without_a_warning(released):
    folder, _ = released()
    ended = subprocess.run(
        [sys.executable, "-m", "tests.services.readers", str(folder)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    read = json.loads(ended.stdout)
    counts = json.loads((folder / "release.json").read_text())["rows"]
    assert read["pyarrow"] == counts
    assert read["pandas"] == read["duckdb"] == {table: [n] * 3 for table, n in counts.items()}
    assert read["croissant"] == {"errors": [], "warnings": [], "rows": counts}
    assert read["frictionless"] == {"valid": True, "errors": [], "warnings": [], "rows": counts}


def test_checks_say_what_is_open(released):
    _, told = released()
    checks = {each["check"]: each for each in told["checks"]}
    assert not checks["disputes"]["passed"]
    assert " for a decision" in checks["disputes"]["says"]
    assert all(checks[name]["passed"] for name in ("kappa", "counts", "same_bytes", "impossible", "personal"))
    assert "nothing is on record" in checks["flow"]["says"]


def test_a_token_in_a_note_keeps_the_release_back(released, labelled, alice, bob, lee, capsys, tmp_path):
    more = make_round(labelled, bugs=make_bugs(labelled, 1), raters=[alice], by=lee, name="More", overlap=1)
    given = {"cause": "api", "part": ["docs"], "impact": "low"}
    answer(more, labelled.bugs.get(number=13), alice, given, note=f"my key is ghp_{'a1B2' * 9} oh")
    from annotator.overview.rounds.closing import close_round

    close_round(round_=more, by=lee)
    with pytest.raises(SystemExit) as ended:
        call_command("release", labelled.slug, "--out", str(tmp_path / "x"))
    assert ended.value.code == 2
    assert "okens in" in capsys.readouterr().err
    assert not Release.objects.exists()
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no-such", "--out", "x"], "There is no study “no-such”."),
        (["tensors"], "required: --out"),
        (["tensors", "--out", "{folder}/full"], "holds other files"),
        (["tensors", "--out", "{folder}/full/file"], "is a file"),
        (["tensors", "--out", "{folder}/new", "--texts", "all"], "invalid choice"),
        (["tensors", "--out", "{folder}/new", "--named", "charlie"], "is no member"),
    ],
)
def test_bad_input_is_one_line_and_stores_nothing(labelled, tmp_path, capsys, arguments, said):
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").touch()
    with pytest.raises(SystemExit) as ended:
        call_command("release", *(each.format(folder=tmp_path) for each in arguments))
    assert ended.value.code == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1 and said in lines[0]
    assert not Release.objects.exists()
