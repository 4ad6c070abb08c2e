"""Writing recipes: who may, versions, history, and what keeps them as they are."""

import pytest
from django.db import transaction

from annotator.history.models import Event
from annotator.reproduction import actions, recipes
from annotator.reproduction.models import Recipe, Run
from annotator.web.errors import BadInput, Refused
from annotator.web.guarded import refusal_in
from tests.factories import make_round
from tests.factories.reproduction import SHOWS, make_recipe, make_series, recipe


def test_a_recipe_gets_the_studys_next_number_and_says_what_it_is_of(study, bugs, ada, lee):
    first, second = make_recipe(bugs[0], ada), make_recipe(bugs[0], lee, name="Another way")
    assert [(one.number, one.version, one.is_current) for one in (first, second)] == [(1, 1, True), (2, 1, True)]
    assert recipes.from_document(first.document) == recipe()
    assert first.digest == recipes.digest(first.document, SHOWS) != second.digest
    event = Event.objects.filter(kind="recipe").latest("pk")
    assert (event.verb, event.actor_name, event.label) == ("wrote a recipe", "lee", "R-2, bug 1")


def test_a_change_is_a_further_version_with_its_reason(study, bugs, ada):
    first = make_recipe(bugs[0], ada)
    second = actions.change_recipe(row=first, recipe=recipe(repeats=5), script=SHOWS, why="Three are too few.", by=ada)
    first.refresh_from_db()
    assert (first.is_current, second.is_current, second.version, second.number) == (False, True, 2, 1)
    assert (second.why, second.document["repeats"], first.document["repeats"]) == ("Three are too few.", 5, 2)
    with pytest.raises(Refused, match="changed meanwhile"):
        actions.change_recipe(row=first, recipe=recipe(repeats=6), script=SHOWS, why="Late.", by=ada)


@pytest.mark.parametrize("why", ["", "  ", "x" * 5000])
def test_a_change_needs_a_reason(study, bugs, ada, why):
    with pytest.raises(BadInput, match="Say why"):
        actions.change_recipe(row=make_recipe(bugs[0], ada), recipe=recipe(repeats=5), script=SHOWS, why=why, by=ada)
    assert Recipe.objects.count() == 1


def test_a_change_that_changes_nothing_is_refused(study, bugs, ada):
    with pytest.raises(BadInput, match="Nothing in it differs"):
        actions.change_recipe(row=make_recipe(bugs[0], ada), recipe=recipe(), script=SHOWS, why="No reason.", by=ada)


def test_an_interpreters_path_is_for_the_command_line_alone(study, bugs, ada):
    with pytest.raises(BadInput, match="by its version"):
        make_recipe(bugs[0], ada, buggy={"python": "/usr/bin/python3"})
    assert not Recipe.objects.exists()


def test_who_rates_the_bug_in_an_open_round_writes_no_recipe_for_it(study, bugs, alice, bob, lee):
    make_round(study, bugs=bugs[:2], raters=[alice, bob], by=lee)
    with pytest.raises(Refused, match="You rate in an open round"):
        make_recipe(bugs[0], alice)
    make_recipe(bugs[0], lee)
    assert make_recipe(bugs[5], alice).number == 2


def test_asking_makes_a_run_for_each_environment_and_repeat(study, bugs, ada):
    series = make_series(bugs[0], ada, repeats=3)
    rows = list(series.runs.values_list("environment", "repeat", "seed", "expects", "queue", "state"))
    assert rows[:3] == [("buggy", n, n, "bug", "reproduction", "waiting") for n in (1, 2, 3)]
    assert rows[3:] == [("fixed", n, n, "no_bug", "reproduction", "waiting") for n in (1, 2, 3)]
    assert len({run.key for run in series.runs.all()}) == 6


def test_what_wants_a_gpu_goes_into_its_own_queue(study, bugs, ada):
    series = make_series(bugs[0], ada, limits={"gpus": 1, "gpu_memory_mb": 4000})
    run = series.runs.first()
    assert (run.queue, run.needs["gpus"], run.needs["gpu_memory_mb"]) == ("gpu", 1, 4000)


def test_an_earlier_version_is_not_run_again(study, bugs, ada):
    first = make_recipe(bugs[0], ada)
    actions.change_recipe(row=first, recipe=recipe(repeats=5), script=SHOWS, why="More.", by=ada)
    with pytest.raises(Refused, match="later version"):
        actions.ask(recipe=first, by=ada)
    with pytest.raises(BadInput, match="no runner"):
        actions.ask(recipe=Recipe.objects.current().get(), by=ada, runner="bare")


def test_the_database_keeps_recipes_and_runs_that_are_over(study, bugs, ada):
    series = make_series(bugs[0], ada)
    actions.cancel_series(series=series, by=ada)
    acts = [
        lambda: Recipe.objects.update(script="print('NaN')"),
        lambda: Run.objects.update(state="waiting"),
        lambda: Run.objects.update(outcome="bug"),
    ]
    for act in acts:
        with pytest.raises(Exception) as problem, transaction.atomic():  # noqa: PT011  # each database has its own
            act()
        assert refusal_in(problem.value)
