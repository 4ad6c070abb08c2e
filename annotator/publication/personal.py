"""Tokens, e-mail addresses and user names in the files of a release."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from annotator.accounts.models import User
from annotator.publication.formats import CSV
from annotator.publication.options import Options
from annotator.publication.writing import SCRIPT, Written
from annotator.studies.models import Membership, Study

TOKENS = (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_", b"github_pat_", b"glpat-", b"AKIA", b"PRIVATE KEY-----")
TOKEN = re.compile(
    rb"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{20,}|\bAKIA[0-9A-Z]{16}\b|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
MAIL = re.compile(rb"[A-Za-z0-9][\w.+-]*@[A-Za-z0-9][A-Za-z0-9-]*(\.[A-Za-z0-9-]+)+")
SHORTEST = 3  # letters of a name that is looked for
AT_ONCE, OVERLAP = 1 << 22, 200
READ = (CSV, "json", "md")  # the other formats hold the same


def found_in(written: Written, study: Study, options: Options) -> dict[str, list[str]]:
    """What was found, to the files that hold it."""
    names = [name.encode() for name in hidden_names(study, options) if len(name) >= SHORTEST]
    found: dict[str, list[str]] = {}
    for file in written.files:
        if file.path.endswith(READ) and file.path != SCRIPT:
            for what in sorted(kinds_in(pieces(written.folder / file.path), names)):
                found.setdefault(what, []).append(file.path)
    return found


def hidden_names(study: Study, options: Options) -> list[str]:
    members = User.objects.filter(pk__in=Membership.objects.filter(study=study).values("user"))
    return [name for name in members.values_list("username", flat=True) if name not in options.named]


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
        if any(name in text and re.search(rb"(?<![\w./-])" + re.escape(name) + rb"(?![\w/-])", text) for name in names):
            found.add("user names")
    return found
