"""Two people settle at the same instant, on connections of their own."""

import pytest
from django.db import DatabaseError

from annotator.adjudication import actions, audits, meetings
from annotator.adjudication.models import AuditPick, Dispute, Resolution
from annotator.labeling.opening import open_round
from annotator.studies.models import Session
from annotator.web.errors import Refused
from tests.factories import UserFactory, member
from tests.together import at_once, while_it_lasts

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]


def refused(results):
    return [result for result in results if isinstance(result, Exception)]


def test_of_two_adjudicators_one_settles_and_one_is_told(study, disputed, ada, facet, cause):
    other = member(study, UserFactory(username="second"), "adjudicator")
    results = at_once(
        *(
            lambda who=who, name=name: actions.adjudicate(
                bug=disputed, facet=facet, categories=cause(name), reason="slip", by=who
            )
            for who, name in ((ada, "type"), (other, "shape"))
        )
    )
    assert [type(problem) for problem in refused(results)] == [Refused]
    assert Resolution.objects.filter(bug=disputed, facet=facet).count() == 1


def test_both_raters_moving_at_once_settle_it_exactly_once(study, disputed, alice, bob, facet):
    results = at_once(
        lambda: actions.take_stand(bug=disputed, facet=facet, move="keep", by=alice),
        lambda: actions.take_stand(bug=disputed, facet=facet, move="accept", by=bob),
    )
    assert refused(results) == []
    settled = Resolution.objects.get(bug=disputed, facet=facet)
    assert (settled.category.name, settled.source) == ("type", "discussed")
    assert not Dispute.objects.filter(bug=disputed, facet=facet, is_open=True).exists()


def test_the_last_rater_and_an_adjudicator_at_once_leave_one_current_label(
    study, disputed, alice, bob, ada, facet, cause
):
    actions.take_stand(bug=disputed, facet=facet, move="accept", by=bob)
    results = at_once(
        lambda: actions.take_stand(bug=disputed, facet=facet, move="keep", by=alice),
        lambda: actions.adjudicate(bug=disputed, facet=facet, categories=cause("shape"), reason="slip", by=ada),
    )
    assert [type(problem) for problem in refused(results)] == [Refused]
    assert Resolution.objects.current().filter(bug=disputed, facet=facet).count() == 1


def test_a_change_on_a_decision_that_was_just_changed_is_refused(study, disputed, ada, facet, cause):
    other = member(study, UserFactory(username="second"), "adjudicator")
    first = actions.adjudicate(bug=disputed, facet=facet, categories=cause("type"), reason="slip", by=ada)[0]
    seen = first.at.isoformat()
    results = at_once(
        *(
            lambda who=who: actions.change_decision(
                bug=disputed, facet=facet, categories=cause("shape"), reason="slip", by=who, seen_at=seen
            )
            for who in (ada, other)
        )
    )
    assert len(refused(results)) == 1
    assert Resolution.objects.filter(bug=disputed, facet=facet).count() == 2


def test_unanimous_bugs_are_accepted_once_and_one_meeting_starts(study, main_round, disputed, alice, bob, ada, lee):
    results = at_once(
        *(lambda seed=seed: audits.accept_unanimous(round_=main_round, share=1, seed=seed, by=ada) for seed in (1, 2))
    )
    assert [type(problem) for problem in refused(results)] == [Refused]
    assert AuditPick.objects.count() == 1
    results = at_once(
        *(lambda: meetings.start_meeting(study=study, participants=[alice, bob], by=lee) for _ in range(2))
    )
    assert len(refused(results)) == 1
    assert Session.objects.count() == 1


def test_who_is_dealt_the_bug_in_this_moment_does_not_decide_on_it(study, decide, disputed, rating_ada, lee):
    deal = {"study": study, "name": "Retest", "bugs": [disputed], "raters": [rating_ada], "kind": "retest"}
    dealt, refused = while_it_lasts(lambda: open_round(**deal, by=lee), decide)
    assert dealt.name == "Retest"
    assert isinstance(refused, Refused)


def test_who_decides_in_this_moment_is_not_dealt_the_bug(study, decide, disputed, rating_ada, lee):
    deal = {"study": study, "name": "Retest", "bugs": [disputed], "raters": [rating_ada], "kind": "retest"}
    decided, refused = while_it_lasts(decide, lambda: open_round(**deal, by=lee))
    assert decided[0].by == rating_ada
    assert isinstance(refused, DatabaseError)
    assert "who adjudicated a bug does not rate it" in str(refused)


def test_who_is_handed_the_bug_in_this_moment_does_not_decide_on_it(decide, handing):
    handed, refused = while_it_lasts(handing, decide)
    assert handed.rater.username == "ada"
    assert isinstance(refused, Refused)


def test_who_decides_in_this_moment_is_not_handed_the_bug(decide, handing):
    decided, refused = while_it_lasts(decide, handing)
    assert decided[0].by.username == "ada"
    assert isinstance(refused, DatabaseError)
