"""Who may enter a study, and as what."""

from django.core.exceptions import PermissionDenied
from django.db import connection
from django.http import Http404

from annotator.accounts.models import User
from annotator.history.models import Event
from annotator.studies.models import Invitation, Membership, Role, Study


def roles_in(user: object, study: Study) -> frozenset[str]:
    """The person's roles there; empty for a stranger."""
    return frozenset(Membership.objects.filter(study=study, user=user).values_list("role", flat=True))  # type: ignore[misc]  # any user object


def study_for(user: object, slug: str, *roles: str) -> Study:
    """The study, if the person belongs to it and, where roles are named, holds one of them.

    Another's study does not exist (404); a missing role in one's own is said (403).
    The person's roles come along as `study.my_roles`.
    """
    study = Study.objects.filter(slug=slug).first()
    mine = roles_in(user, study) if study and getattr(user, "is_authenticated", False) else frozenset()
    if study is None or not mine:
        raise Http404("There is no such study.")
    if roles and not mine & set(roles):
        wanted = " or ".join(Role(role).label.lower() for role in roles)
        raise PermissionDenied(f"This needs the role {wanted} in the study.")
    study.my_roles = mine
    return study


def share_study(study_id: int) -> None:
    """Share the study's row with others who decide, and shut out who deals bugs or brings in a sheet."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM studies_study WHERE id = %s FOR SHARE", [study_id])


def may_reset(lead: User, person: User) -> bool:
    """Whether the lead may set this person's password anew: only where the lead leads all the person's studies."""
    if person == lead or not person.is_active:
        return False
    if lead.is_superuser:
        return True
    if person.is_superuser:
        return False
    theirs = set(Membership.objects.filter(user=person).values_list("study_id", flat=True)) - unasked(person)
    led = set(Membership.objects.filter(user=lead, role=Role.LEAD).values_list("study_id", flat=True))
    return bool(theirs) and theirs <= led


def unasked(person: User) -> set[int | None]:
    """Studies that took the person in by naming a user name that was there, in a sheet: nobody is theirs by that."""
    named = Event.objects.filter(kind="membership", verb="joined the study", why="import", label=person.username)
    made = Event.objects.filter(kind="user", verb="made an account", label=person.username).values("study_id")
    accepted = Invitation.objects.filter(used_by=person).values("study_id")
    return set(named.exclude(study_id__in=made).exclude(study_id__in=accepted).values_list("study_id", flat=True))
