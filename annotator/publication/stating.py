"""What is done with findings: stated, changed by a further version, withdrawn."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotator.accounts.models import User
from annotator.history.actions import record
from annotator.publication.findings import check_sentence, read_asked
from annotator.publication.models import Finding
from annotator.studies.models import Study
from annotator.web.errors import BadInput, Refused
from annotator.web.texts import check_text


@transaction.atomic
def state(*, study: Study, sentence: str, asked: Mapping[str, Any], by: User) -> Finding:
    """A new finding, under the study's next number."""
    checked, wanted = check_sentence(sentence), read_asked(study, asked)
    Study.objects.select_for_update().get(pk=study.pk)
    latest = Finding.objects.filter(study=study).aggregate(latest=Max("number"))["latest"] or 0
    finding = Finding.objects.create(
        study=study, number=latest + 1, sentence=checked, asked=wanted.as_dict(), written_by=by
    )
    _record("stated a finding", finding, by=by)
    return finding


@transaction.atomic
def change(*, finding: Finding, sentence: str, asked: Mapping[str, Any], why: str, by: User) -> Finding:
    """A further version; the one before stays as it was."""
    checked, wanted = check_sentence(sentence), read_asked(finding.study, asked)
    held = _standing(finding)
    Finding.objects.filter(pk=held.pk).update(is_current=False, why=_reason(why))
    new = Finding.objects.create(
        study=held.study,
        number=held.number,
        version=held.version + 1,
        sentence=checked,
        asked=wanted.as_dict(),
        written_by=by,
    )
    _record("changed a finding", new, by=by, why=why, old=held.sentence)
    return new


@transaction.atomic
def withdraw(*, finding: Finding, why: str, by: User) -> None:
    """It is in no further release."""
    held = _standing(finding)
    Finding.objects.filter(pk=held.pk).update(withdrawn_at=timezone.now(), why=_reason(why))
    _record("withdrew a finding", held, by=by, why=why)


def _standing(finding: Finding) -> Finding:
    held = Finding.objects.select_for_update(of=("self",)).select_related("study").get(pk=finding.pk)
    if not held.is_current or held.withdrawn_at:
        raise Refused("This finding was changed or withdrawn meanwhile. Load the page again.")
    return held


def _reason(why: str) -> str:
    check_text(why, "why")
    if not why.strip():
        raise BadInput("Say why the finding is changed or withdrawn.")
    return why.strip()[:2_000]


def _record(verb: str, finding: Finding, *, by: User, why: str = "", old: Any = None) -> None:
    record(
        verb,
        by=by,
        kind="finding",
        object_id=finding.pk,
        label=f"finding {finding.number}",
        study_id=finding.study_id,
        old=old,
        new={"sentence": finding.sentence, "asked": finding.asked},
        why=why,
    )
