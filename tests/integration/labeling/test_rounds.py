"""Pages of rounds, and what a lead decides there."""

from annotator.labeling.actions import note_further_bug, skip
from annotator.labeling.follow_up import flag
from annotator.labeling.models import Assignment, FurtherBug, Round
from annotator.overview.rounds.closing import close_round
from annotator.sampling.models import Bug
from tests.factories import UserFactory, answer, member

SAME = {"cause": "type", "stage": "training"}
PAGE = "/frameworks/rounds/1/"


def turn(round_, rater, bug):
    return Assignment.objects.get(round=round_, rater=rater, bug=bug)


def test_stranger_finds_no_rounds(client, main_round, charlie):
    client.force_login(charlie)
    assert client.get("/frameworks/rounds/").status_code == 404
    assert client.get(PAGE).status_code == 404


def test_rater_sees_own_progress_and_no_skip_of_another(client, main_round, bugs, alice, bob):
    skip(assignment=turn(main_round, bob, bugs[0]), reason="Another reason", note="Too large for me.", by=bob)
    client.force_login(alice)
    for address in ("/frameworks/rounds/", PAGE):
        shown = client.get(address)
        assert b"bob" not in shown.content
        assert b"Too large" not in shown.content


def test_lead_hands_a_skipped_bug_on_to_who_has_not_had_it(client, study, main_round, bugs, alice, bob, lee):
    dora = member(study, UserFactory(username="dora"), "rater")
    skip(assignment=turn(main_round, bob, bugs[0]), reason="Another reason", note="I wrote it.", by=bob)
    client.force_login(lee)
    (skipped,) = client.get(PAGE).context["skipped"]
    assert skipped.free == [dora]
    sent = {"bug": "1", "rater": "bob", "to": "dora"}
    assert client.post(PAGE + "hand-on/", sent).status_code == 302
    assert turn(main_round, dora, bugs[0]).state == "todo"
    assert client.post(PAGE + "hand-on/", sent | {"to": "nobody"}).status_code == 400


def test_raters_decide_nothing_there(client, main_round, alice):
    client.force_login(alice)
    for act in ("gate", "hand-on", "further", "flags"):
        assert client.post(f"{PAGE}{act}/").status_code == 403


def test_gate_changes_until_the_first_submission(client, main_round, bugs, alice, lee):
    client.force_login(lee)
    sent = {"gate_coefficient": "kappa", "gate_method": "value", "gate_bound": "0.6", "gate_min_n": "5"}
    assert client.get(PAGE).context["gate_form"] is not None
    assert client.post(PAGE + "gate/", sent).status_code == 302
    main_round.refresh_from_db()
    assert (main_round.gate_coefficient, main_round.gate_bound) == ("kappa", 0.6)
    assert client.post(PAGE + "gate/", sent | {"gate_bound": "7"}).status_code == 400
    answer(main_round, bugs[0], alice, SAME)
    assert client.get(PAGE).context["gate_form"] is None
    assert client.post(PAGE + "gate/", sent).status_code == 409


def test_notes_of_further_bugs_are_hidden_until_the_close_and_then_made_bugs(client, main_round, bugs, alice, lee):
    mine = turn(main_round, alice, bugs[0])
    note_further_bug(assignment=mine, note="Also leaks memory.", by=alice)
    note_further_bug(assignment=mine, note="And prints too much.", by=alice)
    client.force_login(lee)
    assert b"leaks memory" not in client.get(PAGE).content
    sent = {"bug": "1", "rater": "alice", "place": "1", "act": "follow"}
    assert client.post(PAGE + "further/", sent).status_code == 404
    close_round(round_=main_round, by=lee)
    assert b"leaks memory" in client.get(PAGE).content
    assert client.post(PAGE + "further/", sent).status_code == 302
    made = Bug.objects.latest("number")
    assert (made.item, made.ordinal) == (bugs[0].item, 2)
    refused = {"bug": "1", "rater": "alice", "place": "2", "act": "refuse", "reason": "A matter of taste."}
    assert client.post(PAGE + "further/", refused).status_code == 302
    assert FurtherBug.objects.get(note="And prints too much.").reason == "A matter of taste."


def test_accepted_flags_make_a_relabel_round(client, study, main_round, bugs, alice, lee):
    answer(main_round, bugs[0], alice, SAME)
    close_round(round_=main_round, by=lee)
    cause = study.codebook.facets.get(key="cause")
    flag(assignment=turn(main_round, alice, bugs[0]), facet_id=cause.pk, reason="Misread.", by=alice)
    client.force_login(lee)
    assert client.post(PAGE + "flags/", {"act": "accept", "name": "Again"}).status_code == 400
    sent = {"act": "accept", "name": "Again", "flag": ["1:alice:cause"]}
    assert client.post(PAGE + "flags/", sent).headers["Location"] == "/frameworks/rounds/2/"
    assert Round.objects.get(number=2).kind == "relabel"
