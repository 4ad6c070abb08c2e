"""Opening the next round: held back where the last one missed its gate, unless a reason is written."""

from typing import Any

from django.db import transaction

from annotator.accounts.models import User
from annotator.agreement.queries import entries_of
from annotator.labeling.actions import open_round
from annotator.labeling.follow_up import go_on_below_gate
from annotator.labeling.models import Round
from annotator.studies.models import Study
from annotator.web.errors import BadInput

PASSED = "passed"


def missed_facets(round_: Round) -> list[str]:
    """Facets whose gate was not passed, in the codebook's order; none where the round is open or has no gate."""
    if not round_.gate_coefficient:
        return []
    missed = [
        entry["facet"] for entry in entries_of(round_) if (entry.get("gate") or {}).get("result") not in (None, PASSED)
    ]
    return list(dict.fromkeys(missed))


def held_back_by(study: Study) -> Round | None:
    """The latest closed main round, where it missed its gate and nobody has said why the study goes on."""
    latest = (
        Round.objects.filter(study=study, kind=Round.Kind.MAIN, state=Round.State.CLOSED).order_by("-number").first()
    )
    if latest is None or latest.gate_continued_at or not missed_facets(latest):
        return None
    return latest


@transaction.atomic
def open_next_round(*, study: Study, by: User, reason: str = "", **options: Any) -> Round:
    """As `open_round`; a main round after a missed gate needs the reason why the study goes on."""
    held = held_back_by(study) if options.get("kind", Round.Kind.MAIN) == Round.Kind.MAIN else None
    if held:
        if not reason.strip():
            raise BadInput(
                f"{held.name} missed its gate. Say why the study goes on below it, or open a training round first."
            )
        go_on_below_gate(round_=held, reason=reason, by=by)
    return open_round(study=study, by=by, **options)
