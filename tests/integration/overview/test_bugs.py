from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotator.codebook.models import Category
from annotator.labeling.models import Flag
from annotator.overview.bugs import showing as pages
from annotator.overview.rounds.closing import close_round
from tests.factories import answer, make_bugs, make_round

SAME = {"cause": "type", "stage": "training"}
OTHER = {"cause": "api", "stage": "training"}


def numbers(response):
    return [row.number for row in response.context["page"].rows]


def test_stranger_finds_no_list_and_no_bug(client, study, bugs, charlie):
    client.force_login(charlie)
    assert client.get("/frameworks/bugs/").status_code == 404
    assert client.get("/frameworks/bugs/1/").status_code == 404


def test_list_is_paged_both_ways_and_keeps_its_filters(client, study, alice):
    make_bugs(study, pages.PAGE + 3)
    client.force_login(alice)
    first = client.get("/frameworks/bugs/?q=wrong")
    assert numbers(first) == list(range(1, pages.PAGE + 1))
    assert "q=wrong" in first.context["next_url"]
    second = client.get("/frameworks/bugs/" + first.context["next_url"])
    assert numbers(second) == [pages.PAGE + 1, pages.PAGE + 2, pages.PAGE + 3]
    assert numbers(client.get("/frameworks/bugs/" + second.context["previous_url"])) == numbers(first)


def test_search_finds_words_of_the_title_and_numbers(client, study, bugs, alice):
    item = bugs[2].item
    item.title = "Deadlock in the loader"
    item.save()
    client.force_login(alice)
    assert numbers(client.get("/frameworks/bugs/?q=deadlock")) == [3]
    assert numbers(client.get(f"/frameworks/bugs/?q=%23{bugs[4].item.number}")) == [5]
    assert numbers(client.get("/frameworks/bugs/?q=" + "9" * 40)) == []


def test_search_that_can_mean_one_bug_alone_leads_there(client, study, bugs, alice):
    client.force_login(alice)
    there = client.get("/frameworks/bugs/?go=1&q=4")
    assert (there.status_code, there["Location"]) == (302, "/frameworks/bugs/4/")
    assert client.get(f"/frameworks/bugs/?go=1&q=%23{bugs[2].item.number}")["Location"] == "/frameworks/bugs/3/"
    assert numbers(client.get("/frameworks/bugs/?go=1&q=wrong")) == [1, 2, 3, 4, 5, 6]
    assert client.get("/frameworks/bugs/?go=1&q=nothing-like-it").context["page"].rows == ()


def test_the_last_page_of_a_search_stays_a_list(client, study, alice):
    make_bugs(study, pages.PAGE + 1)
    client.force_login(alice)
    first = client.get("/frameworks/bugs/?go=1&q=wrong")
    assert numbers(client.get("/frameworks/bugs/" + first.context["next_url"])) == [pages.PAGE + 1]


def test_labels_filter_by_what_is_settled(client, main_round, bugs, alice, bob, lee):
    answer(main_round, bugs[0], alice, SAME)
    answer(main_round, bugs[0], bob, SAME)
    uid = Category.objects.get(facet__key="cause", name="type").uid
    client.force_login(alice)
    assert numbers(client.get(f"/frameworks/bugs/?cause={uid}")) == []
    close_round(round_=main_round, by=lee)
    assert numbers(client.get(f"/frameworks/bugs/?cause={uid}")) == [1]


def test_bug_page_shows_no_answer_of_an_open_round_and_all_of_a_closed_one(client, main_round, bugs, alice, bob, lee):
    answer(main_round, bugs[0], alice, SAME, note="Own words.")
    answer(main_round, bugs[0], bob, OTHER, note="Quite another view.")
    client.force_login(alice)
    address = "/frameworks/bugs/1/"
    assert client.get(address).context["given"] == []
    close_round(round_=main_round, by=lee)
    shown = client.get(address)
    assert [one.turn.rater.username for one in shown.context["given"]] == ["alice", "bob"]
    assert b"Quite another view." in shown.content
    assert shown.context["disputed"] == ["Cause"]


def test_rater_flags_an_own_answer_after_the_close(client, main_round, bugs, alice, bob, lee):
    answer(main_round, bugs[0], alice, SAME)
    close_round(round_=main_round, by=lee)
    sent = {"round": "1", "facet": "cause", "reason": "Misread the diff."}
    client.force_login(bob)
    assert client.post("/frameworks/bugs/2/flag/", sent | {"round": "9"}).status_code == 404
    client.force_login(alice)
    assert client.post("/frameworks/bugs/1/flag/", sent).status_code == 302
    raised = Flag.objects.get()
    assert (raised.assignment.rater, raised.reason) == (alice, "Misread the diff.")


def test_names_are_kept_from_who_may_still_decide(client, study, main_round, bugs, alice, bob, ada, lee):
    for rater, answers in ((alice, SAME), (bob, OTHER)):
        answer(main_round, bugs[0], rater, answers)
    close_round(round_=main_round, by=lee)
    study.protocol = {"hide_names": True}
    study.save()
    client.force_login(ada)
    shown = client.get("/frameworks/bugs/1/")
    assert [one.name for one in shown.context["given"]] == ["Rater A", "Rater B"]
    assert shown.context["disputed"] == ["Cause"]
    assert b"alice" not in shown.content
    client.force_login(alice)
    assert b"bob" in client.get("/frameworks/bugs/1/").content


def test_who_labels_a_bug_again_is_not_shown_what_it_had(client, study, main_round, bugs, alice, bob, lee):
    for rater in (alice, bob):
        answer(main_round, bugs[0], rater, SAME)
    close_round(round_=main_round, by=lee)
    make_round(study, bugs=bugs[:1], raters=[alice], by=lee, kind="retest", name="Again")
    client.force_login(alice)
    assert client.get("/frameworks/bugs/1/").context["given"] == []
    assert client.get("/frameworks/bugs/").context["page"].rows[0].labels == ("", "")
    client.force_login(bob)
    assert len(client.get("/frameworks/bugs/1/").context["given"]) == 2


def test_who_labels_a_bug_again_does_not_find_it_by_what_it_had(client, study, main_round, bugs, alice, bob, lee):
    for bug in bugs[:2]:
        for rater in (alice, bob):
            answer(main_round, bug, rater, SAME)
    close_round(round_=main_round, by=lee)
    make_round(study, bugs=bugs[:1], raters=[alice], by=lee, kind="relabel")
    uid = Category.objects.get(facet__key="cause", name="type").uid
    asked = [f"/frameworks/bugs/?cause={uid}", "/frameworks/bugs/?state=settled"]
    client.force_login(alice)
    assert [numbers(client.get(page)) for page in asked] == [[2], [2]]
    client.force_login(lee)
    assert [numbers(client.get(page)) for page in asked] == [[1, 2], [1, 2]]


def test_list_takes_as_many_queries_for_many_bugs_as_for_few(client, study, bugs, alice, django_assert_num_queries):
    client.force_login(alice)
    with CaptureQueriesContext(connection) as few:
        client.get("/frameworks/bugs/")
    make_bugs(study, 40)
    with django_assert_num_queries(len(few)):
        client.get("/frameworks/bugs/")
