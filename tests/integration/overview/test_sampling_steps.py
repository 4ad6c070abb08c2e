"""What a lead is shown to do next about samples, at home and on a bug's page."""

import pytest

from annotator.adjudication.finals import Final, import_finals
from annotator.codebook.models import Category
from annotator.sampling.actions import draw_sample, leave, take_up
from annotator.sampling.models import Bug
from annotator.sampling.rules import Rule
from tests.factories import make_round
from tests.integration.sampling.conftest import fill_pool


@pytest.fixture
def items(study, lee):
    return fill_pool(study, {"axon/axon": 6})


def steps(client, user):
    client.force_login(user)
    return [step.title for step in client.get("/frameworks/").context["steps"]]


def test_items_without_bugs_are_to_be_drawn_from(client, items, lee):
    assert "Draw a sample" in steps(client, lee)
    assert "Import a sheet" not in steps(client, lee)


def test_what_is_no_bug_is_to_be_replaced(client, study, items, lee, alice, bob):
    bugs = take_up(sample=draw_sample(study=study, name="S", rule=Rule(), seed=1, by=lee), by=lee)
    make_round(study, bugs=bugs[:1], raters=[alice, bob], by=lee)
    assert "1 bug is none after all" not in steps(client, lee)
    verdict = Category.objects.get(facet__codebook__study=study, facet__key="verdict", name="not a bug")
    import_finals(study=study, rows=[Final(bugs[5].pk, verdict.facet_id, [verdict.pk])], by=None)
    assert "1 bug is none after all" in steps(client, lee)
    assert "1 bug is none after all" not in steps(client, alice)


def test_home_leads_to_the_flow_and_to_the_samples(client, study, items, lee):
    client.force_login(lee)
    page = client.get("/frameworks/").content.decode()
    assert 'href="/frameworks/flow/"' in page
    assert 'id="tile-sampling" href="/frameworks/sampling/"' in page


def test_a_bugs_page_says_that_it_left(client, study, items, lee, alice):
    (bug, *_) = take_up(sample=draw_sample(study=study, name="S", rule=Rule(), seed=1, by=lee), by=lee)
    client.force_login(lee)
    assert "Take it out of the study" in client.get("/frameworks/bugs/1/").content.decode()
    leave(bugs=[bug], reason="duplicate", note="Of bug 2.", by=lee)
    page = client.get("/frameworks/bugs/1/").content.decode()
    assert "duplicate.</b> Of bug 2." in page
    assert "Take it out of the study" not in page
    client.force_login(alice)
    page = client.get("/frameworks/bugs/1/").content.decode()
    assert "duplicate.</b> Of bug 2." in page
    assert "/leave/" not in page
    assert Bug.objects.staying().count() == 5
