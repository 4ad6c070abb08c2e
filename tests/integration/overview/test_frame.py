"""The navigation around the pages of a study, and the numbers in it."""

from typing import Any

import pytest
from django.test import Client

from annotator.overview.frame import waiting_for
from annotator.overview.rounds.closing import close_round
from tests.factories import answer, member
from tests.factories.screening import make_screening, screen

SAME = {"cause": "type", "stage": "training"}
OTHER = {"cause": "api", "stage": "training"}


def places(client: Client, user: Any, address: str = "/frameworks/members/") -> dict[str, int]:
    """What the navigation shows that person: each stage with its number."""
    client.force_login(user)
    return {place.label: place.waiting for place in client.get(address).context["stages"]}


def test_every_stage_with_a_page_is_there_and_the_open_one_is_marked(client, study, lee):
    client.force_login(lee)
    shown = client.get("/frameworks/adjudication/").context
    assert [place.label for place in shown["stages"]] == [
        "Overview", "Collection", "Screening", "Sampling", "Labeling", "Agreement", "Adjudication", "Reproduction",
        "Analysis", "Publication",
    ]  # fmt: skip
    assert [place.label for place in shown["stages"] if place.is_current] == ["Adjudication"]
    assert [place.label for place in shown["beside"]] == ["Bugs", "Codebook", "Members", "History"]


def test_every_place_leads_somewhere(client, study, lee):
    client.force_login(lee)
    shown = client.get("/frameworks/").context
    pages = [client.get(place.url) for place in [*shown["stages"], *shown["beside"]]]
    assert {page.status_code for page in pages} == {200}


def test_a_rater_sees_how_many_own_bugs_wait(client, main_round, bugs, alice):
    assert places(client, alice)["Labeling"] == 6
    answer(main_round, bugs[0], alice, SAME)
    assert places(client, alice)["Labeling"] == 5


def test_a_reviewer_sees_how_many_own_candidates_wait(client, study, alice, bob, lee):
    opened = make_screening(study, reviewers=[alice, bob], by=lee)
    screen(opened, alice, {1: "in"})
    screen(opened, bob, {1: "E1", 2: "E1"})
    assert [places(client, who)["Screening"] for who in (alice, bob, lee)] == [3, 2, 0]


def test_anothers_answers_move_no_number(client, main_round, bugs, alice, ada, lee, bob):
    before = [places(client, person) for person in (alice, ada, lee)]
    for bug in bugs:
        answer(main_round, bug, bob, OTHER)
    assert [places(client, person) for person in (alice, ada, lee)] == before


def test_disputes_wait_for_who_may_settle_them_once_the_round_is_closed(client, main_round, bugs, alice, bob, ada, lee):
    for bug in bugs:
        answer(main_round, bug, alice, SAME)
        answer(main_round, bug, bob, OTHER if bug in bugs[:2] else SAME)
    assert places(client, ada)["Adjudication"] == 0
    close_round(round_=main_round, by=lee)
    assert {who.username: places(client, who)["Adjudication"] for who in (ada, alice, lee)} == {
        "ada": 2, "alice": 2, "lee": 0,
    }  # fmt: skip
    assert places(client, alice)["Labeling"] == 0


@pytest.mark.parametrize(("roles", "queries"), [({"lead", "reader"}, 0), ({"rater"}, 3), ({"adjudicator"}, 1)])
def test_the_numbers_cost_three_queries_at_most(study, main_round, alice, roles, queries, django_assert_num_queries):
    with django_assert_num_queries(queries):
        waiting_for(study, alice, frozenset(roles))


def test_the_codebook_says_its_version(client, study, alice):
    client.force_login(alice)
    beside = client.get("/frameworks/members/").context["beside"]
    assert {place.label: place.note for place in beside if place.note} == {"Codebook": "v1"}


def test_the_top_bar_says_ones_roles_in_their_order(client, study, alice):
    member(study, alice, "reader", "lead")
    client.force_login(alice)
    assert b"lead, rater, reader" in client.get("/frameworks/members/").content


def test_search_is_offered_in_a_study_and_the_keys_everywhere(client, study, alice):
    client.force_login(alice)
    inside, outside = client.get("/frameworks/members/").content, client.get("/account/").content
    assert b'id="pop-search"' in inside
    assert b'id="pop-search"' not in outside
    assert all(b'id="pop-keys"' in page for page in (inside, outside))


def test_the_labelling_page_keeps_its_own_keys(client, main_round, alice):
    client.force_login(alice)
    page = client.get("/frameworks/rounds/1/label/", follow=True).content
    assert b"shortcuts.js" not in page
    assert page.count(b'data-press="?"') == 1


def test_a_page_outside_a_study_has_no_stages(client, alice):
    client.force_login(alice)
    assert b'class="stages"' not in client.get("/account/").content
