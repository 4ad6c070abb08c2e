"""Opening a round: who gets which bugs, in which order, under which gate and version of the codebook."""

from collections.abc import Collection, Mapping, Sequence

from django.db import transaction
from django.db.models import Max

from annotator.accounts.actions import end_links_between
from annotator.accounts.models import User
from annotator.codebook.models import Change, Codebook
from annotator.codebook.queries import present_version
from annotator.history.actions import record
from annotator.labeling import dealing
from annotator.labeling.models import Answer, Assignment, Round, RoundBug
from annotator.sampling.models import Bug
from annotator.studies.models import Membership, Role, Study
from annotator.web.errors import BadInput


@transaction.atomic
def open_round(
    *,
    study: Study,
    name: str,
    bugs: Sequence[Bug],
    raters: Sequence[User],
    by: User,
    kind: str = Round.Kind.MAIN,
    design: str = Round.Design.FIXED,
    overlap: int = 2,
    seed: int = 0,
    gate_coefficient: str = "",
    gate_method: str = Round.GateMethod.LOWER,
    gate_bound: float = 0.8,
    gate_min_n: int = 10,
    lease_minutes: int = 120,
    blindness: str = Round.Blindness.ENFORCED,
    shares_codes: bool = False,
    groups: Mapping[int, Collection[int]] | None = None,
    due_to: Change | None = None,
) -> Round:
    """Deal the bugs to the raters. In a fixed design every rater gets every bug.

    `groups` says who gets which bug where that is laid down already: raters' ids by the bug's id.
    `due_to` is the change of the codebook after which these bugs are labelled again.
    """
    Study.objects.select_for_update().get(pk=study.pk)
    if design == Round.Design.FIXED:
        overlap = len(raters)
    _check_opening(study=study, name=name, bugs=bugs, raters=raters, overlap=overlap, design=design)
    latest = Round.objects.filter(study=study).aggregate(latest=Max("number"))["latest"] or 0
    opened = Round.objects.create(
        study=study,
        number=latest + 1,
        name=name.strip(),
        kind=kind,
        design=design,
        overlap=overlap,
        seed=seed,
        lease_minutes=lease_minutes,
        blindness=blindness,
        shares_codes=shares_codes,
        due_to=due_to,
        gate_coefficient=gate_coefficient,
        gate_method=gate_method,
        gate_bound=gate_bound,
        gate_min_n=gate_min_n,
        codebook_version=present_version(study.pk),
        opened_by=by,
    )
    _deal(opened, bugs=bugs, raters=raters, groups=groups or _groups(opened, bugs=bugs, raters=raters))
    _tell_what_could_be_read(opened, raters)
    end_links_between(raters)  # or one could sign in as another
    details = {"bugs": len(bugs), "raters": [rater.username for rater in raters], "design": design, "seed": seed}
    record("opened a round", by=by, kind="round", object_id=opened.pk, label=name, study_id=study.pk, new=details)
    return opened


def _tell_what_could_be_read(opened: Round, raters: Sequence[User]) -> None:
    """Raters who could read one another's answers to these bugs since an earlier close are not blind to them."""
    earlier = Answer.objects.filter(bug__round_bugs__round=opened, rater__in=raters)
    is_read = len(raters) > 1 and earlier.exclude(round__state=Round.State.OPEN).exists()
    if is_read and opened.blindness == Round.Blindness.ENFORCED:
        opened.blindness = Round.Blindness.NO
        opened.save(update_fields=["blindness"])


def _check_opening(
    *, study: Study, name: str, bugs: Sequence[Bug], raters: Sequence[User], overlap: int, design: str
) -> None:
    if not name.strip():
        raise BadInput("Give the round a name.")
    if Round.objects.filter(study=study, name=name.strip()).exists():
        raise BadInput(f"There is a round named “{name.strip()}” already. Choose another name.")
    if not bugs:
        raise BadInput("No bug was chosen. Import a sheet or widen the choice.")
    if len({rater.pk for rater in raters}) != len(raters) or not raters:
        raise BadInput("Choose the raters, each once.")
    if not 1 <= overlap <= len(raters):
        raise BadInput(f"{overlap} raters a bug are asked for, {len(raters)} are chosen.")
    members = Membership.objects.filter(study=study, role=Role.RATER).values_list("user_id", flat=True)
    strangers = [rater.username for rater in raters if rater.pk not in set(members)]
    if strangers:
        raise BadInput(f"{strangers[0]} is not a rater of this study. Give the role under Members first.")
    if not Codebook.objects.filter(study=study).exists():
        raise BadInput("The study has no codebook yet. Choose one first.")


def _groups(opened: Round, *, bugs: Sequence[Bug], raters: Sequence[User]) -> dict[int, Collection[int]]:
    """Who gets which bug, by the round's design."""
    if opened.design != Round.Design.ROTATING:
        everybody = {rater.pk for rater in raters}
        return {bug.pk: everybody for bug in bugs}
    by_name = {rater.username: rater.pk for rater in raters}
    drawn = dealing.rotating([bug.pk for bug in bugs], list(by_name), overlap=opened.overlap, seed=opened.seed)
    return {bug: {by_name[name] for name in names} for bug, names in drawn.items()}


def _deal(opened: Round, *, bugs: Sequence[Bug], raters: Sequence[User], groups: Mapping[int, Collection[int]]) -> None:
    is_pool = opened.design == Round.Design.POOL
    places = {bug.pk: opened.overlap if is_pool else len(groups[bug.pk]) for bug in bugs}
    RoundBug.objects.bulk_create(
        [
            RoundBug(round=opened, bug=bug, position=at, overlap=places[bug.pk], taken=0 if is_pool else places[bug.pk])
            for at, bug in enumerate(bugs)
        ],
        batch_size=500,
    )
    rows = [
        Assignment(round=opened, bug_id=bug, rater=rater, position=place)
        for rater in raters
        for place, bug in enumerate(
            dealing.order_for(
                [bug.pk for bug in bugs if rater.pk in groups[bug.pk]], seed=opened.seed, rater=rater.username
            )
        )
    ]
    Assignment.objects.bulk_create(rows, batch_size=1000)
