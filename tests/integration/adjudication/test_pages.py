"""The pages of adjudication, as each person sees them."""

import re

import pytest

from annotator.adjudication import actions, audits, meetings
from annotator.adjudication.models import AuditPick, Dispute, Remark, Resolution, Stand
from annotator.adjudication.positions import basis_of, positions_of, shuffled
from annotator.labeling.models import Round
from annotator.overview.rounds.closing import close_round
from annotator.studies.models import Session, Study
from tests.factories import answer, make_bugs, make_round, member

QUEUE = "/frameworks/adjudication/"
BUG = f"{QUEUE}bugs/1/"
OWN = f"{QUEUE}mine/bugs/1/"
HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def seen(client):
    """The page as a person sees it."""

    def fetch(person, address, **more):
        client.force_login(person)
        return client.get(address, **more)

    return fetch


@pytest.fixture
def sent(client):
    def post(person, address, data, **more):
        client.force_login(person)
        return client.post(address, data, **more)

    return post


def text(response):
    return re.sub(r"\s+", " ", response.content.decode())


def key_of(bug, rater):
    """The letter of the rater's side."""
    return "ABCEFG"[shuffled(positions_of(bug, basis_of(bug))).index(rater)]


def decision(bug, rater, **more):
    return {"facet": "cause", "choice": key_of(bug, rater), "reason": "slip", "note": ""} | more


# --- who sees what


@pytest.mark.parametrize(
    "address",
    [QUEUE, BUG, f"{BUG}history/", f"{QUEUE}mine/", OWN, f"{QUEUE}meeting/", f"{QUEUE}audit/", f"{BUG}files/0/"],
)
def test_a_stranger_finds_no_such_study(address, disputed, charlie, seen):
    assert seen(charlie, address).status_code == 404


@pytest.mark.parametrize("person", ["alice", "lee", "reader"])
def test_only_an_adjudicator_settles(person, request, study, disputed, charlie, alice, bob, lee, sent):
    who = {"alice": alice, "lee": lee, "reader": member(study, charlie, "reader")}[person]
    assert sent(who, BUG, decision(disputed, alice)).status_code == 403
    assert Dispute.objects.filter(bug=disputed, is_open=True).exists()


def test_a_reader_reads_and_has_no_form(study, disputed, charlie, seen):
    page = text(seen(member(study, charlie, "reader"), BUG))
    assert "It is cast." in page
    assert 'name="choice"' not in page


def test_a_rater_with_the_role_is_told_that_the_bug_is_left_to_another(study, disputed, alice, seen):
    page = text(seen(member(study, alice, "adjudicator"), BUG))
    assert "You rated it" in page
    assert 'name="choice"' not in page


def test_names_are_hidden_or_shown_as_the_protocol_says(study, disputed, ada, seen):
    page = text(seen(ada, BUG))
    assert "names hidden" in page
    assert "alice" not in page.replace("/alice", "")
    assert "bob" not in page
    Study.objects.filter(pk=study.pk).update(protocol={"hide_names": False})
    assert "<b>alice</b>" in text(seen(ada, BUG))


def test_names_are_hidden_in_history_and_comments_too(disputed, alice, bob, ada, lee, facet, seen):
    actions.remark(bug=disputed, text="Line 3 casts.", by=alice)
    actions.take_stand(bug=disputed, facet=facet, move="keep", by=bob)
    for person, address in [(ada, BUG), (ada, f"{BUG}history/"), (lee, f"{BUG}history/")]:
        page = text(seen(person, address))
        assert "alice" not in page
        assert "bob" not in page
        assert "Rater A" in page or "Rater B" in page


def test_no_rater_is_always_a(study, alice, bob, lee):
    bugs = make_bugs(study, 12)
    round_ = make_round(study, bugs=bugs, raters=[alice, bob], by=lee)
    for bug in bugs:
        answer(round_, bug, alice, {"cause": "type", "stage": "training"})
        answer(round_, bug, bob, {"cause": "api", "stage": "training"})
    close_round(round_=round_, by=lee)
    letters = {key_of(bug, alice) for bug in bugs}
    assert letters == {"A", "B"}
    assert [key_of(bug, alice) for bug in bugs] == [key_of(bug, alice) for bug in bugs]


def test_dates_of_answers_are_not_shown_beside_the_sides(disputed, ada, seen):
    sides = text(seen(ada, BUG)).split('id="decide"')[1].split("</form>")[0]
    assert not re.search(r"\b\d{1,2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)", sides)


# --- not yet


def test_an_open_round_says_not_yet_whatever_was_answered(study, main_round, bugs, alice, bob, ada, seen):
    def bodies():
        pages = [seen(ada, address) for address in (QUEUE, BUG, f"{BUG}history/", f"{QUEUE}audit/", f"{QUEUE}meeting/")]
        return [
            re.sub(r'name="csrfmiddlewaretoken" value="\w+"|"X-CSRFToken": "\w+"', "", text(page)) for page in pages
        ]

    before = bodies()
    answer(main_round, bugs[0], alice, {"cause": "type", "stage": "training"})
    answer(main_round, bugs[0], bob, {"cause": "api", "stage": "training"})
    assert bodies() == before
    assert "Not yet: the round of this bug is still open." in before[1]
    assert "Not yet" in before[2]


def test_an_empty_queue_says_what_to_do_next(study, ada, seen):
    assert "what they differ on comes up here" in text(seen(ada, QUEUE))


def test_a_bug_that_is_not_there_is_not_found(disputed, ada, seen):
    assert seen(ada, f"{QUEUE}bugs/999/").status_code == 404


# --- settling


def test_settling_without_script_leads_to_the_next(disputed, bugs, alice, ada, sent):
    response = sent(ada, BUG, decision(disputed, alice))
    assert (response.status_code, response["Location"]) == (302, f"{QUEUE}bugs/2/")
    assert Resolution.objects.current().get(bug=disputed, facet__key="cause").category.name == "type"


def test_settling_by_script_answers_with_the_next_in_the_same_request(disputed, alice, ada, sent):
    response = sent(ada, BUG, decision(disputed, alice), **HTMX)
    assert response.status_code == 200
    assert response["HX-Push-Url"] == f"{QUEUE}bugs/2/"
    assert "<title>Bug 2, Adjudication · Concord</title>" in text(response)
    assert "Settled." in text(response)


def test_the_filters_go_along(disputed, alice, ada, sent):
    response = sent(ada, f"{BUG}?of=cause", decision(disputed, alice))
    assert response["Location"] == f"{QUEUE}?of=cause"


def test_a_missing_note_is_asked_for_and_nothing_is_lost(disputed, ada, cause, sent):
    data = {"facet": "cause", "choice": "O", "other": cause("api")[0].uid, "reason": "misread", "note": ""}
    response = sent(ada, BUG, data)
    page = text(response)
    assert response.status_code == 422
    assert "write a note why" in page
    assert f'<option value="{cause("api")[0].uid}" selected>' in page
    assert '<option value="misread" selected>' in page
    assert Dispute.objects.filter(bug=disputed, is_open=True).exists()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"choice": ""}, "Choose a label"),
        ({"choice": "Z"}, "Choose a label"),
        ({"reason": ""}, "Choose the reason"),
        ({"choice": "O", "other": "nothing"}, "no such category"),
        ({"note": "a\x00b"}, "NUL"),
    ],
)
def test_a_decision_that_cannot_be_taken_is_said(data, said, disputed, alice, ada, sent):
    response = sent(ada, BUG, decision(disputed, alice) | data)
    assert response.status_code == 422
    assert said in text(response)


def test_a_facet_that_is_not_there_is_not_found(disputed, alice, ada, sent):
    assert sent(ada, BUG, decision(disputed, alice, facet="colour")).status_code == 404


def test_settling_what_is_settled_is_refused_in_words(disputed, alice, ada, sent):
    sent(ada, BUG, decision(disputed, alice))
    response = sent(ada, BUG, decision(disputed, alice))
    assert response.status_code == 409
    assert "settled" in text(response)


def test_the_key_d_settles_the_verdict_and_u_leaves_open(disputed, bugs, alice, ada, sent):
    sent(ada, BUG, decision(disputed, alice, choice="D", note="a feature"))
    assert Resolution.objects.current().get(bug=disputed).category.name == "not a bug"
    sent(ada, f"{QUEUE}bugs/2/", {"facet": "verdict", "choice": "U", "note": "cannot be told"})
    assert Resolution.objects.current().get(bug=bugs[1]).source == "unresolved"


def test_a_disputed_verdict_shows_the_reason_and_what_the_other_answered(disputed, ada, seen):
    page = text(seen(ada, f"{QUEUE}bugs/2/"))
    assert "Reason: upkeep" in page
    assert "Cause: shape" in page


# --- the raters' own


def test_a_rater_sees_own_disputes_and_concedes(disputed, alice, bob, seen, sent):
    page = text(seen(bob, f"{QUEUE}mine/"))
    assert "Keep mine" in page
    assert "Accept" in page
    response = sent(bob, OWN, {"facet": "cause", "choice": key_of(disputed, alice)})
    assert response["Location"] == f"{QUEUE}mine/bugs/2/"
    assert Stand.objects.get(bug=disputed, rater=bob).move == "accept"
    sent(alice, OWN, {"facet": "cause", "choice": "keep"})
    assert Resolution.objects.current().get(bug=disputed, facet__key="cause").source == "discussed"


def test_a_move_is_followed_by_the_facets_and_bugs_on_which_one_is_due(study, alice, bob, lee, sent, seen):
    bugs = make_bugs(study, 2)
    round_ = make_round(study, bugs=bugs, raters=[alice, bob], by=lee)
    for bug in bugs:
        answer(round_, bug, alice, {"cause": "type", "stage": "training"})
        answer(round_, bug, bob, {"cause": "shape", "stage": "deployment"})
    close_round(round_=round_, by=lee)
    shown = []
    at = f"{QUEUE}mine/bugs/1/"
    for _ in range(4):
        facet = re.search(r'name="facet" value="(\w+)"', text(seen(bob, at)))[1]
        shown.append((at, facet))
        at = sent(bob, at, {"facet": facet, "choice": "keep"})["Location"]
    own = [f"{QUEUE}mine/bugs/{number}/" for number in (1, 2)]
    assert shown == [(own[0], "cause"), (own[0], "stage"), (own[1], "cause"), (own[1], "stage")]
    assert at == f"{QUEUE}mine/"
    assert "you moved" in text(seen(bob, at))


def test_a_bug_says_on_how_many_facets_a_rater_conceded(study, alice, bob, ada, lee, facet, seen):
    bugs = make_bugs(study, 1)
    round_ = make_round(study, bugs=bugs, raters=[alice, bob], by=lee)
    answer(round_, bugs[0], alice, {"cause": "type", "stage": "training"})
    answer(round_, bugs[0], bob, {"cause": "shape", "stage": "deployment"})
    close_round(round_=round_, by=lee)
    actions.take_stand(bug=bugs[0], facet=facet, move="accept", by=bob)
    assert "1 of 2 conceded" in text(seen(ada, QUEUE))
    assert "your move" in text(seen(bob, f"{QUEUE}mine/"))


def test_a_proposal_needs_its_line_why(disputed, bob, cause, sent):
    data = {"facet": "cause", "choice": "propose", "other": cause("api")[0].uid}
    assert sent(bob, OWN, data).status_code == 422
    assert sent(bob, OWN, data | {"note": "it calls"}).status_code == 302
    assert Stand.objects.get(bug=disputed, rater=bob).why == "it calls"


def test_who_did_not_rate_a_bug_has_no_such_page(study, disputed, charlie, ada, seen):
    assert seen(member(study, charlie, "rater"), OWN).status_code == 404
    assert seen(ada, OWN).status_code == 403


def test_own_page_is_not_there_while_the_round_is_open(main_round, bugs, alice, seen):
    answer(main_round, bugs[0], alice, {"cause": "type", "stage": "training"})
    assert seen(alice, OWN).status_code == 404


# --- talking


def test_the_adjudicator_asks_and_a_rater_answers(disputed, ada, alice, sent, seen):
    assert sent(ada, f"{BUG}remark/", {"act": "ask", "text": "Why?", "facet": "cause"}).status_code == 302
    response = sent(alice, f"{BUG}remark/", {"text": "Line 3.", "back": "mine"})
    assert response["Location"] == f"{OWN}#comments"
    assert list(Remark.objects.values_list("is_question", flat=True)) == [True, False]
    assert "Comments 2" in text(seen(ada, BUG))


def test_a_reader_and_an_empty_remark_are_refused(study, disputed, ada, charlie, sent):
    assert sent(member(study, charlie, "reader"), f"{BUG}remark/", {"text": "Hm"}).status_code == 403
    assert sent(ada, f"{BUG}remark/", {"text": " "}).status_code == 400
    assert not Remark.objects.exists()


# --- meeting


def test_a_meeting_is_started_once_decides_and_ends(disputed, alice, bob, lee, sent, seen):
    page = text(seen(lee, f"{QUEUE}meeting/"))
    assert "Who takes part?" in page
    assert sent(lee, f"{QUEUE}meeting/start/", {"participant": ["alice"]}).status_code == 422
    sent(lee, f"{QUEUE}meeting/start/", {"participant": ["alice", "bob"]})
    page = text(seen(lee, f"{QUEUE}meeting/?bug=1"))
    assert "Every rater of this bug takes part" in page
    assert 'name="participant"' not in page
    data = {"facet": "cause", "choice": key_of(disputed, bob)}
    response = sent(lee, f"{QUEUE}meeting/bugs/1/", data)
    assert response["Location"] == f"{QUEUE}meeting/?bug=2"
    row = Resolution.objects.current().get(bug=disputed, facet__key="cause")
    assert (row.category.name, row.source, row.participants) == ("shape", "discussed", ["alice", "bob"])
    sent(lee, f"{QUEUE}meeting/end/", {"notes": "two bugs"})
    assert Session.objects.get().notes == "two bugs"
    assert "two bugs" in text(seen(lee, f"{QUEUE}meeting/"))


@pytest.fixture
def ranked(study, alice, bob, lee):
    """Of three bugs the second has two facets in dispute, the others one: 2, 1, 3."""
    bugs = make_bugs(study, 3)
    round_ = make_round(study, bugs=bugs, raters=[alice, bob], by=lee)
    for bug in bugs:
        answer(round_, bug, alice, {"cause": "type", "stage": "training"})
        answer(round_, bug, bob, {"cause": "shape", "stage": "deployment" if bug == bugs[1] else "training"})
    close_round(round_=round_, by=lee)
    return bugs


def test_settling_facet_after_facet_skips_no_bug(ranked, ada, sent, seen):
    at, order = f"{QUEUE}bugs/2/", []
    while "bugs" in at:
        facet = re.search(r'name="facet" value="(\w+)"', text(seen(ada, at)))[1]
        order.append(int(at.split("/")[-2]))
        at = sent(ada, at, {"facet": facet, "choice": "A", "reason": "slip"})["Location"]
    assert order == [2, 2, 1, 3]
    assert not Dispute.objects.filter(is_open=True).exists()


def test_a_meeting_counts_what_is_decided_of_all_and_goes_round(ranked, alice, bob, lee, sent, seen):
    sent(lee, f"{QUEUE}meeting/start/", {"participant": ["alice", "bob"]})
    page = text(seen(lee, f"{QUEUE}meeting/?bug=3"))
    assert "0 of 3 bugs decided" in page
    assert f'href="{QUEUE}meeting/?bug=2" data-next' in page
    assert f'href="{QUEUE}meeting/?bug=1" data-previous' in page
    data = {"facet": "cause", "choice": "A"}
    assert sent(lee, f"{QUEUE}meeting/bugs/3/", data)["Location"] == f"{QUEUE}meeting/?bug=2"
    assert "1 of 3 bugs decided" in text(seen(lee, f"{QUEUE}meeting/"))
    assert sent(lee, f"{QUEUE}meeting/bugs/2/", data)["Location"] == f"{QUEUE}meeting/?bug=2"
    assert "1 of 3 bugs decided" in text(seen(lee, f"{QUEUE}meeting/"))
    sent(lee, f"{QUEUE}meeting/bugs/2/", data | {"facet": "stage"})
    assert sent(lee, f"{QUEUE}meeting/bugs/1/", data)["Location"] == f"{QUEUE}meeting/"
    page = text(seen(lee, f"{QUEUE}meeting/"))
    assert "3 of 3 bugs decided" in page
    assert "Nothing is in dispute." in page


def test_a_meeting_leaves_out_what_waits_for_others(ranked, alice, ada, lee, seen):
    meetings.start_meeting(study=ranked[0].study, participants=[alice, ada], by=lee)
    page = text(seen(lee, f"{QUEUE}meeting/"))
    assert "3 wait for raters who are not here" in page
    assert "Nothing is left that those who are here can settle." in page


def test_in_a_meeting_without_a_rater_of_the_bug_there_is_no_form(study, disputed, alice, ada, lee, seen, sent):
    meetings.start_meeting(study=study, participants=[alice, ada], by=lee)
    page = text(seen(lee, f"{QUEUE}meeting/?bug=1"))
    assert "Not all its raters are here" in page
    assert 'name="choice"' not in page
    refused = sent(lee, f"{QUEUE}meeting/bugs/1/", {"facet": "cause", "choice": "A"})
    assert (refused.status_code, "is not in the meeting" in text(refused)) == (409, True)
    assert Dispute.objects.filter(bug=disputed, is_open=True).exists()


# --- unanimous bugs


def test_a_draw_is_drawn_again_from_its_seed():
    bugs = list(range(100))
    assert audits.draw(bugs, share=0.1, seed=7) == audits.draw(bugs, share=0.1, seed=7)
    assert audits.draw(bugs, share=0.1, seed=7) != audits.draw(bugs, share=0.1, seed=8)
    assert len(audits.draw(bugs, share=0.1, seed=7)) == 10
    assert len(audits.draw(bugs[:3], share=0.1, seed=7)) == 1
    assert audits.draw(bugs, share=0, seed=7) == []


def test_unanimous_bugs_are_accepted_and_the_drawn_one_confirmed(disputed, bugs, ada, lee, sent, seen):
    sent(lee, f"{QUEUE}audit/1/accept/", {"share": "50", "seed": "11"})
    pick = AuditPick.objects.get()
    assert (pick.bug, pick.acceptance.seed, pick.acceptance.share) == (bugs[2], 11, 0.5)
    assert "All labels are right" in text(seen(ada, f"{QUEUE}audit/1/bugs/3/"))
    sent(ada, f"{QUEUE}audit/1/bugs/3/", {"act": "confirm"})
    pick.refresh_from_db()
    assert (pick.outcome, pick.decided_by) == ("confirmed", ada)
    assert sent(ada, f"{QUEUE}audit/1/bugs/3/", {"act": "confirm"}).status_code == 409


def test_a_drawn_bug_is_changed_with_reason_and_note(disputed, bugs, ada, lee, cause, sent):
    sent(lee, f"{QUEUE}audit/1/accept/", {"share": "100", "seed": ""})
    seen_at = Resolution.objects.current().get(bug=bugs[2], facet__key="cause").at.isoformat()
    data = {
        "act": "change",
        "other": cause("api")[0].uid,
        "reason": "guideline_gap",
        "note": "rule 3",
        "seen-cause": seen_at,
    }
    sent(ada, f"{QUEUE}audit/1/bugs/3/", data)
    assert AuditPick.objects.get().outcome == "changed"
    row = Resolution.objects.current().get(bug=bugs[2], facet__key="cause")
    assert (row.category.name, row.source) == ("api", "adjudicated")


@pytest.mark.parametrize(
    "data", [{"share": "many", "seed": "1"}, {"share": "120", "seed": "1"}, {"share": "10", "seed": "x"}]
)
def test_a_share_or_seed_that_is_none_is_said(data, disputed, lee, sent):
    assert sent(lee, f"{QUEUE}audit/1/accept/", data).status_code == 422
    assert not AuditPick.objects.exists()


# --- history


def test_history_keeps_every_decision_and_changes_one(disputed, alice, ada, facet, cause, sent, seen):
    first = actions.adjudicate(bug=disputed, facet=facet, categories=cause("type"), reason="slip", by=ada)[0]
    data = {"facet": "cause", "other": cause("shape")[0].uid, "reason": "misread", "seen_at": first.at.isoformat()}
    assert sent(ada, f"{BUG}change/", data | {"reason": ""}).status_code == 422
    assert sent(ada, f"{BUG}change/", data).status_code == 302
    page = text(seen(ada, f"{BUG}history/"))
    assert "replaced" in page
    assert "Slip of a rater" in page
    assert "Source misread" in page


def test_a_bug_is_opened_again_for_one_rater(disputed, bob, ada, lee, facet, cause, sent, seen):
    actions.adjudicate(bug=disputed, facet=facet, categories=cause("type"), reason="slip", by=ada)
    data = {"rater": key_of(disputed, bob), "reason": "misread the diff"}
    assert sent(lee, f"{BUG}reopen/", data | {"reason": ""}).status_code == 422
    assert sent(lee, f"{BUG}reopen/", data).status_code == 302
    again = Round.objects.get(kind="relabel")
    assert (again.is_open, again.blindness, [a.rater for a in again.assignments.all()]) == (True, "no", [bob])
    assert "labelled again" in text(seen(ada, QUEUE))


def test_majority_decides_from_the_page_only_by_protocol(study, disputed, lee, sent):
    address = f"{QUEUE}rounds/1/majority/"
    assert sent(lee, address, {}).status_code == 409
    Study.objects.filter(pk=study.pk).update(protocol={"by_majority": True})
    assert sent(lee, address, {}).status_code == 302


def test_agreement_after_discussion_stands_beside_the_blind_one(disputed, main_round, alice, bob, lee, facet, seen):
    assert ".50" in text(seen(lee, f"{QUEUE}rounds/1/after/"))
    actions.take_stand(bug=disputed, facet=facet, move="accept", by=bob)
    page = text(seen(lee, f"{QUEUE}rounds/1/after/"))
    assert "1.00" in page
    assert ".50" in page


def test_agreement_after_discussion_of_an_open_round_is_not_yet(main_round, lee, seen):
    assert "Not yet" in text(seen(lee, f"{QUEUE}rounds/1/after/"))
