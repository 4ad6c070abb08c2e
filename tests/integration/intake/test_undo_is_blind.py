"""Taking an import back, and reading a sheet, while a round is open."""

import pytest
from django.core.files.base import ContentFile
from django.db import connection

from annotator.codebook.models import Category
from annotator.intake import actions, running
from annotator.intake.actions import import_file
from annotator.intake.mapping import from_document
from annotator.intake.models import Import
from annotator.intake.sheets import read_grid, read_sheet
from annotator.intake.undoing import undo
from tests.factories import answer, make_round, member

SHEET = b"id,alice,bob\nx1,echo,delta\nx2,gamma,gamma\n"


def test_undo_does_not_tell_which_category_was_chosen_in_an_open_round(study, bugs, alice, bob, lee):
    raters = {name: {"cause": name} for name in ("alice", "bob")}
    mapping = from_document({"item": {"key": "id"}, "raters": raters, "clean": {"unknown": "add"}})
    sheet = read_sheet(read_grid(SHEET))
    import_file(study=study, filename="s.csv", data=SHEET, sheet=sheet, mapping=mapping, by=lee)
    brought = Category.objects.filter(name__in=["echo", "delta", "gamma"])
    member(study, lee, "rater")
    now_open = make_round(study, bugs=bugs, raters=[alice, lee], by=lee)
    answer(now_open, bugs[0], alice, {"cause": "delta", "stage": "training"})
    undo(row=Import.objects.get(), by=lee)
    assert set(brought.values_list("name", "state")) == {(name, "retired") for name in ("echo", "delta", "gamma")}


@pytest.mark.django_db(transaction=True)
def test_nobody_waits_while_a_sheet_is_read(study, lee, monkeypatch):
    during = []

    def watched(read):
        def reading(*args, **options):
            during.append(connection.in_atomic_block)
            return read(*args, **options)

        return reading

    for name in ("heads_of", "sheet_of"):
        monkeypatch.setattr(actions, name, watched(getattr(actions, name)))
    monkeypatch.setattr(running, "sheet_of", watched(running.sheet_of))
    row = actions.upload(study=study, filename="s.csv", data=SHEET, by=lee)
    actions.choose(row=row, mapping=from_document({"item": {"key": "id"}}), by=lee)
    actions.start(row=row, by=lee)
    assert running.perform(row.pk)
    assert during == [False] * 3


@pytest.mark.django_db(transaction=True)
def test_nobody_waits_while_a_sheet_with_its_mapping_is_read(client, study, lee, monkeypatch):
    during = []

    def reading(*args, **options):
        during.append(connection.in_atomic_block)
        return read_grid(*args, **options)

    monkeypatch.setattr(actions, "read_grid", reading)
    client.force_login(lee)
    files = {"file": ContentFile(SHEET, "s.csv"), "mapping": ContentFile(b"item: {key: id}", "m.yaml")}
    answer = client.post(f"/api/v1/studies/{study.slug}/imports/", files)
    assert (answer.status_code, answer.json()["report"]["rows"]) == (201, 2)
    assert during == [False]
