"""Closing a round: one moment, one transaction, three stages."""

from django.db import transaction

from annotator.accounts.models import User
from annotator.adjudication.actions import settle_at_close
from annotator.adjudication.derived import derive_all
from annotator.agreement.actions import take_snapshot
from annotator.labeling.actions import freeze
from annotator.labeling.models import Round
from annotator.overview.changes.changing import carry_out_waiting, hold


@transaction.atomic
def close_round(*, round_: Round, by: User) -> Round:
    """Freeze the round, count the agreement on its blind answers, and settle what nobody differs on.

    With the last open round come the changes of the codebook that waited for it.
    """
    hold(round_.study_id)
    closed = freeze(round_=round_, by=by)
    take_snapshot(round_=closed, by=by)
    settle_at_close(round_=closed, by=by)
    carry_out_waiting(study=closed.study, by=by)
    derive_all(study=closed.study, by=by)
    return closed
