"""Agreement by the categories at the top: what was answered below one of them counts as that one."""

import json

import pytest
from django.core.management import call_command
from django.urls import reverse
from rest_framework.test import APIClient

from annotator.agreement.models import Snapshot
from annotator.agreement.queries import entries, gate_of, pooled
from annotator.codebook.actions import create_codebook
from annotator.codebook.models import Category
from annotator.codebook.reading import to_document
from annotator.labeling.models import Round
from tests.factories import StudyFactory, UserFactory, member
from tests.integration.agreement.votes import rater_of, round_of

pytestmark = pytest.mark.django_db
CAUSES = [
    {"name": "A", "order": 1},
    {"name": "A1", "parent": "A", "order": 2},
    {"name": "A2", "parent": "A", "order": 3},
    {"name": "A2x", "parent": "A2", "order": 4},
    {"name": "B", "order": 5},
    {"name": "B1", "parent": "B", "order": 6},
]
VOTES = {"alice": ["A1", "A2x", "B1", "A", "B", "A1"], "bob": ["A2", "A1", "B", "A", "A2", "B1"]}


@pytest.fixture
def study(db):
    study = StudyFactory(slug="votes")
    member(study, UserFactory(username="lead"), "lead")
    return study


def codebook(study, **facet):
    described = {"id": "cause", "categories": CAUSES} | facet
    create_codebook(study=study, document=to_document({"title": "Causes", "facets": [described]}), by=None)


def closed_round(study, votes=VOTES, **options):
    return round_of(study, votes, by=rater_of(study, "lead"), **options)


def test_answers_below_a_category_count_as_it(study):
    codebook(study)
    closed_round(study)
    (given,), (grouped,) = entries(study), entries(study, level="top")
    assert (given["basis"], grouped["basis"]) == ("as_answered", "grouped_after")
    assert (given["observed"], grouped["observed"]) == (1 / 6, 4 / 6)
    assert grouped["table"]["categories"] == ["A", "B"]
    assert grouped["table"]["counts"] == [[3, 1], [1, 1]]
    assert grouped["kappa"] == pytest.approx(0.25)
    assert (grouped["n"], grouped["excluded"]) == (6, 0)


def test_the_gate_is_asked_of_the_answers_as_given(study):
    codebook(study)
    round_ = closed_round(study, gate_coefficient="kappa", gate_min_n=1, gate_method="value")
    assert entries(study, level="top")[0]["gate"]["result"] is None
    assert gate_of(round_).result == "failed"


def test_nothing_is_stored_for_it(study):
    codebook(study)
    closed_round(study)
    before = list(Snapshot.objects.values_list("digest", flat=True))
    entries(study, level="top")
    assert list(Snapshot.objects.values_list("digest", flat=True)) == before


def test_the_tree_is_the_one_of_the_round(study):
    codebook(study)
    closed_round(study)
    before = entries(study, level="top")
    Category.objects.filter(name="A1").update(parent=Category.objects.get(name="B"))
    assert entries(study, level="top") == before


def test_a_scale_keeps_the_ranks_at_the_top(study):
    codebook(study, kind="ordinal")
    closed_round(study)
    assert entries(study, level="top")[0]["kappa_linear"] == pytest.approx(0.25)


def test_several_answers_and_several_raters_are_grouped_too(study):
    codebook(study, answers="many")
    several = {name: [[vote] for vote in votes] for name, votes in VOTES.items()}
    closed_round(study, several | {"cleo": several["alice"]})
    found = entries(study, level="top")
    assert found[0]["exact_match"] == 4 / 6
    assert found[-1]["raters"] == ["alice", "bob", "cleo"]
    assert found[-1]["basis"] == "grouped_after"


def test_pooled_rounds_are_grouped_too(study):
    codebook(study)
    closed_round(study)
    closed_round(study, {"alice": ["A1"], "bob": ["A2"]}, name="Second")
    (grouped,) = pooled(study, level="top")
    assert (grouped["basis"], grouped["n"], grouped["observed"]) == ("grouped_after", 7, 5 / 7)


def test_command_and_interface_take_the_level(study, capsys):
    codebook(study)
    closed_round(study)
    call_command("agreement", "votes", "--level", "top", "--json")
    (entry,) = json.loads(capsys.readouterr().out)
    call_command("agreement", "votes", "--level", "top", "--pooled", "--json")
    (together,) = json.loads(capsys.readouterr().out)
    client = APIClient()
    client.force_authenticate(rater_of(study, "alice"))
    assert client.get("/api/v1/studies/votes/agreement/?level=top").json() == [entry]
    assert client.get("/api/v1/studies/votes/agreement/pooled/?level=top").json() == [together]
    assert client.get("/api/v1/studies/votes/agreement/?level=bottom").status_code == 400


def test_an_unknown_level_is_refused_in_one_line(study, capsys):
    with pytest.raises(SystemExit) as left:
        call_command("agreement", "votes", "--level", "bottom")
    assert left.value.code == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


@pytest.fixture
def visit(client, study):
    def go(address, status=200):
        client.force_login(rater_of(study, "alice"))
        response = client.get(address)
        assert response.status_code == status
        return response

    return go


def test_the_page_offers_the_top_level_and_stays_at_it(study, visit):
    codebook(study)
    closed_round(study)
    page = visit("/votes/agreement/1/").content.decode()
    assert '<a href="?level=top">Top level</a>' in page
    page = visit("/votes/agreement/1/?level=top").content.decode()
    assert reverse("agreement:pair", args=["votes", 1, "cause", "alice", "bob"]) + "?level=top" in page
    assert "the gate is asked of the answers as given" in page
    visit("/votes/agreement/1/?level=bottom", status=400)


def test_a_codebook_without_narrower_categories_has_no_choice_of_level(study, visit):
    codebook(study, categories=[{"name": "A"}, {"name": "B"}])
    closed_round(study, {"alice": ["A", "B"], "bob": ["A", "B"]})
    assert "Top level" not in visit("/votes/agreement/1/").content.decode()


def test_a_cell_at_the_top_opens_all_bugs_below_it(study, visit):
    codebook(study)
    closed_round(study)
    uid = Category.objects.get(name="A").uid
    cell = reverse("agreement:cell", args=["votes", 1, "cause", "alice", "bob", uid, uid])
    assert visit(f"{cell}?level=top").content.decode().count('<th scope="row">') == 3
    assert visit(cell).content.decode().count('<th scope="row">') == 1


def test_the_tables_for_a_paper_say_their_level(study, visit):
    codebook(study)
    closed_round(study)
    table = visit("/votes/agreement/1/table.csv?level=top")
    assert "agreement-votes-1-top.csv" in table["Content-Disposition"]
    assert "grouped_after" in table.content.decode()
    assert "by the categories at the top" in visit("/votes/agreement/1/table.tex?level=top").content.decode()


def test_an_open_round_gives_nothing_at_any_level(study, visit):
    codebook(study)
    closed_round(study, close=False)
    assert entries(study, level="top") == pooled(study, level="top") == []
    assert "Not yet." in visit("/votes/agreement/1/?level=top").content.decode()
    assert Round.objects.get().is_open
