"""What a rater sends, checked against the codebook before anything is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotator.codebook.choices import Choices, FacetChoices
from annotator.codebook.models import Facet
from annotator.labeling.models import Assignment
from annotator.web.errors import BadInput
from annotator.web.texts import check_texts

LONGEST_NOTE = 20_000
MOST_PINS = 50


@dataclass(frozen=True)
class Pin:
    """A quote pinned as evidence; `anchor` is the element's id on the bug's page."""

    kind: str
    anchor: str
    place: str
    quote: str


@dataclass(frozen=True)
class Submission:
    """One rater's answers on one bug: category uids by facet key.

    `not_a_bug` is the reason (uid or name) where the verdict is "not a bug"; then there are no other answers.
    `key` is made by the page once: the same key sent twice counts once.
    """

    answers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    not_a_bug: str = ""
    confidence: str = ""
    note: str = ""
    pins: Sequence[Pin] = ()
    active_seconds: int = 0
    key: str = ""
    assisted: frozenset[str] = frozenset()  # facets where a suggestion was shown


Chosen = tuple[int, int, int]  # facet id, category id, slot


def check(submission: Submission, choices: Choices) -> list[Chosen]:
    """The rows to store, or BadInput naming the first answer that cannot be taken."""
    if len(submission.note) > LONGEST_NOTE:
        raise BadInput(f"The rationale has more than {LONGEST_NOTE:,} characters. Shorten it; the rest is kept.")
    if len(submission.pins) > MOST_PINS:
        raise BadInput(f"More than {MOST_PINS} pins. Remove some.")
    check_texts([submission.note, *((pin.anchor, pin.place, pin.quote) for pin in submission.pins)])
    if submission.confidence not in ("", *Assignment.Confidence.values):
        raise BadInput("Confidence is sure, fairly or unsure, or not given.")
    verdict = choices.verdict
    if submission.not_a_bug:
        if verdict is None or choices.not_a_bug_id is None:
            raise BadInput("This codebook has no verdict, so a bug cannot be marked as not a bug.")
        if choices.reason(submission.not_a_bug) is None:
            raise BadInput(f"“{submission.not_a_bug}” is not among the reasons why something is not a bug.")
        return [(verdict.id, choices.not_a_bug_id, 0)]
    unknown = sorted(set(submission.answers) - set(choices.facets) - {Facet.VERDICT})
    if unknown:
        raise BadInput(f"The codebook has no facet “{unknown[0]}”.")
    rows = [
        row for facet in choices.facets.values() for row in check_facet(facet, submission.answers.get(facet.key, ()))
    ]
    if verdict and choices.bug_id:
        rows.append((verdict.id, choices.bug_id, 0))
    return rows


def check_facet(facet: FacetChoices, chosen: Sequence[str]) -> list[Chosen]:
    uids = list(dict.fromkeys(uid for uid in chosen if uid))
    if facet.decided != Facet.Decided.BLIND:
        if uids:
            raise BadInput(f"{facet.name} is not answered by raters: it is decided otherwise in this study.")
        return []
    if not uids:
        hint = " or not applicable" if facet.is_optional else ""
        raise BadInput(f"{facet.name} has no answer yet. Choose a category{hint}.")
    if len(uids) > 1 and not facet.is_many:
        raise BadInput(f"{facet.name} takes one answer, {len(uids)} were sent.")
    for uid in uids:
        if uid not in facet.categories:
            raise BadInput(f"{facet.name} has no category “{uid}”. Load the page again: the codebook may have changed.")
    return [(facet.id, facet.categories[uid], slot) for slot, uid in enumerate(uids)]
