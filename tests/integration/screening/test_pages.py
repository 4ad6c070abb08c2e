"""The stage's pages: what each shows to whom, and what a lead does there."""

import pytest

from annotator.screening.actions import close
from annotator.screening.after import drop
from annotator.screening.models import Outcome, Screening
from tests.factories import ItemFactory, UserFactory, member
from tests.factories.screening import candidate, make_criteria, make_screening, screen

SENT = {"name": "Second", "rule": "majority", "seed": 4}


@pytest.fixture
def closed(screening, alice, bob, lee):
    """1 is in, 2 is out, 3 is in conflict, 4 was not read."""
    screen(screening, alice, {1: "in", 2: "E1", 3: "in"}, comment="as I see it")
    screen(screening, bob, {1: "in", 2: "E1", 3: "E2"})
    return close(screening=screening, by=lee)


def read(client, address) -> str:
    page = client.get(address)
    assert page.status_code == 200
    return page.content.decode()


# --- first page


def test_an_empty_study_says_what_to_do_next(as_, at, study, lee, alice):
    assert "Write criteria" in read(as_(lee), at())
    assert "The lead writes the criteria" in read(as_(alice), at())
    make_criteria(study, by=lee)
    assert "Collect from GitHub or import a sheet" in read(as_(lee), at())
    ItemFactory(study=study)
    assert "New screening" in read(as_(lee), at())


def test_it_shows_screenings_counts_and_conflicts(as_, at, study, closed, alice, bob, lee):
    opened = make_screening(study, reviewers=[alice, bob], by=lee, name="Later")
    screen(opened, bob, {1: "in"})
    page = read(as_(alice), at())
    assert "Screen next" in page
    assert "alice 0 of 4" in page
    assert "bob 1 of 4" not in page
    assert "Fix 3 of First reading" in page
    assert "new feature" in page
    assert "bob 1 of 4" in read(as_(lee), at())


def test_strangers_find_nothing(as_, at, closed, charlie):
    client = as_(charlie)
    for address in (at(), at("new"), at("candidates"), at(1), at(1, "conflicts"), at(1, "candidates", 1)):
        assert client.get(address).status_code == 404
    for address in (at(1, "close"), at("new"), *(at(1, "candidates", 1, act) for act in ("decide", "reopen", "drop"))):
        assert client.post(address).status_code == 404


# --- opening


def test_a_lead_opens_one(as_, at, study, alice, bob, lee):
    make_criteria(study, by=lee)
    for place in range(3):
        ItemFactory(study=study, title=f"Fix {place}")
    page = as_(lee).post(at("new"), SENT | {"reviewers": ["alice", "bob"], "newest": 2})
    assert page["Location"] == at(1)
    opened = Screening.objects.get()
    assert (opened.rule, opened.seed, opened.overlap, opened.candidates.count()) == ("majority", 4, 2, 2)


def test_the_form_says_what_is_missing(as_, at, study, alice, lee):
    client = as_(lee)
    assert "There are no criteria yet" in read(client, at("new"))
    make_criteria(study, by=lee)
    assert "Every item is a candidate already" in read(client, at("new"))
    ItemFactory(study=study)
    page = client.post(at("new"), SENT | {"reviewers": ["alice"], "overlap": 2})
    assert page.status_code == 400
    assert "2 votes a candidate are asked for" in page.content.decode()
    assert client.post(at("new"), {}).status_code == 400
    assert as_(alice).get(at("new")).status_code == 403


# --- one screening


def test_open_it_shows_progress_and_no_result(as_, at, screening, alice, bob, lee, ada):
    screen(screening, bob, {1: "in", 2: "E1"})
    page = read(as_(lee), at(1))
    assert "2 of 4" in page
    assert "Close screening" in page
    assert "Conflicts" not in page
    assert "is not shown while the screening is open" in read(as_(ada), at(1))
    mine = read(as_(alice), at(1))
    assert "bob, 2 of 4" not in mine
    assert "Screen next" in mine


def test_a_lead_closes_it(as_, at, screening, lee, alice):
    assert as_(alice).post(at(1, "close")).status_code == 403
    assert as_(lee).post(at(1, "close"))["Location"] == at(1)
    assert as_(lee).post(at(1, "close")).status_code == 409


def test_closed_it_shows_counts_that_open_their_candidates(as_, at, closed, ada):
    page = read(as_(ada), at(1))
    for link in ("what=kept", "what=excluded&amp;reason=new%20feature", "what=conflict", "what=unread"):
        assert (link in page) == (link != "what=kept")  # nothing was dropped: what is in now is what was included
    client = as_(ada)
    assert "Fix 2" in read(client, at("candidates") + "?what=excluded&reason=new%20feature&screening=1")
    assert "Fix 4" in read(client, at("candidates") + "?what=unread")
    assert "None." in read(client, at("candidates") + "?what=dropped")
    assert client.get(at("candidates") + "?what=secret").status_code == 404
    assert client.get(at("candidates") + "?screening=9").status_code == 404


def test_the_lists_of_a_large_screening_are_paged(as_, at, study, alice, lee):
    opened = make_screening(study, reviewers=[alice], by=lee, count=60)
    client = as_(lee)
    assert "after=1.50" in read(client, at("candidates"))
    assert "Fix 51" in read(client, at("candidates") + "?after=1.50")
    assert client.get(at("candidates") + "?after=x.y").status_code == 200
    close(screening=opened, by=lee)


def test_agreement_is_there_once_it_is_closed(as_, screening, alice, bob, lee):
    address = "/frameworks/agreement/screening/1/"
    screen(screening, alice, {1: "in", 2: "in", 3: "E1"})
    screen(screening, bob, {1: "in", 2: "E1", 3: "E1"})
    before = read(as_(alice), address)
    assert "counted when the screening closes" in before
    close(screening=screening, by=lee)
    page = read(as_(alice), address)
    assert ".40" in page
    assert "enforced" in page
    part = as_(alice).get(address, headers={"HX-Request": "true"}).content.decode()
    assert "<table" in part
    assert "<html" not in part
    assert "screening: First reading" in read(as_(alice), "/frameworks/agreement/")


# --- conflicts and their settling


def test_conflicts_stand_side_by_side_after_the_close(as_, at, screening, alice, bob, lee):
    screen(screening, alice, {3: "in"}, comment="as I see it")
    screen(screening, bob, {3: "E2"})
    assert "Not before the close" in read(as_(lee), at(1, "conflicts"))
    close(screening=screening, by=lee)
    page = read(as_(bob), at(1, "conflicts"))
    assert "documentation only" in page
    assert "as I see it" in page


def test_a_reviewer_looks_again_and_the_next_conflict_follows(as_, at, screening, alice, bob, lee):
    screen(screening, alice, {3: "in", 4: "in"})
    screen(screening, bob, {3: "E2", 4: "E2"})
    close(screening=screening, by=lee)
    assert "Look again" in read(as_(bob), at(1, "candidates", 3))
    assert "Look again" not in read(as_(lee), at(1, "candidates", 3))
    page = as_(bob).post(at(1, "candidates", 3, "vote-again"), {"act": "include", "comment": "Yes."})
    assert page["Location"] == at(1, "candidates", 4)
    last = as_(alice).post(at(1, "candidates", 4, "vote-again"), {"act": "exclude:E2"})
    assert last["Location"] == at(1)
    assert "before:" in read(as_(alice), at(1, "candidates", 4))


def test_a_lead_decides_reopens_and_drops(as_, at, closed, lee, alice):
    client, place = as_(lee), at(1, "candidates", 3)
    sent = {"decision": "exclude:E2", "note": "We met.", "participant": ["alice", "bob"]}
    assert client.post(place + "decide/", sent)["Location"] == at(1)
    page = read(client, place)
    assert "by alice, bob" in page
    assert "Reopen" in page
    assert client.post(place + "reopen/", {"reason": "Too quick."})["Location"] == place
    assert "Earlier decisions (1)" in read(client, place)
    assert client.post(at(1, "candidates", 1, "drop"), {"reason": "No gist."}).status_code == 302
    assert Outcome.objects.current().get(candidate=candidate(closed, 1)).source == "dropped"
    assert "In now" in read(client, at(1))
    assert as_(alice).post(place + "decide/", sent).status_code == 403


def test_a_decision_that_cannot_be_is_refused_in_words(as_, at, closed, lee):
    page = as_(lee).post(at(1, "candidates", 3, "decide"), {"decision": "exclude:E2"})
    assert page.status_code == 400
    assert "Say why" in page.content.decode()


def test_a_candidate_that_is_not_there(as_, at, closed, lee):
    assert as_(lee).get(at(1, "candidates", 99)).status_code == 404
    assert as_(lee).get(at(9, "candidates", 1)).status_code == 404


# --- the study's home


def test_home_tells_what_waits(as_, study, screening, alice, bob, lee):
    assert "4 candidates of First reading wait for your vote" in read(as_(alice), "/frameworks/")
    for who in (alice, bob):
        screen(screening, who, {at: "in" if who == alice or at < 4 else "E1" for at in range(1, 5)})
    assert "Everybody is done with First reading" in read(as_(lee), "/frameworks/")
    close(screening=screening, by=lee)
    page = read(as_(lee), "/frameworks/")
    assert "1 candidate in conflict waits" in page
    assert "kept of 4 candidates" in page
    drop(candidate=candidate(screening, 1), reason="No gist.", by=lee)


def test_a_lead_who_reviews_learns_of_nobody_else(as_, study, lee, alice):
    member(study, lee, "rater")
    third = member(study, UserFactory(username="third"), "rater")
    opened = make_screening(study, reviewers=[lee, third], by=lee, count=1)
    screen(opened, lee, {1: "in"})
    page = read(as_(lee), "/frameworks/")
    assert "You have voted on all of" in page
    assert "Everybody is done" not in page
