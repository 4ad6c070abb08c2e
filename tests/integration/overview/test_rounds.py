"""Opening and closing rounds in the browser."""

import pytest
from django.core.management import call_command

from annotator.labeling.actions import skip
from annotator.labeling.models import Round
from annotator.overview.rounds import choosing
from annotator.overview.rounds.choosing import Wanted
from annotator.overview.rounds.closing import close_round
from annotator.overview.rounds.opening import open_next_round
from annotator.web.errors import BadInput
from tests.factories import answer, make_round, member

SAME = {"cause": "type", "stage": "training"}
OTHER = {"cause": "api", "stage": "deployment"}
SENT = {
    "name": "Round 1",
    "kind": "main",
    "source": "free",
    "repository": "",
    "of_import": "",
    "take": "every",
    "count": "",
    "raters": ["alice", "bob"],
    "design": "fixed",
    "overlap": "2",
    "seed": "5",
    "gate_coefficient": "kappa",
    "gate_method": "lower",
    "gate_bound": "0.8",
    "gate_min_n": "10",
}
NEW = "/frameworks/rounds/new/"


def test_lead_opens_a_round(client, study, bugs, lee):
    client.force_login(lee)
    assert client.get(NEW).status_code == 200
    assert client.post(NEW, SENT).headers["Location"] == "/frameworks/rounds/1/"
    opened = Round.objects.get()
    assert opened.assignments.count() == 12
    assert (opened.gate_coefficient, opened.gate_bound, opened.seed) == ("kappa", 0.8, 5)


def test_the_page_begins_with_a_main_round_of_the_pair_on_what_is_left(client, study, bugs, lee):
    client.force_login(lee)
    form = client.get(NEW).context["form"]
    shown = {name: form[name].value() for name in ("name", "kind", "source", "raters", "overlap")}
    assert shown["kind"] == "main"
    assert (shown["name"], shown["raters"], shown["overlap"]) == ("Round 1", ["alice", "bob"], 2)
    assert form.fields["source"].choices[0] == ("free", "not yet in a main round (6)")


def test_of_many_raters_those_of_the_latest_round_are_proposed(client, study, main_round, bob, ada, lee):
    member(study, ada, "rater")
    client.force_login(lee)
    form = client.get(NEW).context["form"]
    assert (form["name"].value(), form["raters"].value()) == ("Round 2", ["alice", "bob"])


def test_a_name_that_is_taken_is_not_proposed(client, study, bugs, alice, bob, lee):
    make_round(study, bugs=bugs[:1], raters=[alice, bob], by=lee, name="Round 2")
    client.force_login(lee)
    assert client.get(NEW).context["form"]["name"].value() == "Round 3"


def test_only_the_lead_opens_and_closes(client, study, bugs, main_round, alice, charlie):
    for user, status in ((alice, 403), (charlie, 404)):
        client.force_login(user)
        assert client.get(NEW).status_code == status
        assert client.post("/frameworks/rounds/1/close/").status_code == status
    main_round.refresh_from_db()
    assert main_round.is_open


def test_what_is_wrong_is_said_and_what_was_filled_in_is_kept(client, study, bugs, lee):
    client.force_login(lee)
    answered = client.post(NEW, SENT | {"take": "random", "count": "99"})
    assert answered.status_code == 422
    assert b"99 bugs are wanted, 6 match" in answered.content
    assert b'value="99"' in answered.content
    assert client.post(NEW, SENT | {"raters": []}).status_code == 422
    assert not Round.objects.exists()


def test_a_random_sample_can_be_drawn_again(study, bugs):
    wanted = Wanted(take=choosing.RANDOM, count=3, seed=4)
    first = choosing.choose(study, wanted)
    assert first == choosing.choose(study, wanted)
    assert len(first) == 3
    assert any(choosing.choose(study, Wanted(take=choosing.RANDOM, count=3, seed=s)) != first for s in range(5, 9))


def test_bugs_of_a_main_round_are_not_offered_again(study, bugs, alice, bob, lee):
    make_round(study, bugs=bugs[:2], raters=[alice, bob], by=lee, kind="training")
    make_round(study, bugs=bugs[2:4], raters=[alice, bob], by=lee)
    assert [bug.number for bug in choosing.choose(study, Wanted())] == [1, 2, 5, 6]
    assert [bug.number for bug in choosing.choose(study, Wanted(source="2"))] == [3, 4]


@pytest.fixture
def missed(study, bugs, alice, bob, lee):
    """A main round whose raters never agreed, closed."""
    gate = {"gate_coefficient": "kappa", "gate_method": "value", "gate_bound": 0.8, "gate_min_n": 1}
    round_ = make_round(study, bugs=bugs[:3], raters=[alice, bob], by=lee, name="Round 1", **gate)
    for place, bug in enumerate(bugs[:3]):
        answer(round_, bug, alice, SAME if place else OTHER)
        answer(round_, bug, bob, OTHER if place else SAME)
    return close_round(round_=round_, by=lee)


def test_next_main_round_after_a_missed_gate_needs_a_reason(study, missed, bugs, alice, bob, lee):
    options = {"bugs": bugs[3:], "raters": [alice, bob], "name": "Round 2"}
    with pytest.raises(BadInput, match="Round 1 missed its gate"):
        open_next_round(study=study, by=lee, **options)
    assert Round.objects.count() == 1
    open_next_round(study=study, by=lee, reason="The guideline was mended.", **options)
    missed.refresh_from_db()
    assert missed.gate_continued_reason == "The guideline was mended."


def test_training_after_a_missed_gate_needs_no_reason(study, missed, bugs, alice, bob, lee):
    opened = open_next_round(study=study, by=lee, bugs=bugs[3:], raters=[alice, bob], name="Again", kind="training")
    assert opened.is_open


def test_form_asks_for_the_reason(client, study, missed, lee):
    client.force_login(lee)
    assert b"Round 1 did not pass its gate" in client.get(NEW).content
    answered = client.post(NEW, SENT | {"name": "Round 2"})
    assert answered.status_code == 422
    assert client.post(NEW, SENT | {"name": "Round 2", "reason": "Mended."}).status_code == 302


def test_closing_asks_first_and_names_what_is_unanswered(client, main_round, bugs, alice, lee):
    answer(main_round, bugs[0], alice, SAME)
    client.force_login(lee)
    asked = client.get("/frameworks/rounds/1/close/")
    assert b"11 turns not answered" in asked.content
    assert client.post("/frameworks/rounds/1/close/").status_code == 302
    main_round.refresh_from_db()
    assert not main_round.is_open
    assert client.post("/frameworks/rounds/1/close/").status_code == 409


def test_closing_does_not_say_that_all_is_answered_where_bugs_were_skipped(client, main_round, bugs, alice, bob, lee):
    for rater in (alice, bob):
        for bug in bugs[1:] if rater == bob else bugs:
            answer(main_round, bug, rater, SAME)
    client.force_login(lee)
    skip(assignment=main_round.assignments.get(bug=bugs[0], rater=bob), reason="unclear", by=bob)
    asked = client.get("/frameworks/rounds/1/close/").content.decode()
    assert "1 turn skipped:</b> bob 1" in asked
    assert "Every rater" not in asked
    answer(main_round, bugs[0], bob, SAME)
    assert "Every rater answered every bug." in client.get("/frameworks/rounds/1/close/").content.decode()


def test_lead_who_rates_is_not_told_how_far_the_other_is(client, study, bugs, bob, lee):
    study.memberships.create(user=lee, role="rater")
    round_ = make_round(study, bugs=bugs, raters=[lee, bob], by=lee)
    client.force_login(lee)
    address = f"/frameworks/rounds/{round_.number}/close/"
    before = client.get(address)
    answer(round_, bugs[0], bob, SAME)
    after = client.get(address)
    assert b"You rate in this round" in after.content
    assert b"bob" not in after.content
    assert len(after.content) == len(before.content)


def test_bugs_of_one_import_can_be_chosen(study, bugs, tmp_path):
    sheet, mapping = tmp_path / "two.csv", tmp_path / "two.yaml"
    sheet.write_text("url,title\nhttps://github.com/o/r/pull/1,One\nhttps://github.com/o/r/pull/2,Two\n")
    mapping.write_text("item: {url: url, title: title}\n")
    call_command("import_sheet", study.slug, str(sheet), "--mapping", str(mapping))
    assert [bug.item.title for bug in choosing.choose(study, Wanted(import_number=1))] == ["One", "Two"]
    with pytest.raises(BadInput, match="no import 7"):
        choosing.choose(study, Wanted(import_number=7))
