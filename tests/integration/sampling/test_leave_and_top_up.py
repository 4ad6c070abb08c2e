"""A bug that leaves is replaced by the next of the reserve, so that the quota counts bugs."""

import pytest

from annotator.history.models import Event
from annotator.sampling.actions import come_back, leave, take_up, top_up
from annotator.sampling.models import TopUp
from annotator.sampling.queries import parts, replacements
from annotator.web.errors import BadInput, Refused


@pytest.fixture
def sample(pool, draw, lee):
    sample = draw("equal", count=5)
    take_up(sample=sample, by=lee)
    return sample


def of(sample, label, place=0):
    taken = sample.drawn.filter(stratum__label=label, state="taken").order_by("position")
    return taken[place].item.bugs.get()


def test_it_leaves_with_reason_note_and_time(sample, lee):
    bug = of(sample, "axon/axon")
    leave(bugs=[bug], reason="duplicate", note="The same as bug 4.", by=lee)
    bug.refresh_from_db()
    assert (bug.left_reason, bug.left_note) == ("duplicate", "The same as bug 4.")
    assert bug.left_at
    event = Event.objects.get(verb="left the study’s bugs")
    assert (event.object_id, event.new, event.why) == (bug.pk, "duplicate", "The same as bug 4.")


@pytest.mark.parametrize("reason", ["duplicate", "withdrawn"])
def test_a_note_says_why(sample, lee, reason):
    with pytest.raises(BadInput, match="Write why it leaves"):
        leave(bugs=[of(sample, "axon/axon")], reason=reason, note=" ", by=lee)


def test_only_known_reasons(sample, lee):
    with pytest.raises(BadInput, match="A bug leaves as not_a_bug, duplicate, withdrawn"):
        leave(bugs=[of(sample, "axon/axon")], reason="boring", note="x", by=lee)


def test_none_leaves_twice_and_then_none_of_them_leaves(sample, lee):
    gone, there = of(sample, "axon/axon"), of(sample, "axon/axon", 1)
    leave(bugs=[gone], reason="not_a_bug", by=lee)
    with pytest.raises(Refused, match=f"Bug {gone.number} has left already: not a bug"):
        leave(bugs=[gone, there], reason="not_a_bug", by=lee)
    there.refresh_from_db()
    assert there.left_at is None


def test_the_next_of_its_stratum_takes_its_place(sample, lee):
    bug = of(sample, "lumen/lumen", 2)
    leave(bugs=[bug], reason="not_a_bug", by=lee)
    expected = sample.drawn.filter(stratum__label="lumen/lumen", state="reserve").order_by("position").first()
    assert [(one.left, one.place) for one in replacements(sample)] == [(bug, expected)]
    (row,) = top_up(sample=sample, by=lee)
    assert (row.left, row.came.item, row.by) == (bug, expected.item, lee)
    assert row.came.number == 16
    assert {part.label: part.staying for part in parts(sample)} == dict.fromkeys(
        ["axon/axon", "lumen/lumen", "tessera/tessera"], 5
    )
    assert Event.objects.get(verb="topped up a sample").new == {f"bug {bug.number}": "bug 16"}


def test_a_preview_tells_the_same_before_they_leave(sample, lee):
    bugs = [of(sample, "axon/axon", 1), of(sample, "axon/axon", 3), of(sample, "tessera/tessera")]
    foreseen = [(one.left.number, one.place.item_id) for one in replacements(sample, leaving=[b.pk for b in bugs])]
    leave(bugs=bugs, reason="not_a_bug", by=lee)
    assert [(row.left.number, row.came.item_id) for row in top_up(sample=sample, by=lee)] == foreseen
    assert len(foreseen) == 3


def test_a_replacement_that_leaves_is_replaced_in_turn(sample, lee):
    leave(bugs=[of(sample, "axon/axon")], reason="not_a_bug", by=lee)
    (first,) = top_up(sample=sample, by=lee)
    leave(bugs=[first.came], reason="duplicate", note="Of bug 3.", by=lee)
    (second,) = top_up(sample=sample, by=lee)
    assert second.left == first.came
    assert TopUp.objects.count() == 2


def test_an_empty_reserve_replaces_as_many_as_it_can(pool, draw, lee):
    sample = draw("equal", count=7)
    take_up(sample=sample, by=lee)  # of lumen seven of eight
    gone = [of(sample, "lumen/lumen", place) for place in (0, 1)]
    leave(bugs=gone, reason="not_a_bug", by=lee)
    assert len(top_up(sample=sample, by=lee)) == 1
    with pytest.raises(Refused, match="the reserve is empty"):
        top_up(sample=sample, by=lee)
    assert {part.label: part.short for part in parts(sample)}["lumen/lumen"] == 1


def test_where_the_smallest_sets_the_number_its_own_losses_are_not_replaced(pool, draw, lee):
    sample = draw("smallest")
    take_up(sample=sample, by=lee)
    leave(bugs=[of(sample, "lumen/lumen", place) for place in range(3)], reason="not_a_bug", by=lee)
    assert {part.label: (part.wanted, part.beyond) for part in parts(sample)} == {
        "axon/axon": (5, 3),
        "lumen/lumen": (5, 0),
        "tessera/tessera": (5, 3),
    }
    with pytest.raises(Refused, match="No bug waits to be replaced"):
        top_up(sample=sample, by=lee)


def test_nothing_to_replace_is_said(sample, lee):
    with pytest.raises(Refused, match="No bug waits to be replaced"):
        top_up(sample=sample, by=lee)


def test_a_bug_that_left_by_mistake_comes_back(sample, lee):
    bug = of(sample, "axon/axon")
    leave(bugs=[bug], reason="withdrawn", note="Too large.", by=lee)
    come_back(bug=bug, reason="It can be isolated.", by=lee)
    bug.refresh_from_db()
    assert (bug.left_at, bug.left_reason, bug.left_note) == (None, "", "")
    event = Event.objects.get(verb="came back to the study’s bugs")
    assert (event.old, event.why) == ("withdrawn", "It can be isolated.")


def test_none_comes_back_for_whom_another_came(sample, lee):
    bug = of(sample, "axon/axon")
    leave(bugs=[bug], reason="withdrawn", note="Too large.", by=lee)
    top_up(sample=sample, by=lee)
    with pytest.raises(Refused, match="Bug 16 has taken its place in Main sample"):
        come_back(bug=bug, reason="It can be isolated.", by=lee)


def test_none_comes_back_that_is_there_or_without_a_reason(sample, lee):
    bug = of(sample, "axon/axon")
    with pytest.raises(Refused, match=f"Bug {bug.number} has not left"):
        come_back(bug=bug, reason="?", by=lee)
    with pytest.raises(BadInput, match="Write why"):
        come_back(bug=bug, reason="", by=lee)
