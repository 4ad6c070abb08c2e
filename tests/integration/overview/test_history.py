from annotator.adjudication.actions import take_stand
from annotator.history.actions import record
from annotator.overview import past
from annotator.overview.rounds.closing import close_round
from tests.factories import answer

SAME = {"cause": "type", "stage": "training"}


def test_acts_of_an_open_round_show_when_it_closes(client, main_round, bugs, alice, bob, lee):
    answer(main_round, bugs[0], bob, SAME)
    client.force_login(alice)
    assert "bob" not in {event.actor for event in client.get("/frameworks/history/").context["events"]}
    close_round(round_=main_round, by=lee)
    assert "bob" in {event.actor for event in client.get("/frameworks/history/").context["events"]}


def test_pages_follow_each_other_without_gap_or_repeat(study, alice, lee):
    for number in range(2 * past.PAGE + 5):
        record("did", by=lee, kind="study", label=f"thing {number}", study_id=study.pk)
    seen, after = [], None
    while True:
        events, after = past.page(study, alice, after=after)
        seen += [event.label for event in events]
        if after is None:
            break
        after = past.Cursor.read(str(after))
    things = [label for label in seen if label.startswith("thing")]
    assert things == [f"thing {number}" for number in reversed(range(2 * past.PAGE + 5))]


def test_cursor_tells_nothing_of_unseen_acts(main_round, study, bugs, alice, bob, lee):
    for number in range(past.PAGE + 5):
        record("did", by=lee, kind="study", label=f"thing {number}", study_id=study.pk)
        if number % 10 == 0 and number // 10 < len(bugs):
            answer(main_round, bugs[number // 10], bob, SAME)
    _, after = past.page(study, alice, after=None)
    assert after is not None
    assert after.shown == 1  # events with the last one's time that alice may see


def test_a_cursor_that_was_tampered_with_shows_the_latest(client, main_round, alice):
    client.force_login(alice)
    assert client.get("/frameworks/history/?after=nonsense").status_code == 200


def test_keys_of_the_database_are_not_told(client, main_round, bugs, alice):
    answer(main_round, bugs[0], alice, SAME)
    client.force_login(alice)
    shown = client.get("/frameworks/history/").context["events"]
    assert [event.change for event in shown if event.verb == "answered"] == [""]


def test_answers_in_a_row_are_told_as_one_line(client, main_round, bugs, alice):
    for bug in bugs:
        answer(main_round, bug, alice, SAME)
    client.force_login(alice)
    counts = [event.count for event in client.get("/frameworks/history/").context["events"] if event.verb == "answered"]
    assert counts == [6]


def test_names_of_raters_are_kept_from_who_decides(client, study, main_round, bugs, alice, bob, ada, lee):
    answer(main_round, bugs[0], alice, SAME)
    answer(main_round, bugs[0], bob, SAME | {"cause": "api"})
    close_round(round_=main_round, by=lee)
    take_stand(bug=bugs[0], facet=study.codebook.facets.get(key="cause"), move="keep", by=alice)
    for user, told in ((ada, "a rater"), (bob, "alice")):
        client.force_login(user)
        events = client.get("/frameworks/history/").context["events"]
        assert [event.actor for event in events if event.verb == "took a stand"] == [told]
