"""An adjudicator is none of the bug's raters, whichever comes first."""

import pytest

from annotator.labeling.models import Assignment
from annotator.overview.rounds.opening import open_next_round
from annotator.web.errors import BadInput


def test_a_round_is_not_opened_on_bugs_that_a_rater_adjudicated(study, decide, disputed, rating_ada, bob, lee):
    decide()
    with pytest.raises(BadInput, match="ada adjudicated bug 1"):
        open_next_round(study=study, name="Again", bugs=[disputed], raters=[rating_ada, bob], by=lee, kind="retest")


def test_a_bug_is_not_handed_to_who_adjudicated_it_and_the_page_says_so(client, study, decide, handing, lee):
    decide()
    client.force_login(lee)
    turn = Assignment.objects.get(state="skipped")
    sent = {"bug": turn.bug.number, "rater": turn.rater.username, "to": "ada"}
    answer = client.post(f"/{study.slug}/rounds/{turn.round.number}/hand-on/", sent)
    assert answer.status_code == 409
    assert "Who adjudicated a bug does not rate it." in answer.content.decode()
    assert not Assignment.objects.filter(rater__username="ada").exists()


def test_the_program_is_told_the_same(client, study, decide, handing, lee):
    decide()
    client.force_login(lee)
    turn = Assignment.objects.get(state="skipped")
    sent = {"bug": turn.bug.number, "rater": turn.rater.username, "to": "ada"}
    where = f"/api/v1/studies/{study.slug}/rounds/{turn.round.number}/skipped/"
    answer = client.post(where, sent, content_type="application/json")
    assert (answer.status_code, answer["Content-Type"]) == (409, "application/problem+json")
