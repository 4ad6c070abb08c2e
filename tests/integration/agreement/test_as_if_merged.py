"""Kappa as answered and as if categories were merged, from one count: equal to what is stored, and to what comes of it."""

import pytest

from annotator.agreement.mapped import figures
from annotator.agreement.queries import entries
from annotator.codebook.living import merge_categories
from annotator.codebook.models import Category, Facet
from annotator.labeling.models import Assignment
from annotator.overview import guards
from annotator.overview.rounds.closing import close_round
from annotator.stats.cohen import Kappa
from tests.factories import StudyFactory, UserFactory, answer, make_bugs, make_codebook, make_round, member


def facet(study) -> Facet:
    return Facet.objects.get(codebook__study=study, key="cause")


def places(study, source: str, into: str) -> dict[int, int]:
    rows = dict(facet(study).categories.values_list("name", "pk"))
    return {rows[source]: rows[into]}


def study_of(names, raters, votes, **options):
    """A closed round with these votes, bug by bug in the order of the raters."""
    study = StudyFactory()
    lead = member(study, UserFactory(), "lead")
    people = [member(study, UserFactory(username=name), "rater") for name in raters]
    make_codebook(study, {"cause": names}, **options)
    round_ = make_round(study, bugs=make_bugs(study, len(votes)), raters=people, by=lead)
    for bug, given in zip(study.bugs.order_by("number"), votes, strict=True):
        for rater, vote in zip(people, given, strict=True):
            if vote:
                answer(round_, bug, rater, {"cause": vote})
    return study, close_round(round_=round_, by=lead), lead


VOTES = [("a", "a"), ("a", "b"), ("b", "b"), ("c", "c"), ("c", "a"), ("b", "c")]


@pytest.mark.django_db
def test_as_answered_it_is_the_stored_figure_and_as_mapped_that_of_the_merge():
    study, round_, lead = study_of(["a", "b", "c"], ["ann", "ben"], VOTES)
    (found,) = figures(round_, facet(study), places(study, "b", "a"))
    (stored,) = entries(study, facet="cause")
    assert found.raters == ("ann", "ben")
    assert (found.as_answered.value, found.as_answered.se) == (stored["kappa"], stored["se"])
    rows = {row.name: row for row in Category.objects.filter(facet=facet(study))}
    merge_categories(sources=[rows["b"]], into=rows["a"], reason="r", by=lead)
    (mapped,) = entries(study, facet="cause", level="v2")
    assert (found.as_mapped.value, list(found.as_mapped.ci or ())) == (mapped["kappa"], mapped["ci"])


@pytest.mark.django_db
def test_three_raters_are_told_pair_by_pair_and_four_together():
    study, round_, _ = study_of(["a", "b", "c"], ["ann", "ben", "cem"], [(*pair, "a") for pair in VOTES])
    found = figures(round_, facet(study), places(study, "b", "a"))
    assert [one.raters for one in found] == [("ann", "ben"), ("ann", "cem"), ("ben", "cem")]
    stored = {tuple(e["raters"]): e.get("kappa") for e in entries(study, facet="cause") if len(e["raters"]) == 2}
    assert {one.raters: one.as_answered.value for one in found} == stored
    study, round_, _ = study_of(["a", "b", "c"], ["dan", "eve", "fay", "gus"], [(*pair, *pair) for pair in VOTES])
    (together,) = figures(round_, facet(study), places(study, "b", "a"))
    assert together.raters == ()
    assert together.as_answered.n == 6 * len(VOTES)


@pytest.mark.django_db
def test_a_facet_of_several_answers_has_an_alpha():
    votes = [(["a", "b"], ["a"]), (["b"], ["b"]), (["c"], ["a", "c"])]
    study, round_, _ = study_of(["a", "b", "c"], ["ann", "ben"], votes, many=["cause"])
    (found,) = figures(round_, facet(study), places(study, "b", "a"))
    (stored,) = entries(study, facet="cause")
    assert found.coefficient == "alpha (MASI)"
    assert found.as_answered.value == pytest.approx(stored["alpha_masi"])
    assert isinstance(found.as_mapped, Kappa)


@pytest.mark.django_db
def test_an_answer_whose_turn_is_not_submitted_is_left_out_as_it_is_everywhere():
    study, round_, _ = study_of(["a", "b", "c"], ["ann", "ben"], VOTES)
    turns = Assignment.objects.filter(round=round_)
    guards.remove()  # nobody can do this; an older database may hold it
    try:
        turns.filter(pk=turns[0].pk).update(state="skipped", submitted_at=None)
        (found,) = figures(round_, facet(study), places(study, "b", "a"))
    finally:
        guards.install()
    assert found.as_answered.n == len(VOTES) - 1


@pytest.mark.django_db
def test_an_open_round_gives_none(main_round, study):
    assert figures(main_round, facet(study), places(study, "type", "api")) == []
