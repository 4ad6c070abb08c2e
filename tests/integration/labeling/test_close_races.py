"""The close shuts out what comes in the same moment: it waits, and then finds the round closed."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from annotator.labeling.actions import freeze, save_draft
from annotator.labeling.models import Assignment
from annotator.labeling.places import claim_next
from annotator.web.errors import Refused
from tests.factories import make_bugs, make_round

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]


def while_closing(round_: Any, by: Any, act: Callable[[], Any]) -> Any:
    """The result of an act that begins while the close is under way."""
    frozen, result = threading.Event(), []

    def close() -> None:
        with transaction.atomic():
            freeze(round_=round_, by=by)
            frozen.set()
            time.sleep(0.5)
        connection.close()

    closing = threading.Thread(target=close)
    closing.start()
    frozen.wait()
    try:
        result.append(act())
    except Exception as problem:
        result.append(problem)
    closing.join()
    return result[0]


def test_claim_that_meets_the_close_gets_nothing(study, alice, bob, lee):
    pool = make_round(study, bugs=make_bugs(study, 2), raters=[alice, bob], by=lee, design="pool")
    assert while_closing(pool, lee, lambda: claim_next(round_=pool, rater=alice)) is None
    assert not Assignment.objects.filter(round=pool, state="claimed").exists()


def test_draft_that_meets_the_close_is_refused(main_round, alice, lee):
    turn = Assignment.objects.filter(round=main_round, rater=alice).first()
    said = while_closing(main_round, lee, lambda: save_draft(assignment=turn, draft={"note": "x"}, by=alice))
    assert isinstance(said, Refused)
