"""A harvest that lacks something may be sampled for a written reason."""

import pytest

from annotator.collection.actions import allow_sampling
from annotator.collection.models import Harvest
from annotator.history.models import Event
from annotator.web.errors import BadInput


@pytest.fixture
def harvest(study, lee):
    return Harvest.objects.create(study=study, number=1, created_by=lee)


def test_the_reason_stands_beside_it_and_in_the_history(harvest, lee):
    allow_sampling(harvest=harvest, reason=" Seven were deleted by their authors. ", by=lee)
    harvest.refresh_from_db()
    assert harvest.override_reason == "Seven were deleted by their authors."
    event = Event.objects.get(verb="allowed sampling of an incomplete harvest")
    assert (event.actor_name, event.label, event.why) == ("lee", "harvest 1", harvest.override_reason)


def test_a_reason_is_needed(harvest, lee):
    with pytest.raises(BadInput, match="Write why"):
        allow_sampling(harvest=harvest, reason="  ", by=lee)
