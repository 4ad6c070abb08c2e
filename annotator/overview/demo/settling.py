"""What was settled of the demo's first main round; the rest is left for whoever tries it."""

from collections.abc import Mapping, Sequence

from annotator.accounts.models import User
from annotator.adjudication.actions import adjudicate, take_stand
from annotator.adjudication.models import Stand
from annotator.codebook.models import Category, Facet
from annotator.overview.demo.content import DemoBug, PullRequest, Settlement
from annotator.sampling.models import Bug

DISCUSSED = "discussed"


def settle(rows: Sequence[tuple[Bug, PullRequest, DemoBug]], *, cast: Mapping[str, User]) -> None:
    for bug, _, demo in rows:
        for settlement in demo.settled:
            facet = Facet.objects.get(codebook__study=bug.study_id, key=settlement.facet)
            label = Category.objects.get(facet=facet, name=demo.labels[facet.key])
            if settlement.by == DISCUSSED:
                _concede(bug, demo, facet, cast)
            else:
                _decide(bug, facet, label, settlement, by=cast[settlement.by])


def _concede(bug: Bug, demo: DemoBug, facet: Facet, cast: Mapping[str, User]) -> None:
    """Whoever was wrong accepts the other's label; then both have confirmed one, and it is settled."""
    for name, vote in demo.votes.items():
        is_right = vote.answers[facet.key] == demo.labels[facet.key]
        move = Stand.Move.KEEP if is_right else Stand.Move.ACCEPT
        why = "" if is_right else "Right: I looked at the call and not at what it is for."
        take_stand(bug=bug, facet=facet, move=move, why=why, by=cast[name])


def _decide(bug: Bug, facet: Facet, label: Category, settlement: Settlement, *, by: User) -> None:
    adjudicate(bug=bug, facet=facet, categories=[label], reason=settlement.reason, note=settlement.note, by=by)
