"""A round counted as if its answers had been given to another version of the codebook; the count at its close stays."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from annotator.agreement.actions import digest_of
from annotator.agreement.comparing import recompute
from annotator.agreement.models import Snapshot
from annotator.agreement.queries import entries, pooled
from annotator.codebook.actions import add_category, edit_category, remove_category
from annotator.codebook.changes import CategoryChange
from annotator.codebook.living import merge_categories, split_category
from annotator.codebook.models import Category
from annotator.labeling.models import Round
from annotator.overview.rounds.closing import close_round
from tests.factories import answer

VOTES = [("type", "type"), ("type", "type"), ("shape", "shape"), ("shape", "type"), ("api", "api"), ("api", "type")]


@pytest.fixture
def closed(main_round, bugs, alice, bob, lee) -> Round:
    for bug, (first, second) in zip(bugs, VOTES, strict=True):
        answer(main_round, bug, alice, {"cause": first, "stage": "training"})
        answer(main_round, bug, bob, {"cause": second, "stage": "training"})
    return close_round(round_=main_round, by=lee)


def row(name: str) -> Category:
    return Category.objects.get(name=name, state="active")


def cause(study: Any, **more: Any) -> dict[str, Any]:
    (found,) = entries(study, facet="cause", **more)
    return found


def test_a_rename_gives_the_same_kappa_under_the_new_name(closed, study, lee):
    before = cause(study)
    edit_category(category=row("type"), by=lee, change=CategoryChange(name="kind"))
    now = cause(study, level="v2")
    assert cause(study) == before
    assert (now["basis"], now["kappa"]) == ("mapped_to v2", before["kappa"])
    assert now["table"]["categories"] == ["kind", "shape", "api"]
    assert cause(study, level="v1")["table"]["categories"] == ["type", "shape", "api"]


def test_what_was_merged_counts_as_what_took_its_place(closed, study, lee):
    before = cause(study)
    merge_categories(sources=[row("shape")], into=row("type"), reason="one thing", by=lee)
    now = cause(study, level="v2")
    assert now["table"]["categories"] == ["type", "api"]
    assert now["table"]["counts"] == [[4, 0], [1, 1]]
    assert (before["observed"], now["observed"]) == (pytest.approx(4 / 6), pytest.approx(5 / 6))
    assert now["gate"]["result"] is None
    assert cause(study) == before


def test_what_was_split_is_not_guessed(closed, study, lee):
    before = cause(study)
    parts = [CategoryChange(name="of values"), CategoryChange(name="of dtypes")]
    split_category(category=row("type"), parts=parts, reason="two", by=lee)
    now = cause(study, level="v2")
    assert now["kappa"] == before["kappa"]
    assert (
        now["table"]["categories"] == ["of values", "of dtypes", "shape", "api", "type"]
        or "type" in (now["table"]["categories"])
    )


def test_the_count_at_the_close_comes_out_byte_for_byte_whatever_happens(closed, study, lee):
    kept = Snapshot.objects.get(round=closed)
    facet = row("type").facet
    edit_category(category=row("type"), by=lee, change=CategoryChange(name="kind", parent=row("api").uid, hotkey=""))
    add_category(facet=facet, by=lee, change=CategoryChange(name="leak"))
    merge_categories(sources=[row("shape")], into=row("leak"), reason="r", by=lee)
    remove_category(category=row("kind"), by=lee)
    split_category(category=row("leak"), parts=[CategoryChange(name="a"), CategoryChange(name="b")], reason="r", by=lee)
    again = recompute(Round.objects.select_related("codebook_version").get(pk=closed.pk))
    assert again == kept.entries
    assert digest_of(again) == kept.digest


def test_a_category_added_meanwhile_is_named_as_it_was_at_the_close(main_round, study, bugs, alice, bob, lee):
    new = add_category(facet=row("type").facet, by=lee, change=CategoryChange(name="leak"))
    for bug in bugs:
        answer(main_round, bug, alice, {"cause": "leak", "stage": "training"})
        answer(main_round, bug, bob, {"cause": "type", "stage": "training"})
    closed = close_round(round_=main_round, by=lee)
    assert closed.codebook_version is not None
    assert closed.codebook_version.number == 2
    kept = Snapshot.objects.get(round=closed)
    edit_category(category=new, by=lee, change=CategoryChange(name="leak of memory"))
    assert recompute(Round.objects.get(pk=closed.pk)) == kept.entries
    assert "leak" in kept.entries[0]["table"]["categories"]


def test_rounds_before_and_after_a_merge_are_pooled_on_one_scale(closed, study, lee):
    merge_categories(sources=[row("shape")], into=row("type"), reason="one thing", by=lee)
    (found,) = pooled(study, facet="cause", level="v2")
    assert (found["basis"], found["table"]["categories"]) == ("mapped_to v2", ["type", "api"])


def told(*words: str) -> Any:
    out = StringIO()
    call_command("agreement", *words, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_the_command_maps_where_it_is_asked(closed, study, lee):
    merge_categories(sources=[row("shape")], into=row("type"), reason="one thing", by=lee)
    assert {e["basis"] for e in told("frameworks")} == {"as_answered"}
    assert {e["basis"] for e in told("frameworks", "--mapped")} == {"mapped_to v2"}
    assert {e["basis"] for e in told("frameworks", "--mapped", "1", "--pooled")} == {"mapped_to v1"}


def test_a_version_that_is_not_there_is_bad_input(closed, study, alice):
    client = Client()
    client.force_login(alice)
    for asked in ("level=v9", "mapped=9", "mapped=x", "level=v0"):
        assert client.get(f"/api/v1/studies/frameworks/agreement/?{asked}").status_code == 400
    (found,) = client.get("/api/v1/studies/frameworks/agreement/?mapped=now&facet=cause").json()
    assert found["basis"] == "mapped_to v1"


def test_the_page_offers_the_present_version_once_it_is_another(closed, study, alice, lee):
    client = Client()
    client.force_login(alice)
    assert "Mapped to" not in client.get("/frameworks/agreement/1/").content.decode()
    merge_categories(sources=[row("shape")], into=row("type"), reason="one thing", by=lee)
    page = client.get("/frameworks/agreement/1/").content.decode()
    assert '<a href="?level=v2">Mapped to v2</a>' in page
    page = client.get("/frameworks/agreement/1/?level=v2").content.decode()
    assert "mapped to v2: what was merged counts as what took its place" in page
