"""A bug that left is exported with why it did."""

import csv
import io

from annotator.publication.exports import export
from annotator.sampling.actions import leave


def test_why_it_left_stands_beside_the_bug(study, bugs, lee):
    leave(bugs=[bugs[1]], reason="duplicate", note="Of bug 1.", by=lee)
    text = b"".join(export(study, "bugs", "csv").pieces).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["left"], row["left_note"]) for row in rows[:2]] == [("", ""), ("duplicate", "Of bug 1.")]
