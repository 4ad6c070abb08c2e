"""Several people at the same instant, on connections of their own."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from annotator.accounts.actions import create_user, make_password_link, set_password_by_link
from annotator.accounts.models import User
from annotator.codebook.actions import add_category, create_codebook
from annotator.codebook.changes import CategoryChange
from annotator.codebook.models import Codebook, Version
from annotator.codebook.presets import preset
from annotator.studies.actions import accept, invite, set_roles, start_study
from annotator.studies.models import Membership, Study
from annotator.web.errors import BadInput, Refused
from tests.factories import StudyFactory, UserFactory, member
from tests.together import at_once

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]
MANY = 6


def many(act: Callable[[int], Any]) -> list[Any]:
    """The act so many times together, each with its number."""
    return at_once(*(partial(act, place) for place in range(MANY)))


def only_one(results: list[Any], refused: type[Exception]) -> bool:
    return sum(isinstance(result, refused) for result in results) == MANY - 1


def test_an_invitation_lets_one_of_many_in(study, lee):
    people = [UserFactory() for _ in range(MANY)]
    _, secret = invite(study=study, roles=["rater"], by=lee)
    results = many(lambda n: accept(secret=secret, user=people[n]))
    assert only_one(results, Refused)
    assert Membership.objects.filter(study=study, user__in=people).count() == 1


def test_a_password_link_sets_one_password(alice, lee, settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    secret = make_password_link(user=alice, by=lee)
    results = many(lambda n: set_password_by_link(secret=secret, password=f"correct horse {n}"))
    assert only_one(results, Refused)
    winner = next(n for n, result in enumerate(results) if isinstance(result, User))
    assert User.objects.get(pk=alice.pk).check_password(f"correct horse {winner}")


def test_a_short_name_and_a_user_name_are_given_once(lee):
    assert only_one(many(lambda _: start_study(slug="same", title="T", by=lee)), BadInput)
    assert only_one(many(lambda _: create_user(username="same")), BadInput)
    assert Study.objects.filter(slug="same").count() == 1


def test_a_study_gets_one_codebook(lee):
    study = StudyFactory()
    assert only_one(many(lambda _: create_codebook(study=study, document=preset("silent-bugs"), by=lee)), Refused)
    assert Version.objects.filter(codebook__study=study).count() == 1


def test_changes_of_a_codebook_come_one_after_another(study, lee):
    facet = study.codebook.facets.get(key="cause")
    many(lambda n: add_category(facet=facet, by=lee, change=CategoryChange(name=f"new {n}")))
    numbers = Version.objects.filter(codebook__study=study).order_by("number").values_list("number", flat=True)
    assert list(numbers) == list(range(1, MANY + 2))
    assert Codebook.objects.get(study=study).digest == Version.objects.latest("number").digest
    keys = list(facet.categories.exclude(hotkey="").values_list("hotkey", flat=True))
    assert len(keys) == len(set(keys)) == 3 + MANY


def test_leads_who_leave_together_leave_one_behind(study, lee):
    leads = [lee, *(member(study, UserFactory(), "lead") for _ in range(MANY - 1))]
    results = many(lambda n: set_roles(study=study, user=leads[n], roles=[], by=leads[n]))
    assert sum(isinstance(result, Refused) for result in results) == 1
    assert Membership.objects.filter(study=study, role="lead").count() == 1
