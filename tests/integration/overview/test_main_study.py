"""The main study on made data: the smallest pool read whole, the others newest first until as many bugs.

Four frameworks; 319, 307, 359 and 265 pull requests are read for 250 bugs each: 1,250 read, 1,000 kept.
"""

from collections import Counter
from collections.abc import Iterable

import pytest

from annotator.adjudication.finals import Final, import_finals
from annotator.codebook.models import Category
from annotator.overview.bugs.replacing import denied, replace_denied
from annotator.overview.flow.counting import flow_of
from annotator.sampling.actions import draw_sample, take_up
from annotator.sampling.again import draw_again
from annotator.sampling.models import Bug, TopUp
from annotator.sampling.queries import parts
from annotator.sampling.rules import Rule
from annotator.studies.models import Study
from tests.integration.sampling.conftest import fill_pool

POOLS = {"tensorflow": 900, "pytorch": 307, "mxnet": 700, "dl4j": 500}
READ = {"tensorflow": 319, "pytorch": 307, "mxnet": 359, "dl4j": 265}
KEPT = 250


def none_of(label: str) -> set[int]:
    """Which of a framework's pull requests, the newest first, hold no bug: evenly among those that will be read.

    The last one to be read holds one, or reading would have stopped before it.
    """
    read = READ[label]
    others = read - KEPT
    return {1 + place * (read - 1) // others for place in range(others)}


def settle(study: Study, bugs: Iterable[Bug]) -> None:
    """Say of each bug that the raters have not seen yet what it is."""
    names = {
        (facet, name): (facet_id, pk)
        for facet, name, facet_id, pk in Category.objects.filter(facet__codebook__study=study, parent=None).values_list(
            "facet__key", "name", "facet_id", "pk"
        )
    }
    rows = []
    for bug in bugs:
        is_none = bug.item.number in none_of(bug.item.repository.label)
        facet, category = names["verdict", "not a bug"] if is_none else names["cause", "type"]
        rows.append(Final(bug.pk, facet, [category]))
    import_finals(study=study, rows=rows, by=None)


def unseen(study: Study) -> list[Bug]:
    return list(Bug.objects.filter(study=study, resolutions=None).select_related("item__repository"))


@pytest.mark.parametrize("label", READ)
def test_the_made_up_frameworks_are_as_published(label):
    assert len(none_of(label)) == READ[label] - KEPT
    assert READ[label] not in none_of(label)


def test_1250_are_read_and_1000_kept(study, lee):
    fill_pool(study, POOLS)
    rule = Rule(kind="smallest", within="newest", moment="merged")
    sample = draw_sample(study=study, name="Main sample", rule=rule, seed=2021, by=lee)

    take_up(sample=sample, stratum="pytorch", by=lee)
    settle(study, unseen(study))
    replace_denied(study=study, by=lee)  # nobody follows: there is no reserve
    assert {part.label: part.wanted for part in parts(sample)} == dict.fromkeys(POOLS, KEPT)

    take_up(sample=sample, by=lee)
    while waiting := unseen(study):
        settle(study, waiting)
        if denied(study).exists():
            replace_denied(study=study, by=lee)

    assert {part.label: (part.taken, part.staying) for part in parts(sample)} == {
        label: (read, KEPT) for label, read in READ.items()
    }
    newest = Counter(Bug.objects.filter(study=study).values_list("item__repository__label", flat=True))
    assert newest == READ
    for label, read in READ.items():
        numbers = Bug.objects.filter(item__repository__label=label).values_list("item__number", flat=True)
        assert sorted(number for number in numbers if number) == list(range(1, read + 1)), (
            "read newest first, without a gap"
        )
    assert TopUp.objects.count() == sum(READ[label] - KEPT for label in POOLS if label != "pytorch")
    assert draw_again(sample).is_same

    flow = flow_of(study)
    assert flow.is_balanced, flow.breaks
    assert [(step.name, step.n, {part.reason: part.n for part in step.excluded}) for step in flow.steps] == [
        ("found", 2407, {"not drawn: reserve": 1157}),
        ("sampled", 1250, {}),
        ("bugs", 1250, {"not a bug": 250}),
        ("labelled", 1000, {}),
        ("settled", 1000, {}),
    ]
    assert flow.replaced == 193
