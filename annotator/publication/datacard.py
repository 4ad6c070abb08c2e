"""The data card: how the data came about, what they hold and what they do not, in a page of Markdown."""

from collections import Counter
from typing import Any

from annotator.agreement.numbers import short
from annotator.analysis.formats import markdown_text
from annotator.labeling.models import Round
from annotator.publication.citing import Named, sentence
from annotator.publication.contents import HOLDS
from annotator.publication.writing import FIGURES, Written
from annotator.stats.reasons import SENTENCES

BLINDNESS = {
    "enforced": "enforced: until the round closed nobody could see another's answers",
    "declared": "declared by who brought the answers in, not enforced here",
    "unknown": "unknown",
    "no": "not blind",
}
SAID = {
    "left_out": "left out",
    "hashed": "as SHA-256 alone",
    "included": "included",
    "pseudonyms": "under pseudonyms",
}


def datacard(named: Named, written: Written) -> str:
    about, documents = named.about, written.documents
    parts = [
        f"# {markdown_text(named.title)}\n\n{about['description']}",
        f"{sentence(named)}\n\nLicence: {about['licence']['name']}, <{about['licence']['url']}>. See LICENSE.md.",
        "## Tables\nEach as CSV (RFC 4180, UTF-8), JSON lines and Parquet, with the same rows.\n\n" + tables(written),
        "## How labels came about\n" + rounds(documents["protocol.json"]["rounds"]),
        "## Agreement\n" + agreement(documents["agreement.json"]),
        *figures(documents.get(f"{FIGURES}.json", [])),
        "## Names and texts\n" + names(about),
        "## Limits\n" + limits(documents),
        CHECKING,
    ]
    return "\n\n".join(parts) + "\n"


CHECKING = """## Checking
`python check.py` needs nothing but Python: it compares every file with its hash, counts the final labels again and works
out every kappa again from the answers. `sha256sum -c SHA256SUMS` compares the files alone. `croissant.json` and
`datapackage.json` describe every column for programs, `columns.md` for people."""


def tables(written: Written) -> str:
    rows = [f"| {each.table.name} | {each.rows:,} | {HOLDS[each.table.name]} |" for each in written.tables]
    return "\n".join(["| table | rows | holds |", "| --- | ---: | --- |", *rows])


def rounds(listed: list[dict[str, Any]]) -> str:
    if not listed:
        return "No round is over yet: there are no answers."
    kinds = dict(Round.Kind.choices)
    return "\n".join(
        f"- Round {each['number']}, {markdown_text(each['name'])} ({kinds[each['kind']].lower()}): blindness {BLINDNESS[each['blindness']]}; "
        f"codebook version {each['codebook_version'] or 'not known'}."
        for each in listed
    )


def agreement(entries: list[dict[str, Any]]) -> str:
    rows = []
    for entry in entries:
        if "fleiss" in entry:
            continue
        interval = entry["ci"] and f"{short(entry['ci'][0])} to {short(entry['ci'][1])}"
        value = short(entry["kappa"]) if entry["kappa"] is not None else SENTENCES.get(entry["reason"], "–")
        whose = [markdown_text(each) for each in (entry["round"], entry["facet"], " and ".join(entry["raters"]))]
        said = [str(entry["n"]), value, interval or "–", entry["blindness"]]
        rows.append(f"| {' | '.join([*whose, *said])} |")
    if not rows:
        return "There is none."
    head = [
        "| round | facet | raters | n | Cohen's kappa | 95 % interval | blindness |",
        "| --- | --- | --- | ---: | ---: | --- | --- |",
    ]
    return "On blind answers alone, before anything was discussed or decided.\n\n" + "\n".join([*head, *rows])


def figures(listed: list[dict[str, Any]]) -> list[str]:
    """A section, where there are any."""
    rows = [
        f"| {markdown_text(each['title'])} | {markdown_text(each['shows'])} | {', '.join(each['files'].values())} |"
        for each in listed
    ]
    head = "## Figures\nDrawn from these data; `figures.json` says what each shows.\n\n| figure | of | files |\n| --- | --- | --- |"
    return ["\n".join([head, *rows])] if rows else []


def names(about: dict[str, Any]) -> str:
    return (
        f"Raters and deciders: {about['names']}. A pseudonym is the same in all releases of the study. With two raters the "
        "authors of a paper can be guessed, and notes are as they were written.\n"
        f"Titles and texts of pull requests and issues: {SAID[about['texts']]}. Their authors: {SAID[about['authors']]}."
    )


def limits(documents: dict[str, Any]) -> str:
    found = ["Rounds that were open when this was made are not in it."]
    unknown = Counter(
        each["blindness"] for each in documents["protocol.json"]["rounds"] if each["blindness"] != "enforced"
    )
    if unknown:
        found.append("The blindness of some answers was not enforced: see above.")
    if documents.get("flow.json", {}).get("balanced") is False:
        found.append("The flow from found to settled does not add up: flow.json says where.")
    return "\n".join(f"- {each}" for each in found)
