"""A harvest in words: what is asked for, and what came of it."""

from collections.abc import Sequence

from annotator.collection.access import GITHUB
from annotator.collection.wanted import GITHUB_OPENED, Wanted

KINDS = {"pull_request": "pull requests", "issue": "issues"}
MOMENTS = {"merged": "merged", "closed": "closed", "created": "opened", "updated": "last changed"}
REASONS = {
    "404": "not found",
    "410": "deleted",
    "451": "blocked for legal reasons",
    "403": "closed to the token",
    "no_answer": "no answer",
    "unreadable": "unreadable answer",
    "words": "without such a word in title or label",
    "limit": "older than the newest that were wanted",
}
FEW = 4


def in_words(wanted: Wanted, host: str = GITHUB) -> str:
    """One or two sentences, such as a paper's section on data collection has them."""
    place = "" if host == GITHUB else f" on {host}"
    if wanted.listed:
        count = len(wanted.listed)
        things = "pull request or issue" if count == 1 else "pull requests and issues"
        return f"{count:,} {things} of {several(wanted.repositories)}{place}, named one by one."
    sentence = f"{_things(wanted)} of {several(wanted.repositories)}{place}, {_time(wanted)}{_narrowed(wanted)}."
    if wanted.limit is not None:
        each = " of each repository" if len(wanted.repositories) > 1 else ""
        sentence += f" The newest {wanted.limit:,}{each}."
    return sentence[:1].upper() + sentence[1:]


def _things(wanted: Wanted) -> str:
    state = "" if wanted.state == wanted.moment else wanted.state  # what was merged then is merged
    return f"{state} {KINDS[wanted.kind]}".strip()


def _time(wanted: Wanted) -> str:
    verb = MOMENTS[wanted.moment]
    if wanted.first == GITHUB_OPENED and wanted.last is None:
        return f"{verb} until now"
    since = "" if wanted.first == GITHUB_OPENED else f" from {_day(wanted.first)}"
    until = "until now" if wanted.last is None else f"to {_day(wanted.last)}"
    return f"{verb}{since} {until}{' (UTC days, both included)' if wanted.last else ''}"


def _day(day: object) -> str:
    return f"{day:%-d %B %Y}"


def _narrowed(wanted: Wanted) -> str:
    found = ""
    if wanted.authors:
        found += f", opened by {either(wanted.authors)}"
    if wanted.labels:
        labels = [f"“{label}”" for label in wanted.labels]
        found += f", with the label{'s' if len(labels) > 1 else ''} {several(labels, most=99)}"
    if wanted.words:
        found += f", where a word of the title or of a label begins with {either(wanted.words)}"
    return found


def several(names: Sequence[str], *, most: int = FEW) -> str:
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"
    return _joined(names, "and")


def either(names: Sequence[str]) -> str:
    return _joined(names, "or")


def _joined(names: Sequence[str], word: str) -> str:
    return f"{', '.join(names[:-1])} {word} {names[-1]}" if len(names) > 1 else "".join(names)


def reason_in_words(reason: str) -> str:
    said = REASONS.get(reason, reason)
    return f"{reason}: {said}" if reason.isdigit() and said != reason else said
