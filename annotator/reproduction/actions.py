"""What leads and adjudicators do: write recipes, ask for runs, cancel them, have faults tried again."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotator.accounts.models import User
from annotator.history.actions import record
from annotator.reproduction import queries, recipes
from annotator.reproduction.matching import Needs
from annotator.reproduction.models import Recipe, Run, Runner, Series
from annotator.sampling.models import Bug
from annotator.studies.models import Study
from annotator.web.errors import BadInput, Gathering, Refused

State = Run.State
LONGEST_WHY = 4000
MOST_RUNS = 400  # of a series


# --- recipes


@transaction.atomic
def create_recipe(*, bug: Bug, recipe: recipes.Recipe, script: str, by: User) -> Recipe:
    """Write down how to make the bug happen; it gets the study's next number."""
    _refuse_who_rates(bug, by)
    script = checked(recipe, script)
    Study.objects.select_for_update(no_key=True).get(pk=bug.study_id)
    latest = Recipe.objects.filter(study=bug.study_id).aggregate(latest=Max("number"))["latest"] or 0
    row = _stored(bug=bug, recipe=recipe, script=script, by=by, number=latest + 1)
    _tell("wrote a recipe", row, by=by, new=_summary(recipe))
    return row


@transaction.atomic
def change_recipe(*, row: Recipe, recipe: recipes.Recipe, script: str, why: str, by: User) -> Recipe:
    """A further version, with the reason; runs of the earlier one stay as they are."""
    _refuse_who_rates(row.bug, by)
    each = Gathering()
    script, why = each(checked, recipe, script), each(checked_why, why)
    each.refuse()
    versions = Recipe.objects.filter(study=row.study_id, number=row.number)
    list(versions.select_for_update(of=("self",)).values_list("pk"))  # whoever waited here looks again
    current = versions.get(is_current=True)
    if current.pk != row.pk:
        raise Refused(f"The recipe was changed meanwhile: look at version {current.version} first.")
    if current.digest == recipes.digest(recipe.document(), script):
        raise BadInput("Nothing in it differs from the version that is there.")
    Recipe.objects.filter(pk=current.pk).update(is_current=False)
    changed = _stored(
        bug=row.bug, recipe=recipe, script=script, by=by, number=row.number, version=current.version + 1, why=why
    )
    _tell("changed a recipe", changed, by=by, new=_summary(recipe) | {"version": changed.version}, why=why)
    return changed


def checked(recipe: recipes.Recipe, script: str) -> str:
    """Of a recipe that hosts will run: an interpreter by its version, since each machine keeps it elsewhere."""
    each = Gathering()
    each.said += [
        f"environment “{one.name}”: python is named by its version, such as 3.8; a path is one machine's."
        for one in recipe.environments
        if one.is_on_a_path
    ]
    if recipe.repeats * len(recipe.environments) > MOST_RUNS:
        each.said.append(f"That would be more than {MOST_RUNS} runs at once: lower repeats, or divide the recipe.")
    script = each(recipes.checked_script, script)
    each.refuse()
    return script


def checked_why(why: str) -> str:
    why = " ".join(why.split())
    if not why or len(why) > LONGEST_WHY:
        raise BadInput(f"Say why the recipe changes, in at most {LONGEST_WHY:,} characters.")
    return why


def _stored(*, bug: Bug, recipe: recipes.Recipe, script: str, by: User, number: int, **more: Any) -> Recipe:
    document = recipe.document()
    return Recipe.objects.create(
        study_id=bug.study_id,
        bug=bug,
        number=number,
        name=recipe.name,
        document=document,
        script_name=recipe.script.rpartition("/")[2],
        script=script,
        digest=recipes.digest(document, script),
        created_by=by,
        **more,
    )


def _summary(recipe: recipes.Recipe) -> dict[str, Any]:
    return {"name": recipe.name, "environments": [one.name for one in recipe.environments]}


# --- series


@transaction.atomic
def ask(*, recipe: Recipe, by: User | None, runner: str = "") -> Series:
    """Have every environment run as often as the recipe says. The caller wakes the workers: see `waking`."""
    if by is not None:
        _refuse_who_rates(recipe.bug, by)
    if runner and runner not in Runner.values:
        raise BadInput(f"There is no runner “{runner[:20]}”: take {', '.join(Runner.values)}.")
    locked = Recipe.objects.select_for_update(of=("self",)).get(pk=recipe.pk)
    if not locked.is_current:
        raise Refused("A later version of the recipe is there: run that one.")
    latest = Series.objects.filter(recipe=locked).aggregate(latest=Max("number"))["latest"] or 0
    series = Series.objects.create(recipe=locked, number=latest + 1, runner=runner, asked_by=by)
    Run.objects.bulk_create(_runs(series, recipes.from_document(locked.document)))
    _tell("asked for runs", recipe, by=by, new={"series": series.number, "runs": series.runs.count()})
    return series


def _runs(series: Series, recipe: recipes.Recipe) -> list[Run]:
    return [
        _run(series, recipe, position=position, repeat=repeat, seed=recipe.seed + repeat - 1)
        for position in range(len(recipe.environments))
        for repeat in range(1, recipe.repeats + 1)
    ]


def _run(series: Series, recipe: recipes.Recipe, *, position: int, repeat: int, seed: int) -> Run:
    environment = recipe.environments[position]
    made_of = [series.pk, series.recipe.digest, environment.name, repeat, seed]
    return Run(
        series=series,
        key=recipes.digest_of(made_of),
        environment=environment.name,
        position=position,
        repeat=repeat,
        seed=seed,
        expects=environment.expect,
        queue=Run.Queue.GPU if recipe.limits.gpus else Run.Queue.CPU,
        needs=Needs.of(environment, recipe.limits, series.runner).document(),
    )


@transaction.atomic
def retry_faults(*, series: Series, by: User) -> list[Run]:
    """A further run with the same seed for each one that says nothing of the bug and was not tried again yet.

    What ended stays as it ended: the new runs take the next places behind the repeats.
    """
    _refuse_who_rates(series.recipe.bug, by)
    series = Series.objects.select_for_update(of=("self",)).select_related("recipe__bug").get(pk=series.pk)
    runs = list(Run.objects.filter(series=series).order_by("position", "repeat"))
    recipe = recipes.from_document(series.recipe.document)
    made: list[Run] = []
    for run in runs:
        if not queries.is_faulty(run) or _is_tried_again(run, [*runs, *made]):
            continue
        last = max(one.repeat for one in [*runs, *made] if one.position == run.position)
        made.append(_run(series, recipe, position=run.position, repeat=last + 1, seed=run.seed))
    if not made:
        raise Refused("No run of this series is left to be tried again.")
    made = Run.objects.bulk_create(made)
    _tell("had faults tried again", series.recipe, by=by, new={"series": series.number, "runs": len(made)})
    return made


def _is_tried_again(run: Run, runs: Sequence[Run]) -> bool:
    """Whether a later run of the same environment and seed is there; where that one fails too, it is the one to retry."""
    later = [one for one in runs if one.position == run.position and one.seed == run.seed and one.repeat > run.repeat]
    return any(one.state != State.CANCELLED for one in later)


@transaction.atomic
def cancel_series(*, series: Series, by: User) -> int:
    """End what waits and what runs of it, at once: a worker that has one stops when it next renews."""
    _refuse_who_rates(series.recipe.bug, by)
    count = _cancel(Run.objects.filter(series=series))
    if not count:
        raise Refused("All runs of this series are over.")
    _tell("cancelled runs", series.recipe, by=by, new={"series": series.number, "runs": count})
    return count


@transaction.atomic
def cancel_run(*, run: Run, by: User) -> None:
    series = run.series
    _refuse_who_rates(series.recipe.bug, by)
    if not _cancel(Run.objects.filter(pk=run.pk)):
        raise Refused("The run is over.")
    new = {"series": series.number, "environment": run.environment, "repeat": run.repeat}
    _tell("cancelled a run", series.recipe, by=by, new=new)


def _cancel(runs: Any) -> int:
    left = runs.filter(state__in=[State.WAITING, State.RUNNING]).order_by()
    count: int = left.update(state=State.CANCELLED, lease_owner="", lease_until=None, ended_at=timezone.now())
    return count


# --- who, and what is told


def _refuse_who_rates(bug: Bug, by: User) -> None:
    if queries.has_open_turn(bug, by):
        raise Refused(
            "You rate in an open round that holds this bug: others write and run its reproduction until it closes."
        )


def _tell(verb: str, recipe: Recipe, *, by: User | None, new: Any = None, why: str = "") -> None:
    record(
        verb,
        by=by,
        kind="recipe",
        object_id=recipe.pk,
        label=f"R-{recipe.number}, bug {recipe.bug.number}",
        study_id=recipe.study_id,
        round_id=queries.hiding_round_id(recipe.bug),
        new=new,
        why=why,
    )
