"""A rater proposes a code while labelling: hers alone until the round closes, then accepted, merged or refused."""

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from annotator.adjudication.models import Dispute, Resolution
from annotator.agreement.queries import entries
from annotator.codebook.actions import edit_facet
from annotator.codebook.changes import FacetChange
from annotator.codebook.models import Category, Change
from annotator.codebook.queries import as_document
from annotator.history.models import Event
from annotator.labeling import proposals
from annotator.labeling.actions import submit
from annotator.labeling.models import Answer, Assignment, Proposal
from annotator.labeling.submission import Submission
from annotator.overview.coding.codes import Verdict, settle_code
from annotator.overview.rounds.closing import close_round
from annotator.web.errors import BadInput, Refused
from tests.factories import make_round

HTMX = {"HX-Request": "true"}


@pytest.fixture
def facet(study, lee):
    cause = study.codebook.facets.get(key="cause")
    return edit_facet(facet=cause, by=lee, change=FacetChange(takes_codes=True))


@pytest.fixture
def open_round(facet, bugs, alice, bob, lee, study):
    return make_round(study, bugs=bugs[:2], raters=[alice, bob], by=lee)


def turn(round_, rater, place=0):
    return (
        Assignment.objects.select_related("round", "bug")
        .filter(round=round_, rater=rater)
        .order_by("bug__number")[place]
    )


def propose(round_, facet, rater, name="off by one", **more):
    more = {"definition": "A bound is wrong by one."} | more
    return proposals.propose(assignment=turn(round_, rater), facet=facet, name=name, by=rater, **more)


def give(round_, rater, uid, place=0):
    stage = Category.objects.get(facet__key="stage", name="training").uid
    sent = Submission(answers={"cause": [uid], "stage": [stage]})
    return submit(assignment=turn(round_, rater, place), submission=sent, by=rater)


@pytest.fixture
def closed(open_round, facet, alice, bob, lee):
    """Both proposed a code of nearly the same name and answered both bugs with it."""
    for rater, name in ((alice, "off by one"), (bob, "Off-by-one!")):
        code = propose(open_round, facet, rater, name, example="range(n + 1)").category
        for place in (0, 1):
            give(open_round, rater, code.uid, place)
    return close_round(round_=open_round, by=lee)


# --- while the round is open


def test_a_proposed_code_can_be_chosen_by_its_proposer_alone(open_round, facet, alice, bob):
    code = propose(open_round, facet, alice).category
    assert give(open_round, alice, code.uid).state == "submitted"
    with pytest.raises(BadInput, match="no category"):
        give(open_round, bob, code.uid)


def test_it_is_on_the_page_of_its_proposer_alone(client, open_round, facet, alice, bob, study):
    propose(open_round, facet, alice, example="range(n + 1)")
    start = reverse("labeling:label", args=[study.slug, open_round.number])
    for rater, seen in ((alice, True), (bob, False)):
        client.force_login(rater)
        text = client.get(start).content.decode()
        assert ("off by one" in text) is seen
        assert ("range(n + 1)" in text) is seen


def test_the_codebook_says_nothing_of_it(open_round, facet, alice):
    before = as_document(facet.codebook)
    propose(open_round, facet, alice)
    assert as_document(facet.codebook) == before


def test_two_raters_may_propose_the_same_and_are_not_told(open_round, facet, alice, bob):
    propose(open_round, facet, alice)
    assert propose(open_round, facet, bob).category.name == "off by one"


def test_what_is_there_already_is_chosen_not_proposed(open_round, facet, alice):
    with pytest.raises(BadInput, match="choose it"):
        propose(open_round, facet, alice, " TYPE ")
    propose(open_round, facet, alice)
    with pytest.raises(BadInput, match="choose it"):
        propose(open_round, facet, alice, "Off by  one")


@pytest.mark.parametrize("more", [{"name": " "}, {"definition": " "}, {"example": "\x00"}, {"name": "x" * 601}])
def test_a_code_needs_a_name_and_a_definition(open_round, facet, alice, more):
    with pytest.raises(BadInput):
        propose(open_round, facet, alice, **more)
    assert not Proposal.objects.exists()


def test_who_may_not_propose(open_round, facet, study, alice, bob, lee):
    with pytest.raises(Refused, match="another rater"):
        proposals.propose(assignment=turn(open_round, alice), facet=facet, name="x", definition="y", by=bob)
    with pytest.raises(Refused, match="takes no codes"):
        propose(open_round, study.codebook.facets.get(key="stage"), alice)
    close_round(round_=open_round, by=lee)
    with pytest.raises(Refused, match="closed"):
        propose(open_round, facet, alice)


def test_the_page_proposes_and_chooses_it_and_keeps_the_rest(client, open_round, facet, alice):
    client.force_login(alice)
    mine = turn(open_round, alice)
    stage = Category.objects.get(facet__key="stage", name="training").uid
    sent = {
        "act": "propose:cause",
        "code_name-cause": "off by\none",
        "code_definition-cause": "A bound is wrong.",
        "f-stage": stage,
        "note": "See the loop.",
        "revision": "0",
    }
    page = client.post(reverse("labeling:bug", args=["frameworks", 1, mine.bug.number]), sent, headers=HTMX)
    assert page.status_code == 200
    text = page.content.decode()
    code = Category.objects.get(state="proposed")
    assert code.name == "off by one"
    assert f'value="{code.uid}" checked' in text
    assert f'value="{stage}" checked' in text
    mine.refresh_from_db()
    assert mine.draft["answers"]["cause"] == [code.uid]
    assert mine.draft["note"] == "See the loop."


def test_without_script_the_bug_stays(client, open_round, facet, alice):
    client.force_login(alice)
    address = reverse("labeling:bug", args=["frameworks", 1, turn(open_round, alice).bug.number])
    sent = {"act": "propose:cause", "code_name-cause": "x", "code_definition-cause": "y", "revision": "0"}
    assert client.post(address, sent)["Location"] == address
    assert client.post(address, sent | {"code_name-cause": ""}).status_code == 422


def test_over_rest_it_is_proposed_listed_and_answered_by_name(open_round, facet, alice, bob):
    api = APIClient()
    api.force_authenticate(alice)
    address = f"/api/v1/studies/frameworks/rounds/1/bugs/{turn(open_round, alice).bug.number}/"
    sent = {"facet": "cause", "name": "off by one", "definition": "A bound."}
    assert api.post(f"{address}codes/", sent, format="json").status_code == 201
    answers = {"answers": {"cause": ["off by one"], "stage": ["training"]}}
    assert api.put(f"{address}answers/", answers, format="json").status_code == 200
    assert api.get("/api/v1/studies/frameworks/rounds/1/codes/").json() == []
    api.force_authenticate(bob)
    assert api.get(f"{address}codes/").json() == []
    assert api.put(f"{address}answers/", answers, format="json").status_code == 400


def test_a_page_without_open_coding_asks_the_database_no_more(client, main_round, alice, django_assert_max_num_queries):
    """The facet takes no codes: not one query looks for them."""
    client.force_login(alice)
    address = reverse("labeling:label", args=["frameworks", main_round.number])
    client.get(address)
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:
        client.get(address)
    assert not [query for query in queries if "labeling_proposal" in query["sql"]]


# --- a round that shares codes


def test_shared_codes_are_everybodys_at_once_and_the_round_is_not_blind_to_them(study, facet, bugs, alice, bob, lee):
    round_ = make_round(study, bugs=bugs[:1], raters=[alice, bob], by=lee, shares_codes=True)
    code = propose(round_, facet, alice).category
    give(round_, alice, code.uid)
    give(round_, bob, code.uid)
    with pytest.raises(BadInput, match="choose it"):
        propose(round_, facet, bob)
    close_round(round_=round_, by=lee)
    said = {entry["facet"]: entry for entry in entries(study)}
    assert said["cause"]["blindness"] == "no"
    assert "shared_codes" in said["cause"]["warnings"]
    assert said["stage"]["blindness"] == "enforced"


# --- after the close


def test_near_duplicates_are_pointed_out_after_the_close(closed, study):
    first, second = proposals.waiting(study)
    assert [category.name for category, _ in first.near] == ["Off-by-one!"]
    assert (first.answers, second.answers) == (2, 2)


def test_nothing_is_settled_before_the_close(open_round, facet, alice, lee, study):
    proposal = propose(open_round, facet, alice)
    assert proposals.waiting(study) == []
    with pytest.raises(Refused, match="open"):
        proposals.accept(proposal=proposal, by=lee)


def test_an_accepted_code_keeps_its_answers_under_its_new_name(closed, facet, lee):
    proposal = Proposal.objects.earliest("pk")
    answers = Answer.objects.filter(category=proposal.category).count()
    made = proposals.accept(proposal=proposal, name="Off-by-one error", by=lee)
    assert (made.name, made.state, made.examples) == ("Off-by-one error", "active", ["range(n + 1)"])
    assert Answer.objects.filter(category=made).count() == answers == 2
    assert as_document(facet.codebook).facet("cause").categories[-1].name == "Off-by-one error"
    assert Change.objects.get(act="add", categories=[made.uid]).by == lee
    with pytest.raises(Refused, match="settled already"):
        proposals.accept(proposal=proposal, by=lee)


def test_a_merged_code_counts_as_the_other_and_its_answers_stay(closed, study, lee):
    first, second = Proposal.objects.order_by("pk")
    before = entries(study)
    said = settle_code(proposal=second, verdict=Verdict("merge", into=first.category.uid), by=lee)
    assert "counts as" in said
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.state, second.state) == ("accepted", "merged")
    assert Category.objects.get(pk=second.category_id).merged_into == first.category
    assert Answer.objects.filter(category=second.category).count() == 2
    assert entries(study) == before
    assert entries(study, facet="cause")[0]["observed"] == 0
    assert entries(study, facet="cause", level="top")[0]["observed"] == 1


def test_a_refused_code_gives_its_reason_and_sends_what_it_settled_back(study, facet, bugs, alice, lee):
    round_ = make_round(study, bugs=bugs[:1], raters=[alice], by=lee)
    proposal = propose(round_, facet, alice)
    give(round_, alice, proposal.category.uid)
    close_round(round_=round_, by=lee)
    label = Resolution.objects.get(facet=facet, is_current=True)
    assert (label.source, label.category) == ("single", proposal.category)
    with pytest.raises(BadInput):
        settle_code(proposal=proposal, verdict=Verdict("refuse"), by=lee)
    said = settle_code(proposal=proposal, verdict=Verdict("refuse", reason="It is a type error."), by=lee)
    assert "1 bug went back" in said
    label.refresh_from_db()
    assert label.is_stale
    assert Dispute.objects.get(facet=facet, is_open=True).bug == bugs[0]
    assert Answer.objects.filter(category=proposal.category, is_current=True).count() == 1
    assert Event.objects.get(verb="refused a code").why == "It is a type error."


def test_a_lead_settles_codes_on_the_rounds_page(client, closed, lee, alice, charlie, study):
    client.force_login(lee)
    page = reverse("labeling:round", args=[study.slug, closed.number])
    text = client.get(page).content.decode()
    for word in ("Proposed codes", "off by one", "Off-by-one!", "range(n + 1)", "A bound is wrong by one."):
        assert word in text
    address = reverse("overview:codes", args=[study.slug, closed.number])
    uid = Proposal.objects.earliest("pk").category.uid
    sent = {"code": uid, "act": "accept", "name": "off by one"}
    client.force_login(charlie)
    assert client.post(address, sent).status_code == 404
    client.force_login(alice)
    assert client.post(address, sent).status_code == 403
    client.force_login(lee)
    assert client.post(address, sent | {"code": "nobody"}).status_code == 404
    assert client.post(address, sent | {"act": "fly"}).status_code == 400
    assert "is in the codebook" in client.post(address, sent, follow=True).content.decode()


def test_over_rest_they_are_listed_and_settled(closed, lee, alice):
    api = APIClient()
    api.force_authenticate(lee)
    address = "/api/v1/studies/frameworks/rounds/1/codes/"
    first, second = api.get(address).json()
    assert (first["state"], first["answers"], first["near"][0]["id"]) == ("new", 2, second["id"])
    sent = {"id": second["id"], "act": "merge", "into": first["id"], "reason": "The same."}
    first, second = api.post(address, sent, format="json").json()
    assert (first["state"], second["state"], second["merged_into"]) == ("accepted", "merged", first["id"])
    api.force_authenticate(alice)
    assert api.post(address, sent, format="json").status_code == 403


def test_a_name_given_twice_is_refused_in_words(closed, lee):
    first, second = Proposal.objects.order_by("pk")
    proposals.accept(proposal=first, by=lee)
    with pytest.raises(BadInput, match="twice"):
        proposals.accept(proposal=second, name="off by one", by=lee)
    second.refresh_from_db()
    assert second.state == "new"
