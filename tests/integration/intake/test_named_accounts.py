"""A sheet may name anybody who has an account here; that gives nobody a hold on the account."""

import pytest
from django.utils import timezone

from annotator.accounts.models import User
from annotator.intake.actions import import_file
from annotator.intake.mapping import from_document
from annotator.intake.sheets import read_grid, read_sheet
from annotator.studies.access import may_reset
from annotator.studies.actions import accept, invite, set_roles
from annotator.studies.models import Membership
from tests.factories import StudyFactory, UserFactory, make_codebook, member


@pytest.fixture
def own_study(charlie):
    """Charlie's own: whoever signs in may start one."""
    own = StudyFactory(slug="own")
    member(own, charlie, "lead")
    make_codebook(own, {"cause": ["type", "shape"]})
    return own


def name_in_a_sheet(study, username, by):
    data = f"id,{username}\n1,type\n".encode()
    mapping = from_document({"item": {"key": "id"}, "raters": {username: {"cause": username}}})
    sheet = read_sheet(read_grid(data))
    return import_file(study=study, filename="s.csv", data=data, sheet=sheet, mapping=mapping, by=by)


@pytest.mark.parametrize(
    "used", [{"password": "a hash"}, {"last_login": timezone.now()}], ids=["password", "signed in"]
)
def test_a_sheet_makes_nobody_a_member_whose_account_is_in_use(own_study, charlie, used):
    UserFactory(username="busy", **used)
    report = name_in_a_sheet(own_study, "busy", charlie)
    (error,) = report["errors"]
    assert (error["code"], error["column"]) == ("not_a_member", "raters.busy")
    assert "invite this person" in error["text"]
    assert not Membership.objects.filter(user__username="busy").exists()


def test_a_member_whose_account_is_in_use_is_found(own_study, charlie):
    member(own_study, UserFactory(username="busy", password="a hash"), "rater")
    assert name_in_a_sheet(own_study, "busy", charlie)["errors"] == []


def test_account_that_left_its_studies_is_not_taken_over_by_naming_it(own_study, charlie):
    left = UserFactory(username="left")
    name_in_a_sheet(own_study, "left", charlie)
    assert not may_reset(charlie, left)
    set_roles(study=own_study, user=left, roles=["reader"], by=charlie)
    assert not may_reset(charlie, left)


def test_own_lead_still_resets_the_password_of_who_was_named_elsewhere(study, own_study, charlie, lee, alice):
    name_in_a_sheet(own_study, "alice", charlie)
    assert may_reset(lee, alice) and not may_reset(charlie, alice)


def test_account_made_by_an_import_gets_its_password_from_that_studys_lead(own_study, charlie):
    name_in_a_sheet(own_study, "newcomer", charlie)
    assert may_reset(charlie, User.objects.get(username="newcomer"))


def test_who_accepts_an_invitation_later_belongs_to_the_study(own_study, charlie):
    named = UserFactory(username="named")
    name_in_a_sheet(own_study, "named", charlie)
    _, secret = invite(study=own_study, roles=["rater"], by=charlie)
    accept(secret=secret, user=named)
    assert may_reset(charlie, named)
