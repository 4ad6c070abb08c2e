"""Writing the rules of screening: beforehand freely, later as a late one with a reason; never rewritten."""

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotator.accounts.models import User
from annotator.history.actions import record
from annotator.screening.models import Criterion, CriterionQuerySet, Screening
from annotator.studies.models import Study
from annotator.web.errors import BadInput, Refused

TAKEN_BY_PAGE = "IEXZCO"  # keys of the reading page
KEYS = [key for key in "123456789ABDFGHJKLMNPQRSTUVWY" if key not in TAKEN_BY_PAGE]
LONGEST_NAME, LONGEST_TEXT = 80, 4000


@transaction.atomic
def write(
    *, study: Study, kind: str, name: str, text: str = "", hotkey: str = "", late_reason: str = "", by: User
) -> Criterion:
    """Add a criterion. While a screening is open it is a late one, and says why."""
    Study.objects.select_for_update().get(pk=study.pk)
    if kind not in Criterion.Kind.values:
        raise BadInput("Say whether the criterion has to hold (include) or keeps a candidate out (exclude).")
    name, text = _checked(study, kind, name, text)
    is_late = Screening.objects.open().filter(study=study).exists()
    if is_late and not late_reason.strip():
        raise BadInput("A screening is open: say why the criterion comes only now. The reason stands beside it.")
    last = Criterion.objects.filter(study=study, kind=kind).aggregate(last=Max("position"))["last"] or 0
    criterion = Criterion.objects.create(
        study=study,
        kind=kind,
        position=last + 1,
        name=name,
        text=text,
        hotkey=_hotkey(study, kind, hotkey),
        added_by=by,
        late_reason=late_reason.strip() if is_late else "",
    )
    _tell("added a criterion late" if is_late else "wrote a criterion", criterion, by=by, why=criterion.late_reason)
    return criterion


@transaction.atomic
def reword(*, criterion: Criterion, name: str, text: str, hotkey: str, by: User) -> Criterion:
    """Change the words until the study's first screening opens; afterwards the key alone."""
    Study.objects.select_for_update().get(pk=criterion.study_id)
    study = criterion.study
    name, text = _checked(study, criterion.kind, name, text, but=criterion)
    if (name, text) != (criterion.name, criterion.text) and has_opened(study):
        raise Refused("Candidates were read by these words. Retire the criterion with a reason, and write another.")
    old = [criterion.name, criterion.text, criterion.hotkey]
    criterion.name, criterion.text = name, text
    criterion.hotkey = _hotkey(study, criterion.kind, hotkey, but=criterion) if hotkey else ""
    criterion.save(update_fields=["name", "text", "hotkey"])
    _tell("reworded a criterion", criterion, by=by, old=old)
    return criterion


@transaction.atomic
def retire(*, criterion: Criterion, reason: str, by: User) -> Criterion:
    """No further vote can cite it; those that do stay."""
    criterion = Criterion.objects.select_for_update(of=("self",)).get(pk=criterion.pk)
    if not reason.strip():
        raise BadInput("Say why the criterion is retired.")
    if criterion.retired_at:
        raise Refused(f"{criterion.code} is retired already.")
    criterion.retired_at, criterion.retired_reason = timezone.now(), reason.strip()
    criterion.save(update_fields=["retired_at", "retired_reason"])
    _tell("retired a criterion", criterion, by=by, why=criterion.retired_reason)
    return criterion


@transaction.atomic
def remove(*, criterion: Criterion, by: User) -> None:
    """Take a criterion back that nobody can have read by: until the first screening opens."""
    Study.objects.select_for_update().get(pk=criterion.study_id)
    if has_opened(criterion.study):
        raise Refused("A screening was opened with this criterion. Retire it with a reason instead.")
    _tell("removed a criterion", criterion, by=by, old=[criterion.name, criterion.text])
    criterion.delete()


def has_opened(study: Study) -> bool:
    """Whether anybody could have voted here: the same whether somebody did."""
    return Screening.objects.filter(study=study).exclude(state=Screening.State.IMPORTED).exists()


def free_keys(study: Study, *, but: Criterion | None = None) -> list[str]:
    used = _others(study, but).active()
    return [key for key in KEYS if key not in set(used.values_list("hotkey", flat=True))]


def _others(study: Study, but: Criterion | None) -> CriterionQuerySet:
    others = Criterion.objects.filter(study=study)
    return others.exclude(pk=but.pk) if but else others


def _hotkey(study: Study, kind: str, wanted: str, *, but: Criterion | None = None) -> str:
    """The key asked for, or the next that is free: a digit to exclude by, a letter for what has to hold."""
    free, wanted = free_keys(study, but=but), wanted.strip().upper()
    if not wanted:
        ordered = sorted(free, key=lambda key: key.isdigit() != (kind == Criterion.Kind.EXCLUDE))
        return next(iter(ordered), "")
    if wanted not in free:
        raise BadInput(f"The key {wanted[:5]} is taken or not possible. Free are {', '.join(free) or 'none'}.")
    return wanted


def _checked(study: Study, kind: str, name: str, text: str, *, but: Criterion | None = None) -> tuple[str, str]:
    name, text = " ".join(name.split()), text.strip()
    if not name:
        raise BadInput("Give the criterion a name, short enough to be a reason in a count.")
    if len(name) > LONGEST_NAME or len(text) > LONGEST_TEXT:
        raise BadInput(f"A name takes at most {LONGEST_NAME} characters, a text {LONGEST_TEXT:,}.")
    if _others(study, but).filter(kind=kind, name=name).exists():
        raise BadInput(f"There is a criterion “{name}” already, perhaps a retired one. Choose another name.")
    return name, text


def _tell(verb: str, criterion: Criterion, *, by: User, why: str = "", old: object = None) -> None:
    new = [criterion.name, criterion.text]
    record(
        verb,
        by=by,
        kind="criterion",
        object_id=criterion.pk,
        label=f"{criterion.code} {criterion.name}",
        study_id=criterion.study_id,
        old=old,
        new=new,
        why=why,
    )
