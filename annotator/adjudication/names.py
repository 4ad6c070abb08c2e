"""Whose answer is whose is kept from who may still decide on it, where the protocol says so."""

from django.db.models import QuerySet

from annotator.accounts.models import User
from annotator.adjudication.models import Dispute
from annotator.adjudication.queue import rated_by
from annotator.sampling.models import Bug
from annotator.studies.models import Role, Study
from annotator.studies.protocol import protocol_of


def nameless_bugs(study: Study, viewer: User, roles: frozenset[str]) -> set[int]:
    """Numbers of the bugs on which the viewer may decide without knowing the raters."""
    return set(_undecided(study, viewer, roles).values_list("bug__number", flat=True))


def is_nameless(bug: Bug, viewer: User, roles: frozenset[str]) -> bool:
    return _undecided(bug.study, viewer, roles).filter(bug=bug).exists()


def _undecided(study: Study, viewer: User, roles: frozenset[str]) -> "QuerySet[Dispute]":
    if Role.ADJUDICATOR not in roles or not protocol_of(study).hide_names:
        return Dispute.objects.none()
    return Dispute.objects.filter(study=study, is_open=True).exclude(rated_by(viewer))
