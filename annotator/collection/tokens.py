"""A study's keys to GitHub: stored sealed, shown by name, wiped when removed. Nothing here is sent to GitHub."""

import hashlib
import re

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from annotator.accounts.models import User
from annotator.collection.access import hosts
from annotator.collection.models import GitHubToken
from annotator.collection.sealing import seal
from annotator.history.actions import record
from annotator.studies.models import Study
from annotator.web.errors import BadInput, Refused

TOKEN = re.compile(r"[!-~]{1,500}")
LONGEST_NAME = 100


@sensitive_variables("token", "row")
@transaction.atomic
def store_token(*, study: Study, host: str, name: str, token: str, by: User) -> GitHubToken:
    """It is used for this host alone, and from now on by name alone."""
    name = _name(name)
    if not TOKEN.fullmatch(token.strip()):
        raise BadInput("A GitHub token is one word of printable letters: copy it whole, and nothing else.")
    if host not in hosts():
        raise BadInput(f"“{host[:100]}” is no host that this server may ask. The administrator sets GITHUB_HOSTS.")
    row = GitHubToken(
        study=study,
        host=host,
        name=name,
        digest=hashlib.sha256(token.strip().encode()).hexdigest(),
        sealed=seal(token.strip(), study_id=study.pk, host=host),
        added_by=by,
    )
    _save(row)
    record("stored a token", by=by, kind="token", object_id=row.pk, label=name, study_id=study.pk, new={"host": host})
    return row


def _name(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise BadInput(f"Give the token a name of at most {LONGEST_NAME} characters, so that it is known by it.")
    if TOKEN.fullmatch(name) and name.startswith(("ghp_", "gho_", "ghs_", "ghu_", "github_pat_")):
        raise BadInput("The name looks like a token: give it a name by which everybody may know it.")
    return name


def _save(row: GitHubToken) -> None:
    present = GitHubToken.objects.present(row.study)
    if present.filter(name=row.name).exists():
        raise BadInput(f"There is a token called “{row.name}”: choose another name, or remove that one first.")
    if same := present.filter(host=row.host, digest=row.digest).first():
        raise BadInput(f"That token is stored already, as “{same.name}”.")
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:  # somebody else stored it in this moment
        raise BadInput("A token of that name, or the same one, was stored a moment ago.") from None


@transaction.atomic
def remove_token(*, row: GitHubToken, by: User) -> None:
    """What was sealed is wiped; that it was there stays known."""
    removed = GitHubToken.objects.filter(pk=row.pk, removed_at=None).update(sealed="", removed_at=timezone.now())
    if not removed:
        raise Refused(f"The token “{row.name}” was removed already.")
    record("removed a token", by=by, kind="token", object_id=row.pk, label=row.name, study_id=row.study_id)


def mark_refused(*, study: Study, host: str, digest: str) -> None:
    """GitHub no longer takes it: it is sent no more."""
    rows = GitHubToken.objects.filter(study=study, host=host, digest=digest, removed_at=None, refused_at=None)
    for row in rows:
        with transaction.atomic():
            if GitHubToken.objects.filter(pk=row.pk, refused_at=None).update(refused_at=timezone.now()):
                label = row.name
                record("lost a token", by=None, kind="token", object_id=row.pk, label=label, study_id=study.pk)


def mark_used(*, study: Study, host: str, digests: list[str]) -> None:
    GitHubToken.objects.filter(study=study, host=host, digest__in=digests, removed_at=None).update(
        used_at=timezone.now()
    )
