"""Two at the same instant, on connections of their own: one harvest of two presses, one token, one look again."""

import pytest

from annotator.collection.actions import start_harvest
from annotator.collection.asking import ask, look_again
from annotator.collection.models import GitHubToken, Harvest
from annotator.collection.tokens import remove_token, store_token
from annotator.collection.wanted import Wanted
from annotator.collection.working import claim
from annotator.history.models import Event
from annotator.web.errors import BadInput, Refused
from tests.together import at_once, while_it_lasts

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]
WANTED = Wanted(("frame/wood",))


def kinds(results):
    return sorted(type(result).__name__ for result in results)


def test_a_harvest_that_is_started_twice_at_once_is_one(study, lee):
    def start():
        return ask(study=study, wanted=WANTED, host="github.com", by=lee)

    assert kinds(while_it_lasts(start, start)) == ["BadInput", "Harvest"]
    assert kinds(at_once(*[start] * 4)) == ["BadInput"] * 4
    assert Harvest.objects.count() == 1


def test_harvests_started_at_once_have_numbers_of_their_own(study, lee):
    asked = [Wanted((f"frame/wood-{place}",)) for place in range(6)]
    at_once(*(lambda wanted=wanted: ask(study=study, wanted=wanted, host="github.com", by=lee) for wanted in asked))
    assert sorted(Harvest.objects.values_list("number", flat=True)) == [1, 2, 3, 4, 5, 6]


def test_of_many_workers_one_takes_the_harvest(study, lee):
    row = start_harvest(study=study, wanted=WANTED, by=lee)
    taken = at_once(*(lambda place=place: claim(row.pk, f"worker {place}") for place in range(8)))
    assert len([one for one in taken if isinstance(one, Harvest)]) == 1


def test_looked_at_again_twice_at_once_it_is_looked_at_once(study, lee):
    row = start_harvest(study=study, wanted=WANTED, by=lee)
    Harvest.objects.update(state="done")
    results = at_once(*(lambda: look_again(harvest=Harvest.objects.get(pk=row.pk), by=lee) for _ in range(4)))
    assert len([one for one in results if isinstance(one, Refused)]) == 3
    assert Event.objects.filter(verb="looked again at a harvest").count() == 1


def test_a_token_that_is_stored_twice_at_once_is_one(study, lee):
    def store():
        return store_token(study=study, host="github.com", name="Lee’s", token="ghp_only_for_tests", by=lee)

    results = at_once(*[store] * 4)
    assert len([one for one in results if isinstance(one, BadInput)]) == 3
    row = GitHubToken.objects.get()
    removed = at_once(*(lambda: remove_token(row=row, by=lee) for _ in range(4)))
    assert len([one for one in removed if isinstance(one, Refused)]) == 3
    assert Event.objects.filter(verb="removed a token").count() == 1
