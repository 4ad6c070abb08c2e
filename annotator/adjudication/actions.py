"""Settling what raters differ on. Nothing here touches an answer, so nothing here moves the blind numbers."""

from django.db import transaction

from annotator.accounts.models import User
from annotator.adjudication import settling
from annotator.adjudication.models import Resolution
from annotator.history.actions import record
from annotator.labeling.models import Round


@transaction.atomic
def settle_at_close(*, round_: Round, by: User | None) -> int:
    """Settle what nobody differs on; the caller closes or imports in the same transaction. How many labels.

    Training, retest and audit rounds make no final labels.
    """
    if round_.kind not in settling.FINAL_KINDS or round_.is_open:
        return 0
    count = settling.settle_round(round_)
    record(
        "settled what nobody differs on",
        by=by,
        kind="round",
        object_id=round_.pk,
        label=round_.name,
        study_id=round_.study_id,
        new={"labels": count},
    )
    return count


@transaction.atomic
def forget_settled(*, round_: Round, by: User | None) -> int:
    """Take back what settled itself in an imported round, before an import that it rests on is undone."""
    if round_.state != Round.State.IMPORTED:
        return 0
    itself = [Resolution.Source.UNANIMOUS, Resolution.Source.SINGLE]
    count, _ = Resolution.objects.filter(round=round_, source__in=itself).delete()
    record(
        "took back what had settled itself",
        by=by,
        kind="round",
        object_id=round_.pk,
        label=round_.name,
        study_id=round_.study_id,
        new={"labels": count},
    )
    return count
