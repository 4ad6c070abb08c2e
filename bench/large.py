"""A study of any size, labelled and settled, written by SQL since the stages' own actions would take an hour.

Two raters on each bug, four facets; one bug in nine is disputed in a facet, and decided by an adjudicator.
"""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from django.core.management import call_command
from django.db import connection, models, transaction

from annotator.accounts.models import User
from annotator.adjudication.models import Resolution
from annotator.agreement.actions import take_snapshot
from annotator.codebook.actions import create_codebook
from annotator.codebook.models import Category, Facet, Version
from annotator.codebook.presets import MAIN, preset
from annotator.collection.models import Item, Repository
from annotator.labeling.models import Answer, Assignment, Round, RoundBug
from annotator.overview import guards
from annotator.sampling.models import Bug
from annotator.studies.models import Membership, Study

SLUG = "large"
NOW = "2026-03-02 12:00:00"
RATERS = ("alice", "bob")


def make(bugs: int) -> Study:
    """A study of so many bugs in an empty database."""
    call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
    study, people = found()
    guards.remove()
    with transaction.atomic():
        numbers(bugs)
        take_up(study)
        label(study, people)
    guards.install()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    take_snapshot(round_=Round.objects.get(study=study), by=people["lead"])
    return study


def found() -> tuple[Study, dict[str, User]]:
    people = {name: User.objects.create_user(name, password=None) for name in ("lead", "ada", *RATERS)}
    study = Study.objects.create(slug=SLUG, title="A large study", created_by=people["lead"])
    for name, role in (("lead", "lead"), ("ada", "adjudicator"), *((name, "rater") for name in RATERS)):
        Membership.objects.create(study=study, user=people[name], role=role)
    create_codebook(study=study, document=preset(MAIN), by=people["lead"])
    return study, people


def numbers(count: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE n (i INTEGER PRIMARY KEY)")
        for first in range(1, count + 1, 50_000):
            values = ",".join(f"({i})" for i in range(first, min(first + 50_000, count + 1)))
            cursor.execute(f"INSERT INTO n (i) VALUES {values}")
        cursor.execute("ANALYZE n")


def take_up(study: Study) -> None:
    place = Repository.objects.create(study=study, label="tessera/tessera")
    fill(
        Item,
        {
            "id": "i", "study_id": study.pk, "repository_id": place.pk, "number": "i", "kind": "'pull_request'",
            "identity": "'git.example/tessera/tessera#' || i", "title": "'Fix the sum of a negative stride, case ' || i",
            "url": "'https://git.example/tessera/tessera/pull/' || i", "author": "'somebody'", "opened_at": f"'{NOW}'",
        },
    )  # fmt: skip
    fill(Bug, {"id": "i", "study_id": study.pk, "item_id": "i", "number": "i", "ordinal": 1})


def label(study: Study, people: Mapping[str, User]) -> None:
    version = Version.objects.get(codebook__study=study)
    now = dt.datetime.fromisoformat(f"{NOW}+00:00")
    round_ = Round.objects.create(
        study=study, number=1, name="Round 1", state="closed", closed_at=now, codebook_version=version
    )
    fill(RoundBug, {"round_id": round_.pk, "bug_id": "i", "position": "i", "overlap": 2, "taken": 2})
    for place, name in enumerate(RATERS):
        turn = {
            "id": f"i * 2 + {place}", "round_id": round_.pk, "bug_id": "i", "rater_id": people[name].pk, "position": "i",
            "state": "'submitted'", "submitted_at": f"'{NOW}'", "revision": 1, "confidence": "'sure'",
            "active_seconds": "30 + i % 60",
        }  # fmt: skip
        fill(Assignment, turn)
    facets = Facet.objects.filter(codebook__study=study).exclude(key=Facet.VERDICT)
    for facet in facets:
        settle(study, round_, facet, people)


def settle(study: Study, round_: Round, facet: Facet, people: Mapping[str, User]) -> None:
    ids = list(Category.objects.filter(facet=facet).order_by("pk").values_list("pk", flat=True))
    shared = {"round_id": round_.pk, "bug_id": "i", "facet_id": facet.pk}
    differs = f"(i + {facet.pk}) % 9 = 0"
    for place, name in enumerate(RATERS):
        chosen = one_of(ids, f"i * 7 + i / 11 + {place} * (CASE WHEN {differs} THEN 1 ELSE 0 END)")
        given = {
            "assignment_id": f"i * 2 + {place}", "rater_id": people[name].pk, "category_id": chosen, "revision": 1,
            "version": 1, "is_current": True, "slot": 0, "at": f"'{NOW}'",
        }  # fmt: skip
        fill(Answer, shared | given)
    first = one_of(ids, "i * 7 + i / 11")
    settled = shared | {"study_id": study.pk, "category_id": first, "slot": 0, "is_current": True, "at": f"'{NOW}'"}
    fill(Resolution, settled | {"source": "'unanimous'"}, where=f"NOT {differs}")
    by = {"source": "'adjudicated'", "by_id": people["ada"].pk, "reason": "'slip'", "note": "'As the first says.'"}
    fill(Resolution, settled | by, where=differs)


def one_of(ids: list[int], number: str) -> str:
    cases = " ".join(f"WHEN {place} THEN {pk}" for place, pk in enumerate(ids))
    return f"(CASE ({number}) % {len(ids)} {cases} END)"


def fill(model: type[models.Model], values: Mapping[str, Any], *, where: str = "1 = 1") -> None:
    """A row for each number: columns by SQL over `i`, the others as the model has them by default."""
    given = {name: literal(value) for name, value in values.items()}
    for field in model._meta.concrete_fields:
        if field.column and field.column not in given and not field.primary_key:
            given[field.column] = default_of(field)
    names, made = ", ".join(f'"{name}"' for name in given), ", ".join(given.values())
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {model._meta.db_table} ({names}) SELECT {made} FROM n WHERE {where} ORDER BY i")


def literal(value: Any) -> str:
    return "TRUE" if value is True else "FALSE" if value is False else str(value)


def default_of(field: Any) -> str:
    if field.null:
        return "NULL"
    if isinstance(field, models.DateTimeField):
        return f"'{NOW}'"
    value = field.get_default()
    if isinstance(value, dict | list):
        return "'{}'" if isinstance(value, dict) else "'[]'"
    return f"'{value}'" if isinstance(value, str) else literal(value)
