"""Who is in a study, for its pages."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone

from annotator.accounts.models import User
from annotator.studies.models import Invitation, Membership, Role, Study

KEY_LENGTH = 16


def person_in(study: Study, username: str) -> User:
    """The member of that user name."""
    person = User.objects.filter(username=username, memberships__study=study).first()
    if person is None:
        raise Http404("There is no such member.")
    return person


@dataclass(frozen=True, slots=True)
class Member:
    """A person with all their roles in the study."""

    user: User
    roles: tuple[str, ...]
    since: datetime
    experience: str
    tie: str

    @property
    def labels(self) -> list[str]:
        return [str(Role(role).label) for role in self.roles]


def members_of(study: Study) -> list[Member]:
    """By user name. One query."""
    rows = Membership.objects.filter(study=study).select_related("user").order_by("user__username", "pk")
    found: dict[int, list[Membership]] = {}
    for row in rows:
        found.setdefault(row.user_id, []).append(row)
    return [_member(held) for held in found.values()]


def _member(held: list[Membership]) -> Member:
    roles = {row.role for row in held}
    return Member(
        user=held[0].user,
        roles=tuple(role for role in Role.values if role in roles),
        since=min(row.since for row in held),
        experience=next((row.experience for row in held if row.experience), ""),
        tie=next((row.tie for row in held if row.tie), ""),
    )


@dataclass(frozen=True, slots=True)
class OwnStudy:
    study: Study
    roles: tuple[str, ...]


def studies_of(user: Any) -> list[OwnStudy]:
    """The person's studies with their roles, newest first. One query."""
    rows = Membership.objects.filter(user=user).select_related("study").order_by("-study__created_at", "-study_id")
    found: dict[Study, set[str]] = {}
    for row in rows:
        found.setdefault(row.study, set()).add(row.role)
    return [OwnStudy(study, tuple(_labels(roles))) for study, roles in found.items()]


def _labels(roles: Iterable[str]) -> list[str]:
    held = set(roles)
    return [str(Role(role).label) for role in Role.values if role in held]


def open_invitations(study: Study) -> list[Invitation]:
    rows = Invitation.objects.filter(study=study, used_at=None, revoked_at=None, expires_at__gt=timezone.now())
    return list(rows.select_related("created_by").order_by("-created_at", "-pk"))


def key_of(invitation: Invitation) -> str:
    """Names an invitation in an address without opening it: the start of its digest."""
    return invitation.digest[:KEY_LENGTH]


def invitation_named(study: Study, key: str) -> Invitation:
    """The invitation of this name, whole: a shorter one could mean another."""
    if len(key) != KEY_LENGTH:
        raise Http404("There is no such invitation.")
    return get_object_or_404(Invitation, study=study, digest__startswith=key)
