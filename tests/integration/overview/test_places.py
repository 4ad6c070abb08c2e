"""The place of a bug says what its item says, whatever is done to either."""

import datetime as dt
import random
import threading
import time

import pytest
from django.db import OperationalError, connection, transaction

from annotator.collection.models import Item, Repository
from annotator.overview import guards
from annotator.sampling.models import Bug, Place
from tests.factories import ItemFactory, make_bugs
from tests.together import while_it_lasts

UTC = dt.UTC
MOMENTS = [  # of another zone, and at the turn of a year in UTC
    None,
    dt.datetime(2021, 3, 1, tzinfo=UTC),
    dt.datetime(2021, 1, 1, 0, 30, tzinfo=dt.timezone(dt.timedelta(hours=2))),
    dt.datetime(2019, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
]


def month(at: dt.datetime | None) -> int | None:
    return at.astimezone(UTC).year * 100 + at.astimezone(UTC).month if at else None


def kept() -> dict[int, list[int | None]]:
    return {pk: rest for pk, *rest in Place.objects.values_list("bug", "repository", "merged_month", "closed_month")}


def derived() -> dict[int, list[int | None]]:
    rows = Bug.objects.values_list("pk", "item__repository", "item__merged_at", "item__closed_at")
    return {pk: [place, month(merged), month(closed)] for pk, place, merged, closed in rows}


def next_number(study) -> int:
    return max(Bug.objects.filter(study=study).values_list("number", flat=True), default=0) + 1


def act(draw: random.Random, study, places: list[Repository | None]) -> None:
    drawn = {"repository": draw.choice(places), "merged_at": draw.choice(MOMENTS), "closed_at": draw.choice(MOMENTS)}
    items, bugs = list(Item.objects.filter(study=study)), list(Bug.objects.filter(study=study))
    name = draw.choice(
        ["take up", "fetch again", "fetch many", "write back", "second bug", "leave", "remove", "refuse"]
    )
    if name == "take up":
        item = ItemFactory(study=study)
        Bug.objects.create(study=study, item=item, number=next_number(study))
        Item.objects.filter(pk=item.pk).update(**drawn)
    elif name == "fetch again" and items:
        Item.objects.filter(pk=draw.choice(items).pk).update(**drawn)
    elif name == "fetch many":
        Item.objects.filter(study=study).update(merged_at=draw.choice(MOMENTS))
    elif name == "write back" and items:  # as it was read, with one change
        item = draw.choice(items)
        item.closed_at = drawn["closed_at"]
        item.save()
    elif name == "second bug" and bugs:
        number = next_number(study)
        Bug.objects.bulk_create([Bug(study=study, item_id=draw.choice(bugs).item_id, ordinal=number, number=number)])
    elif name == "leave" and bugs:
        bug = draw.choice(bugs)
        bug.left_at, bug.left_reason, bug.left_note = MOMENTS[1], "withdrawn", "Said so."
        bug.save()
    elif name == "remove" and bugs:
        Bug.objects.filter(pk=draw.choice(bugs).pk)._raw_delete("default")
    elif name == "refuse" and items:
        with transaction.atomic():
            Item.objects.filter(study=study).update(**drawn)
            transaction.set_rollback(True)


@pytest.mark.parametrize("seed", range(3))
def test_after_any_acts_each_bug_has_its_place(study, seed):
    draw = random.Random(seed)
    places = [None, *(Repository.objects.create(study=study, label=name) for name in ("axon", "corvid"))]
    make_bugs(study, 5)
    for _ in range(60):
        act(draw, study, places)
        assert kept() == derived()
    assert any(merged for _, merged, _ in kept().values())


def test_what_was_written_without_triggers_is_caught_up_with(study):
    bugs = make_bugs(study, 3)
    guards.remove()
    Item.objects.filter(pk=bugs[0].item_id).update(merged_at=MOMENTS[1])
    make_bugs(study, 1)
    Bug.objects.filter(pk=bugs[1].pk)._raw_delete("default")
    assert kept() != derived()
    guards.install()
    assert kept() == derived()


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_bug_taken_up_while_its_item_changes_has_the_place_that_it_gets(study, is_first):
    (first,) = make_bugs(study, 1)
    acts = [
        lambda: Item.objects.filter(pk=first.item_id).update(merged_at=MOMENTS[1]),
        lambda: Bug.objects.create(study=study, item_id=first.item_id, ordinal=2, number=2),
    ]
    while_it_lasts(*(acts if is_first else reversed(acts)))
    assert kept() == derived()
    assert [place[1] for place in kept().values()] == [202103, 202103]


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_who_takes_up_bugs_and_who_fills_in_their_items_wait_for_each_other_in_no_ring(study):
    items = [bug.item_id for bug in make_bugs(study, 2)]
    Item.objects.filter(pk=items[0]).update(title="Written anew, and so behind the other in the table")
    taken: list[object] = []

    def take_up() -> None:
        bugs = [Bug(study=study, item_id=item, ordinal=2, number=item + 10) for item in reversed(items)]
        try:
            taken.extend(Bug.objects.bulk_create(bugs))
        except OperationalError as problem:
            taken.append(problem)
        connection.close()

    with transaction.atomic():
        Item.objects.filter(pk=items[0]).update(closed_at=MOMENTS[1])
        beside = threading.Thread(target=take_up)
        beside.start()
        time.sleep(1)
        Item.objects.filter(pk=items[1]).update(closed_at=MOMENTS[1])
    beside.join()
    assert [type(one) for one in taken] == [Bug, Bug]
    assert kept() == derived()
