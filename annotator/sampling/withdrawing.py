"""Bugs that a sheet brought, taken back inside the undo of its import."""

from django.db import transaction

from annotator.sampling.models import Bug
from annotator.web.withdrawing import Brought, take_out


@transaction.atomic
def withdraw_bugs(*, brought: Brought) -> None:
    take_out(brought, [("bug", Bug, "a bug")])
