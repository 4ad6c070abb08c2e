"""People come in, change what is theirs, and get keys for their programs."""

import datetime as dt
import re
import unicodedata
from collections.abc import Sequence

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.utils import timezone

from annotator.accounts.keys import digest_of, new_secret
from annotator.accounts.models import USERNAME, PasswordLink, Token, User
from annotator.history.actions import record
from annotator.web.errors import BadInput, Refused
from annotator.web.withdrawing import Brought, of_spans

SCOPES = ("read", "write", "runner")
LONGEST_DAYS = 366
LINK_LIFE = dt.timedelta(days=2)
NAME_LIMIT, DISPLAY_LIMIT = 60, 150
CONTROL = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


# --- people


@transaction.atomic
def create_user(*, username: str, by: User | None = None, password: str | None = None, display_name: str = "") -> User:
    """A new person; without a password they get in by a link alone."""
    if not USERNAME.match(username) or len(username) > NAME_LIMIT:
        raise BadInput(
            f"A user name has small letters, digits, dots and dashes, at most {NAME_LIMIT}, such as alice or bob-2."
        )
    if User.objects.filter(username=username).exists():
        raise BadInput(f"The user name {username} is taken. Choose another.")
    user = User(username=username, display_name=_line(display_name, "The display name", DISPLAY_LIMIT))
    _set_password(user, password)
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError:  # somebody else took it in this moment
        raise BadInput(f"The user name {username} is taken. Choose another.") from None
    record("joined", by=by or user, kind="user", object_id=user.pk, label=username)
    return user


def person_named(name: str, *, by: User | None = None) -> User:
    """The person of this user name, made without a password where there is none."""
    username = name if USERNAME.match(name) else slug_of(name)
    found = User.objects.filter(username=username).first()
    return found or create_user(username=username, by=by, display_name="" if name == username else name)


def slug_of(name: str) -> str:
    """A user name made of a free one: `Änne Õ. 2` becomes `anne-o-2`."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9._-]+", "-", plain).strip("-._")[:NAME_LIMIT].strip("-._")
    if not slug:
        raise BadInput(f"“{name[:60]}” gives no user name: use letters a to z or digits.")
    return slug


@transaction.atomic
def change_display_name(*, user: User, display_name: str) -> User:
    old = user.display_name
    user.display_name = _line(display_name, "The display name", DISPLAY_LIMIT)
    user.save(update_fields=["display_name"])
    record(
        "changed a display name",
        by=user,
        kind="user",
        object_id=user.pk,
        label=user.username,
        old=old,
        new=user.display_name,
    )
    return user


def _set_password(user: User, password: str | None) -> None:
    if password is None:
        user.set_unusable_password()
        return
    try:
        validate_password(password, user)
    except ValidationError as weak:
        raise BadInput(" ".join(weak.messages)) from None
    user.set_password(password)


def _line(text: str, what: str, limit: int) -> str:
    text = " ".join(text.split())
    if len(text) > limit or CONTROL.search(text):
        raise BadInput(f"{what} is one line of at most {limit} characters.")
    return text


@transaction.atomic
def withdraw_people(*, brought: Brought) -> None:
    """Inside the undo of an import: accounts that it made, which nobody has used and nothing points at by now."""
    never = User.objects.filter(last_login=None, password__startswith=UNUSABLE_PASSWORD_PREFIX)
    for rows in of_spans(User, brought.get("user", [])):
        for user in rows & never:
            try:
                with transaction.atomic():
                    user.delete()
            except ProtectedError:
                continue


# --- one-time links for a new password


@transaction.atomic
def make_password_link(*, user: User, by: User, study_id: int | None = None) -> str:
    """The secret of a link by which the person sets a new password; earlier links end."""
    now = timezone.now()
    PasswordLink.objects.filter(user=user, used_at=None).update(used_at=now)
    secret = new_secret()
    PasswordLink.objects.create(
        user=user,
        digest=digest_of(secret),
        created_by=by,
        expires_at=now + LINK_LIFE,
        replaces=digest_of(user.password),
    )
    record("made a password link", by=by, kind="user", object_id=user.pk, label=user.username, study_id=study_id)
    return secret


@transaction.atomic
def end_links_between(people: Sequence[User]) -> None:
    """Links that they made for one another work no more."""
    ids = sorted(person.pk for person in people)
    list(User.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk").values_list("pk"))
    PasswordLink.objects.filter(user__in=ids, created_by__in=ids, used_at=None).update(used_at=timezone.now())


def password_link(secret: str) -> PasswordLink | None:
    """The link, while it works: until it is used, or the password has changed in another way."""
    links = PasswordLink.objects.select_related("user")
    link = links.filter(
        digest=digest_of(secret), used_at=None, expires_at__gt=timezone.now(), user__is_active=True
    ).first()
    return link if link and link.replaces == digest_of(link.user.password) else None


@transaction.atomic
def set_password_by_link(*, secret: str, password: str) -> User:
    """Set it once: the link ends with this, and so do the person's sessions."""
    link = password_link(secret)
    if link is None:
        raise Refused("This link was used already or has ended. Ask for a new one.")
    user = link.user
    _set_password(user, password)
    if not PasswordLink.objects.filter(pk=link.pk, used_at=None).update(used_at=timezone.now()):
        raise Refused("This link was used already or has ended. Ask for a new one.")
    user.save(update_fields=["password"])
    record("set a password by a link", by=user, kind="user", object_id=user.pk, label=user.username)
    return user


# --- keys for programs


@transaction.atomic
def make_token(*, user: User, name: str, scopes: Sequence[str], days: int) -> tuple[Token, str]:
    """A key and its secret, which is shown this once."""
    name = _line(name, "The key's name", 100)
    if not name:
        raise BadInput("Give the key a name, so that you know later what uses it.")
    if not scopes or not set(scopes) <= set(SCOPES):
        raise BadInput("Choose what the key may do: read, write or runner.")
    if not 1 <= days <= LONGEST_DAYS:
        raise BadInput(f"A key lives between 1 and {LONGEST_DAYS} days.")
    secret = f"cc_{new_secret()}"
    token = Token.objects.create(
        user=user,
        name=name,
        digest=digest_of(secret),
        hint=secret[:8],
        scopes=[scope for scope in SCOPES if scope in scopes],
        expires_at=timezone.now() + dt.timedelta(days=days),
    )
    record(
        "made a key", by=user, kind="token", object_id=token.pk, label=name, new={"scopes": token.scopes, "days": days}
    )
    return token, secret


@transaction.atomic
def revoke_token(*, token: Token, by: User) -> None:
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        record("revoked a key", by=by, kind="token", object_id=token.pk, label=token.name)
