"""Votes that a sheet brought, taken back inside the undo of its import."""

from django.db import transaction

from annotator.screening.models import Candidate, Screening, Vote
from annotator.web.withdrawing import Brought, take_out

KINDS = (
    ("vote", Vote, "a screening vote"),
    ("candidate", Candidate, "a candidate of screening"),
    ("screening", Screening, "a screening"),
)


@transaction.atomic
def withdraw_votes(*, brought: Brought) -> None:
    """Call `importing.forget_derived` before: what follows from the votes stands on them."""
    take_out(brought, KINDS)
