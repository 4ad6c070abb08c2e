"""The labelling page: what a rater sees, sends and gets back."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotator.codebook.models import Category
from annotator.collection.models import ChangedFile, Comment, Context, Edit, Item, ItemText, Patch
from annotator.labeling.actions import freeze
from annotator.labeling.models import Answer, Assignment, Evidence, FurtherBug, Round
from annotator.labeling.panel import panel_of
from tests.factories import StudyFactory, answer, make_bugs, make_codebook, make_round, member
from tests.integration.labeling.label_page import GOOD, HTMX, label_url, turn_of, url

# --- what is shown


def test_the_next_bug_is_shown_with_every_facet_and_the_explicit_not_applicable(rater, main_round, alice):
    page = rater.get(label_url(main_round))
    text = page.content.decode()
    assert page.status_code == 200
    assert turn_of(main_round, alice).bug.item.title in text
    for word in ("Cause", "Stage", "type", "deployment", "not applicable", "Blind until the round closes"):
        assert word in text


def test_no_choice_and_no_confidence_is_made_for_the_rater(rater, main_round):
    assert " checked" not in rater.get(label_url(main_round)).content.decode().replace("data-keys-switch checked", "")


def test_columns_of_the_sheet_stand_in_for_a_copy_that_is_not_there(rater, main_round, alice):
    turn = turn_of(main_round, alice)
    Context.objects.create(item=turn.bug.item, ordinal=1, values={"Gist": "https://example.org/g", "Note": "a <b>"})
    text = rater.get(url(turn)).content.decode()
    assert '<a href="https://example.org/g"' in text
    assert "a &lt;b&gt;" in text
    assert "no copy here" in text


def test_an_address_that_would_run_script_is_no_link(rater, main_round, alice):
    turn = turn_of(main_round, alice)
    Item.objects.filter(pk=turn.bug.item_id).update(url="javascript:alert(1)")
    Context.objects.create(item=turn.bug.item, ordinal=1, values={"Gist": "javascript:alert(2)"})
    assert 'href="javascript' not in rater.get(url(turn)).content.decode()


@pytest.fixture
def with_copy(main_round, alice) -> Assignment:
    turn = turn_of(main_round, alice)
    item = turn.bug.item
    Item.objects.filter(pk=item.pk).update(fetched_at="2026-03-01T00:00:00Z", merged_at="2026-02-01T00:00:00Z")
    ItemText.objects.create(item=item, body="Sum is *wrong*. <script>alert(1)</script>")
    Comment.objects.create(item=item, position=0, author="quill-7", body="Is it `shape`?", path="a/sum.py", line=2)
    for place, text in enumerate(["@@ -1,2 +1,2 @@\n x = 1\n-y = 2\n+y = 3", "@@ -1 +1 @@\n-" + "z" * 50_000 + "\n+z"]):
        changed = ChangedFile.objects.create(item=item, position=place, path=f"a/{'sum' if place == 0 else 'long'}.py")
        Patch.objects.create(file=changed, text=text)
    return turn


def test_a_copy_shows_description_discussion_and_diff_with_an_anchor_a_line(rater, with_copy):
    text = rater.get(url(with_copy)).content.decode()
    assert "<em>wrong</em>" in text
    assert "<script>alert" not in text
    assert "<code>shape</code>" in text
    assert 'href="#f0n2"' in text
    assert "<tr id=f0n2 class=add>" in text


def test_a_long_diff_opens_on_demand_with_and_without_script(rater, with_copy):
    assert "z" * 100 not in rater.get(url(with_copy)).content.decode()
    address = f"{url(with_copy)}files/1/"
    assert rater.get(address, headers=HTMX).content.decode().startswith('<table class="diff">')
    assert "<h1" in rater.get(address).content.decode()
    assert rater.get(f"{url(with_copy)}files/7/").status_code == 404


def test_a_text_fetched_ahead_is_not_sent_again(rater, with_copy):
    ahead = rater.get(url(with_copy, "read")).content.decode()
    assert "<em>wrong</em>" in ahead
    number = str(with_copy.bug.number)
    page = rater.get(url(with_copy), headers={**HTMX, "X-Fetched": f"999,{number}"}).content.decode()
    assert "<em>wrong</em>" not in page
    assert f'data-prefetched="{number}"' in page


# --- save and next


def test_saving_answers_with_the_next_bug_in_the_same_request(rater, main_round, alice, fields):
    first, second = turn_of(main_round, alice), turn_of(main_round, alice, 1)
    sent = fields(
        confidence="unsure",
        note="Half sums.",
        active_seconds="12",
        pin='{"kind":"line","anchor":"f0n2","place":"a.py:2","quote":"y"}',
    )
    page = rater.post(url(first), sent, headers=HTMX)
    assert page.headers["HX-Push-Url"] == url(second)
    assert second.bug.item.title in page.content.decode()
    first.refresh_from_db()
    assert (first.state, first.confidence, first.note, first.active_seconds) == (
        "submitted",
        "unsure",
        "Half sums.",
        12,
    )
    assert Answer.objects.filter(assignment=first, is_current=True).count() == 3
    assert Evidence.objects.get(assignment=first).anchor == "f0n2"


def test_without_script_saving_leads_to_the_next_bug(rater, main_round, alice, fields):
    answered = rater.post(url(turn_of(main_round, alice)), fields())
    assert (answered.status_code, answered.headers["Location"]) == (302, label_url(main_round))
    assert turn_of(main_round, alice, 1).bug.item.title in rater.get(label_url(main_round)).content.decode()


def test_an_open_facet_is_named_and_what_was_sent_stays_on_the_page(rater, main_round, alice, fields):
    turn = turn_of(main_round, alice)
    page = rater.post(url(turn), fields({"cause": "type"}, note="kept"), headers=HTMX)
    text = page.content.decode()
    assert page.status_code == 422
    assert "Stage has no answer yet" in text
    assert ">kept</textarea>" in text
    assert text.count(" checked") == 2  # the cause, and the switch of the keys
    assert not Answer.objects.exists()


def test_the_same_sent_twice_counts_once(rater, main_round, alice, fields):
    turn = turn_of(main_round, alice)
    for _ in range(2):
        assert rater.post(url(turn), fields(), headers=HTMX).status_code == 200
    turn.refresh_from_db()
    assert turn.revision == 1
    assert Answer.objects.filter(assignment=turn).count() == 3


def test_another_answer_from_a_stale_page_is_refused_and_says_so(rater, main_round, alice, fields):
    turn = turn_of(main_round, alice)
    rater.post(url(turn), fields())
    page = rater.post(url(turn), fields({"cause": "api", "stage": "training"}))
    assert page.status_code == 409
    assert "answered elsewhere" in page.content.decode()
    assert Answer.objects.filter(assignment=turn).count() == 3


def test_ones_own_bug_reopens_with_its_answers_and_takes_a_new_revision(rater, main_round, alice, fields):
    turn = turn_of(main_round, alice)
    rater.post(url(turn), fields(note="first"))
    text = rater.get(url(turn)).content.decode()
    assert ">first</textarea>" in text
    assert text.count(" checked") == 3
    rater.post(url(turn), fields({"cause": "api", "stage": "training"}, revision="1"))
    turn.refresh_from_db()
    assert turn.revision == 2
    current = Answer.objects.filter(assignment=turn, is_current=True, facet__key="cause")
    assert current.get().category.name == "api"


def test_the_page_links_back_to_the_bug_answered_before(rater, main_round, alice, fields):
    first = turn_of(main_round, alice)
    page = rater.post(url(first), fields(), headers=HTMX).content.decode()
    assert f'href="{url(first)}" data-previous' in page


@pytest.mark.parametrize("act", [{"act": "skip", "skip_reason": "Another reason"}, {"act": "park"}])
def test_the_page_links_back_to_the_bug_skipped_or_put_off_before(rater, main_round, alice, fields, act):
    first, second = turn_of(main_round, alice), turn_of(main_round, alice, 1)
    rater.post(url(first), fields(), headers=HTMX)
    page = rater.post(url(second), fields() | act, headers=HTMX).content.decode()
    again = rater.get(url(turn_of(main_round, alice, 2))).content.decode()  # and after a reload
    for text in (page, again):
        assert f'href="{url(second)}" data-previous' in text


def test_the_last_bug_leads_to_a_page_that_says_so(rater, study, alice, bob, lee, fields):
    only = make_round(study, bugs=make_bugs(study, 1), raters=[alice, bob], by=lee)
    page = rater.post(url(turn_of(only, alice)), fields(), headers=HTMX)
    assert "Nothing waits for you" in page.content.decode()
    assert page.headers["HX-Push-Url"] == label_url(only)
    assert '<span id="progress" hx-swap-oob="true" hidden></span>' in page.content.decode()
    assert f'href="{url(turn_of(only, alice))}" data-press="Z"' in page.content.decode()


def other_study(alice, facets: dict[str, list[str]], **options: Any) -> Round:
    """A study of Alice's own with one bug and another codebook."""
    study = StudyFactory(slug="other")
    member(study, alice, "rater")
    make_codebook(study, facets, **options)
    return make_round(study, bugs=make_bugs(study, 1), raters=[alice], by=alice)


def test_a_facet_with_many_answers_takes_several(rater, alice):
    many = other_study(alice, {"cause": ["type", "shape", "api"], "stage": ["training"]}, many=["cause"])
    study, turn = many.study, turn_of(many, alice)
    facets = study.codebook.facets
    uids = list(facets.get(key="cause").categories.values_list("uid", flat=True)[:2])
    assert 'type="checkbox" id="o-' in rater.get(url(turn)).content.decode()
    stage = facets.get(key="stage").categories.first().uid
    rater.post(url(turn), {"act": "submit", "f-cause": uids, "f-stage": stage})
    assert Answer.objects.filter(assignment=turn, facet__key="cause").count() == 2


# --- not a bug, skip, later, another bug


def test_not_a_bug_needs_a_reason_and_keeps_it_for_reopening(rater, study, main_round, alice, fields):
    turn = turn_of(main_round, alice)
    refused = rater.post(url(turn), {"act": "not_a_bug", "revision": "0"}, headers=HTMX)
    assert refused.status_code == 422
    assert "Choose a reason" in refused.content.decode()
    reason = Category.objects.get(facet__codebook=study.codebook, name="documentation")
    assert f'name="not_a_bug" value="{reason.uid}"' in rater.get(url(turn)).content.decode()
    rater.post(url(turn), {"act": "not_a_bug", "revision": "0", "not_a_bug": reason.uid})
    assert Answer.objects.get(assignment=turn).category.name == "not a bug"
    text = rater.get(url(turn)).content.decode()
    assert "You answered: not a bug</b> (documentation)" in text
    assert f'value="{reason.uid}" checked' in text


def test_skipping_needs_a_reason_and_takes_the_bug_from_the_rater(rater, main_round, alice):
    turn = turn_of(main_round, alice)
    assert rater.post(url(turn), {"act": "skip"}, headers=HTMX).status_code == 422
    rater.post(url(turn), {"act": "skip", "skip_reason": "I wrote or reviewed it", "skip_note": "mine"})
    turn.refresh_from_db()
    assert (turn.state, turn.skip_reason, turn.skip_note) == ("skipped", "I wrote or reviewed it", "mine")


def test_later_keeps_the_draft_and_brings_the_bug_back_at_the_end(rater, study, alice, bob, lee, fields):
    short = make_round(study, bugs=make_bugs(study, 2), raters=[alice, bob], by=lee)
    first, second = turn_of(short, alice), turn_of(short, alice, 1)
    page = rater.post(url(first), fields({"cause": "api"}, act="park", note="think"), headers=HTMX)
    assert page.headers["HX-Push-Url"] == url(second)
    again = rater.post(url(second), fields(), headers=HTMX)
    assert again.headers["HX-Push-Url"] == url(first)
    assert ">think</textarea>" in again.content.decode()


def test_a_further_bug_is_noted_without_losing_the_answer_at_hand(rater, main_round, alice, fields):
    turn = turn_of(main_round, alice)
    page = rater.post(url(turn), fields({"cause": "api"}, act="further", further="Also leaks"), headers=HTMX)
    text = page.content.decode()
    assert FurtherBug.objects.get(assignment=turn).note == "Also leaks"
    assert "1 further bug noted" in text
    assert text.count(" checked") == 2


def test_in_a_pool_the_page_holds_its_bug_and_a_skip_gives_it_back(client, study, alice, bob, lee):
    pool = make_round(study, bugs=make_bugs(study, 2), raters=[alice, bob], by=lee, design="pool", overlap=1)
    client.force_login(alice)
    text = client.get(label_url(pool)).content.decode()
    held = Assignment.objects.select_related("bug").get(round=pool, rater=alice, state="claimed")
    assert held.bug.item.title in text
    assert "It goes back to the pool." in text
    client.force_login(bob)
    assert held.bug.item.title not in client.get(label_url(pool)).content.decode()
    client.force_login(alice)
    client.post(url(held), {"act": "skip", "skip_reason": "Another reason"})
    held.refresh_from_db()
    assert held.state == "skipped"


# --- who, and when


def test_nobody_reaches_a_turn_that_is_not_theirs(client, main_round, alice, bob, lee, charlie, study):
    turn = turn_of(main_round, alice)
    for person, status in ((charlie, 404), (lee, 403)):
        client.force_login(person)
        assert client.get(label_url(main_round)).status_code == status
        assert client.get(url(turn)).status_code == status
        assert client.post(url(turn), {"act": "submit"}).status_code == status
    client.logout()
    assert client.get(url(turn)).headers["Location"].startswith("/accounts/login/")


def test_a_bug_that_was_not_dealt_to_the_rater_is_not_there(rater, study, main_round):
    other = make_bugs(study, 1)[0]
    address = reverse("labeling:bug", args=[study.slug, main_round.number, other.number])
    assert rater.get(address).status_code == 404


def test_a_closed_round_shows_ones_own_answers_and_takes_no_more(rater, main_round, bugs, alice, bob, lee, fields):
    answer(main_round, bugs[0], alice, GOOD)
    answer(main_round, bugs[0], bob, {"cause": "api", "stage": "deployment"})
    freeze(round_=main_round, by=lee)
    turn = Assignment.objects.select_related("round__study", "bug").get(round=main_round, rater=alice, bug=bugs[0])
    text = rater.get(url(turn)).content.decode()
    assert "The round is closed" in text
    assert "<dd>type</dd>" in text
    assert "<dd>api</dd>" not in text
    assert rater.post(url(turn), fields(revision="1")).status_code == 409
    assert rater.post(url(turn, "draft"), fields(revision="1", draft_at="")).status_code == 409


def test_ones_own_list_shows_ones_own_states_alone(rater, main_round, bugs, alice, bob):
    answer(main_round, bugs[0], alice, GOOD, note="Because.")
    answer(main_round, bugs[1], bob, GOOD, note="His own.")
    address = reverse("labeling:mine", args=[main_round.study.slug, main_round.number])
    text = rater.get(address).content.decode()
    assert "Because." in text
    assert "His own." not in text
    assert rater.get(address, {"state": "submitted"}).content.decode().count("<tr>") == 2
    assert "None in this state" in rater.get(address, {"state": "skipped"}).content.decode()


def copied(item: Item, *, edited: bool) -> None:
    now = timezone.now()
    Item.objects.filter(pk=item.pk).update(fetched_at=now)
    if edited:
        Edit.objects.create(item=item, edited_at=now, seen_at=now)


def test_a_copy_that_was_edited_at_its_source_says_so(rater, main_round, alice, fields):
    first, second, third = (turn_of(main_round, alice, place) for place in range(3))
    for turn, edited in ((first, True), (second, False), (third, True)):
        copied(turn.bug.item, edited=edited)
    assert b"edited since" in rater.get(label_url(main_round)).content
    assert b"edited since" in rater.get(url(first, "read")).content
    assert b"edited since" not in rater.post(url(first), fields(), headers=HTMX).content
    assert b"edited since" in rater.post(url(second), fields(), headers=HTMX).content


def test_whether_a_copy_was_edited_costs_no_query(rater, main_round, alice, django_assert_num_queries):
    turn = turn_of(main_round, alice)
    copied(turn.bug.item, edited=False)
    rater.get(url(turn))  # what later pages keep
    with CaptureQueriesContext(connection) as unedited:
        rater.get(url(turn))
    copied(turn.bug.item, edited=True)
    with django_assert_num_queries(len(unedited)):
        rater.get(url(turn))


# --- cost


def test_save_and_next_costs_few_queries_however_many_facets(
    rater, main_round, alice, fields, django_assert_max_num_queries
):
    rater.post(url(turn_of(main_round, alice)), fields(), headers=HTMX)
    with django_assert_max_num_queries(26):
        rater.post(url(turn_of(main_round, alice, 1)), fields(), headers=HTMX)


def test_facets_are_rendered_once_and_choices_marked(study):
    panel = panel_of(study.codebook)
    uid = study.codebook.facets.get(key="cause").categories.get(name="api").uid
    assert panel.facets.count(" checked") == 0
    assert f'value="{uid}" checked' in panel.marked([uid])
    assert panel.marked(['"><script>']).count("<script>") == 0


def test_a_codebook_of_twelve_facets_and_a_hundred_categories_is_laid_out(alice):
    facets = {f"facet{n}": [f"answer {n} {k}" for k in range(100 if n == 0 else 3)] for n in range(12)}
    panel = panel_of(other_study(alice, facets).study.codebook)
    assert panel.facets.count("<fieldset") == 12
    assert panel.questions[0].columns == 3
    assert panel.questions[0].has_search


def test_a_place_in_ones_list_that_is_no_number_is_its_beginning(rater, main_round):
    mine = reverse("labeling:mine", args=[main_round.study.slug, main_round.number])
    for odd in ("²", "9" * 30, "-1", "x"):
        assert len(rater.get(mine, {"after": odd}).context["rows"]) == 6


def test_a_closed_pool_hands_out_nothing_more(rater, study, bugs, alice, bob, lee):
    pool = make_round(study, bugs=bugs, raters=[alice, bob], by=lee, design=Round.Design.POOL, overlap=1)
    freeze(round_=pool, by=lee)
    page = rater.get(label_url(pool))
    assert page.status_code == 200
    assert "closed" in page.content.decode()
    assert pool.round_bugs.filter(taken__gt=0).count() == 0
