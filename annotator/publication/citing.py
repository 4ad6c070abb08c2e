"""How a release is cited: BibTeX, a sentence, CITATION.cff, and what Zenodo asks for."""

import datetime as dt
import re
from dataclasses import dataclass
from typing import Any

import yaml

TO_ESCAPE = re.compile(r"[\\{}$&#%_~^]")
IN_LATEX = {
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


@dataclass(frozen=True)
class Named:
    """A release with its number and day: what its content does not know."""

    number: int
    day: dt.date
    about: dict[str, Any]
    sha256: str

    @property
    def title(self) -> str:
        return f"{self.about['title']}, release {self.number}"

    @property
    def people(self) -> list[dict[str, str]]:
        return list(self.about["creators"])


def bibtex(named: Named) -> str:
    authors = " and ".join(f"{{{latex(each['name'])}}}" for each in named.people)
    return (
        f"@dataset{{{named.about['study']}-{named.number},\n"
        f"  title   = {{{latex(named.title)}}},\n"
        f"  author  = {{{authors}}},\n"
        f"  year    = {{{named.day.year}}},\n"
        f"  version = {{{named.number}}},\n"
        f"  note    = {{sha256:{named.sha256}}}\n"
        "}\n"
    )


def latex(text: str) -> str:
    return TO_ESCAPE.sub(lambda found: IN_LATEX.get(found[0], f"\\{found[0]}"), text)


def sentence(named: Named) -> str:
    people = ", ".join(each["name"] for each in named.people)
    return f"{people} ({named.day.year}). {named.title} [Data set]. sha256:{named.sha256}"


def cff(named: Named) -> str:
    document = {
        "cff-version": "1.2.0",
        "message": "If you use this data set, please cite it as below.",
        "type": "dataset",
        "title": named.about["title"],
        "abstract": named.about["description"],
        "authors": [cff_author(each) for each in named.people],
        "version": str(named.number),
        "date-released": named.day,
        "license": named.about["licence"]["id"],
        "identifiers": [
            {
                "type": "other",
                "value": f"sha256:{named.sha256}",
                "description": "The hash of the content of the release",
            }
        ],
    }
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)


def cff_author(person: dict[str, str]) -> dict[str, str]:
    """A person by family and given names, a team or a single word by its name."""
    given, _, family = person["name"].rpartition(" ")
    is_team = not given or "“" in person["name"]
    found = {"name": person["name"]} if is_team else {"family-names": family, "given-names": given}
    found |= {"affiliation": person["affiliation"]} if person.get("affiliation") and not is_team else {}
    return found | ({"orcid": f"https://orcid.org/{person['orcid']}"} if person.get("orcid") else {})


def zenodo(named: Named) -> dict[str, Any]:
    return {
        "title": named.about["title"],
        "upload_type": "dataset",
        "description": named.about["description"],
        "creators": [
            {key: each[key] for key in ("name", "affiliation", "orcid") if each.get(key)} for each in named.people
        ],
        "access_right": "open",
        "license": named.about["licence"]["id"].lower(),
        "version": str(named.number),
        "publication_date": named.day.isoformat(),
        "keywords": ["software bugs", "bug taxonomy", "manual labelling", "inter-rater agreement"],
        "notes": f"Content hash sha256:{named.sha256}. `python check.py` works the counts and kappas out again.",
    }
