"""Drawn again the same bugs come out; where the pool changed, it is said how."""

import datetime as dt

from annotator.collection.models import Item
from annotator.sampling.actions import add_bugs, take_up
from annotator.sampling.again import draw_again
from annotator.sampling.models import Drawn
from tests.factories import ItemFactory


def test_the_same_bugs_come_out(pool, draw, lee):
    sample = draw("proportional", count=10, within="random")
    take_up(sample=sample, by=lee)
    again = draw_again(sample)
    assert (again.holds, again.is_same, again.pool_size, again.changes) == (True, True, 40, ())
    assert again.digest == sample.digest
    assert (again.wanted, again.kept) == (10, 10)


def test_what_others_took_since_is_no_change(study, pool, draw, lee):
    sample = draw("newest", count=5)
    take_up(sample=draw("newest", name="Another", count=5), by=lee)
    add_bugs(study=study, places=[(pool[30], 1)], by=lee)
    assert draw_again(sample).is_same


def test_what_came_in_since_is_named(study, pool, draw):
    sample = draw("newest", count=5)
    ItemFactory(
        study=study,
        repository=pool[0].repository,
        number=900,
        identity="github.com/axon/axon#900",
        merged_at=dt.datetime(2021, 11, 1, tzinfo=dt.UTC),
    )
    again = draw_again(sample)
    assert (again.holds, again.is_same, again.pool_size) == (True, False, 41)
    assert again.changes == ("1 item came in since: axon/axon#900",)
    assert (again.wanted, again.kept) == (5, 4)


def test_what_is_dated_otherwise_is_named_where_dates_matter(pool, draw):
    by_date, by_lot = draw("newest", count=5), draw("random", name="lots", count=5)
    Item.objects.filter(pk=pool[0].pk).update(merged_at=dt.datetime(2019, 1, 1, tzinfo=dt.UTC))
    assert draw_again(by_date).changes == ("1 item dated otherwise: axon/axon#1",)
    assert draw_again(by_lot).is_same


def test_many_changes_are_counted_and_a_few_named(study, pool, draw):
    sample = draw("all", repositories=("tessera/tessera",))
    Item.objects.filter(repository__label="tessera/tessera", number__lte=7).update(repository=pool[0].repository)
    (change,) = draw_again(sample).changes
    assert change.startswith("7 items no longer in the pool: axon/axon#1, axon/axon#2")
    assert change.endswith("…")


def test_a_list_that_was_tampered_with_does_not_hold(pool, draw):
    sample = draw("random", count=5)
    first, second = Drawn.objects.filter(sample=sample, position__in=[1, 2]).order_by("position")
    Drawn.objects.filter(pk=first.pk).update(position=1000)
    Drawn.objects.filter(pk=second.pk).update(position=1)
    Drawn.objects.filter(pk=first.pk).update(position=2)
    again = draw_again(sample)
    assert (again.holds, again.is_same, again.changes) == (False, False, ())
