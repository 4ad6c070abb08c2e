"""The board of open coding: what it shows to whom, and what its buttons do, with and without script."""

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from annotator.codebook import coding
from annotator.codebook.models import Category, Memo
from annotator.overview.coding import grouping
from annotator.overview.rounds.closing import close_round
from tests.factories import StudyFactory, answer, make_bugs, make_codebook, make_round, member

HTMX = {"HX-Request": "true"}
CODES = ["crash", "Crash!", "crash: segfault", "hang", "hangs"]


@pytest.fixture
def study(alice, bob, lee, ada):
    study = StudyFactory(slug="words")
    member(study, lee, "lead")
    member(study, ada, "adjudicator")
    for rater in (alice, bob):
        member(study, rater, "rater")
    make_codebook(study, {"symptom": ["Failure", *CODES], "stage": ["training"]})
    study.codebook.facets.filter(key="symptom").update(takes_codes=True)
    Category.objects.filter(name__in=CODES).update(is_code=True, hotkey="")
    return study


@pytest.fixture
def facet(study):
    return study.codebook.facets.get(key="symptom")


@pytest.fixture
def closed(study, alice, bob, lee):
    """Three bugs; the raters differ in their words on each."""
    bugs = make_bugs(study, 3)
    round_ = make_round(study, bugs=bugs, raters=[alice, bob], by=lee)
    for bug, (first, second) in zip(
        bugs, [("crash", "Crash!"), ("crash", "crash: segfault"), ("hang", "hangs")], strict=True
    ):
        answer(round_, bug, alice, {"symptom": first, "stage": "training"}, note="It stops.")
        answer(round_, bug, bob, {"symptom": second, "stage": "training"})
    return close_round(round_=round_, by=lee)


@pytest.fixture
def at(client, study):
    def sit(person):
        client.force_login(person)
        return client

    return sit


def url(name="board", *more):
    return reverse(f"coding:{name}", args=["words", "symptom", *more])


def uid(facet, name):
    return facet.categories.get(name=name).uid


# --- what it shows


def test_codes_stand_with_their_answers_and_with_those_like_them(facet, closed):
    board = grouping.board(facet)
    assert [(code.name, code.answers, code.is_first) for code in board.codes] == [
        ("crash", 2, True),
        ("Crash!", 1, False),
        ("crash: segfault", 1, True),
        ("hang", 1, True),
        ("hangs", 1, False),
    ]
    assert [group.name for group in board.groups] == ["Failure"]
    assert (board.placed, board.total) == (0, 5)


def test_what_is_like_a_placed_code_says_where_that_one_stands(facet, lee):
    coding.place(facet=facet, codes=[uid(facet, "crash")], under=uid(facet, "Failure"), by=lee)
    board = grouping.board(facet)
    code = next(code for code in board.codes if code.name == "Crash!")
    assert (code.beside.name, code.beside.group_name) == ("crash", "Failure")
    assert board.placed == 1


def test_answers_of_an_open_round_are_not_counted(study, facet, alice, bob, lee):
    round_ = make_round(study, bugs=make_bugs(study, 1), raters=[alice, bob], by=lee)
    answer(round_, round_.round_bugs.get().bug, alice, {"symptom": "hang", "stage": "training"})
    assert {code.answers for code in grouping.board(facet).codes} == {0}
    assert grouping.detail(facet.categories.get(name="hang")).bugs == ()


def test_a_proposed_code_of_an_open_round_is_not_there(facet):
    Category.objects.filter(name="hang").update(state="proposed")
    assert "hang" not in [code.name for code in grouping.board(facet).codes]


@pytest.mark.parametrize("order", ["alike", "count", "name", "other"])
def test_each_order_shows_all(facet, closed, order):
    assert len(grouping.board(facet, order=order).codes) == len(CODES)


def test_the_number_of_queries_is_that_of_a_few_codes(facet, closed, django_assert_num_queries):
    with django_assert_num_queries(3):
        grouping.board(facet)


def test_a_code_shows_its_bugs_with_each_raters_words(at, lee, facet, closed):
    coding.place(facet=facet, codes=[uid(facet, "Crash!")], under=uid(facet, "Failure"), by=lee)
    text = at(lee).get(url("code", uid(facet, "crash"))).content.decode()
    for word in ("alice", "bob", "Crash!", "in Failure", "It stops.", "crash: segfault"):
        assert word in text


def test_an_adjudicator_reads_the_words_without_the_names(at, ada, facet, closed):
    text = at(ada).get(url("code", uid(facet, "crash"))).content.decode()
    assert "crash: segfault" in text
    assert "alice" not in text


# --- who


def test_a_stranger_finds_nothing(at, charlie, facet):
    assert at(charlie).get(url()).status_code == 404
    assert at(charlie).get(url("code", uid(facet, "hang"))).status_code == 404
    assert at(charlie).post(url(), {"act": "codes"}).status_code == 404


def test_a_rater_reads_and_moves_nothing(at, alice, facet, closed):
    page = at(alice).get(url())
    assert page.status_code == 200
    assert "Put here" not in page.content.decode()
    sent = {"code": [uid(facet, "hang")], "under": uid(facet, "Failure")}
    assert at(alice).post(url(), sent).status_code == 403
    assert at(alice).post(url("code", uid(facet, "hang")), {"memo": "So."}).status_code == 403


# --- what it does


def test_marked_codes_are_put_into_the_category_whose_button_was_pressed(at, lee, facet):
    sent = {"code": [uid(facet, "crash"), uid(facet, "Crash!")], "under": uid(facet, "Failure"), "order": "name"}
    page = at(lee).post(url(), sent, follow=True)
    assert page.redirect_chain == [(f"{url()}?order=name", 302)]
    assert "2 codes placed in Failure" in page.content.decode()
    assert facet.categories.filter(parent__name="Failure").count() == 2


def test_with_script_the_answer_is_the_board(at, lee, facet):
    sent = {"code": [uid(facet, "hang")], "under": uid(facet, "Failure")}
    text = at(lee).post(url(), sent, headers=HTMX).content.decode()
    assert "<html" not in text
    assert "1 of 5 placed" in text


@pytest.mark.parametrize(
    ("sent", "parent"),
    [
        (lambda f: {"act": "to", "to": uid(f, "Failure"), "code": [uid(f, "hang")]}, "Failure"),
        (lambda f: {"with": f"{uid(f, 'hang')} {uid(f, 'Failure')}"}, "Failure"),
        (lambda f: {"act": "new", "name": "Stuck", "code": [uid(f, "hang")]}, "Stuck"),
        (lambda f: {"under": uid(f, "hangs"), "code": [uid(f, "hang")]}, "hangs"),
    ],
)
def test_ways_to_place_a_code(at, lee, facet, sent, parent):
    assert at(lee).post(url(), sent(facet)).status_code == 302
    assert facet.categories.get(name="hang").parent.name == parent


def test_a_step_is_taken_back_and_a_code_taken_out(at, lee, facet):
    at(lee).post(url(), {"category": uid(facet, "hang")})
    assert not facet.categories.get(name="hang").is_code
    at(lee).post(url(), {"act": "undo"})
    assert facet.categories.get(name="hang").is_code
    at(lee).post(url(), {"under": uid(facet, "Failure"), "code": [uid(facet, "hang")]})
    at(lee).post(url(), {"act": "out", "code": [uid(facet, "hang")]})
    assert facet.categories.get(name="hang").parent is None


@pytest.mark.parametrize(
    "sent", [{"act": "new"}, {"act": "fly"}, {"act": "undo"}, {"act": "to", "to": ""}, {"under": "no"}]
)
def test_what_cannot_be_done_is_said_on_the_board_with_the_marks_kept(at, lee, facet, sent):
    page = at(lee).post(url(), sent | {"code": [uid(facet, "hang")]})
    assert page.status_code == 422
    text = page.content.decode()
    assert "Not done." in text
    assert text.count(" checked") == 1 + text.count("data-keys-switch checked")


def test_what_says_the_same_is_merged_and_parted_again(at, lee, facet, closed):
    twin = next(code for code in grouping.board(facet).codes if code.name == "Crash!")
    assert twin.twin == uid(facet, "crash")
    at(lee).post(url(), {"merge": f"{twin.uid} {twin.twin}"})
    merged = facet.categories.get(uid=twin.uid)
    assert (merged.state, merged.merged_into.name) == ("merged", "crash")
    assert (grouping.board(facet).placed, grouping.board(facet).total) == (1, 5)
    at(lee).post(url(), {"act": "undo"})
    merged.refresh_from_db()
    assert merged.state == "active"
    assert at(lee).post(url(), {"merge": "no such"}).status_code == 422


def test_a_merge_waits_while_a_round_is_open(at, study, lee, alice, bob, facet):
    make_round(study, bugs=make_bugs(study, 1), raters=[alice, bob], by=lee)
    at(lee).post(url(), {"merge": f"{uid(facet, 'hangs')} {uid(facet, 'hang')}"})
    assert facet.categories.get(name="hangs").state == "active"
    at(lee).post(url(), {"act": "undo"})
    assert grouping.last_step(facet, by=lee) is None


def test_a_new_category_goes_by_taking_back_what_it_took_first(at, lee, facet, closed):
    at(lee).post(url(), {"act": "new", "name": "Stuck", "code": [uid(facet, "hang")]})
    at(lee).post(url(), {"act": "undo"})
    assert facet.categories.get(name="hang").parent is None
    at(lee).post(url(), {"act": "undo"})
    assert facet.categories.get(name="Stuck").state == "retired"


def test_a_memo_stays_with_the_code(at, lee, facet):
    at(lee).post(url("code", uid(facet, "hang")), {"memo": "Ask bob.\r\nAgain."})
    assert Memo.objects.get().text == "Ask bob.\nAgain."
    assert "Ask bob." in at(lee).get(url("code", uid(facet, "hang"))).content.decode()
    assert at(lee).post(url("code", uid(facet, "hang")), {"memo": " "}).status_code == 400


def test_the_verdict_has_no_board(at, lee, study):
    assert at(lee).get(reverse("coding:board", args=["words", "verdict"])).status_code == 404


# --- over REST


def test_the_board_over_rest_does_what_the_page_does(facet, closed, lee, alice):
    api = APIClient()
    api.force_authenticate(lee)
    address = "/api/v1/studies/words/codebook/facets/symptom/coding/"
    told = api.get(address).json()
    assert (told["total"], told["codes"][0]["name"], told["codes"][0]["answers"]) == (5, "crash", 2)
    assert told["codes"][0]["near"][0]["why"] == "same"
    sent = {"act": "place", "codes": [uid(facet, "hang")], "under": uid(facet, "Failure")}
    assert api.post(address, sent, format="json").json()["placed"] == 1
    assert api.post(address, {"act": "undo"}, format="json").json()["placed"] == 0
    for act in ("undo", "new_category", "make_category"):
        assert api.post(address, {"act": act}, format="json").status_code == 400
    api.post(address, {"act": "new_category", "name": "Stuck", "codes": [uid(facet, "hang")]}, format="json")
    api.post(address, {"act": "make_category", "codes": [uid(facet, "hangs")]}, format="json")
    api.post(address, {"act": "take_out", "codes": [uid(facet, "hang")]}, format="json")
    api.post(address, {"act": "take_as_codes"}, format="json")
    assert not facet.categories.exclude(parent=None).exists()
    api.force_authenticate(alice)
    assert api.post(address, sent, format="json").status_code == 403


def test_a_codes_bugs_and_memos_over_rest(facet, closed, lee, charlie):
    api = APIClient()
    api.force_authenticate(lee)
    address = f"/api/v1/studies/words/codebook/facets/symptom/codes/{uid(facet, 'crash')}/"
    (first, _) = api.get(address).json()["bugs"]
    assert [(one["rater"], one["categories"]) for one in first["said"]] == [("alice", ["crash"]), ("bob", ["Crash!"])]
    assert api.post(address, {"text": "So."}, format="json").json()["memos"][0]["by"] == "lee"
    api.force_authenticate(charlie)
    assert api.get(address).status_code == 404
