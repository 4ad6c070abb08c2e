"""Taking up: the next places become bugs, until each stratum has what is wanted of it."""

from collections import Counter

import pytest

from annotator.history.models import Event
from annotator.sampling.actions import add_bugs, leave, take_up
from annotator.sampling.models import Bug, Drawn
from annotator.sampling.queries import line, parts
from annotator.web.errors import BadInput, Refused


def repositories(bugs):
    return Counter(bug.item.repository.label for bug in bugs)


def test_the_quota_is_taken_from_the_top_and_the_rest_is_reserve(pool, draw, lee):
    sample = draw("newest", count=10)
    bugs = take_up(sample=sample, by=lee)
    assert [bug.number for bug in bugs] == list(range(1, 11))
    assert {(bug.item_id, bug.ordinal) for bug in bugs} == {
        (item, 1) for item in sample.drawn.filter(position__lte=10).values_list("item", flat=True)
    }
    assert set(sample.drawn.filter(position__lte=10).values_list("state", flat=True)) == {"taken"}
    told = line(sample).all
    assert (told.taken, told.reserve, told.bugs, told.wanted) == (10, 30, 10, 10)
    assert Event.objects.filter(verb="took up a sample", label="Main sample").count() == 1


def test_all_strata_take_turns_so_that_any_first_bugs_mirror_the_sample(pool, draw, lee):
    bugs = take_up(sample=draw("equal", count=5), by=lee)
    assert repositories(bugs) == {"axon/axon": 5, "lumen/lumen": 5, "tessera/tessera": 5}
    assert repositories(bugs[:6]) == {"axon/axon": 2, "lumen/lumen": 2, "tessera/tessera": 2}


def test_a_few_at_a_time(pool, draw, lee):
    sample = draw("newest", count=10)
    assert [len(take_up(sample=sample, by=lee, most=4)) for _ in range(3)] == [4, 4, 2]
    with pytest.raises(Refused, match="Nothing is left to take up"):
        take_up(sample=sample, by=lee)


def test_one_stratum_alone(pool, draw, lee):
    sample = draw("smallest")
    assert repositories(take_up(sample=sample, stratum="lumen/lumen", by=lee)) == {"lumen/lumen": 8}
    with pytest.raises(BadInput, match="no stratum “corvid”"):
        take_up(sample=sample, stratum="corvid", by=lee)


def test_others_follow_the_smallest_in_bugs_not_in_items(pool, draw, lee):
    """Read whole, the smallest held five bugs: then five of each are wanted."""
    sample = draw("smallest")
    smallest = take_up(sample=sample, stratum="lumen/lumen", by=lee)
    leave(bugs=smallest[:3], reason="not_a_bug", by=lee)
    assert {part.label: part.wanted for part in parts(sample)} == {
        "axon/axon": 5,
        "lumen/lumen": 5,
        "tessera/tessera": 5,
    }
    assert repositories(take_up(sample=sample, by=lee)) == {"axon/axon": 5, "tessera/tessera": 5}


def test_a_further_bug_of_an_item_counts(study, pool, draw, lee):
    sample = draw("newest", count=10)
    (first, *_) = take_up(sample=sample, by=lee, most=5)
    add_bugs(study=study, places=[(first.item, 2)], by=lee)
    assert len(take_up(sample=sample, by=lee)) == 4
    assert line(sample).all.bugs == 10


def test_what_became_a_bug_in_another_way_is_passed_over(study, pool, draw, lee):
    sample = draw("newest", count=3)
    second = sample.drawn.get(position=2)
    add_bugs(study=study, places=[(second.item, 1)], by=lee)
    take_up(sample=sample, by=lee)
    assert list(sample.drawn.filter(state="taken").values_list("position", flat=True)) == [1, 3, 4]
    assert parts(sample)[0].overtaken == 1
    assert Bug.objects.filter(item=second.item).count() == 1


def test_an_item_is_taken_by_one_sample(pool, draw, lee):
    both = [draw("newest", name=name, count=5) for name in ("first", "second")]
    for sample in both:
        take_up(sample=sample, by=lee)
    taken = Drawn.objects.filter(state="taken").values_list("item", flat=True)
    assert len(taken) == len(set(taken)) == 10
