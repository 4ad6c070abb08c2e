"""Who still decides, not knowing whose answer is whose, is told it nowhere; everybody else is, and so is she afterwards."""

import csv
import io

import pytest
from django.urls import reverse

from annotator.adjudication.actions import adjudicate
from annotator.analysis.actions import ask
from annotator.analysis.asked import read_asked
from annotator.analysis.drawing import perform
from annotator.codebook.models import Category, Facet
from annotator.labeling.follow_up import flag
from annotator.labeling.models import Assignment
from annotator.overview.rounds.closing import close_round
from annotator.publication.stating import state
from annotator.studies.models import Study
from tests.factories import answer, make_round, member

SAME, OTHER = {"cause": "type", "stage": "training"}, {"cause": "api", "stage": "training"}
API = "/api/v1/studies/frameworks/"


@pytest.fixture
def closed(study, bugs, alice, bob, lee):
    """Alice and Bob differ on bug 1 and agree on bug 2; Alice doubts her answer to bug 1."""
    round_ = make_round(study, bugs=bugs[:2], raters=[alice, bob], by=lee)
    for bug, theirs in ((bugs[0], OTHER), (bugs[1], SAME)):
        answer(round_, bug, alice, SAME, note="It is cast.")
        answer(round_, bug, bob, theirs)
    close_round(round_=round_, by=lee)
    turn = Assignment.objects.get(bug=bugs[0], rater=alice)
    flag(assignment=turn, facet_id=Facet.objects.get(key="cause").pk, reason="Read too fast.", by=alice)
    return round_


@pytest.fixture
def asked(client):
    def ask(person, address):
        client.force_login(person)
        return client.get(address)

    return ask


def uid(name):
    return Category.objects.get(facet__key="cause", name=name).uid


def cell(row, column):
    return reverse("agreement:cell", args=["frameworks", 1, "cause", "alice", "bob", uid(row), uid(column)])


def rows(response):
    body = b"".join(response).decode()
    return [int(row["bug"]) for row in csv.DictReader(io.StringIO(body, newline=""))]


def settle(bug, by):
    label = Category.objects.filter(facet__key="cause", name="type")
    adjudicate(bug=bug, facet=Facet.objects.get(key="cause"), categories=label, reason="slip", by=by)


def test_a_cell_of_the_matrix_leaves_out_what_waits_for_the_viewer(closed, asked, bugs, ada, alice, lee):
    for person in (alice, lee):
        assert "It is cast." in asked(person, cell("type", "api")).content.decode()
    page = asked(ada, cell("type", "api")).content.decode()
    assert "It is cast." not in page
    assert "1 bug of this cell waits for your decision" in page
    assert "It is cast." in asked(ada, cell("type", "type")).content.decode()
    settle(bugs[0], ada)
    assert "It is cast." in asked(ada, cell("type", "api")).content.decode()


@pytest.mark.parametrize("table", ["answers", "history", "side_by_side"])
def test_a_file_leaves_out_what_waits_for_the_viewer_and_says_so_in_its_name(closed, asked, bugs, ada, lee, table):
    address = f"/frameworks/publication/{table}.csv"
    whole = asked(lee, address)
    assert 1 in rows(whole)
    assert "undecided" not in whole["Content-Disposition"]
    partial = asked(ada, address)
    assert "without-undecided" in partial["Content-Disposition"]
    assert 1 not in (left := rows(partial)) and 2 in left
    assert 1 not in rows(asked(ada, f"{API}exports/{table}.csv"))
    settle(bugs[0], ada)
    assert 1 in rows(asked(ada, address))


def test_tables_that_tell_nobodys_answer_are_whole(closed, asked, ada):
    for table in ("finals", "bugs"):
        answer_ = asked(ada, f"/frameworks/publication/{table}.csv")
        assert 1 in rows(answer_)
        assert "undecided" not in answer_["Content-Disposition"]


def test_the_page_of_files_says_how_many_are_left_out(closed, asked, ada, alice):
    assert "1 bug waits for your decision" in asked(ada, "/frameworks/publication/").content.decode()
    assert "for your decision" not in asked(alice, "/frameworks/publication/").content.decode()


def test_answers_over_rest_leave_out_what_waits_for_the_viewer(closed, asked, bugs, ada, lee):
    def numbers(person):
        return {row["bug"] for row in asked(person, f"{API}answers/").json()["results"]}

    assert (numbers(lee), numbers(ada)) == ({1, 2}, {2})
    settle(bugs[0], ada)
    assert numbers(ada) == {1, 2}


def test_flags_name_no_rater_to_who_decides(closed, asked, client, study, ada, alice, lee):
    page = asked(ada, "/frameworks/rounds/1/").content.decode()
    assert "A rater: Read too fast." in page
    assert "alice: Read too fast." in asked(lee, "/frameworks/rounds/1/").content.decode()
    (told,) = asked(ada, f"{API}rounds/1/flags/").json()
    assert (told["rater"], told["reason"]) == (None, "Read too fast.")
    assert asked(lee, f"{API}rounds/1/flags/").json()[0]["rater"] == "alice"
    member(study, ada, "lead")
    assert 'value="1::cause"' in asked(ada, "/frameworks/rounds/1/").content.decode()
    refused = {"accept": False, "flags": [{"bug": 1, "facet": "cause"}]}
    told = client.post(f"{API}rounds/1/flags/", refused, content_type="application/json").json()
    assert [(one["rater"], one["state"]) for one in told] == [(None, "refused")]


def test_who_rated_the_bug_knows_who_said_what(closed, asked, study, alice):
    member(study, alice, "adjudicator")
    assert "It is cast." in asked(alice, cell("type", "api")).content.decode()
    assert 1 in rows(asked(alice, "/frameworks/publication/answers.csv"))


def test_a_protocol_that_hides_no_names_leaves_nothing_out(closed, asked, study, ada):
    Study.objects.filter(pk=study.pk).update(protocol={"hide_names": False})
    assert "It is cast." in asked(ada, cell("type", "api")).content.decode()
    assert 1 in rows(asked(ada, "/frameworks/publication/answers.csv"))
    assert "alice: Read too fast." in asked(ada, "/frameworks/rounds/1/").content.decode()


@pytest.mark.parametrize(
    "address",
    [
        "/frameworks/analysis/?labels=alice",
        "/frameworks/analysis/table.csv?labels=alice&by=cause&across=repository",
        "/frameworks/analysis/tables/cross/?labels=alice&by=cause&across=repository",
        "/frameworks/analysis/tables/cross/table.csv?labels=alice&by=cause&across=repository",
        f"{API}tables/?labels=alice",
        f"{API}tables/cross/?labels=alice&by=cause&across=repository",
    ],
)
def test_counts_of_one_raters_labels_wait_for_the_decision(closed, asked, bugs, ada, alice, lee, address):
    assert [asked(person, address).status_code for person in (alice, lee)] == [200, 200]
    assert asked(ada, address).status_code == 409
    assert asked(ada, address.replace("alice", "final")).status_code == 200
    settle(bugs[0], ada)
    assert asked(ada, address).status_code == 200


def test_figures_of_one_raters_labels_wait_for_the_decision(closed, asked, client, bugs, ada, lee):
    form = {"kind": "distribution", "by": "cause", "labels": "alice"}
    client.force_login(lee)
    page = client.post("/frameworks/analysis/figures/", form).headers["Location"]
    client.force_login(ada)
    assert client.post("/frameworks/analysis/figures/", form).status_code == 409
    assert client.post(f"{API}figures/", form, content_type="application/json").status_code == 409
    rest = page.replace("/frameworks/analysis/", API)
    assert [asked(ada, place).status_code for place in (page, rest)] == [409, 409]
    settle(bugs[0], ada)
    assert [asked(ada, place).status_code for place in (page, rest)] == [200, 200]


WHOLE = f"{API}tables/distribution/?by=cause&whole=1"
PAIRS = f"{API}tables/cross/?by=cause&across=stage&whole=1"


@pytest.fixture
def figures(closed, study, lee):
    """A distribution and a crossing, with what other labels would change, as a worker keeps them."""
    asked_ = [read_asked("distribution", {"by": "cause"}), read_asked("cross", {"by": "cause", "across": "stage"})]
    rows = [ask(study=study, asked=one, by=lee) for one in asked_]
    assert all(perform(row.pk) for row in rows)
    return [row.key for row in rows]


def test_what_one_raters_labels_would_change_waits_for_the_decision(
    closed, asked, figures, client, bugs, ada, alice, lee
):
    places = [
        "/frameworks/analysis/?by=cause", "/frameworks/analysis/tables/cross/?by=cause&across=stage", WHOLE, PAIRS,
        *(f"{API}figures/{key}/" for key in figures), *(f"{API}figures/{key}/figure.json" for key in figures),
        *(f"/frameworks/analysis/figures/{key}/" for key in figures),
        *(f"/frameworks/analysis/figures/{key}/figure.json" for key in figures),
    ]  # fmt: skip
    form = {"kind": "distribution", "by": "cause"}

    def told(person):
        pages = {place: asked(person, place).content.decode() for place in places}
        again = client.post(f"{API}figures/", form, content_type="application/json").content.decode()
        return {place for place, page in (pages | {"again": again}).items() if "alice" in page.replace("alice</a>", "")}

    client.force_login(lee)
    assert told(lee) == {*places, "again"}
    assert told(ada) == set()
    assert [turn["labels"] for turn in asked(ada, WHOLE).json()["turns"]] == ["unanimous"]
    settle(bugs[0], ada)
    assert told(ada) == {*places, "again"}


def test_own_labels_are_told_to_a_rater_who_decides_on_other_bugs(closed, asked, figures, bugs, alice, bob, study, lee):
    member(study, alice, "adjudicator")
    round_ = make_round(study, bugs=bugs[2:3], raters=[bob, member(study, lee, "rater")], by=lee, name="Another")
    for rater, label in ((bob, SAME), (lee, OTHER)):
        answer(round_, bugs[2], rater, label)
    close_round(round_=round_, by=lee)
    assert [turn["labels"] for turn in asked(alice, WHOLE).json()["turns"]] == ["unanimous", "alice"]


def test_figures_that_would_be_refused_are_not_listed(closed, asked, study, ada, lee):
    row = ask(study=study, asked=read_asked("distribution", {"by": "cause", "labels": "bob"}), by=lee)
    for person, is_told in ((lee, True), (ada, False)):
        assert (row.key in asked(person, "/frameworks/analysis/figures/").content.decode()) is is_told
        assert [each["key"] for each in asked(person, f"{API}figures/").json()] == [row.key] * is_told


def test_findings_on_one_raters_labels_wait_for_the_decision(closed, asked, study, bugs, ada, lee):
    for labels in ("alice", "final"):
        given = {"facet": "cause", "categories": ["type"], "labels": labels}
        state(study=study, sentence=f"{labels}: {{count}}", asked=given, by=lee)
    places = ("/frameworks/publication/findings/", f"{API}findings/")

    def told(person):
        return ["alice: " in asked(person, place).content.decode() for place in places]

    assert (told(lee), told(ada)) == ([True, True], [False, False])
    assert all("final: 1" in asked(ada, place).content.decode() for place in places)
    settle(bugs[0], ada)
    assert told(ada) == [True, True]
