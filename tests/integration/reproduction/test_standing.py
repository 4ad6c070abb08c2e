"""Recipes in numbers: the same verdicts as each recipe's own page has."""

from collections import Counter
from itertools import product

from annotator.reproduction import actions, leases, queries, recipes
from annotator.reproduction.models import Recipe, Run
from tests.factories.reproduction import claimed, document, end_all, ended, make_recipe, make_series

OUTCOMES = ["bug", "no_bug", "timed_out", ""]


def test_verdicts_in_numbers_are_those_of_each_recipe(study, bugs, ada, lee):
    for place, (buggy, again, fixed) in enumerate(product(OUTCOMES, OUTCOMES, OUTCOMES)):
        series = make_series(bugs[place % len(bugs)], ada, repeats=2)
        for (environment, repeat), outcome in {
            ("buggy", 1): buggy, ("buggy", 2): again, ("fixed", 1): fixed, ("fixed", 2): fixed,
        }.items():  # fmt: skip
            if outcome:
                run = series.runs.get(environment=environment, repeat=repeat)
                Run.objects.filter(pk=run.pk).update(state="ended", outcome=outcome, ended_at=series.asked_at)
    compare(study, lee)


def test_of_the_latest_series_and_without_what_is_cancelled(study, bugs, ada, lee):
    first = make_series(bugs[0], ada)
    end_all(first, buggy="bug", fixed="no_bug")
    make_recipe(bugs[1], ada)
    compare(study, lee)
    second = actions.ask(recipe=first.recipe, by=ada)
    compare(study, lee)
    actions.cancel_series(series=second, by=ada)
    compare(study, lee)


def test_differentials_are_compared(study, bugs, ada, lee):
    listed = [{"name": name, "python": "3.11"} for name in ("one", "two", "three")]
    asked = document(repeats=1, kind="differential", compare="stdout", environments=listed)
    asked.pop("oracle")
    for bug, values in zip(bugs, [("a", "a", "a"), ("a", "b", "a")], strict=False):
        row = actions.create_recipe(bug=bug, recipe=recipes.from_document(asked), script="print(1)", by=ada)
        series = actions.ask(recipe=row, by=ada)
        for run, value in zip(series.runs.order_by("position"), values, strict=True):
            leases.end(claimed(run), ended("observed", measures={"observed": value}))
    compare(study, lee)
    assert queries.standing(study, lee, ["lead"]).reproduced == 1


def compare(study, lee):
    rows = list(Recipe.objects.current().filter(study=study))
    told = queries.latest_told(rows)
    words = Counter(
        told[row.study_id, row.number].verdict.verdict for row in rows if (row.study_id, row.number) in told
    )
    found = queries.standing(study, lee, ["lead"])
    assert (found.recipes, found.reproduced, found.waiting, found.never_run) == (
        len(rows), words["reproduced"], words["waiting"], len(rows) - len(told),
    )  # fmt: skip
