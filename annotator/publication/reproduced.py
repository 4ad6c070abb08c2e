"""How bugs were made to happen, as tables of a release: recipes, and their runs."""

import json
from collections.abc import Iterator
from typing import Any

from annotator.labeling.models import Round, RoundBug
from annotator.publication.batches import Range, by_range, select
from annotator.publication.columns import NUMBER, TEXT, TIME, WHOLE, YES_NO, Batch, Column, Table
from annotator.reproduction.models import Recipe, Run
from annotator.studies.models import Study

RECIPES, RUNS = "recipes", "runs"
RECIPE = (
    Column("bug", WHOLE, "number of the bug in the study"),
    Column("recipe", WHOLE, "number of the recipe in the study"),
    Column("version", WHOLE, "of the recipe, from 1"),
    Column("is_current", YES_NO, "it is the recipe's latest version"),
    Column("name", TEXT, "its name"),
    Column("document", TEXT, "the recipe file, as JSON: environments, oracle, repeats, limits"),
    Column("script_name", TEXT, "name of the script's file"),
    Column("script", TEXT, "the script"),
    Column("digest", TEXT, "SHA-256 of document and script"),
    Column("why", TEXT, "why it was changed"),
    Column("created_by", TEXT, "user name of who wrote it", people=True),
    Column("created_at", TIME, "when"),
)
RECIPE_PATHS = {
    "bug": "bug__number",
    "recipe": "number",
    "created_by": "created_by__username",
    **{
        name: name
        for name in (
            "version", "is_current", "name", "document", "script_name", "script", "digest", "why", "created_at",
        )
    },
}  # fmt: skip
RUN = (
    Column("bug", WHOLE, "number of the bug in the study"),
    Column("recipe", WHOLE, "number of the recipe in the study"),
    Column("version", WHOLE, "of the recipe"),
    Column("series", WHOLE, "which time the recipe was asked for"),
    Column("environment", TEXT, "its name in the recipe"),
    Column("repeat", WHOLE, "from 1"),
    Column("seed", WHOLE, "that the script was given"),
    Column("expects", TEXT, "bug or no_bug; empty in a comparison of environments"),
    Column("outcome", TEXT, "what came of it: bug, no_bug, observed, or what kept it from saying anything"),
    Column("said", TEXT, "the outcome in a sentence"),
    Column("is_void", YES_NO, "it counts no more, with all runs of its host"),
    Column("exit_code", WHOLE, "of the script"),
    Column("seconds", NUMBER, "wall time"),
    Column("cpu_seconds", NUMBER, "processor time"),
    Column("peak_mb", NUMBER, "largest memory, in megabytes"),
    Column("gpu_peak_mb", NUMBER, "largest memory on the GPU, in megabytes"),
    Column("python", TEXT, "version of the interpreter"),
    Column("locked", TEXT, "what was installed, to exact versions"),
    Column("image", TEXT, "the container image, by its digest, where one stands for interpreter and packages"),
    Column("environment_digest", TEXT, "SHA-256 of the whole environment"),
    Column("input_digest", TEXT, "SHA-256 of everything that went in"),
    Column("started_at", TIME, "when it began"),
    Column("ended_at", TIME, "when it ended"),
    Column("stdout", TEXT, "what it wrote, cut where it is long"),
    Column("stderr", TEXT, "what it wrote on standard error, cut where it is long"),
)
RUN_PATHS = {
    "bug": "series__recipe__bug__number",
    "recipe": "series__recipe__number",
    "version": "series__recipe__version",
    "series": "series__number",
    "is_void": "voided_at",
    "python": "locked__python",
    "locked": "locked__locked",
    "image": "locked__image",
    "environment_digest": "locked__digest",
    **{
        name: name
        for name in (
            "environment", "repeat", "seed", "expects", "outcome", "said", "exit_code", "seconds", "cpu_seconds",
            "peak_mb", "gpu_peak_mb", "input_digest", "started_at", "ended_at", "stdout", "stderr",
        )
    },
}  # fmt: skip


def tables(study: Study) -> list[Table]:
    """None where no bug of the study has a recipe that may be told."""
    if not told(study).exists():
        return []
    return [Table(RECIPES, RECIPE, recipes_of(study)), Table(RUNS, RUN, runs_of(study))]


def told(study: Study) -> Any:
    """Recipes but for those of bugs in an open round, whose raters may not have seen them."""
    blind = RoundBug.objects.filter(round__study=study, round__state=Round.State.OPEN).values("bug")
    return Recipe.objects.filter(study=study).exclude(bug__in=blind)


def recipes_of(study: Study) -> Iterator[Batch]:
    def read(bugs: Range) -> Batch:
        rows = bugs.of(told(study))
        ordered = rows.order_by("bug__number", "number", "version")
        return select(ordered, RECIPE, RECIPE_PATHS, {"document": written})

    return by_range(study, read, holds_texts=True)


def runs_of(study: Study) -> Iterator[Batch]:
    def read(bugs: Range) -> Batch:
        of_bugs = bugs.of(told(study))
        rows = Run.objects.filter(series__recipe__in=of_bugs, state=Run.State.ENDED)
        order = ("recipe__bug__number", "recipe__number", "recipe__version", "number")
        ordered = rows.order_by(*(f"series__{name}" for name in order), "position", "repeat")
        return select(ordered, RUN, RUN_PATHS)

    return by_range(study, read, holds_texts=True)


def written(document: Any) -> str:
    """JSON text, whichever way the database gives it."""
    found = json.loads(document) if isinstance(document, str) else document
    return json.dumps(found, ensure_ascii=False, sort_keys=True)
