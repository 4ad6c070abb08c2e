"""A label audit finds labels that were swapped on purpose, waits until all is settled, and changes no label."""

import datetime as dt
import random

import pytest
from django.test import Client
from django.utils import timezone

from annotator.adjudication import actions as adjudication
from annotator.adjudication.models import Dispute, Resolution
from annotator.adjudication.queries import final_labels
from annotator.analysis.auditing import left_waiting, perform
from annotator.analysis.doubts import ask_audit, rule
from annotator.analysis.models import LabelAudit
from annotator.codebook.models import Facet
from annotator.collection.models import ItemText
from annotator.labeling.models import Answer
from annotator.overview.rounds.closing import close_round
from annotator.web.errors import BadInput, Refused
from tests.contract.interface import Interface
from tests.factories import answer, make_bugs, make_round, member

WORDS = {
    "type": "dtype cast float integer conversion overflow precision",
    "shape": "broadcast dimension reshape rank axis stride",
    "api": "deprecated argument keyword signature rename parameter",
}
WRONG = (5, 17, 29)  # numbers of bugs labelled as what they do not read like


def said(name, chance):
    return " ".join(chance.choices(WORDS[name].split(), k=12))


@pytest.fixture
def settled(study, alice, bob, lee):
    """Sixty bugs that read like their label, but for three; the last two are the same text with different labels."""
    chance, names = random.Random(7), list(WORDS)
    bugs = make_bugs(study, 60)
    round_ = make_round(study, bugs=bugs, raters=[alice, bob], by=lee)
    for bug in bugs:
        name = names[bug.number % 3]
        bug.item.title = said(name, chance)
        bug.item.save()
        ItemText.objects.create(item=bug.item, body=said(name, chance))
        given = names[(bug.number + 1) % 3] if bug.number in WRONG else name
        for rater in (alice, bob):
            answer(round_, bug, rater, {"cause": given, "stage": "training"})
    close_round(round_=round_, by=lee)
    return study


def cause_of(study):
    return Facet.objects.get(codebook__study=study, key="cause")


def audited(study, by):
    audit = ask_audit(study=study, facet=cause_of(study), by=by, seed=3)
    assert perform(audit.pk)
    return LabelAudit.objects.get(pk=audit.pk)


def test_swapped_labels_are_doubted_first_with_the_words_that_speak_against_them(settled, ada):
    audit = audited(settled, ada)
    unlikely = [each for each in audit.suspects.select_related("bug", "likely") if each.reason == "unlikely"]
    assert {each.bug.number for each in unlikely[:3]} == set(WRONG)
    names = list(WORDS)
    for each in unlikely[:3]:
        assert each.likely.name == names[each.bug.number % 3]
        assert each.probability < each.likely_probability
        assert set(each.words) & set(WORDS[each.likely.name].split())
    assert audit.measures["accuracy"] > 0.9
    assert (audit.bugs, audit.state) == (60, "done")


def test_the_same_labels_and_seed_give_the_same_doubts(settled, ada):
    first, second = audited(settled, ada), audited(settled, ada)

    def told(audit):
        return list(audit.suspects.values_list("rank", "bug", "likely", "probability", "words"))

    assert told(first) == told(second)
    assert first.input_digest == second.input_digest != ""


def test_near_duplicates_with_different_labels_are_doubted(settled, ada):
    one, other = settled.bugs.get(number=30), settled.bugs.get(number=31)
    other.item.title = one.item.title
    other.item.save()
    ItemText.objects.filter(item=other.item).update(body=one.item.text.body)
    twins = [each for each in audited(settled, ada).suspects.all() if each.reason == "unlike_twin"]
    assert {frozenset((each.bug_id, each.twin_id)) for each in twins} >= {frozenset((one.pk, other.pk))}


def test_it_waits_until_nobody_labels_or_decides(settled, alice, bob, ada, lee):
    cause = cause_of(settled)
    late = make_round(settled, bugs=make_bugs(settled, 1), raters=[alice, bob], by=lee)
    with pytest.raises(Refused, match="A round is open"):
        ask_audit(study=settled, facet=cause, by=ada)
    bug = settled.bugs.get(number=61)
    answer(late, bug, alice, {"cause": "api", "stage": "training"})
    answer(late, bug, bob, {"cause": "type", "stage": "training"})
    close_round(round_=late, by=lee)
    with pytest.raises(Refused, match="wait for a decision"):
        ask_audit(study=settled, facet=cause, by=ada)
    dispute = Dispute.objects.get(study=settled, is_open=True)
    chosen = Answer.objects.current().filter(bug=bug, facet=cause)[0].category
    adjudication.adjudicate(bug=dispute.bug, facet=cause, categories=[chosen], reason="slip", by=ada)
    assert ask_audit(study=settled, facet=cause, by=ada).number == 1


def test_it_is_offered_when_it_can_be_done_and_the_page_says_why_not_yet(settled, client, alice, bob, ada, lee):
    client.force_login(ada)
    url = "/frameworks/analysis/audits/"
    page = client.get(url).content.decode()
    assert "Audit its labels" in page and "Not yet." not in page
    late = make_round(settled, bugs=make_bugs(settled, 1), raters=[alice, bob], by=lee)
    page = client.get(url).content.decode()
    assert "Audit its labels" not in page and page.count("A round is open: labels are audited once") == 1
    for rater, cause in ((alice, "api"), (bob, "type")):
        answer(late, settled.bugs.get(number=61), rater, {"cause": cause, "stage": "training"})
    close_round(round_=late, by=lee)
    page = client.get(url).content.decode()
    assert "Disputes on Cause wait for a decision" in page
    assert 'value="cause"' not in page and 'value="stage"' in page
    ask_audit(study=settled, facet=Facet.objects.get(key="stage"), by=ada)
    assert "A label audit is under way already." in client.get(url).content.decode()


def test_a_ruling_is_kept_and_changes_no_label(settled, ada, alice, lee):
    audit = audited(settled, ada)
    before = list(final_labels(settled).values_list("bug", "label_id"))
    decisions = Resolution.objects.count()
    suspect = audit.suspects.get(rank=1)
    with pytest.raises(BadInput, match="in a note"):
        rule(suspect=suspect, ruling="wrong", by=ada)
    with pytest.raises(Refused, match="You rated this bug"):
        rule(suspect=suspect, ruling="right", by=alice)
    rule(suspect=suspect, ruling="wrong", note="It is a shape.", by=ada)
    suspect.refresh_from_db()
    assert (suspect.ruling, suspect.note, suspect.ruled_by) == ("wrong", "It is a shape.", ada)
    assert list(final_labels(settled).values_list("bug", "label_id")) == before
    assert Resolution.objects.count() == decisions


def test_too_few_to_learn_from_is_said(study, alice, bob, lee, ada):
    bugs = make_bugs(study, 4)
    round_ = make_round(study, bugs=bugs, raters=[alice, bob], by=lee)
    for bug in bugs:
        for rater in (alice, bob):
            answer(round_, bug, rater, {"cause": "type", "stage": "training"})
    close_round(round_=round_, by=lee)
    audit = audited(study, ada)
    assert (audit.measures["accuracy"], audit.measures["left_out"], audit.suspects.count()) == (None, 4, 0)


def test_what_a_dead_worker_left_is_taken_up_and_what_one_holds_is_not(settled, ada):
    audit = ask_audit(study=settled, facet=cause_of(settled), by=ada)
    held = {"state": "running", "lease_owner": "other"}
    LabelAudit.objects.update(lease_until=timezone.now() + dt.timedelta(minutes=1), **held)
    assert left_waiting() == [] and not perform(audit.pk)
    LabelAudit.objects.update(lease_until=timezone.now() - dt.timedelta(minutes=1))
    assert left_waiting() == [audit.pk] and perform(audit.pk)


def test_adjudicators_rule_in_the_browser_and_others_do_not_read(settled, ada, alice, lee, charlie):
    url = "/frameworks/analysis/audits/"
    client = Client()
    for person, status in ((charlie, 404), (alice, 403)):
        client.force_login(person)
        assert client.get(url).status_code == status
        assert client.post(url, {"facet": "cause"}).status_code == status
    client.force_login(ada)
    assert client.post(url, {"facet": "cause"}).headers["Location"] == f"{url}1/"
    assert perform(LabelAudit.objects.get().pk)
    assert "wait for a ruling" in client.get(f"{url}1/").content.decode()
    assert client.post(f"{url}1/1/", {"ruling": "wrong", "note": "A shape."}).status_code == 302
    assert "Open it again" in client.get(f"{url}1/").content.decode()
    client.force_login(lee)
    assert client.get(f"{url}1/").status_code == 200
    assert client.post(f"{url}1/1/", {"ruling": "right"}).status_code == 403


def test_programs_do_the_same(settled, ada, alice):
    url, asking = "studies/frameworks/label-audits", Interface(ada)
    assert asking.post(f"{url}/", {"facet": "cause", "seed": 3}, status=202)["state"] == "waiting"
    assert perform(LabelAudit.objects.get().pk)
    assert asking.get(f"{url}/")["results"][0]["bugs"] == 60
    first = asking.get(f"{url}/1/suspects/")["results"][0]
    assert first["bug"] in WRONG
    told = asking.ask("put", f"{url}/1/suspects/1/", {"ruling": "right"}, status=200)
    assert told["ruling"] == "right"
    Interface(alice).ask("get", f"{url}/", status=403)


def test_who_labels_a_bug_again_reads_no_doubt_of_it(settled, client, alice, bob, ada, lee):
    audit = audited(settled, ada)
    doubted = audit.suspects.get(rank=1)
    page = f"/frameworks/analysis/audits/{audit.number}/"
    rest = f"/api/v1/studies/frameworks/label-audits/{audit.number}/suspects/"

    def read(person):
        client.force_login(person)
        rows = client.get(rest).json()["results"]
        return f'id="suspect-{doubted.rank}"' in client.get(page).content.decode(), doubted.bug.number in {
            row["bug"] for row in rows
        } | {row["twin"] for row in rows}

    assert read(lee) == (True, True)
    member(settled, lee, "rater")
    make_round(settled, bugs=[doubted.bug], raters=[alice, lee], by=ada, name="Again")
    assert read(lee) == (False, False)
    assert read(ada) == (True, True)
    member(settled, lee, "adjudicator")
    client.force_login(lee)
    assert client.post(f"{page}1/", {"ruling": "right"}).status_code == 404
    assert client.put(f"{rest}1/", {"ruling": "right"}, content_type="application/json").status_code == 404
