"""Who may settle what, and how."""

import pytest
from django.db import IntegrityError, transaction

from annotator.adjudication import actions, meetings, reopening
from annotator.adjudication.after import after_discussion
from annotator.adjudication.deciding import NOT_YET
from annotator.adjudication.models import Dispute, Resolution, Stand
from annotator.adjudication.queries import final_labels
from annotator.agreement.models import Snapshot
from annotator.codebook.models import Category
from annotator.history.models import Event
from annotator.labeling.models import Round
from annotator.overview.rounds.closing import close_round
from annotator.studies.models import Study
from annotator.web.errors import BadInput, Refused
from tests.factories import answer, make_bugs, make_round, member

TYPE = {"cause": "type", "stage": "training"}
SHAPE = {"cause": "shape", "stage": "training"}


def open_disputes(study):
    rows = Dispute.objects.filter(study=study, is_open=True).order_by("bug__number", "facet__position")
    return [(row.bug.number, row.facet.key) for row in rows]


def current(bug, key="cause"):
    row = Resolution.objects.current().get(bug=bug, facet__key=key)
    return (row.category.name if row.category else None, row.source)


# --- what is disputed


def test_disputes_are_what_differs_and_a_one_sided_not_a_bug_is_one_on_the_verdict(study, disputed):
    assert open_disputes(study) == [(1, "cause"), (2, "verdict")]
    assert Dispute.objects.get(bug=disputed).is_sure


def test_a_verdict_settled_as_bug_brings_up_the_other_facets(study, disputed, bugs, ada, verdict):
    is_bug = Category.objects.filter(facet=verdict, name="bug")
    actions.adjudicate(bug=bugs[1], facet=verdict, categories=is_bug, reason="misread", by=ada)
    assert open_disputes(study) == [(1, "cause")]
    assert current(bugs[1]) == ("shape", "single")


def test_a_verdict_settled_as_not_a_bug_leaves_no_other_label(study, disputed, bugs, ada, verdict):
    none = Category.objects.filter(facet=verdict, name="not a bug")
    actions.adjudicate(bug=bugs[1], facet=verdict, categories=none, reason="misread", by=ada)
    assert list(final_labels(study).filter(bug=bugs[1]).values_list("category__name", flat=True)) == ["not a bug"]


def test_disputes_of_three_raters_come_up_once_the_verdict_is_settled(study, ada, alice, bob, lee, charlie, verdict):
    member(study, charlie, "rater")
    bug = make_bugs(study, 1)[0]
    round_ = make_round(study, bugs=[bug], raters=[alice, bob, charlie], by=lee)
    answer(round_, bug, alice, TYPE)
    answer(round_, bug, bob, SHAPE)
    answer(round_, bug, charlie, {}, not_a_bug="upkeep")
    close_round(round_=round_, by=lee)
    assert open_disputes(study) == [(1, "verdict")]
    is_bug = Category.objects.filter(facet=verdict, name="bug")
    actions.adjudicate(bug=bug, facet=verdict, categories=is_bug, reason="misread", by=ada)
    assert open_disputes(study) == [(1, "cause")]
    assert current(bug, "stage") == ("training", "unanimous")


def test_a_verdict_turned_and_turned_back_brings_the_labels_back(study, disputed, bugs, ada, verdict):
    def decide(name):
        label = Category.objects.filter(facet=verdict, name=name)
        seen = Resolution.objects.current().get(bug=bugs[2], facet=verdict).at.isoformat()
        actions.change_decision(
            bug=bugs[2], facet=verdict, categories=label, reason="misread", note="as discussed", by=ada, seen_at=seen
        )

    decide("not a bug")
    assert final_labels(study).filter(bug=bugs[2]).count() == 1
    decide("bug")
    assert current(bugs[2]) == ("type", "unanimous")
    assert final_labels(study).filter(bug=bugs[2]).count() == 3


def test_a_verdict_turned_back_brings_back_the_label_that_was_changed(
    study, disputed, bugs, ada, facet, verdict, cause
):
    def decide(on, label):
        seen = Resolution.objects.current().get(bug=bugs[2], facet=on).at.isoformat()
        actions.change_decision(
            bug=bugs[2], facet=on, categories=label, reason="misread", note="Read again.", by=ada, seen_at=seen
        )

    decide(facet, cause("shape"))
    for name in ("not a bug", "bug"):
        decide(verdict, Category.objects.filter(facet=verdict, name=name))
    assert current(bugs[2]) == ("shape", "adjudicated")


def test_not_a_bug_by_key_settles_the_verdict_and_clears_the_rest(study, disputed, ada, facet):
    with pytest.raises(BadInput, match="note"):
        actions.adjudicate_not_a_bug(bug=disputed, facet=facet, reason="misread", note="", by=ada)
    actions.adjudicate_not_a_bug(bug=disputed, facet=facet, reason="misread", note="a feature", by=ada)
    assert open_disputes(study) == [(2, "verdict")]
    assert current(disputed, "verdict") == ("not a bug", "adjudicated")
    assert not Resolution.objects.current().filter(bug=disputed).exclude(facet__key="verdict").exists()


# --- adjudicating


def test_an_adjudicator_settles_and_it_is_written_down(disputed, ada, facet, cause):
    actions.adjudicate(bug=disputed, facet=facet, categories=cause("type"), reason="slip", by=ada)
    row = Resolution.objects.current().get(bug=disputed, facet=facet)
    assert (row.category.name, row.source, row.by, row.reason) == ("type", "adjudicated", ada, "slip")
    event = Event.objects.get(verb="adjudicated")
    assert (event.actor_name, event.new["label"], event.new["bug"]) == ("ada", ["type"], 1)


def test_nobody_adjudicates_a_bug_that_they_rated(study, disputed, alice, facet, cause):
    member(study, alice, "adjudicator")
    with pytest.raises(Refused, match="You rated this bug"):
        actions.adjudicate(bug=disputed, facet=facet, categories=cause("type"), reason="slip", by=alice)


def test_nobody_adjudicates_a_bug_that_they_are_to_rate(study, disputed, ada, lee, facet, cause):
    member(study, ada, "rater")
    make_round(study, bugs=[disputed], raters=[ada], by=lee, kind=Round.Kind.TRAINING)
    with pytest.raises(Refused, match="You rated this bug"):
        actions.adjudicate(bug=disputed, facet=facet, categories=cause("type"), reason="slip", by=ada)


def test_a_label_of_no_rater_needs_a_note(disputed, ada, facet, cause):
    with pytest.raises(BadInput, match="write a note"):
        actions.adjudicate(bug=disputed, facet=facet, categories=cause("api"), reason="slip", by=ada)
    actions.adjudicate(bug=disputed, facet=facet, categories=cause("api"), reason="slip", note="see line 3", by=ada)
    assert current(disputed) == ("api", "adjudicated")


def test_a_decision_needs_a_coded_reason(disputed, ada, facet, cause):
    with pytest.raises(BadInput, match="reason"):
        actions.adjudicate(bug=disputed, facet=facet, categories=cause("type"), reason="because", by=ada)


@pytest.mark.parametrize("names", [(), ("type", "shape")])
def test_a_facet_of_one_answer_takes_exactly_one(names, disputed, ada, facet):
    chosen = Category.objects.filter(facet=facet, name__in=names)
    with pytest.raises(BadInput):
        actions.adjudicate(bug=disputed, facet=facet, categories=chosen, reason="slip", note="x", by=ada)


def test_a_category_of_another_facet_is_refused(disputed, ada, facet):
    other = Category.objects.filter(facet__key="stage", name="training")
    with pytest.raises(BadInput, match="not a category of Cause"):
        actions.adjudicate(bug=disputed, facet=facet, categories=other, reason="slip", note="x", by=ada)


def test_what_is_settled_is_not_settled_twice(disputed, ada, facet, cause):
    actions.adjudicate(bug=disputed, facet=facet, categories=cause("type"), reason="slip", by=ada)
    with pytest.raises(Refused, match="settled"):
        actions.adjudicate(bug=disputed, facet=facet, categories=cause("shape"), reason="slip", by=ada)


def test_a_changed_decision_keeps_the_one_before(disputed, ada, facet, cause):
    first = actions.adjudicate(bug=disputed, facet=facet, categories=cause("type"), reason="slip", by=ada)[0]
    seen = first.at.isoformat()
    actions.change_decision(
        bug=disputed, facet=facet, categories=cause("shape"), reason="misread", by=ada, seen_at=seen
    )
    assert current(disputed) == ("shape", "adjudicated")
    assert Resolution.objects.filter(bug=disputed, facet=facet).count() == 2
    with pytest.raises(Refused, match="since the page"):
        actions.change_decision(
            bug=disputed, facet=facet, categories=cause("type"), reason="slip", by=ada, seen_at=seen
        )


def test_what_cannot_be_settled_is_left_open_and_has_no_final_label(study, disputed, ada, facet, cause):
    actions.leave_open(bug=disputed, facet=facet, by=ada, note="the source allows both")
    assert current(disputed) == (None, "unresolved")
    assert not final_labels(study).filter(bug=disputed, facet=facet).exists()
    assert open_disputes(study) == [(2, "verdict")]


def test_an_open_round_is_not_yet_the_same_whatever_was_answered(
    study, main_round, bugs, alice, bob, ada, facet, cause
):
    said = []
    for act in (
        lambda: None,
        lambda: answer(main_round, bugs[0], alice, TYPE),
        lambda: answer(main_round, bugs[0], bob, SHAPE),
    ):
        act()
        with pytest.raises(Refused) as refusal:
            actions.adjudicate(bug=bugs[0], facet=facet, categories=cause("type"), reason="slip", by=ada)
        said.append(str(refusal.value))
    assert said == [NOT_YET] * 3


def test_a_protocol_of_discussion_takes_no_adjudication(study, disputed, ada, facet, cause):
    Study.objects.filter(pk=study.pk).update(protocol={"decided_by": "discussion"})
    with pytest.raises(Refused, match="protocol"):
        actions.adjudicate(bug=disputed, facet=facet, categories=cause("type"), reason="slip", by=ada)


# --- the raters themselves


def test_all_confirming_one_label_is_discussed(disputed, alice, bob, facet):
    actions.take_stand(bug=disputed, facet=facet, move="accept", by=bob)
    assert not Resolution.objects.current().filter(bug=disputed, facet=facet).exists()
    actions.take_stand(bug=disputed, facet=facet, move="keep", by=alice)
    row = Resolution.objects.current().get(bug=disputed, facet=facet)
    assert (row.category.name, row.source, row.participants, row.by) == ("type", "discussed", ["alice", "bob"], None)


def test_a_third_label_is_proposed_with_a_line_why_and_accepted(disputed, alice, bob, facet, cause):
    with pytest.raises(BadInput, match="why"):
        actions.take_stand(bug=disputed, facet=facet, move="propose", categories=cause("api"), by=alice)
    actions.take_stand(
        bug=disputed, facet=facet, move="propose", categories=cause("api"), why="both see a call", by=alice
    )
    actions.take_stand(bug=disputed, facet=facet, move="accept", by=bob)
    assert current(disputed) == ("api", "discussed")


def test_two_who_keep_stay_in_dispute(study, disputed, alice, bob, facet):
    for rater in (alice, bob):
        actions.take_stand(bug=disputed, facet=facet, move="keep", by=rater)
    assert (1, "cause") in open_disputes(study)


def test_who_is_accepted_already_is_told_to_keep(disputed, alice, bob, facet):
    actions.take_stand(bug=disputed, facet=facet, move="accept", by=alice)
    with pytest.raises(BadInput, match="Keep it"):
        actions.take_stand(bug=disputed, facet=facet, move="accept", by=bob)


def test_only_raters_of_the_bug_take_a_stand(disputed, ada, facet):
    with pytest.raises(Refused, match="Only the raters"):
        actions.take_stand(bug=disputed, facet=facet, move="keep", by=ada)


def test_nobody_takes_a_stand_before_the_close(main_round, bugs, alice, facet):
    answer(main_round, bugs[0], alice, TYPE)
    with pytest.raises(Refused, match="Not yet"):
        actions.take_stand(bug=bugs[0], facet=facet, move="keep", by=alice)


def test_who_said_not_a_bug_can_accept_the_bug(study, disputed, bugs, alice, bob, verdict):
    actions.take_stand(bug=bugs[1], facet=verdict, move="accept", by=alice)
    actions.take_stand(bug=bugs[1], facet=verdict, move="keep", by=bob)
    assert current(bugs[1], "verdict") == ("bug", "discussed")
    assert current(bugs[1]) == ("shape", "single")


def test_a_stand_is_changed_and_the_earlier_one_stays(disputed, bob, facet):
    actions.take_stand(bug=disputed, facet=facet, move="keep", by=bob)
    actions.take_stand(bug=disputed, facet=facet, move="accept", by=bob)
    moves = Stand.objects.filter(bug=disputed, rater=bob).order_by("pk").values_list("move", "is_current")
    assert list(moves) == [("keep", False), ("accept", True)]


def test_remarks_wait_for_the_close_and_are_kept(main_round, disputed, ada, alice):
    actions.remark(bug=disputed, text="Why not shape?", by=ada, is_question=True)
    assert actions.remark(bug=disputed, text="It is cast before.", by=alice).round == main_round
    with pytest.raises(BadInput):
        actions.remark(bug=disputed, text="  ", by=alice)
    with pytest.raises(BadInput, match="NUL"):
        actions.remark(bug=disputed, text="a\x00b", by=alice)


# --- majority


def test_a_majority_settles_only_where_the_protocol_lets_it(study, alice, bob, lee, charlie):
    member(study, charlie, "rater")
    bugs = make_bugs(study, 2)
    round_ = make_round(study, bugs=bugs, raters=[alice, bob, charlie], by=lee)
    for bug, causes in zip(bugs, [("type", "type", "api"), ("type", "shape", "api")], strict=True):
        for rater, one in zip((alice, bob, charlie), causes, strict=True):
            answer(round_, bug, rater, {"cause": one, "stage": "training"})
    close_round(round_=round_, by=lee)
    with pytest.raises(Refused, match="protocol"):
        actions.settle_by_majority(round_=Round.objects.get(pk=round_.pk), by=lee)
    Study.objects.filter(pk=study.pk).update(protocol={"by_majority": True})
    assert actions.settle_by_majority(round_=Round.objects.get(pk=round_.pk), by=lee) == 1
    assert current(bugs[0]) == ("type", "majority")
    assert open_disputes(study) == [(2, "cause")]


def test_a_majority_settles_the_rest_while_a_bug_is_labelled_again(study, alice, bob, lee, charlie):
    member(study, charlie, "rater")
    bugs = make_bugs(study, 3)
    raters = [alice, bob, charlie]
    round_ = make_round(study, bugs=bugs, raters=raters, by=lee)
    for bug in bugs:
        for rater, one in zip(raters, ("type", "type", "api"), strict=True):
            answer(round_, bug, rater, {"cause": one, "stage": "training"})
    close_round(round_=round_, by=lee)
    make_round(study, bugs=bugs[:1], raters=raters, by=lee, kind="relabel")
    Study.objects.filter(pk=study.pk).update(protocol={"by_majority": True})
    assert actions.settle_by_majority(round_=Round.objects.get(pk=round_.pk), by=lee) == 2
    assert open_disputes(study) == [(1, "cause")]


# --- meetings


def test_a_meeting_of_all_raters_settles_as_discussed(study, disputed, alice, bob, ada, lee, facet, cause):
    meeting = meetings.start_meeting(study=study, participants=[alice, bob, ada], by=lee)
    with pytest.raises(BadInput, match="confirm"):
        meetings.decide_together(
            meeting=meeting, bug=disputed, facet=facet, categories=cause("api"), confirmed=False, by=alice
        )
    meetings.decide_together(
        meeting=meeting, bug=disputed, facet=facet, categories=cause("api"), confirmed=True, by=alice
    )
    row = Resolution.objects.current().get(bug=disputed, facet=facet)
    assert (row.source, row.session, row.participants) == ("discussed", meeting, ["ada", "alice", "bob"])


def test_a_meetings_decision_says_who_wrote_it_down(client, study, disputed, alice, bob, ada, lee, facet, cause):
    meeting = meetings.start_meeting(study=study, participants=[alice, bob], by=lee)
    meetings.decide_together(
        meeting=meeting, bug=disputed, facet=facet, categories=cause("api"), confirmed=True, by=alice
    )
    label = Resolution.objects.current().get(bug=disputed, facet=facet)
    assert (label.source, label.participants, label.recorded_by) == ("discussed", ["alice", "bob"], alice)
    client.force_login(lee)
    where = f"/{study.slug}/adjudication/bugs/{disputed.number}/history/"
    assert "in a meeting, recorded by Rater" in client.get(where).content.decode()
    assert "in a meeting, recorded by alice" in client.get(f"/{study.slug}/bugs/{disputed.number}/").content.decode()
    (told,) = client.get(f"/api/v1/studies/{study.slug}/bugs/{disputed.number}/decisions/").json()[-1:]
    assert (told["participants"], told["recorded_by"]) == (["alice", "bob"], "alice")


def test_what_each_confirmed_alone_was_written_down_by_nobody_else(disputed, alice, bob, facet):
    actions.take_stand(bug=disputed, facet=facet, move="accept", by=bob)
    actions.take_stand(bug=disputed, facet=facet, move="keep", by=alice)
    label = Resolution.objects.current().get(bug=disputed, facet=facet)
    assert (label.source, label.recorded_by) == ("discussed", None)


def test_a_meeting_without_a_rater_of_the_bug_settles_nothing(study, disputed, alice, ada, lee, facet, cause):
    meeting = meetings.start_meeting(study=study, participants=[alice, ada], by=lee)
    with pytest.raises(Refused, match="bob rated this bug"):
        meetings.decide_together(
            meeting=meeting, bug=disputed, facet=facet, categories=cause("type"), confirmed=True, by=alice
        )


def test_one_meeting_at_a_time_and_none_decides_after_its_end(study, disputed, alice, bob, lee, charlie, facet, cause):
    meeting = meetings.start_meeting(study=study, participants=[alice, bob], by=lee)
    with pytest.raises(Refused, match="going on"):
        meetings.start_meeting(study=study, participants=[alice, bob], by=lee)
    meetings.end_meeting(meeting=meeting, by=lee, notes="done")
    with pytest.raises(Refused, match="ended"):
        meetings.decide_together(
            meeting=meeting, bug=disputed, facet=facet, categories=cause("type"), confirmed=True, by=alice
        )
    with pytest.raises(BadInput, match="members"):
        meetings.start_meeting(study=study, participants=[alice, charlie], by=lee)


# --- opened again


def test_case_13_too_early_too_late_and_opened_again(study, bugs, alice, bob, ada, lee, facet, cause):
    round_ = make_round(study, bugs=bugs, raters=[alice, bob], by=lee)
    names = {"A": "type", "B": "shape"}
    for bug, one in zip(bugs, "AABBAB", strict=True):
        answer(round_, bug, alice, {"cause": names[one], "stage": "training"})
    with pytest.raises(Refused, match="Not yet"):
        actions.adjudicate(bug=bugs[1], facet=facet, categories=cause("type"), reason="slip", by=ada)
    for bug, one in zip(bugs, "ABBBAA", strict=True):
        answer(round_, bug, bob, {"cause": names[one], "stage": "training"})
    close_round(round_=round_, by=lee)
    before = [(row.digest, row.entries) for row in Snapshot.objects.filter(round=round_)]
    kappa = next(entry["kappa"] for _, entries in before for entry in entries if entry["facet"] == "cause")
    assert kappa == pytest.approx(1 / 3, abs=1e-12)
    for bug, one in zip(bugs, "AABBAB", strict=True):
        if Dispute.objects.filter(bug=bug, is_open=True).exists():
            actions.adjudicate(bug=bug, facet=facet, categories=cause(names[one]), reason="slip", by=ada)
    with pytest.raises(Refused, match="closed"):
        answer(round_, bugs[1], alice, SHAPE)

    again = reopening.reopen_for(bug=bugs[1], rater=bob, reason="he misread the diff", by=lee)
    assert Resolution.objects.current().get(bug=bugs[1], facet=facet).is_stale
    assert open_disputes(study) == [(2, "cause")]
    assert not final_labels(study).filter(bug=bugs[1], facet=facet).exists()
    with pytest.raises(Refused, match="Not yet"):
        actions.adjudicate(bug=bugs[1], facet=facet, categories=cause("type"), reason="slip", by=ada)
    answer(again, bugs[1], bob, TYPE)
    close_round(round_=again, by=lee)
    assert open_disputes(study) == [(2, "cause")]
    actions.adjudicate(bug=bugs[1], facet=facet, categories=cause("type"), reason="slip", by=ada)
    assert [
        row[0] for row in final_labels(study).filter(facet=facet).order_by("bug__number").values_list("category__name")
    ] == [names[one] for one in "AABBAB"]
    assert [(row.digest, row.entries) for row in Snapshot.objects.filter(round=round_)] == before
    discussed = after_discussion(round_)[0]
    assert discussed.blind.value == pytest.approx(1 / 3, abs=1e-12)
    assert discussed.after.observed == pytest.approx(5 / 6)  # Bob's second look; the adjudicator's word is no rater's


def test_opening_again_is_refused_for_who_did_not_rate_and_without_a_reason(disputed, ada, bob, lee):
    with pytest.raises(Refused, match="did not rate"):
        reopening.reopen_for(bug=disputed, rater=ada, reason="look", by=lee)
    with pytest.raises(BadInput, match="why"):
        reopening.reopen_for(bug=disputed, rater=bob, reason=" ", by=lee)


def test_case_7_one_item_adjudicated_to_a_third_label(study, alice, bob, ada, lee, facet, cause):
    bugs = make_bugs(study, 3)
    round_ = make_round(study, bugs=bugs, raters=[alice, bob], by=lee)
    votes = [("type", "type"), ("type", "shape"), ("api", "shape")]
    for bug, pair in zip(bugs, votes, strict=True):
        for rater, one in zip((alice, bob), pair, strict=True):
            answer(round_, bug, rater, {"cause": one, "stage": "training"})
    close_round(round_=round_, by=lee)
    actions.adjudicate(bug=bugs[1], facet=facet, categories=cause("api"), reason="other", note="neither", by=ada)
    actions.leave_open(bug=bugs[2], facet=facet, by=ada)
    gold = Resolution.objects.current().filter(study=study, facet=facet).order_by("bug__number")
    assert [row.source for row in gold] == ["unanimous", "adjudicated", "unresolved"]


# --- what the database itself refuses


def broken(**values):
    with pytest.raises(IntegrityError), transaction.atomic():
        Resolution.objects.create(**values)


def test_a_bugs_facet_has_one_current_label(study, disputed, ada, facet, cause):
    base = {"study": study, "bug": disputed, "facet": facet, "category": cause("type")[0], "source": "imported"}
    Resolution.objects.create(**base)
    broken(**base)


def test_by_and_reason_stand_exactly_where_adjudicated(study, disputed, ada, facet, cause):
    base = {"study": study, "bug": disputed, "facet": facet, "category": cause("type")[0]}
    broken(**base, source="adjudicated")
    broken(**base, source="adjudicated", by=ada)
    broken(**base, source="adjudicated", reason="slip")
    broken(**base, source="unanimous", by=ada)
    broken(**base, source="discussed", reason="slip")


def test_only_what_is_left_open_has_no_category(study, disputed, facet, cause):
    base = {"study": study, "bug": disputed, "facet": facet}
    broken(**base, source="single")
    broken(**base, source="unresolved", category=cause("type")[0])


def test_a_rater_has_one_current_stand(main_round, disputed, bob, facet):
    base = {"round": main_round, "bug": disputed, "facet": facet, "rater": bob, "move": "keep"}
    Stand.objects.create(**base)
    with pytest.raises(IntegrityError), transaction.atomic():
        Stand.objects.create(**base)


def test_a_dispute_is_listed_once_and_an_open_one_is_current(study, main_round, disputed, facet):
    base = {"study": study, "round": main_round, "bug": disputed, "facet": facet}
    with pytest.raises(IntegrityError), transaction.atomic():
        Dispute.objects.create(**base)
    with pytest.raises(IntegrityError), transaction.atomic():
        Dispute.objects.create(**base, is_current=False, is_open=True)
