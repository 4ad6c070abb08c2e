"""What left the study's bugs is in no table of final labels and waits for nobody's decision; it all stays on record."""

import pytest

from annotator.adjudication import queue
from annotator.adjudication.models import Dispute, Resolution
from annotator.adjudication.queries import final_labels
from annotator.overview.rounds.closing import close_round
from annotator.sampling.actions import leave
from tests.factories import answer

SAME, OTHER = {"cause": "type", "stage": "training"}, {"cause": "api", "stage": "training"}


@pytest.fixture
def closed(main_round, bugs, alice, bob, lee):
    for bug in bugs:
        answer(main_round, bug, alice, SAME)
        answer(main_round, bug, bob, OTHER if bug in bugs[:2] else SAME)
    return close_round(round_=main_round, by=lee)


def labelled(study, labels="final"):
    return set(final_labels(study, labels).values_list("bug__number", flat=True))


@pytest.mark.parametrize("labels", ["final", "unanimous", "alice"])
@pytest.mark.parametrize("reason", ["duplicate", "withdrawn"])
def test_its_labels_are_final_no_more(study, bugs, closed, lee, labels, reason):
    assert 6 in labelled(study, labels)
    leave(bugs=[bugs[5]], reason=reason, note="Of bug 4.", by=lee)
    assert 6 not in labelled(study, labels)
    assert Resolution.objects.current().filter(bug=bugs[5]).exists()


def test_its_dispute_waits_for_nobody(study, bugs, closed, ada, alice, lee):
    leave(bugs=[bugs[0]], reason="withdrawn", note="Too large.", by=lee)
    assert queue.numbers(study, ada).disputes == 1
    assert queue.undecided(study, ada).count() == 1
    assert queue.own_waiting(study, alice).count() == 1
    assert Dispute.objects.filter(study=study, is_open=True).count() == 2
