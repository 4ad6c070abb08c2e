"""What a release holds besides tables: codebook, protocol, agreement, counts, and how it is described."""

import json
from collections.abc import Callable
from typing import Any

from annotator.agreement import queries as agreement
from annotator.agreement.entries import Entry
from annotator.analysis.queries import questions_of
from annotator.analysis.tables import tables
from annotator.codebook.models import Codebook, Version
from annotator.labeling.models import Round
from annotator.publication.checklist import checklist
from annotator.publication.methods import parts_of
from annotator.publication.options import LICENCES, Options
from annotator.publication.pseudonyms import Hide
from annotator.studies.models import Deviation, Study
from annotator.studies.protocol import protocol_of

Part = Callable[[Study], Any]
BESIDE: dict[str, Part] = {}  # path to what makes it: what only a stage above this one knows


def contribute(path: str, make: Part) -> None:
    """A stage above gives each release a JSON document: called once, when the server starts."""
    BESIDE[path] = make


def documents_of(study: Study, options: Options, hide: Hide) -> dict[str, Any]:
    """By path, each to be written as JSON."""
    pooled = agreement.pooled(study)
    parts = parts_of(study, hide, pooled=pooled)
    return {
        "methods.json": [part.document() for part in parts],
        "checklist.json": checklist(parts),
        "about.json": about(study, options),
        "codebook.json": codebook(study),
        "protocol.json": protocol(study, hide),
        "agreement.json": hidden_entries(agreement.entries(study), hide),
        "agreement-pooled.json": hidden_entries(pooled, hide),
        "tables.json": counts(study),
        **{path: make(study) for path, make in BESIDE.items()},
    }


def as_json(document: Any) -> bytes:
    """The same bytes for the same content."""
    return (json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def counts(study: Study) -> dict[str, Any]:
    """`names` tells how they call a category, by its uid."""
    return tables(study) | {"names": {code.uid: code.name for each in questions_of(study) for code in each.codes}}


def about(study: Study, options: Options) -> dict[str, Any]:
    """What the data set is called, whose it is, and what was decided on names and texts."""
    name, url = LICENCES[options.licence]
    return {
        "study": study.slug,
        "title": study.title,
        "question": study.question,
        "description": description(study, options),
        "creators": creators(study, options),
        "licence": {"id": options.licence, "name": name, "url": url},
        "names": "pseudonyms, but for those who agreed to be named" if options.named else "pseudonyms",
        "texts": options.texts,
        "authors": options.authors,
    }


def description(study: Study, options: Options) -> str:
    usual = f"Bugs labelled by hand for the study “{study.title}”, each by several raters, with all answers and the final labels."
    return options.description.strip() or " ".join(filter(None, [usual, study.question.strip()]))


def creators(study: Study, options: Options) -> list[dict[str, str]]:
    given = [{key: value.strip() for key, value in each.items() if value.strip()} for each in options.creators]
    return given or [{"name": f"The team of “{study.title}”"}]


def codebook(study: Study) -> dict[str, Any]:
    """Every published version, so that each answer's own is there."""
    book = Codebook.objects.get(study=study)
    versions = Version.objects.filter(codebook=book).order_by("number")
    return {
        "title": book.title,
        "source": book.source,
        "version": book.number,
        "versions": [
            {
                "number": version.number,
                "digest": version.digest,
                "published_at": version.published_at.isoformat(),
                "reason": version.reason,
                "codebook": version.document,
            }
            for version in versions
        ],
    }


ROUND = ("number", "name", "kind", "state", "blindness", "design", "overlap", "seed", "shares_codes")
GATE = ("gate_coefficient", "gate_method", "gate_bound", "gate_min_n", "gate_continued_reason")


def protocol(study: Study, hide: Hide) -> dict[str, Any]:
    """How labels were to be decided, what was changed about that, and the rounds that are over."""
    deviations = Deviation.objects.filter(study=study).order_by("pk").select_related("by")
    rounds = Round.objects.with_agreement().filter(study=study).order_by("number").select_related("codebook_version")
    return {
        "protocol": protocol_of(study).as_dict(),
        "deviations": [
            {
                "at": deviation.at.isoformat(),
                "by": hide(deviation.by.username),
                "old": deviation.old,
                "new": deviation.new,
                "reason": deviation.reason,
            }
            for deviation in deviations
        ],
        "rounds": [round_document(round_) for round_ in rounds],
    }


def round_document(round_: Round) -> dict[str, Any]:
    return {
        **{name: getattr(round_, name) for name in ROUND},
        "codebook_version": round_.codebook_version.number if round_.codebook_version else None,
        "gate": {name.removeprefix("gate_"): getattr(round_, name) for name in GATE},
        "opened_at": round_.opened_at.isoformat(),
        "closed_at": round_.closed_at.isoformat() if round_.closed_at else None,
    }


# --- agreement under other names


def hidden_entries(entries: list[Entry], hide: Hide) -> list[Entry]:
    """Raters sorted by the names that they have in the release, tables turned to match."""
    return [_hidden(entry, hide) for entry in entries]


def _hidden(entry: Entry, hide: Hide) -> Entry:
    names = [hide(name) for name in entry["raters"]]
    if len(names) != 2 or names == sorted(names):
        return entry | {"raters": sorted(names)}
    return _turned(entry) | {"raters": sorted(names)}


def _turned(entry: Entry) -> Entry:
    turned: Entry = {}
    if square := entry.get("table"):
        turned["table"] = square | {"counts": [list(row) for row in zip(*square["counts"], strict=True)]}
    if rows := entry.get("categories"):
        turned["categories"] = [row | {"votes": row["votes"][::-1]} for row in rows]
    return entry | turned
