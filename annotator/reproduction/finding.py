"""Recipes, series and runs as the pages find them: what the viewer may not see yet is not there."""

from django.http import Http404
from django.shortcuts import get_object_or_404

from annotator.accounts.models import User
from annotator.reproduction import queries
from annotator.reproduction.models import Recipe, Run, Series
from annotator.sampling.models import Bug
from annotator.studies.models import Study


def may_write(study: Study) -> bool:
    return bool(study.my_roles & {*queries.WRITERS})


def recipe_in(study: Study, viewer: User, number: int) -> Recipe:
    """In its current version."""
    rows = queries.recipes_visible_to(study, viewer, study.my_roles).current().filter(number=number)
    found = rows.select_related("study", "bug__study", "bug__item__repository", "created_by").first()
    if found is None:
        raise Http404("There is no such recipe, or it is not shown yet.")
    return found


def version_in(study: Study, viewer: User, number: int, version: int) -> Recipe:
    rows = queries.recipes_visible_to(study, viewer, study.my_roles).filter(number=number, version=version)
    found = rows.select_related("study", "bug__study", "bug__item__repository", "created_by").first()
    if found is None:
        raise Http404("There is no such version, or it is not shown yet.")
    return found


def series_in(recipe: Recipe, version: int, number: int) -> Series:
    """Of any version of the recipe; each version counts its own."""
    rows = Series.objects.select_related("recipe__bug__study", "recipe__study")
    of_recipe = rows.filter(recipe__study=recipe.study_id, recipe__number=recipe.number)
    return get_object_or_404(of_recipe, recipe__version=version, number=number)


def run_in(study: Study, viewer: User, key: str) -> Run:
    rows = queries.runs_visible_to(study, viewer, study.my_roles).select_related(
        "series__recipe__study", "series__recipe__bug__study", "series__recipe__bug__item__repository", "host", "locked"
    )
    found = rows.filter(key=key).first()
    if found is None:
        raise Http404("There is no such run, or it is not shown yet.")
    return found


def bug_in(study: Study, number: int) -> Bug:
    return get_object_or_404(Bug.objects.select_related("study", "item__repository"), study=study, number=number)
