"""What the page of a release shows, read from its own files: a later change of the study changes nothing here."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotator.publication.citing import Named, bibtex, sentence
from annotator.publication.comparing import ADDED, CHANGED, GONE, SAME
from annotator.publication.contents import HOLDS
from annotator.publication.describing import CHANGES
from annotator.publication.frozen import document
from annotator.publication.keeping import read
from annotator.publication.models import Release
from annotator.publication.reading import tells_names
from annotator.publication.writing import FIGURES

FORMATS = {
    "csv": "CSV", "jsonl": "JSON lines", "parquet": "Parquet", "json": "JSON", "md": "Markdown", "cff": "CFF", "py": "Python",
}  # fmt: skip
BESIDE = {
    ".zenodo.json": "what Zenodo asks for at a deposit",
    "CITATION.cff": "how to cite it",
    "LICENSE.md": "what others may do with it",
    "SHA256SUMS": "the hash of every other file",
    "about.json": "title, makers, what was decided on names and texts",
    "agreement.json": "κ, intervals, n, reason codes per round",
    "agreement-pooled.json": "the same over all main rounds",
    "changes.json": "what is another since the release before",
    "check.py": "works counts and kappas out again, with Python alone",
    "checklist.json": "what reviewers ask for, and where it is",
    "codebook.json": "every version, with ids and definitions",
    "columns.md": "every column",
    "croissant.json": "machine-readable description",
    "datacard.md": "how it was made, limits, licence",
    "datapackage.json": "the same for Frictionless",
    "figures.json": "what each figure shows, and its files",
    "findings.json": "sentences with their numbers",
    "flow.json": "from found to settled",
    "methods.json": "the same, part by part",
    "methods.md": "the methods paragraph",
    "protocol.json": "how labels were to be decided, deviations, rounds",
    "release.json": "number, day, hash",
    "tables.json": "counts of final labels",
}
SHOWN = 4  # examples of changed labels
LISTED = 300  # bugs, and answers, on the page of two releases


@dataclass(frozen=True)
class FileLine:
    path: str
    format: str
    holds: str
    bytes: int
    sha256: str
    is_withheld: bool

    @property
    def short(self) -> str:
        return f"{self.sha256[:8]}…{self.sha256[-4:]}"


@dataclass(frozen=True)
class Change:
    """A line of what is another: how often, and why."""

    what: str
    n: int
    cause: str


WAYS = [("bibtex", "BibTeX"), ("text", "Text"), ("cff", "CFF")]


@dataclass(frozen=True)
class Citation:
    bibtex: str
    text: str
    cff: str


def files_shown(release: Release, *, withholds: bool) -> list[FileLine]:
    """Tables first, each format beside the others; `withholds` those that tell names. Pictures are shown by themselves."""
    files = [file for file in release.manifest if not file["path"].startswith(f"{FIGURES}/")]
    lines = [file_line(file, withholds=withholds) for file in files]
    tables = list(HOLDS)

    def place(line: FileLine) -> tuple[int, str]:
        stem = line.path.partition(".")[0]
        return (tables.index(stem) if stem in tables else len(tables), line.path)

    return sorted(lines, key=place)


def file_line(file: dict[str, Any], *, withholds: bool) -> FileLine:
    path = file["path"]
    return FileLine(
        path=path,
        format=FORMATS.get(path.rpartition(".")[2], "text") if "." in path else "text",
        holds=BESIDE.get(path) or holds(path),
        bytes=file["bytes"],
        sha256=file["sha256"],
        is_withheld=withholds and tells_names(path),
    )


def holds(path: str) -> str:
    """A table is described once: its other formats hold the same."""
    stem, _, ending = path.partition(".")
    return {"jsonl": "the same, an object a line", "parquet": "the same, typed"}.get(ending) or HOLDS.get(stem, "")


def figures_of(release: Release) -> list[dict[str, Any]]:
    return document(release, f"{FIGURES}.json") or []


def cited(release: Release) -> Citation:
    about = document(release, "about.json")
    assert release.number and release.published_at  # noqa: S101  # a published one has both
    named = Named(release.number, release.published_at.date(), about, release.sha256)
    cff = next(file["sha256"] for file in release.manifest if file["path"] == "CITATION.cff")
    return Citation(bibtex(named), sentence(named), read(cff).decode())


def changes_of(release: Release) -> dict[str, Any] | None:
    found: dict[str, Any] | None = document(release, CHANGES)
    return found


def change_lines(changes: dict[str, Any], facets: dict[str, str]) -> list[Change]:
    lines = [Change("Bugs added", changes["bugs_added"], "")]
    by_facet: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for label in changes["labels"]:
        by_facet[label["facet"]].append(label)
    for facet, n in changes["counts"].items():
        lines.append(Change(f"{facets.get(facet, facet)} changed", n, some(by_facet[facet])))
    for name in changes["names"]:
        lines.append(Change("Category renamed, id kept", 1, f"{name['before']} → {name['after']}"))
    left = changes["bugs_left"]
    lines.append(
        Change("Bugs withdrawn", len(left) + changes["bugs_gone"], ", ".join(f"bug {bug}" for bug in left[:SHOWN]))
    )
    return lines


def shown(found: dict[str, Any], facets: dict[str, str], *, withholds: bool) -> dict[str, Any]:
    """Two releases compared, as a page shows it: facets by their names, files that differ with whether they may be had."""
    bugs, answers = found["bugs"], found["answers"]
    listed = [each | {"facet_name": facets.get(each["facet"], each["facet"])} for each in answers["listed"][:LISTED]]
    files = [each | {"is_withheld": withholds and tells_names(each["path"])} for each in found["files"]]
    of_files = Counter(file["change"] for file in files)
    return {
        "bugs": bugs | {"listed": bugs["listed"][:LISTED], "all": sum(bugs["counts"].values())},
        "answers": answers | {"listed": listed, "all": sum(answers["facets"].values())},
        "labels": [{"name": facets.get(facet, facet), "n": n} for facet, n in found["counts"].items()],
        "codebook": found["codebook"],
        "files": [file for file in files if file["change"] != SAME],
        "of_files": [of_files[change] for change in (ADDED, GONE, CHANGED)],
        "same": of_files[SAME],
    }


def some(labels: Sequence[dict[str, Any]]) -> str:
    told = "; ".join(f"{place_of(label)}: {label['cause']}" for label in labels[:SHOWN])
    return told if len(labels) <= SHOWN else f"{told}; …"


def place_of(label: dict[str, Any]) -> str:
    return f"{label['repository']}#{label['number']}" if label["number"] else f"bug {label['bug']}"


def facet_names(release: Release) -> dict[str, str]:
    book = document(release, "codebook.json")
    listed = book["versions"][-1]["codebook"]["facets"] if book and book["versions"] else []
    return {facet["id"]: facet.get("name", facet["id"]) for facet in listed}


def checks_of(release: Release) -> tuple[list[dict[str, Any]], int]:
    return release.checks, sum(each["passed"] for each in release.checks)
