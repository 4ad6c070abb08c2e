"""Tokens, e-mail addresses and names of people in the files of a release."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from django.db.models import Q

from annotator.accounts.models import User
from annotator.labeling.models import Answer
from annotator.publication.columns import TEXT
from annotator.publication.formats import CSV, PARQUET
from annotator.publication.options import Options
from annotator.publication.writing import SCRIPT, TableFiles, Written
from annotator.studies.models import Membership, Study

TOKENS = (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_", b"github_pat_", b"glpat-", b"AKIA", b"PRIVATE KEY-----")
TOKEN = re.compile(
    rb"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{20,}|\bAKIA[0-9A-Z]{16}\b|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
MAIL = re.compile(rb"(?<![\w.+-])[\w.+-]++@[A-Za-z0-9][A-Za-z0-9-]*(\.[A-Za-z0-9-]+)+")
SHORTEST = 3  # letters of a name that is looked for
AT_ONCE, OVERLAP = 1 << 22, 200
READ = ("json", "md")


def found_in(written: Written, study: Study, options: Options) -> dict[str, list[str]]:
    """What was found, to the files that hold it; of a table its CSV: the other formats hold the same."""
    names = [name.encode().lower() for name in hidden_names(study, options) if len(name) >= SHORTEST]
    texts = {each.files[CSV].path: texts_in(written.folder, each) for each in written.tables}
    for file in written.files:
        if file.path.endswith(READ) and file.path != SCRIPT:
            texts[file.path] = pieces(written.folder / file.path)
    found: dict[str, list[str]] = {}
    for path in sorted(texts):
        for what in sorted(kinds_in(texts[path], names)):
            found.setdefault(what, []).append(path)
    return found


def hidden_names(study: Study, options: Options) -> list[str]:
    """User names and display names of members and of raters who left, but for who is named or cited."""
    people = User.objects.filter(
        Q(pk__in=Membership.objects.filter(study=study).values("user"))
        | Q(pk__in=Answer.objects.filter(round__study=study).values("rater"))
    ).exclude(username__in=options.named)
    cited = " ".join(each["name"] for each in options.creators).casefold()
    found = {name.strip() for pair in people.values_list("username", "display_name") for name in pair}
    return sorted(name for name in found if name and name.casefold() not in cited)


def texts_in(folder: Path, each: TableFiles) -> Iterator[bytes]:
    """The columns' names, and each text once for a row group and column: in millions of rows few differ."""
    import pyarrow.parquet as pq  # 60 MB that most processes never need

    yield "\n".join(column.name for column in each.table.columns).encode()
    columns = [column.name for column in each.table.columns if column.kind == TEXT]
    with pq.ParquetFile(folder / each.files[PARQUET].path, read_dictionary=columns) as file:
        for batch in file.iter_batches(columns=columns):
            for values in batch.columns:
                yield "\n".join(values.dictionary.to_pylist()).encode()


def pieces(path: Path) -> Iterator[bytes]:
    """Overlapping, so that nothing is cut in two."""
    tail = b""
    with path.open("rb") as file:
        while piece := file.read(AT_ONCE):
            yield tail + piece
            tail = piece[-OVERLAP:]


def kinds_in(texts: Iterable[bytes], names: list[bytes]) -> set[str]:
    found = set()
    for text in texts:
        if any(mark in text for mark in TOKENS) and TOKEN.search(text):
            found.add("tokens")
        if b"@" in text and MAIL.search(text):
            found.add("e-mail addresses")
        low = text.lower()
        if any(name in low and re.search(rb"(?<![\w./-])" + re.escape(name) + rb"(?![\w/-])", low) for name in names):
            found.add("names of people")
    return found
