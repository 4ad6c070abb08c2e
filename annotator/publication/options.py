"""What the lead decides on a release: names, texts, authors of pull requests, figures, licence, and who made the data."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from annotator.accounts.models import User
from annotator.publication.models import Release
from annotator.studies.models import Membership, Study
from annotator.web.errors import BadInput
from annotator.web.texts import check_texts

LEFT_OUT, HASHED, INCLUDED, PSEUDONYMS = "left_out", "hashed", "included", "pseudonyms"
TEXTS = {
    LEFT_OUT: "Left out: the addresses lead to them",
    HASHED: "As SHA-256: who has the text can tell that it is the same",
    INCLUDED: "Included",
}
FIGURES = {INCLUDED: "Those that the study keeps", LEFT_OUT: "Left out"}
AUTHORS = {LEFT_OUT: "Left out", PSEUDONYMS: "Under pseudonyms", INCLUDED: "By their names there"}
LICENCES = {
    "CC-BY-4.0": ("Creative Commons Attribution 4.0", "https://creativecommons.org/licenses/by/4.0/"),
    "CC-BY-SA-4.0": (
        "Creative Commons Attribution-ShareAlike 4.0",
        "https://creativecommons.org/licenses/by-sa/4.0/",
    ),
    "CC0-1.0": ("Creative Commons Zero 1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
    "ODC-By-1.0": ("Open Data Commons Attribution 1.0", "https://opendatacommons.org/licenses/by/1-0/"),
}
ORCID = re.compile(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]")
MOST_TEXT = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """`named`: user names of those who agreed to be named; all others appear under pseudonyms.

    `creators`: who is to be cited, each {name, affiliation, orcid}; none: the study's team.
    """

    named: tuple[str, ...] = ()
    texts: str = LEFT_OUT
    authors: str = LEFT_OUT
    figures: str = INCLUDED
    licence: str = "CC-BY-4.0"
    creators: tuple[dict[str, str], ...] = ()
    description: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"named": list(self.named), "creators": [dict(each) for each in self.creators]}


def options_from(document: dict[str, Any]) -> Options:
    """As they are stored; what is not there is as by default."""
    known = {field.name for field in fields(Options)}
    given = {name: value for name, value in document.items() if name in known}
    for name in ("named", "creators"):
        given[name] = tuple(given.get(name, ()))
    return Options(**given)


def usual(study: Study) -> Options:
    """Those of the study's latest release."""
    latest = Release.objects.published().filter(study=study).order_by("-number").first()
    return options_from(latest.options) if latest else Options()


def changed(options: Options, given: Mapping[str, Any]) -> Options:
    """With what is given and not None in its place."""
    known = {field.name for field in fields(Options)}
    new = {name: value for name, value in given.items() if name in known and value is not None}
    return options_from(options.as_dict() | new)


def check(study: Study, options: Options) -> Options:
    for name, value, choices in (
        ("texts", options.texts, TEXTS),
        ("authors", options.authors, AUTHORS),
        ("figures", options.figures, FIGURES),
        ("licence", options.licence, LICENCES),
    ):
        if value not in choices:
            raise BadInput(f"For {name} take one of {', '.join(choices)}.")
    check_texts(options.as_dict(), "options")
    if len(options.description) > MOST_TEXT:
        raise BadInput(f"The description has more than {MOST_TEXT:,} characters.")
    check_people(study, options.named)
    for creator in options.creators:
        check_creator(creator)
    return options


def check_people(study: Study, named: tuple[str, ...]) -> None:
    members = Membership.objects.filter(study=study).values("user")
    known = set(User.objects.filter(pk__in=members, username__in=named).values_list("username", flat=True))
    if unknown := [name for name in named if name not in known]:
        raise BadInput(f"“{unknown[0][:60]}” is no member of the study, so there is nobody to name.")


def check_creator(creator: dict[str, str]) -> None:
    if set(creator) - {"name", "affiliation", "orcid"} or not all(isinstance(each, str) for each in creator.values()):
        raise BadInput("A creator has a name, and may have an affiliation and an ORCID.")
    if not creator.get("name", "").strip() or len(str(creator)) > 1_000:
        raise BadInput("A creator has a name, of a few hundred characters at most.")
    if (orcid := creator.get("orcid", "")) and not ORCID.fullmatch(orcid):
        raise BadInput(f"“{orcid[:40]}” is no ORCID, which looks like 0000-0002-1825-0097.")
