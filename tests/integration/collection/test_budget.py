"""A token's allowance in the database: shared, taken once, obeyed until the reset."""

import datetime as dt
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from annotator.clients.github.budget import Reading
from annotator.collection.budget import SharedBudget
from annotator.collection.models import Budget
from tests.services.github_server import Clock

LATER = dt.timedelta(minutes=20)


def learned(clock: Clock, remaining: int, **more) -> Reading:
    return Reading("core", 0, limit=5_000, remaining=remaining, reset_at=clock() + LATER, **more)


def test_nothing_is_taken_beyond_what_remains_whoever_takes_it(db, clock):
    here, there = SharedBudget("d", clock), SharedBudget("d", clock)
    here.learn(learned(clock, 2))
    assert [here.reserve("core", 1), there.reserve("core", 1)] == [None, None]
    assert here.reserve("core", 1) == there.reserve("core", 1) == clock() + LATER
    assert there.reserve("search", 1) is None
    assert SharedBudget("another", clock).reserve("core", 1) is None


def test_after_the_reset_all_is_free_what_a_killed_process_had_reserved_too(db, clock):
    budget = SharedBudget("d", clock)
    budget.learn(learned(clock, 1))
    assert budget.reserve("core", 1) is None  # and never answered
    clock.move_to(clock() + LATER)
    assert budget.reserve("core", 1) is None
    assert Budget.objects.get(resource="core").reserved == 1


def test_within_a_window_the_allowance_only_falls(db, clock):
    budget, reset = SharedBudget("d", clock), clock() + LATER
    for remaining in (10, 7, 9):
        budget.learn(Reading("core", 0, remaining=remaining, reset_at=reset))
    assert Budget.objects.get(resource="core").remaining == 7
    budget.learn(Reading("core", 0, remaining=50, reset_at=reset + LATER))
    assert Budget.objects.get(resource="core").remaining == 50


def test_a_secondary_limit_holds_the_whole_token_longer_each_time(db, clock):
    budget = SharedBudget("d", clock)
    budget.learn(Reading("core", 0, is_secondary=True))
    assert budget.reserve("graphql", 1) == clock() + dt.timedelta(minutes=1)
    budget.learn(Reading("core", 0, is_secondary=True))
    assert budget.reserve("graphql", 1) == clock() + dt.timedelta(minutes=2)
    clock.move_to(clock() + dt.timedelta(minutes=2))
    assert budget.reserve("graphql", 1) is None
    budget.learn(learned(clock, 100))
    budget.learn(Reading("core", 0, is_secondary=True))
    assert budget.reserve("core", 1) == clock() + dt.timedelta(minutes=1)


def test_a_used_up_resource_is_closed_until_its_reset(db, clock):
    budget = SharedBudget("d", clock)
    budget.learn(Reading("core", 0, remaining=0, closed_until=clock() + LATER))
    assert budget.reserve("core", 1) == clock() + LATER


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_as_many_get_through_as_remain(clock):
    SharedBudget("d", clock).learn(learned(clock, 5))

    def take(_number: int) -> bool:
        try:
            return SharedBudget("d", clock).reserve("core", 1) is None
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(take, range(20)))
    assert sum(taken) == 5
