"""What reviewers ask of a study of this kind, and what its record answers.

After the Guidelines for Reporting Reliability and Agreement Studies (Kottner et al. 2011, GRRAS) and the ACM SIGSOFT
Empirical Standards on inter-rater agreement and on repository mining, in words of our own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotator.publication.methods import Part

GRRAS, SIGSOFT = "GRRAS", "ACM SIGSOFT"
RECORDED, PARTLY, MISSING, PAPER = "recorded", "partly", "missing", "in the paper"


@dataclass(frozen=True)
class Item:
    """One thing that is asked; `parts` of the methods answer it, none: the paper's text has to."""

    source: str
    number: str
    asks: str
    parts: tuple[str, ...] = ()


ITEMS = (
    Item(GRRAS, "1", "Title or abstract say that agreement among raters was studied"),
    Item(GRRAS, "2", "What is measured with, named and described", ("codebook",)),
    Item(GRRAS, "3", "Which population the subjects, here bugs, stand for", ("queries", "screening")),
    Item(GRRAS, "4", "Which population the raters stand for", ("raters",)),
    Item(GRRAS, "5", "What is known of agreement on this already, and why it is studied again"),
    Item(GRRAS, "6", "How the numbers of bugs, raters and repeats were chosen", ("sampling", "rounds")),
    Item(GRRAS, "7", "How bugs and raters were chosen", ("sampling", "raters")),
    Item(GRRAS, "8", "How rating went: order, what was seen, blindness", ("rounds",)),
    Item(GRRAS, "9", "Whether ratings were independent", ("rounds", "agreement")),
    Item(GRRAS, "10", "Which statistics, and why", ("agreement",)),
    Item(GRRAS, "11", "How many raters and bugs there were in fact, and how many repeats", ("rounds",)),
    Item(GRRAS, "12", "What raters and bugs were like: training, experience", ("raters", "sampling")),
    Item(GRRAS, "13", "Estimates of agreement with their uncertainty", ("agreement",)),
    Item(GRRAS, "14", "What the results mean in practice"),
    Item(GRRAS, "15", "Detailed results, such as tables for each pair", ("agreement",)),
    Item(SIGSOFT, "agreement 1", "What was rated, by how many, and what they could see", ("rounds", "raters")),
    Item(SIGSOFT, "agreement 2", "How raters were trained, and by which instructions", ("raters", "codebook")),
    Item(SIGSOFT, "agreement 3", "How disagreements were settled", ("disagreements",)),
    Item(SIGSOFT, "agreement 4", "Which coefficient, its value, and why it is high enough", ("agreement", "rounds")),
    Item(SIGSOFT, "mining 1", "Which sources, by which queries, when", ("queries",)),
    Item(SIGSOFT, "mining 2", "By which criteria items were kept or dropped", ("screening",)),
    Item(SIGSOFT, "mining 3", "How items were sampled, so that it can be repeated", ("sampling",)),
    Item(SIGSOFT, "general 1", "The data, the codebook and the scripts are there for others", ("codebook",)),
    Item(SIGSOFT, "general 2", "Deviations from what was planned, with reasons", ("deviations",)),
    Item(SIGSOFT, "general 3", "Threats to validity are discussed"),
)


def checklist(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """Each item with what the record answers: recorded, partly, missing, or left to the paper."""
    by_name = {part.name: part for part in parts}
    return [answered(item, [by_name[name] for name in item.parts]) for item in ITEMS]


def answered(item: Item, parts: Sequence[Part]) -> dict[str, Any]:
    missing = [each for part in parts for each in part.missing]
    state = PAPER if not parts else RECORDED if not missing else PARTLY if any(part.text for part in parts) else MISSING
    return {
        "source": item.source,
        "number": item.number,
        "asks": item.asks,
        "state": state,
        "where": [part.title for part in parts if part.text],
        "missing": missing,
    }
