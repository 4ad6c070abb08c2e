"""What of reproduction may be shown to whom, and what runs say together.

While an open round holds a bug, its reproduction is seen by leads and adjudicators alone who have no turn in that round;
where the protocol puts reproduction before labelling, by every member.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Prefetch, Q, QuerySet
from django.utils import timezone

from annotator.accounts.models import User
from annotator.labeling.models import Assignment, Round, RoundBug
from annotator.reproduction import recipes
from annotator.reproduction.models import Host, Log, Recipe, RecipeQuerySet, Run, Series
from annotator.reproduction.verdicts import REPRODUCED, WAITING, Try, Verdict, judge, judge_contrast
from annotator.sampling.models import Bug
from annotator.studies.models import Role, Study
from annotator.studies.protocol import protocol_of

WRITERS = (Role.LEAD, Role.ADJUDICATOR)
NOT_YET = "Reproduction of this bug is not shown yet: it is once the round that holds the bug closes."
PRESENT_SECONDS = 120  # a host that was not heard of for so long is away


# --- who sees what


def open_rounds_hiding(study: Study, viewer: User, roles: Iterable[str]) -> "QuerySet[Round]":
    """Open rounds whose bugs keep their reproduction from the viewer. Rating beats leading."""
    rounds = Round.objects.open().filter(study=study)
    if protocol_of(study).reproduction_first:
        return rounds.none()
    if not {*roles} & {*WRITERS}:
        return rounds
    return rounds.filter(pk__in=Assignment.objects.filter(rater=viewer).values("round"))


def recipes_visible_to(study: Study, viewer: User, roles: Iterable[str]) -> RecipeQuerySet:
    """Every version. Pages and the REST interface begin here, and with nothing else."""
    hidden = RoundBug.objects.filter(round__in=open_rounds_hiding(study, viewer, roles)).values("bug")
    return Recipe.objects.filter(study=study).exclude(bug__in=hidden).select_related("bug__item", "created_by")


def is_shown(study: Study, bug: Bug, viewer: User, roles: Iterable[str]) -> bool:
    """Whether reproduction of the bug is shown to the viewer; else the page says NOT_YET, whatever there is."""
    return not RoundBug.objects.filter(bug=bug, round__in=open_rounds_hiding(study, viewer, roles)).exists()


def has_open_turn(bug: Bug, person: User) -> bool:
    """Whether the person rates in an open round that holds the bug: then others write its reproduction."""
    rounds = RoundBug.objects.filter(bug=bug, round__state=Round.State.OPEN).values("round")
    return Assignment.objects.filter(round__in=rounds, rater=person).exists()


def hiding_round_id(bug: Bug) -> int | None:
    """The open round until whose close acts on the bug's reproduction stay unseen in the history."""
    if protocol_of(bug.study).reproduction_first:
        return None
    rounds = Round.objects.open().filter(round_bugs__bug=bug).order_by("-number")
    return rounds.values_list("pk", flat=True).first()


def runs_visible_to(study: Study, viewer: User, roles: Iterable[str]) -> "QuerySet[Run]":
    shown = recipes_visible_to(study, viewer, roles).order_by()
    return Run.objects.filter(series__recipe__in=shown).select_related("series__recipe__study", "host", "locked")


# --- what runs say


@dataclass(frozen=True, kw_only=True)
class Told:
    """A series with its runs and what they say together."""

    series: Series
    runs: tuple[Run, ...]
    verdict: Verdict

    @property
    def is_over(self) -> bool:
        return all(run.state in (Run.State.ENDED, Run.State.CANCELLED) for run in self.runs)

    @property
    def faults(self) -> int:
        """Runs that ended and say nothing of the bug."""
        return sum(is_faulty(run) for run in self.runs)


def is_faulty(run: Run) -> bool:
    return run.state == Run.State.ENDED and (run.outcome not in Run.COUNTED or run.voided_at is not None)


def told(series: Series, runs: Sequence[Run]) -> Told:
    """The verdict over these runs of the series."""
    recipe = recipes.from_document(series.recipe.document)
    tries: dict[str, list[Try]] = {one.name: [] for one in recipe.environments}
    for run in runs:
        if run.state != Run.State.CANCELLED and run.voided_at is None:
            tries[run.environment].append(
                Try(outcome=run.outcome, said=run.said, observed=run.measures.get("observed"))
            )
    return Told(series=series, runs=tuple(runs), verdict=judge(recipe, tries))


def series_told(series: "QuerySet[Series]") -> list[Told]:
    """In the query's order; two queries."""
    light = Run.objects.defer("stdout", "stderr", "installed").select_related("host", "locked")
    rows = series.select_related("recipe__bug__item", "recipe__study", "asked_by")
    return [told(one, list(one.runs.all())) for one in rows.prefetch_related(Prefetch("runs", queryset=light))]


def latest_told(listed: Sequence[Recipe]) -> dict[tuple[int, int], Told]:
    """Of each recipe, by study and number: its latest series of whichever version. Three queries."""
    wanted = Q(pk__in=[])
    for recipe in listed:
        wanted |= Q(recipe__study=recipe.study_id, recipe__number=recipe.number)
    ids: dict[tuple[int, int], int] = {}
    rows = Series.objects.filter(wanted).order_by("asked_at", "pk")
    for study, number, pk in rows.values_list("recipe__study", "recipe__number", "pk"):
        ids[study, number] = pk
    found = {one.series.pk: one for one in series_told(Series.objects.filter(pk__in=ids.values()))}
    return {key: found[pk] for key, pk in ids.items()}


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The recipes of a study that somebody sees, in numbers: by the latest series of each."""

    recipes: int
    reproduced: int
    waiting: int  # whose runs are not through yet
    never_run: int


def standing(study: Study, viewer: User, roles: Iterable[str]) -> Standing:
    """Of contrasts the outcomes alone are read; a differential compares what its runs gave."""
    visible = recipes_visible_to(study, viewer, roles).order_by()
    rows = Series.objects.filter(recipe__in=visible).order_by("asked_at", "pk")
    latest = dict(rows.values_list("recipe__number", "pk"))
    found = verdicts_of(latest.values())
    recipes_there = visible.current().count()
    return Standing(
        recipes=recipes_there,
        reproduced=sum(one == REPRODUCED for one in found),
        waiting=sum(one == WAITING for one in found),
        never_run=recipes_there - len(latest),
    )


def verdicts_of(series: Iterable[int]) -> list[str]:
    """The word of each, in no order."""
    expected: dict[int, dict[str, str]] = defaultdict(dict)
    tries: dict[int, dict[str, list[Try]]] = defaultdict(lambda: defaultdict(list))
    runs = Run.objects.filter(series__in=list(series)).order_by("series", "position", "repeat")
    for pk, name, expects, outcome, state, voided in runs.values_list(
        "series", "environment", "expects", "outcome", "state", "voided_at"
    ):
        expected[pk][name] = expects
        if state != Run.State.CANCELLED and voided is None:
            tries[pk][name].append(Try(outcome=outcome))
    compared = [pk for pk, names in expected.items() if not any(names.values())]
    contrasts = [judge_contrast(names, tries[pk]).verdict for pk, names in expected.items() if any(names.values())]
    return contrasts + [one.verdict.verdict for one in series_told(Series.objects.filter(pk__in=compared))]


def log_after(run: Run, sequence: int, *, most: int = 500) -> list[Log]:
    """Pieces of the current attempt from behind that sequence, in order."""
    pieces = Log.objects.filter(run=run, attempt=run.attempt, sequence__gt=sequence)
    return list(pieces.order_by("sequence")[:most])


def waits_for(run: Run) -> str:
    """Why a run has not begun, in words; empty where it has."""
    if run.state != Run.State.WAITING:
        return ""
    if run.faults:
        return f"Attempt {len(run.faults) + 1} follows: {run.faults[-1].get('said', '')}"
    if run.queue == Run.Queue.GPU:
        return "Waiting for a GPU runner."
    return "Waiting for a runner."


# --- hosts


def is_present(host: Host) -> bool:
    """Heard of lately."""
    if host.removed_at or host.seen_at is None:
        return False
    return (timezone.now() - host.seen_at).total_seconds() < PRESENT_SECONDS
