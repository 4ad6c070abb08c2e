import csv
import io
import re

import pytest
from django.urls import reverse

from annotator.agreement.page import NOT_YET
from annotator.codebook.models import Category
from annotator.labeling.models import Round
from tests.factories import answer, member
from tests.integration.agreement.votes import labelled, rater_of, round_of

pytestmark = pytest.mark.django_db
VOTES = {"alice": "XXYYXY##!-", "bob": "XYYYXX#XXX"}


def at(name, *args):
    return reverse(f"agreement:{name}", args=["votes", *args])


@pytest.fixture
def visit(client):
    """A page as a person of the study sees it."""

    def go(url, username="reader", role="reader", status=200, **extra):
        study = Round.objects.get(number=1).study
        client.force_login(member(study, rater_of(study, username), role))
        response = client.get(url, **extra)
        assert response.status_code == status, response.content.decode()[:2000]
        return response.content.decode()

    return go


def test_the_page_shows_each_figure_beside_its_n_and_exclusions(visit):
    labelled(VOTES, categories="XY", name="Pilot")
    page = visit(at("trend"))
    assert "blind, enforced here" in page
    assert "excluded" in page
    assert "not a bug, one" in page
    assert 'aria-label="Cause by round: Pilot .33' in page


def test_undefined_says_not_computable_and_why(visit):
    labelled({"alice": "XXXXX", "bob": "XXXXX"}, gate_coefficient="kappa", gate_min_n=1)
    page = visit(at("trend"))
    assert "not computable" in page
    assert "single_category" in page
    assert "Only one category was used" in page
    assert "NaN" not in page


def test_the_gate_names_its_coefficient_and_what_falls_short(visit):
    labelled({"alice": "XXYYXYXYXY", "bob": "XYYYXXXYXY"}, gate_coefficient="kappa")
    page = visit(at("trend"))
    assert "not passed" in page
    assert "lower bound of κ" in page
    assert "Continue below the gate" not in page
    assert "Continue below the gate" in visit(at("trend"), username="lead-of-votes", role="lead")


def test_a_lead_continues_below_the_gate_with_a_reason(client, visit):
    round_ = labelled({"alice": "XXYYXYXYXY", "bob": "XYYYXXXYXY"}, gate_coefficient="kappa")
    client.force_login(round_.opened_by)
    assert client.post(at("continue", 1), {"reason": " "}).status_code == 400
    response = client.post(at("continue", 1), {"reason": "Rule for Y rewritten."})
    assert response.status_code == 302
    assert client.post(at("continue", 1), {"reason": "Again."}).status_code == 409
    page = visit(at("round", 1))
    assert "Rule for Y rewritten." in page
    assert "not passed" in page


def test_others_than_a_lead_cannot_continue_below_the_gate(client):
    round_ = labelled({"alice": "XXYYXYXYXY", "bob": "XYYYXXXYXY"}, gate_coefficient="kappa")
    client.force_login(rater_of(round_.study, "alice"))
    assert client.post(at("continue", 1), {"reason": "I want to."}).status_code == 403
    assert Round.objects.get().gate_continued_at is None


def test_a_cell_opens_exactly_its_bugs(visit):
    round_ = labelled(VOTES, categories="XY")
    uids = dict(Category.objects.filter(facet__key="cause").values_list("name", "uid"))
    url = at("cell", 1, "cause", "alice", "bob", uids["X"], uids["Y"])
    assert url in visit(at("trend"))
    page = visit(url)
    assert page.count('<th scope="row">') == 1
    bug = round_.round_bugs.order_by("position")[1].bug
    assert reverse("bugs:bug", args=["votes", bug.number]) in page
    assert bug.item.title in page


def test_a_cell_comes_as_a_part_for_htmx(visit):
    labelled(VOTES, categories="XY")
    uid = Category.objects.get(facet__key="cause", name="X").uid
    part = visit(at("cell", 1, "cause", "alice", "bob", uid, uid), headers={"HX-Request": "true"})
    assert "<html" not in part
    assert part.count('<th scope="row">') == 2


def test_cells_of_the_verdict_open_the_bugs_that_one_denied(visit):
    labelled(VOTES, categories="XY")
    uids = dict(Category.objects.filter(facet__key="verdict", parent=None).values_list("name", "uid"))
    page = visit(at("cell", 1, "verdict", "alice", "bob", uids["not a bug"], uids["bug"]))
    assert page.count('<th scope="row">') == 1
    page = visit(at("cell", 1, "verdict", "alice", "bob", uids["bug"], uids["bug"]))
    assert page.count('<th scope="row">') == 6


def test_an_unknown_cell_pair_or_round_is_not_found(visit):
    labelled(VOTES, categories="XY")
    uid = Category.objects.get(facet__key="cause", name="X").uid
    visit(at("cell", 1, "cause", "alice", "bob", uid, "feedfeedfe"), status=404)
    visit(at("pair", 1, "cause", "alice", "zoe"), status=404)
    visit(at("pair", 1, "colour", "alice", "bob"), status=404)
    visit(at("round", 7), status=404)


def test_an_open_round_says_not_yet_the_same_to_everybody_whatever_was_answered(client):
    round_ = labelled({"alice": "--", "bob": "--"}, close=False)
    uid = Category.objects.get(facet__key="cause", name="X").uid
    pages = {name: [] for name in ("alice", "bob", "lead-of-votes")}
    urls = [
        at("trend"),
        at("round", 1),
        at("pair", 1, "cause", "alice", "bob"),
        at("cell", 1, "cause", "alice", "bob", uid, uid),
        at("csv", 1),
        at("latex", 1),
        at("pooled"),
    ]
    for given in ("X", "Y", None):
        if given:
            answer(round_, round_.round_bugs.first().bug, rater_of(round_.study, "bob"), {"cause": given})
        for name, seen in pages.items():
            client.force_login(rater_of(round_.study, name))
            seen.append([(client.get(url).status_code, plain(client.get(url))) for url in urls])
    for seen in pages.values():
        assert seen[0] == seen[1] == seen[2]
    assert NOT_YET in pages["alice"][0][0][1]
    assert [status for status, _ in pages["alice"][0]] == [200, 200, 200, 409, 409, 409, 200]


def plain(response):
    """Without the token that differs on each page."""
    return re.sub(r'(csrfmiddlewaretoken" value=|X-CSRFToken": )"[^"]*"', "", response.content.decode())


def test_a_stranger_finds_nothing(client, charlie):
    labelled(VOTES, categories="XY")
    client.force_login(charlie)
    for url in (at("trend"), at("round", 1), at("csv", 1), at("pooled"), at("pair", 1, "cause", "alice", "bob")):
        assert client.get(url).status_code == 404
    assert client.post(at("continue", 1), {"reason": "x"}).status_code == 404


def test_a_study_without_rounds_says_what_to_do_next(client, study, lee):
    client.force_login(lee)
    page = client.get(reverse("agreement:trend", args=[study.slug])).content.decode()
    assert "There is no round yet." in page


def test_the_csv_holds_unrounded_numbers_and_says_not_computable(visit):
    labelled({"alice": "XXYYXY", "bob": "XYYYXX"}, name="A")
    (line,) = csv.DictReader(io.StringIO(visit(at("csv", 1))))
    assert (line["facet"], line["raters"], line["n"]) == ("cause", "alice bob", "6")
    assert float(line["kappa"]) == 1 / 3
    round_of(Round.objects.get().study, {"alice": "XX", "bob": "XX"}, by=Round.objects.get().opened_by, name="B")
    (line,) = csv.DictReader(io.StringIO(visit(at("csv", 2))))
    assert (line["kappa"], line["reason"]) == ("not computable", "single_category")


def test_the_latex_table_escapes_names_and_says_not_computable(visit):
    labelled({"alice": "XXX", "bob_1": "XXX"}, facet="root_cause")
    table = visit(at("latex", 1))
    assert "not computable" in table
    assert r"bob\_1" in table
    assert r"\toprule" in table


def test_pairs_of_three_raters_are_a_choice_and_all_together_have_a_table(visit):
    labelled({"alice": "XXYYX", "bob": "XXYXX", "cleo": "XYYYX"})
    page = visit(at("pair", 1, "cause", "bob", "cleo"))
    assert "alice × cleo" in page
    assert "All raters together" in page


def test_pooled_rounds_have_a_page(visit):
    first = labelled({"alice": "XXY", "bob": "XYY"}, name="A")
    round_of(first.study, {"alice": "YX", "bob": "YX"}, by=first.opened_by, name="B")
    page = visit(at("pooled"))
    assert "alice × bob" in page
    assert ">5</td>" in page


def test_several_answers_show_alpha_and_exact_matches(visit):
    votes = {"alice": [["X"], ["X", "Y"], ["Z"], ["Y"]], "bob": [["X"], ["X"], ["Z", "Y"], ["Y"]]}
    labelled(votes, book={"many": ["cause"]})
    page = visit(at("trend"))
    assert "exact matches .50" in page
    assert "set_valued" in page


def test_the_number_of_queries_does_not_grow_with_the_bugs(client, django_assert_max_num_queries):
    round_ = labelled({"alice": "XY" * 30, "bob": "XY" * 30})
    client.force_login(rater_of(round_.study, "alice"))
    with django_assert_max_num_queries(12):
        client.get(at("trend"))
