"""What the decision forms send."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict

from annotator.adjudication.item import OTHER, Item
from annotator.adjudication.queue import OPEN, STATES, Filters
from annotator.codebook.models import Category, Facet
from annotator.web.errors import BadInput


@dataclass(frozen=True)
class Decision:
    """A filled-in decision; kept on the page when something is wrong with it."""

    choice: str = ""
    other: tuple[str, ...] = ()
    reason: str = ""
    note: str = ""


def read(sent: QueryDict) -> Decision:
    return Decision(
        choice=sent.get("choice", ""),
        other=tuple(uid for uid in sent.getlist("other") if uid),
        reason=sent.get("reason", ""),
        note=sent.get("note", ""),
    )


def label_of(item: Item, decision: Decision) -> Sequence[Category]:
    """The categories behind the choice: of a side, of a proposal, or chosen from all."""
    if decision.choice == OTHER and item.facet:
        return categories(item.facet, decision.other)
    for pick in item.picks:
        if pick.key == decision.choice:
            return pick.label
    raise BadInput("Choose a label before you settle.")


def categories(facet: Facet, uids: Sequence[str]) -> list[Category]:
    found = list(Category.objects.filter(facet=facet, uid__in=uids))
    if len(found) != len(set(uids)):
        raise BadInput(f"{facet.name} has no such category. Load the page again: the codebook may have changed.")
    return found


def filters_of(sent: QueryDict) -> Filters:
    state = sent.get("state", OPEN)
    return Filters(
        facet=sent.get("of", "")[:60],
        round=sent.get("round", "")[:10],
        repository=sent.get("repo", "")[:300],
        state=state if state in STATES else OPEN,
    )


def query_of(filters: Filters, **more: str) -> str:
    """The filters as an address carries them."""
    state = "" if filters.state == OPEN else filters.state
    parts = {"of": filters.facet, "round": filters.round, "repo": filters.repository, "state": state} | more
    return urlencode({name: value for name, value in parts.items() if value})
