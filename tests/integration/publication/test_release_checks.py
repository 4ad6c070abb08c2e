"""Checks before a release is published: each can fail, and what must hold keeps the release back."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotator.publication import releasing
from annotator.publication.actions import Refused
from annotator.publication.models import Release
from annotator.publication.options import Options
from annotator.publication.writing import write


def made_with(monkeypatch, change):
    """As if the files came out otherwise: `change` is given their folder."""

    def written(study, options, folder, **rest):
        found = write(study, options, folder, **rest)
        change(folder)
        return found

    monkeypatch.setattr(releasing, "write", written)


def another_label(table, facet):
    """The first label of the facet becomes another of its labels, in the CSV."""

    def change(folder):
        path = folder / f"{table}.csv"
        lines = path.read_bytes().split(b"\r\n")
        names = lines[0].split(b",")
        places = [names.index(name) for name in (b"category", b"category_uid")]
        of_facet = [at for at, line in enumerate(lines) if f",{facet},0,".encode() in line]
        cells = [lines[at].split(b",") for at in of_facet]
        other = next(row for row in cells if row[places[1]] != cells[0][places[1]])
        for place in places:
            cells[0][place] = other[place]
        lines[of_facet[0]] = b",".join(cells[0])
        path.write_bytes(b"\r\n".join(lines))

    return change


def cut_off(folder):
    """Killed: the script says nothing and ends with no 0."""
    (folder / "check.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")


@pytest.mark.parametrize(
    ("table", "said"), [("finals", "counts of final labels differ"), ("answers", "agreement figures differ")]
)
def test_a_changed_label_keeps_the_release_back(labelled, monkeypatch, table, said):
    made_with(monkeypatch, another_label(table, "cause"))
    with pytest.raises(Refused, match=said):
        releasing.make(labelled, Options(), by=None)
    assert not Release.objects.exists()


def test_a_check_that_was_cut_off_is_none_that_passed(labelled, monkeypatch):
    made_with(monkeypatch, cut_off)
    with pytest.raises(RuntimeError, match=r"check\.py ended with -9"):
        releasing.make(labelled, Options(), by=None)
    assert not Release.objects.exists()


def other_notes(folder):
    table = pq.read_table(folder / "answers.parquet")
    place = table.schema.get_field_index("note")
    notes = pa.array(["another"] * len(table), pa.string())
    pq.write_table(table.set_column(place, table.schema.field(place), notes), folder / "answers.parquet")


def test_a_table_that_says_otherwise_in_another_format_keeps_the_release_back(labelled, monkeypatch):
    made_with(monkeypatch, other_notes)
    with pytest.raises(Refused, match=r"Read back, these are others: answers\.csv, answers\.jsonl"):
        releasing.make(labelled, Options(), by=None)
    assert not Release.objects.exists()
