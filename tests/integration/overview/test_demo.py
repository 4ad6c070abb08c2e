import json
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command

from annotator.accounts.models import User
from annotator.adjudication.models import Dispute, Resolution
from annotator.agreement.queries import entries, gate_of
from annotator.labeling.models import Assignment, Round
from annotator.overview.demo import people, story
from annotator.reproduction.actions import ask
from annotator.reproduction.models import Recipe
from annotator.reproduction.queries import told
from annotator.reproduction.working import perform
from annotator.sampling.models import Bug
from annotator.studies.models import Study
from tests.factories.reproduction import here


def rows() -> dict[str, int]:
    return {model._meta.label: model._default_manager.count() for model in apps.get_models()}


@pytest.fixture
def demo(db: Any) -> Study:
    assert story.load()
    return Study.objects.get(slug=people.SLUG)


def test_a_second_call_changes_nothing(demo, capsys):
    before = rows()
    call_command("demo", "--json")
    assert json.loads(capsys.readouterr().out)["created"] is False
    assert rows() == before


def test_command_prints_accounts_and_their_password(db, capsys):
    call_command("demo")
    told = capsys.readouterr().out
    assert people.PASSWORD in told
    for name in people.ROLES:
        assert name in told
        assert User.objects.get(username=name).check_password(people.PASSWORD)


def test_a_name_that_is_taken_is_left_alone(db, capsys):
    theirs = User.objects.create_user("cedar", password="somebody-elses-own")
    with pytest.raises(SystemExit) as refusal:
        call_command("demo")
    assert refusal.value.code == 2
    assert "cedar" in capsys.readouterr().err
    assert not Study.objects.exists()
    theirs.refresh_from_db()
    assert theirs.check_password("somebody-elses-own")


def test_pilot_agrees_poorly_and_the_first_round_misses_its_gate_on_one_facet(demo):
    kappas = {(entry["round"], entry["facet"]): entry["kappa"] for entry in entries(demo)}
    assert all(0.4 < kappas["Pilot", facet] < 0.7 for facet in ("root_cause", "symptom", "stage", "level"))
    gate = gate_of(Round.objects.get(study=demo, name="Round 1"))
    assert [holding.facet for holding in gate.short_of] == ["root_cause"]
    assert gate.is_continued


def test_disputes_are_settled_in_part_by_each_way(demo):
    disputes = Dispute.objects.filter(study=demo, is_current=True)
    assert disputes.filter(is_open=True).count() >= 5
    sources = set(Resolution.objects.filter(study=demo).values_list("source", flat=True))
    assert sources == {"unanimous", "adjudicated", "discussed"}


def test_second_round_is_half_way(demo):
    open_round = Round.objects.get(study=demo, state=Round.State.OPEN)
    turns = Assignment.objects.filter(round=open_round)
    answered = {name: turns.filter(rater__username=name, state="submitted").count() for name in ("alder", "birch")}
    assert answered == story.ANSWERED
    assert turns.filter(state="parked").count() == 1
    assert turns.filter(state="skipped").count() == 1
    assert turns.filter(draft__isnull=False).count() == 1


def test_bugs_are_left_for_a_round_of_ones_own(demo):
    assert Bug.objects.filter(study=demo, round_bugs=None).count() == 8


def test_its_recipes_make_their_bugs_happen(demo):
    lead = User.objects.get(username="cedar")
    for recipe in Recipe.objects.filter(study=demo):
        series = recipe.series.first() or ask(recipe=recipe, by=lead)
        for run in series.runs.all():
            perform(run.pk, here())
        assert told(series, list(series.runs.all())).verdict.verdict == "reproduced"
    assert Recipe.objects.filter(study=demo).count() == 2
