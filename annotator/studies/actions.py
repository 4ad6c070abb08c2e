"""Studies begin, people join them, and the protocol stands."""

import datetime as dt
import re
from collections.abc import Collection, Iterable, Sequence

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotator.accounts.actions import CONTROL, create_user, make_password_link
from annotator.accounts.keys import digest_of, new_secret
from annotator.accounts.models import User
from annotator.history.actions import record
from annotator.studies import protocol as protocols
from annotator.studies.access import may_reset
from annotator.studies.models import Deviation, Invitation, Membership, Role, Study
from annotator.studies.protocol import Protocol, protocol_of
from annotator.web.errors import BadInput, Refused
from annotator.web.withdrawing import Brought, of_spans

SLUG = re.compile(r"[a-z0-9-]{1,60}\Z")
TAKEN_BY_PAGES = {
    "accounts",
    "account",
    "api",
    "join",
    "reset",
    "new",
    "static",
    "healthz",
    "readyz",
    "metrics",
    "help",
}
INVITATION_LIFE = dt.timedelta(days=14)


@transaction.atomic
def start_study(
    *, slug: str, title: str, by: User | None, question: str = "", protocol: Protocol | None = None
) -> Study:
    """An empty study; whoever starts it in the browser leads it."""
    if not SLUG.match(slug):
        raise BadInput("A study's short name has small letters, digits and dashes, at most 60, such as dl-bugs.")
    if slug in TAKEN_BY_PAGES or Study.objects.filter(slug=slug).exists():
        raise BadInput(f"The short name {slug} is taken. Choose another.")
    title, question = _checked(title, question)
    laid_down = protocol or Protocol()
    protocols.check(laid_down)
    study = Study(slug=slug, title=title, question=question, protocol=laid_down.as_dict(), created_by=by)
    try:
        with transaction.atomic():
            study.save()
    except IntegrityError:  # somebody else took it in this moment
        raise BadInput(f"The short name {slug} is taken. Choose another.") from None
    record(
        "started the study", by=by, kind="study", object_id=study.pk, label=title, study_id=study.pk, new={"slug": slug}
    )
    if by:
        give_role(study=study, user=by, role=Role.LEAD, by=by)
    return study


@transaction.atomic
def describe_study(*, study: Study, title: str, question: str, by: User) -> bool:
    """Another title or research question. The short name stays: it stands in addresses. False where nothing changed."""
    study = Study.objects.select_for_update().get(pk=study.pk)
    title, question = _checked(title, question)
    was = {"title": study.title, "question": study.question}
    now = {"title": title, "question": question}
    changed = [name for name in now if now[name] != was[name]]
    if not changed:
        return False
    study.title, study.question = title, question
    study.save(update_fields=changed)
    record(
        "described the study",
        by=by,
        kind="study",
        object_id=study.pk,
        label=title,
        study_id=study.pk,
        old={name: was[name] for name in changed},
        new={name: now[name] for name in changed},
    )
    return True


def _checked(title: str, question: str) -> tuple[str, str]:
    title = " ".join(title.split())
    if not title or len(title) > 200 or CONTROL.search(title):
        raise BadInput("A study needs a title, in one line of at most 200 characters.")
    if len(question) > 10_000 or "\0" in question:
        raise BadInput("The question may have at most 10,000 characters.")
    return title, question.strip()


# --- members


@transaction.atomic
def give_role(*, study: Study, user: User, role: str, by: User | None) -> Membership:
    _check_roles([role])
    membership, is_new = Membership.objects.get_or_create(study=study, user=user, role=role)
    if is_new:
        _record_member("gave a role", study, user, by=by, new={"role": role})
    return membership


@transaction.atomic
def set_roles(*, study: Study, user: User, roles: Sequence[str], by: User) -> None:
    """Exactly these roles; with none the person leaves the study, their answers stay."""
    Study.objects.select_for_update().get(pk=study.pk)
    if roles:
        _check_roles(roles)
    mine = Membership.objects.filter(study=study, user=user)
    old = sorted(mine.values_list("role", flat=True))
    if not old:
        raise BadInput(f"{user.username} is not a member of this study. Send an invitation instead.")
    others = Membership.objects.filter(study=study, role=Role.LEAD).exclude(user=user)
    if Role.LEAD in old and Role.LEAD not in roles and not others.exists():
        raise Refused("A study needs a lead. Give that role to somebody else first.")
    if set(old) == set(roles):
        return
    mine.exclude(role__in=roles).delete()
    for role in set(roles) - set(old):
        Membership.objects.create(study=study, user=user, role=role)
    _record_member("changed roles" if roles else "removed a member", study, user, by=by, old=old, new=sorted(roles))


@transaction.atomic
def withdraw_members(*, study: Study, brought: Brought, staying: Collection[int], by: User) -> None:
    """Inside the undo of an import: roles that it gave to people who never signed in, but those of `staying`, by id."""
    for rows in of_spans(Membership, brought.get("membership", [])):
        for member in rows.filter(study=study, user__last_login=None).exclude(user__in=staying).select_related("user"):
            member.delete()
            _record_member("removed a member", study, member.user, by=by, old=[member.role], why="import undone")


@transaction.atomic
def describe_member(*, study: Study, user: User, experience: str, tie: str, by: User) -> None:
    """What a reader of the paper wants to know of a rater."""
    texts = [" ".join(text.split()) for text in (experience, tie)]
    if any(len(text) > 200 or CONTROL.search(text) for text in texts):
        raise BadInput("Experience and tie are one line each, of at most 200 characters.")
    mine = Membership.objects.filter(study=study, user=user)
    if mine.exclude(experience=texts[0], tie=texts[1]).update(experience=texts[0], tie=texts[1]):
        _record_member("described a member", study, user, by=by, new={"experience": texts[0], "tie": texts[1]})


@transaction.atomic
def make_reset_link(*, study: Study, user: User, by: User) -> str:
    """The secret of a one-time link by which the person sets a new password."""
    if not may_reset(by, user):
        raise Refused(
            f"{user.username} belongs to a study that you do not lead, so only an administrator may reset this password."
        )
    return make_password_link(user=user, by=by, study_id=study.pk)


# --- invitations


@transaction.atomic
def invite(*, study: Study, roles: Sequence[str], by: User, note: str = "") -> tuple[Invitation, str]:
    """A link for one person, and its secret, which is shown this once."""
    _check_roles(roles)
    note = " ".join(note.split())
    if len(note) > 200 or CONTROL.search(note):
        raise BadInput("For whom it is has to be one line of at most 200 characters.")
    secret = new_secret()
    invitation = Invitation.objects.create(
        study=study,
        roles=[role for role in Role.values if role in roles],
        note=note,
        digest=digest_of(secret),
        created_by=by,
        expires_at=timezone.now() + INVITATION_LIFE,
    )
    _record_invitation("invited", invitation, by=by)
    return invitation, secret


@transaction.atomic
def revoke_invitation(*, invitation: Invitation, by: User) -> None:
    open_ones = Invitation.objects.filter(pk=invitation.pk, used_at=None, revoked_at=None)
    if not open_ones.update(revoked_at=timezone.now()):
        raise Refused("This invitation was used or revoked already.")
    _record_invitation("revoked an invitation", invitation, by=by)


def invitation_for(secret: str) -> Invitation | None:
    """The invitation, while its link works."""
    rows = Invitation.objects.select_related("study", "created_by")
    return rows.filter(digest=digest_of(secret), used_at=None, revoked_at=None, expires_at__gt=timezone.now()).first()


@transaction.atomic
def accept(*, secret: str, user: User) -> Study:
    """Join by the link: it works once."""
    invitation = invitation_for(secret)
    open_ones = Invitation.objects.filter(digest=digest_of(secret), used_at=None, revoked_at=None)
    if invitation is None or not open_ones.update(used_at=timezone.now(), used_by=user):
        raise Refused("This invitation was used, revoked or has ended. Ask for a new one.")
    _record_invitation("accepted an invitation", invitation, by=user)
    for role in invitation.roles:
        give_role(study=invitation.study, user=user, role=role, by=user)
    return invitation.study


@transaction.atomic
def accept_as_newcomer(*, secret: str, username: str, password: str, display_name: str = "") -> tuple[User, Study]:
    """Join with a new user name and password."""
    if invitation_for(secret) is None:
        raise Refused("This invitation was used, revoked or has ended. Ask for a new one.")
    user = create_user(username=username, password=password, display_name=display_name)
    return user, accept(secret=secret, user=user)


# --- the protocol


@transaction.atomic
def change_protocol(*, study: Study, protocol: Protocol, reason: str, by: User) -> Deviation | None:
    """A change is a deviation: it stands beside the old wording, with its reason."""
    study = Study.objects.select_for_update().get(pk=study.pk)
    protocols.check(protocol)
    old, new = protocol_of(study).as_dict(), protocol.as_dict()
    if old == new:
        return None
    if not reason.strip() or len(reason) > 10_000 or "\0" in reason:
        raise BadInput("Write down why the protocol changes; the reason is kept with it.")
    changed = {name for name in new if new[name] != old[name]}
    was, now = {n: old[n] for n in sorted(changed)}, {n: new[n] for n in sorted(changed)}
    study.protocol = new
    study.save(update_fields=["protocol"])
    deviation = Deviation.objects.create(study=study, by=by, old=was, new=now, reason=reason.strip())
    record(
        "deviated from the protocol",
        by=by,
        kind="study",
        object_id=study.pk,
        label=study.title,
        study_id=study.pk,
        old=was,
        new=now,
        why=reason.strip(),
    )
    return deviation


# --- in common


def _check_roles(roles: Iterable[str]) -> None:
    chosen = list(roles)
    unknown = [role for role in chosen if role not in Role.values]
    if unknown or not chosen:
        wrong = f"“{unknown[0][:40]}” is no role. " if unknown else ""
        raise BadInput(f"{wrong}Choose among {', '.join(Role.values)}.")


def _record_member(verb: str, study: Study, user: User, *, by: User | None, **more: object) -> None:
    record(verb, by=by, kind="member", object_id=user.pk, label=user.username, study_id=study.pk, **more)  # type: ignore[arg-type]  # old and new


def _record_invitation(verb: str, invitation: Invitation, *, by: User) -> None:
    record(
        verb,
        by=by,
        kind="invitation",
        object_id=invitation.pk,
        label=invitation.note,
        study_id=invitation.study_id,
        new={"roles": invitation.roles},
    )
