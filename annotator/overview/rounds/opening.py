"""Opening the next round: held back where the last one missed its gate, unless a reason is written."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db import transaction

from annotator.accounts.models import User
from annotator.adjudication.models import Resolution
from annotator.agreement.actions import continue_below_gate
from annotator.agreement.queries import gate_of
from annotator.labeling.models import Round
from annotator.labeling.opening import open_round
from annotator.sampling.models import Bug
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
    refuse_adjudicators(study, bugs=options["bugs"], raters=options["raters"])
    if held:
        continue_below_gate(round_=held, reason=reason, by=by)
    return open_round(study=study, by=by, **options)


def refuse_adjudicators(study: Study, *, bugs: Sequence[Bug], raters: Sequence[User]) -> None:
    """Who decided on a bug as adjudicator has read its raters' answers, and does not rate it."""
    decided: dict[str, set[int]] = defaultdict(set)
    standing = Resolution.objects.current().filter(study=study, by__in=raters)
    for name, number in standing.values_list("by__username", "bug__number"):
        decided[name].add(number)
    for name, numbers in sorted(decided.items()):
        if both := sorted(numbers & {bug.number for bug in bugs}):
            listed = ", ".join(map(str, both[:5])) + (" and more" if len(both) > 5 else "")
            raise BadInput(f"{name} adjudicated bug {listed}: leave out these bugs, or choose another rater.")
