"""Criteria: written beforehand, later with a reason, never rewritten, retired and not deleted."""

import pytest

from annotator.history.models import Event
from annotator.screening.actions import close
from annotator.screening.criteria import free_keys, remove, retire, reword, write
from annotator.screening.models import Criterion, Vote
from annotator.web.errors import BadInput, Refused
from tests.factories.screening import make_criteria, make_screening, screen


def test_it_is_written_with_a_code_and_a_key(study, lee):
    made = make_criteria(study, by=lee)
    assert [(one.code, one.hotkey) for one in made] == [("I1", "A"), ("E1", "1"), ("E2", "2")]
    assert Event.objects.filter(verb="wrote a criterion").count() == 3


@pytest.mark.parametrize("name", ["", "  ", "x" * 81, "new feature"])
def test_a_name_is_there_short_and_once(study, lee, name):
    make_criteria(study, by=lee)
    with pytest.raises(BadInput):
        write(study=study, kind="exclude", name=name, by=lee)


def test_a_key_that_is_taken_names_the_free_ones(study, lee):
    make_criteria(study, by=lee)
    with pytest.raises(BadInput, match=r"Free are 3, 4, 5"):
        write(study=study, kind="exclude", name="other", hotkey="1", by=lee)
    with pytest.raises(BadInput):
        write(study=study, kind="exclude", name="other", hotkey="z", by=lee)  # undoes on the reading page
    assert write(study=study, kind="exclude", name="other", hotkey="q", by=lee).hotkey == "Q"


def test_words_change_until_the_first_screening_opens(study, alice, lee):
    feature = make_criteria(study, by=lee)[1]
    assert reword(criterion=feature, name="feature", text="New.", hotkey="7", by=lee).name == "feature"
    make_screening(study, reviewers=[alice], by=lee)
    with pytest.raises(Refused, match="Retire"):
        reword(criterion=feature, name="feature!", text="New.", hotkey="7", by=lee)
    assert reword(criterion=feature, name="feature", text="New.", hotkey="8", by=lee).hotkey == "8"


def test_it_is_removed_before_and_retired_afterwards(study, alice, lee):
    merged, _, docs = make_criteria(study, by=lee)
    remove(criterion=merged, by=lee)
    make_screening(study, reviewers=[alice], by=lee)
    with pytest.raises(Refused):
        remove(criterion=docs, by=lee)
    with pytest.raises(BadInput):
        retire(criterion=docs, reason=" ", by=lee)
    retire(criterion=docs, reason="Nobody used it.", by=lee)
    with pytest.raises(Refused):
        retire(criterion=docs, reason="Again.", by=lee)
    assert [one.code for one in Criterion.objects.active().filter(study=study)] == ["E1"]
    assert "2" in free_keys(study)


def test_one_that_comes_while_a_screening_is_open_is_late_and_says_why(study, screening, lee):
    with pytest.raises(BadInput, match="only now"):
        write(study=study, kind="exclude", name="too big", by=lee)
    late = write(study=study, kind="exclude", name="too big", late_reason="Three were met.", by=lee)
    assert late.late_reason == "Three were met."
    assert Event.objects.get(verb="added a criterion late").why == "Three were met."
    close(screening=screening, by=lee)
    assert write(study=study, kind="exclude", name="reverted", late_reason="?", by=lee).late_reason == ""


def test_a_retired_one_is_cited_no_more_and_its_votes_stay(study, screening, alice, lee):
    screen(screening, alice, {1: "E2"})
    retire(criterion=Criterion.objects.get(name="documentation only"), reason="Merged with E1.", by=lee)
    with pytest.raises(BadInput):
        screen(screening, alice, {2: "E2"})
    assert Vote.objects.get().criterion.code == "E2"


# --- the page


def test_a_lead_writes_one_and_others_read_it(as_, at, study, lee, alice, charlie):
    sent = {"kind": "exclude", "name": "no fix", "text": "Nothing was mended.", "hotkey": ""}
    assert as_(lee).post(at("criteria"), sent).status_code == 302
    page = as_(alice).get(at("criteria")).content.decode()
    assert "Nothing was mended." in page
    assert "Write it" not in page
    assert as_(alice).post(at("criteria"), sent).status_code == 403
    assert as_(charlie).get(at("criteria")).status_code == 404


def test_what_is_wrong_stands_on_the_page(as_, at, study, lee):
    make_criteria(study, by=lee)
    page = as_(lee).post(at("criteria"), {"kind": "exclude", "name": "new feature"})
    assert page.status_code == 400
    assert "Choose another name" in page.content.decode()


def test_a_lead_rewords_removes_and_retires(as_, at, study, alice, lee, charlie):
    make_criteria(study, by=lee)
    client = as_(lee)
    client.post(at("criteria", "E1"), {"act": "reword", "name": "feature", "text": "", "hotkey": "1"})
    client.post(at("criteria", "I1"), {"act": "remove"})
    assert [str(one) for one in Criterion.objects.filter(study=study)] == ["E1 feature", "E2 documentation only"]
    make_screening(study, reviewers=[alice], by=lee)
    client.post(at("criteria", "E1"), {"act": "retire", "reason": "Too wide."})
    assert Criterion.objects.get(name="feature").retired_reason == "Too wide."
    assert client.post(at("criteria", "E9"), {"act": "retire"}).status_code == 404
    assert client.post(at("criteria", "E2"), {"act": "?"}).status_code == 400
    assert as_(charlie).post(at("criteria", "E2"), {"act": "retire", "reason": "x"}).status_code == 404
