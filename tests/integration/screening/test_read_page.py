"""The reading page: one request a vote, the next candidate in the answer, nothing of anybody else."""

import pytest

from annotator.screening.actions import close
from annotator.screening.models import Reading, Vote
from tests.factories.screening import reading, screen

SWAP = {"HX-Request": "true"}


@pytest.fixture
def first(screening, alice) -> Reading:
    """Alice's first candidate, in her own order."""
    return Reading.objects.filter(screening=screening, reviewer=alice).order_by("position").first()


def url(at, screening, number) -> str:
    return at(screening.number, "candidates", number)


def test_it_shows_the_next_candidate_with_the_criteria_as_buttons(as_, at, screening, first, alice):
    page = as_(alice).get(at(1, "read")).content.decode()
    assert first.candidate.item.title in page
    for code in ("E1", "E2", "I1"):
        assert f'value="exclude:{code}"' in page
    assert 'value="include"' in page
    assert "0 of 4" in page


def test_a_vote_leads_on_without_script(as_, at, screening, first, alice):
    page = as_(alice).post(url(at, screening, first.candidate.position), {"act": "include", "comment": " fine "})
    assert page["Location"] == at(1, "read")
    vote = Vote.objects.get()
    assert (vote.decision, vote.criterion, vote.comment, vote.turn) == ("include", None, "fine", 1)


def test_the_answer_to_a_vote_is_the_next_candidate(as_, at, screening, first, alice):
    second = Reading.objects.filter(screening=screening, reviewer=alice).order_by("position")[1]
    page = as_(alice).post(url(at, screening, first.candidate.position), {"act": "exclude:E2"}, headers=SWAP)
    assert page["HX-Push-Url"] == url(at, screening, second.candidate.position)
    assert second.candidate.item.title in page.content.decode()
    assert Vote.objects.get().criterion.code == "E2"


def test_a_text_that_was_fetched_ahead_is_not_sent_again(as_, at, screening, first, alice):
    second = Reading.objects.filter(screening=screening, reviewer=alice).order_by("position")[1]
    client = as_(alice)
    ahead = client.get(url(at, screening, second.candidate.position) + "text/").content.decode()
    assert second.candidate.item.title in ahead
    told = SWAP | {"X-Fetched": str(second.candidate.position)}
    page = client.post(url(at, screening, first.candidate.position), {"act": "include"}, headers=told)
    assert f'data-prefetched="{second.candidate.position}"' in page.content.decode()


def test_a_vote_takes_few_queries(as_, at, screening, first, alice, django_assert_max_num_queries):
    client = as_(alice)
    with django_assert_max_num_queries(24):
        client.post(url(at, screening, first.candidate.position), {"act": "include"}, headers=SWAP)


def test_to_exclude_without_a_criterion_is_refused_and_keeps_the_comment(as_, at, screening, first, alice):
    sent = {"act": "exclude", "comment": "hm"}
    page = as_(alice).post(url(at, screening, first.candidate.position), sent, headers=SWAP)
    assert page.status_code == 422
    assert "Choose the criterion" in page.content.decode()
    assert ">hm</textarea>" in page.content.decode()
    assert not Vote.objects.exists()


def test_undo_takes_the_vote_back_and_shows_its_candidate(as_, at, screening, first, alice):
    client, here = as_(alice), url(at, screening, first.candidate.position)
    client.post(here, {"act": "exclude:E1", "comment": "too quick"}, headers=SWAP)
    page = client.post(here, {"act": "undo"}, headers=SWAP)
    assert page["HX-Push-Url"] == here
    assert "too quick" in page.content.decode()
    assert not Vote.objects.exists()
    assert client.post(here, {"act": "undo"})["Location"] == here


def test_later_comes_again_when_the_rest_is_read(as_, at, screening, first, alice):
    client = as_(alice)
    client.post(url(at, screening, first.candidate.position), {"act": "later"})
    others = [n for n in range(1, 5) if n != first.candidate.position]
    screen(screening, alice, dict.fromkeys(others, "in"))
    assert first.candidate.item.title in client.get(at(1, "read")).content.decode()


def test_when_all_is_voted_the_page_says_so(as_, at, screening, alice):
    client = as_(alice)
    screen(screening, alice, {1: "in", 2: "in", 3: "in"})
    last = client.post(url(at, screening, 4), {"act": "include"}, headers=SWAP)
    assert "All done here" in last.content.decode()
    assert last["HX-Push-Url"] == at(1, "read")
    page = client.get(at(1, "read")).content.decode()
    assert "Undo the last vote" in page


def test_ones_own_list_shows_votes_by_state(as_, at, screening, alice, bob):
    screen(screening, alice, {2: "E1"}, comment="seen before")
    screen(screening, bob, {1: "in"})
    page = as_(alice).get(at(1, "mine") + "?state=voted").content.decode()
    assert "Fix 2" in page
    assert "Fix 1" not in page
    assert "seen before" in page


def test_nobody_else_gets_the_page(as_, at, screening, first, lee, ada, charlie):
    here = url(at, screening, first.candidate.position)
    assert as_(lee).get(here).status_code == 404
    assert as_(lee).post(here, {"act": "include"}).status_code == 403
    assert as_(ada).get(at(1, "read")).status_code == 403
    for address in (here, at(1, "read"), at(1, "mine"), here + "text/", here + "files/0/"):
        assert as_(charlie).get(address).status_code == 404


def test_a_closed_screening_takes_no_vote(as_, at, screening, first, alice, lee):
    close(screening=screening, by=lee)
    page = as_(alice).post(url(at, screening, first.candidate.position), {"act": "include"})
    assert page.status_code == 409
    assert "closed" in page.content.decode()
    assert reading(screening, first.candidate.position, alice).state == "todo"
