"""What is written about agreement: its count when a round closes, and the reason to go on below the gate."""

import hashlib
import json

from django.db import transaction
from django.utils import timezone

from annotator.accounts.models import User
from annotator.agreement.comparing import AS_ANSWERED, recompute
from annotator.agreement.entries import Entry
from annotator.agreement.models import Snapshot
from annotator.agreement.queries import gate_of
from annotator.history.actions import record
from annotator.labeling.models import Round
from annotator.stats.gates import FAILED, NOT_COMPUTABLE
from annotator.web.errors import BadInput, Refused

LONGEST_REASON = 4000


@transaction.atomic
def take_snapshot(*, round_: Round, by: User | None) -> Snapshot:
    """Count the round's blind answers and keep the result. Counting the same answers again stores nothing new."""
    round_ = Round.objects.select_for_update(of=("self",)).select_related("codebook_version").get(pk=round_.pk)
    if round_.is_open:
        raise Refused("The round is open: its agreement is counted when it closes.")
    entries = recompute(round_)
    digest = digest_of(entries)
    current = Snapshot.objects.filter(round=round_, basis=AS_ANSWERED, is_current=True).first()
    if current is not None and current.digest == digest:
        return current
    if current is not None and round_.state == Round.State.CLOSED:
        raise Refused("The agreement of a closed round stays as it was counted at the close.")
    Snapshot.objects.filter(round=round_, basis=AS_ANSWERED, is_current=True).update(is_current=False)
    taken = Snapshot.objects.create(round=round_, basis=AS_ANSWERED, entries=entries, digest=digest)
    record(
        "counted agreement",
        by=by,
        kind="snapshot",
        object_id=taken.pk,
        label=round_.name,
        study_id=round_.study_id,
        old=current.digest if current else None,
        new=digest,
    )
    return taken


def digest_of(entries: list[Entry]) -> str:
    """SHA-256 of the canonical JSON."""
    canonical = json.dumps(entries, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


@transaction.atomic
def continue_below_gate(*, round_: Round, reason: str, by: User) -> Round:
    """Write down why the study goes on although the gate was not passed. It is said once and stays."""
    round_ = Round.objects.select_for_update(of=("self",)).get(pk=round_.pk)
    reason = reason.strip()
    if not reason or "\x00" in reason:
        raise BadInput("Write why the study goes on below the gate: readers of the data set will ask.")
    if len(reason) > LONGEST_REASON:
        raise BadInput(f"The reason has more than {LONGEST_REASON:,} characters. Shorten it.")
    if gate_of(round_).result not in (FAILED, NOT_COMPUTABLE):
        raise Refused("There is nothing to go on below: this round's gate is passed, absent or not answered yet.")
    if round_.gate_continued_at is not None:
        raise Refused("A reason was written down already and stays.")
    round_.gate_continued_reason = reason
    round_.gate_continued_at, round_.gate_continued_by = timezone.now(), by
    round_.save(update_fields=["gate_continued_reason", "gate_continued_at", "gate_continued_by"])
    record(
        "continued below the gate",
        by=by,
        kind="round",
        object_id=round_.pk,
        label=round_.name,
        study_id=round_.study_id,
        why=reason,
    )
    return round_


@transaction.atomic
def forget_counts(*, round_: Round, by: User | None) -> int:
    """Remove the counts of an imported round, when the import that made the round is undone. The history keeps that they were."""
    round_ = Round.objects.select_for_update(of=("self",)).get(pk=round_.pk)
    if round_.state != Round.State.IMPORTED:
        raise Refused("The agreement of a closed round stays: only an import can be undone.")
    gone = list(Snapshot.objects.filter(round=round_).order_by("pk").values_list("digest", flat=True))
    Snapshot.objects.filter(round=round_).delete()
    if gone:
        record(
            "forgot the agreement of an undone import",
            by=by,
            kind="round",
            object_id=round_.pk,
            label=round_.name,
            study_id=round_.study_id,
            old=gone,
        )
    return len(gone)
