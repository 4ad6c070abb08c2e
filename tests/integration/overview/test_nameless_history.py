"""The history keeps the raters' names from an adjudicator where the protocol hides them, and takes any address."""

import pytest

from annotator.adjudication.actions import take_stand
from annotator.codebook.models import Facet
from annotator.overview.rounds.closing import close_round
from tests.factories import answer

TYPE = {"cause": "type", "stage": "training"}
SHAPE = {"cause": "shape", "stage": "training"}


@pytest.fixture
def differing(main_round, bugs, alice, bob, lee):
    answer(main_round, bugs[0], alice, TYPE)
    answer(main_round, bugs[0], bob, SHAPE)
    close_round(round_=main_round, by=lee)
    return bugs[0]


def test_second_look_names_its_rater_nowhere_to_who_decides(client, ada, differing):
    client.force_login(ada)
    sent = {"rater": "A", "reason": "Look at line 3."}
    page = client.post(f"/frameworks/adjudication/bugs/{differing.number}/reopen/", sent, follow=True)
    assert "Second look at bug 1” is open" in page.content.decode()
    for address in ("/frameworks/history/", "/frameworks/rounds/", "/frameworks/", "/frameworks/rounds/2/"):
        told = client.get(address).content.decode().split("Second look at bug 1")[1:]
        assert told and not any(name in part[:200] for part in told for name in ("alice", "bob")), address


def test_asking_for_a_raters_acts_does_not_name_the_author_of_a_stand(client, ada, alice, differing):
    cause = Facet.objects.get(codebook__study__slug="frameworks", key="cause")
    take_stand(bug=differing, facet=cause, move="keep", by=alice)
    client.force_login(ada)
    assert "took a stand" in client.get("/frameworks/history/").content.decode()
    assert "took a stand" not in client.get("/frameworks/history/?by=alice").content.decode()


@pytest.mark.parametrize(
    "after",
    [
        "2026-01-01T00:00:00%2B00:00~-5",
        "2026-01-01T00:00:00~0",
        "2026-01-01T00:00:00%2B00:00~99999999999999999999",
        "0001-01-01T00:00:00%2B23:59~0",
        "9999-12-31T23:59:59-23:59~0",
    ],
)
@pytest.mark.parametrize("address", ["/frameworks/history/", "/api/v1/studies/frameworks/events/"])
def test_place_that_no_page_gave_is_the_beginning(client, alice, main_round, address, after):
    client.force_login(alice)
    assert client.get(f"{address}?after={after}").status_code == 200
