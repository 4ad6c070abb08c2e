"""Two leads at the same instant, on connections of their own."""

from functools import partial

import pytest

from annotator.sampling.actions import draw_sample, leave, take_up, top_up
from annotator.sampling.models import Bug, Drawn, Sample, TopUp
from annotator.sampling.rules import Rule
from annotator.web.errors import BadInput, Refused
from tests.together import at_once

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]
MANY = 4


def kinds(results):
    return sorted(type(result).__name__ for result in results)


def test_draws_get_numbers_of_their_own(study, pool, lee):
    rule = Rule(kind="random", count=5)
    names = [f"Sample {n}" for n in range(MANY)]
    results = at_once(*(partial(draw_sample, study=study, name=name, rule=rule, seed=1, by=lee) for name in names))
    assert kinds(results) == ["Sample"] * MANY
    assert sorted(Sample.objects.values_list("number", flat=True)) == list(range(1, MANY + 1))
    assert set(Sample.objects.values_list("digest", flat=True)) == {results[0].digest}


def test_a_name_is_given_once(study, pool, lee):
    act = partial(draw_sample, study=study, name="Main", rule=Rule(), seed=1, by=lee)
    assert kinds(at_once(*[act] * MANY)) == [BadInput.__name__] * (MANY - 1) + ["Sample"]


def test_the_quota_is_taken_up_once(study, pool, draw, lee):
    sample = draw("newest", count=10)
    results = at_once(*[partial(take_up, sample=sample, by=lee)] * MANY)
    assert sum(isinstance(result, Refused) for result in results) == MANY - 1
    assert Bug.objects.count() == Drawn.objects.filter(state="taken").count() == 10


def test_two_samples_do_not_take_the_same_item(study, pool, draw, lee):
    samples = [draw("newest", name=f"Sample {n}", count=10) for n in range(MANY)]
    results = at_once(*(partial(take_up, sample=sample, by=lee) for sample in samples))
    assert [len(result) for result in results] == [10] * MANY
    assert Bug.objects.values("item").distinct().count() == 40


def test_a_bug_that_left_is_replaced_once(study, pool, draw, lee):
    sample = draw("newest", count=10)
    bugs = take_up(sample=sample, by=lee)
    leave(bugs=bugs[:3], reason="not_a_bug", by=lee)
    results = at_once(*[partial(top_up, sample=sample, by=lee)] * MANY)
    assert sum(isinstance(result, Refused) for result in results) == MANY - 1
    assert TopUp.objects.count() == 3
    assert Bug.objects.staying().count() == 10


def test_a_bug_leaves_once(study, pool, draw, lee):
    (bug,) = take_up(sample=draw("newest", count=1), by=lee)
    results = at_once(*[partial(leave, bugs=[bug], reason="withdrawn", note="Too large.", by=lee)] * MANY)
    assert sum(isinstance(result, Refused) for result in results) == MANY - 1
