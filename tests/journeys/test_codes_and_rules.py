"""A rater proposes a code by keyboard, the lead settles it; path rules are moved about; each page is clean and fits a phone."""

from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from annotator.codebook.actions import edit_facet
from annotator.codebook.changes import FacetChange
from annotator.codebook.models import Category, PathRule
from annotator.codebook.path_rules import Rule, set_rules
from annotator.codebook.tell_apart import write_note
from annotator.collection.models import ChangedFile, Repository
from annotator.labeling.models import Answer, Proposal, Round
from annotator.overview.rounds.closing import close_round
from annotator.studies.models import Study
from tests.factories import answer, make_round


@pytest.fixture
def round_(live_server: Any, study: Study, bugs: Any, alice: Any, bob: Any, lee: Any) -> Round:
    """A settled pilot, rules that suggest, a note, and an open round in which codes may be proposed."""
    cause = study.codebook.facets.get(key="cause")
    edit_facet(facet=cause, by=lee, change=FacetChange(takes_codes=True))
    rows = {row.name: row for row in cause.categories.select_related("facet__codebook")}
    write_note(first=rows["type"], second=rows["shape"], text="Look at the ranks.", by=lee)
    repository = Repository.objects.create(study=study, label="Lumen")
    for bug in bugs:
        bug.item.repository = repository
        bug.item.save()
        ChangedFile.objects.create(item=bug.item, position=0, path="core/types/a.c")
    cause.refresh_from_db()
    rules = [Rule("core/", rows["api"].uid), Rule("core/types/", rows["type"].uid)]
    set_rules(facet=cause, repository="Lumen", rules=rules, by=lee)
    Study.objects.filter(pk=study.pk).update(protocol={"suggest_in_blind": True})
    pilot = make_round(study, bugs=bugs[:2], raters=[alice, bob], by=lee, name="Pilot")
    for bug in bugs[:2]:
        for rater in (alice, bob):
            answer(pilot, bug, rater, {"cause": "type", "stage": "training"}, note="As the test shows.")
    close_round(round_=pilot, by=lee)
    return make_round(study, bugs=bugs[2:4], raters=[alice], by=lee, name="Round 1")


@pytest.fixture
def sit(sit_down: Any) -> Any:
    def at(user: Any, address: str) -> Page:
        person = sit_down()
        client = Client()
        client.force_login(user)
        session = client.cookies["sessionid"].value
        cookie = {"name": "sessionid", "value": session, "domain": "localhost", "path": "/"}
        person.context.add_cookies([cookie])
        person.page.goto(address)
        return person.page

    return at


def test_a_code_is_proposed_by_keyboard_and_settled(
    sit: Any, round_: Round, alice: Any, lee: Any, accessible: Any, fits: Any
) -> None:
    page = sit(alice, f"/frameworks/rounds/{round_.number}/label/")
    expect(page.get_by_text("Its files suggest")).to_be_visible()
    page.keyboard.press("c")
    expect(page.locator(".opt", has_text="type").locator(".exs")).to_contain_text("As the test shows.", timeout=5000)
    accessible(page)
    page.keyboard.press("+")
    page.keyboard.type("off by one")
    page.keyboard.press("Tab")
    page.keyboard.type("A bound is wrong by one.")
    page.keyboard.press("Control+Enter")
    chosen = page.locator(".opt", has_text="off by one").locator("input").first
    expect(chosen).to_be_checked()
    accessible(page)
    fits(page)
    page.keyboard.press("s")
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#progress")).to_contain_text("bug 2")
    code = Proposal.objects.get().category
    assert Answer.objects.get(category=code).is_assisted
    close_round(round_=round_, by=lee)

    page = sit(lee, f"/frameworks/rounds/{round_.number}/#codes")
    accessible(page)
    fits(page)
    page.get_by_label("Name", exact=True).fill("Off-by-one error")
    page.get_by_role("button", name="Accept", exact=True).click()
    expect(page.get_by_text("“Off-by-one error” is in the codebook.")).to_be_visible()
    assert Category.objects.get(pk=code.pk).state == "active"


def test_rules_are_moved_by_keys_and_kept(sit: Any, round_: Round, lee: Any, accessible: Any, fits: Any) -> None:
    page = sit(lee, "/frameworks/codebook/facets/cause/rules/?repository=Lumen")
    accessible(page)
    fits(page)
    page.locator("[name=prefix]").nth(1).focus()
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator("[name=prefix]").first).to_have_value("core/types/")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("2 rules of Lumen are kept.")).to_be_visible()
    kept = PathRule.objects.filter(retired_at=None).order_by("position").values_list("prefix", flat=True)
    assert list(kept) == ["core/types/", "core/"]
    expect(page.locator("[data-rule] td.r").first).to_have_text("6")


def test_guidance_and_notes_are_clean_and_fit(
    sit: Any, round_: Round, alice: Any, lee: Any, accessible: Any, fits: Any
) -> None:
    page = sit(alice, f"/frameworks/rounds/{round_.number}/bugs/3/guidance/")
    expect(page.get_by_text("Look at the ranks.").first).to_be_visible()
    accessible(page)
    fits(page)
    page = sit(lee, "/frameworks/codebook/facets/cause/apart/")
    accessible(page)
    fits(page)
