"""Opening the next round: held back where the last one missed its gate, unless a reason is written."""

from typing import Any

from django.db import transaction

from annotator.accounts.models import User
from annotator.agreement.actions import continue_below_gate
from annotator.agreement.queries import gate_of
from annotator.labeling.actions import open_round
from annotator.labeling.models import Round
from annotator.studies.models import Study
from annotator.web.errors import BadInput


def held_back_by(study: Study) -> Round | None:
    """The latest closed main round, where it missed its gate and nobody has said why the study goes on."""
    closed = Round.objects.filter(study=study, kind=Round.Kind.MAIN, state=Round.State.CLOSED)
    latest = closed.order_by("-number").first()
    return latest if latest and gate_of(latest).needs_reason else None


@transaction.atomic
def open_next_round(*, study: Study, by: User, reason: str = "", **options: Any) -> Round:
    """As `open_round`; a main round after a missed gate needs the reason why the study goes on."""
    held = held_back_by(study) if options.get("kind", Round.Kind.MAIN) == Round.Kind.MAIN else None
    if held and not reason.strip():
        raise BadInput(f"{held.name} missed its gate. Say why the study goes on below it, or open a training round.")
    if held:
        continue_below_gate(round_=held, reason=reason, by=by)
    return open_round(study=study, by=by, **options)
