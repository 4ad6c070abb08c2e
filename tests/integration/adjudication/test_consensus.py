"""Three reviewers' words become one final category: grouped, settled where that ends it, talked over where it does not."""

import csv
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotator.accounts.models import User
from annotator.adjudication.actions import adjudicate
from annotator.adjudication.grouped import NOTE, agreeing, settle_grouped
from annotator.adjudication.item import item_of
from annotator.adjudication.meetings import decide_together, end_meeting, leave_open_together, start_meeting
from annotator.adjudication.models import Dispute, Resolution
from annotator.adjudication.queries import final_labels
from annotator.agreement.queries import entries
from annotator.codebook import coding
from annotator.codebook.models import Category
from annotator.overview.rounds.closing import close_round
from annotator.studies.models import Study
from tests.factories import StudyFactory, UserFactory, answer, make_bugs, make_codebook, make_round, member

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT.parent / "shared" / "data"
SHEET = "tambon2023/derived/raters_side_by_side_83.csv"
pytestmark = pytest.mark.django_db


@pytest.fixture
def facet(alice, bob, lee, ada):
    """Three bugs: the words end in one category, in two, and one of them waits."""
    cleo = UserFactory(username="cleo")
    study = StudyFactory(slug="words")
    member(study, lee, "lead")
    member(study, ada, "adjudicator")
    for rater in (alice, bob, cleo):
        member(study, rater, "rater")
    make_codebook(study, {"symptom": ["Crash", "Hang", "segfault", "abort", "dies", "stuck", "odd"]})
    facet = study.codebook.facets.get(key="symptom")
    facet.categories.exclude(name__in=["Crash", "Hang"]).update(is_code=True, hotkey="")
    study.codebook.facets.filter(pk=facet.pk).update(takes_codes=True)
    bugs = make_bugs(study, 3)
    round_ = make_round(study, bugs=bugs, raters=[alice, bob, cleo], by=lee)
    words = [("segfault", "abort", "Crash"), ("segfault", "stuck", "dies"), ("abort", "odd", "dies")]
    for bug, said in zip(bugs, words, strict=True):
        for rater, word in zip((alice, bob, cleo), said, strict=True):
            answer(round_, bug, rater, {"symptom": word})
    close_round(round_=round_, by=lee)
    facet.refresh_from_db()
    uids = {row.name: row.uid for row in facet.categories.all()}
    coding.place(facet=facet, codes=[uids[name] for name in ("segfault", "abort", "dies")], under=uids["Crash"], by=lee)
    coding.place(facet=facet, codes=[uids["stuck"]], under=uids["Hang"], by=lee)
    return facet


def label(facet, bug):
    row = Resolution.objects.current().filter(facet=facet, bug__number=bug).first()
    return (row.source, row.category.name, row.note) if row else None


def test_disputes_that_end_with_the_grouping_are_settled_by_it(facet, lee):
    study = facet.codebook.study
    assert agreeing(study, facet) == 1
    assert settle_grouped(study=study, facet=facet, by=lee) == 1
    assert label(facet, 1) == ("derived", "Crash", NOTE)
    assert Dispute.objects.filter(facet=facet, is_open=True).count() == 2
    assert settle_grouped(study=study, facet=facet, by=lee) == 0


def test_a_facet_without_open_coding_is_left_alone(facet, lee):
    facet.takes_codes = False
    facet.save()
    assert settle_grouped(study=facet.codebook.study, facet=facet, by=lee) == 0


def test_the_session_chooses_among_the_categories_in_which_the_words_stand(facet):
    bugs = {bug.number: bug for bug in facet.codebook.study.bugs.all()}
    shown = item_of(bugs[2], facet_key="symptom")
    assert sorted(pick.text.split(" (")[0] for pick in shown.picks) == ["Crash", "Hang"]
    assert {side.label[0].name for side in shown.sides} == {"segfault", "stuck", "dies"}
    assert [option.name for option in shown.options] == ["Crash", "Hang"]


def test_who_adjudicates_by_the_grouping_needs_no_note(facet, ada):
    bugs = {bug.number: bug for bug in facet.codebook.study.bugs.all()}
    crash, hang = (facet.categories.get(name=name) for name in ("Crash", "Hang"))
    adjudicate(bug=bugs[2], facet=facet, categories=[crash], reason="ambiguous", by=ada)
    assert label(facet, 2) == ("adjudicated", "Crash", NOTE)
    with pytest.raises(Exception, match="note"):
        adjudicate(bug=bugs[3], facet=facet, categories=[hang], reason="ambiguous", by=ada)


def test_the_board_offers_it_to_the_lead(client, facet, lee, alice):
    board = reverse("coding:board", args=["words", "symptom"])
    client.force_login(lee)
    assert "Settle 1 dispute that ends so" in client.get(board).content.decode()
    assert "1 dispute settled by the grouping." in client.post(board, {"act": "settle"}, follow=True).content.decode()
    assert client.post(board, {"act": "settle"}).status_code == 422
    client.force_login(alice)
    assert "that end" not in client.get(board).content.decode()


# --- the published study


@pytest.mark.skipif(
    not (DATA / SHEET).is_file(), reason="the published sheets (../shared/data) are not beside the repository"
)
def test_three_reviewers_words_become_the_published_scenarios(tmp_path, lee):
    rows = list(csv.DictReader((DATA / SHEET).read_text(encoding="utf-8-sig").splitlines()))
    finals = {row["url"]: row["final_scenario"].strip() for row in rows}
    book = tmp_path / "book.yaml"
    book.write_text("title: Silent bugs\nfacets:\n  - {id: scenario, takes_codes: true}\n")
    call_command("create_study", "silent", "--title", "Silent bugs", "--codebook", str(book))
    mapping = ROOT / "docs" / "mappings" / "tambon2023-scenarios.yaml"
    call_command("import_sheet", "silent", str(DATA / SHEET), "--mapping", str(mapping))
    study = Study.objects.get(slug="silent")
    member(study, lee, "lead")
    facet = study.codebook.facets.get(key="scenario")
    before = [entry.get("kappa") for entry in entries(study)]

    group(facet, rows, by=lee)
    raters = list(User.objects.filter(username__startswith="reviewer-"))
    meeting = start_meeting(study=study, participants=raters, by=lee)
    for dispute in Dispute.objects.filter(facet=facet, is_open=True).select_related("bug__item"):
        wanted = finals[dispute.bug.item.url]
        if wanted:
            category = [facet.categories.get(name=wanted, is_code=False)]
            decide_together(meeting=meeting, bug=dispute.bug, facet=facet, categories=category, confirmed=True, by=lee)
        else:
            leave_open_together(meeting=meeting, bug=dispute.bug, facet=facet, by=lee, note="Rejected")
    end_meeting(meeting=meeting, by=lee)

    found = {row.bug.item.url: row.category.name for row in final_labels(study).select_related("bug__item", "category")}
    assert found == {url: name for url, name in finals.items() if name}
    assert Counter(found.values()) == Counter(name for name in finals.values() if name)
    assert Resolution.objects.current().filter(source="discussed", session=meeting).exists()
    assert [entry.get("kappa") for entry in entries(study)] == before


def group(facet, rows, *, by):
    """Each string goes where most bugs with it ended; the rest is for the session."""
    ended = defaultdict(Counter)
    for row in rows:
        for reviewer in "123":
            if text := " ".join(row[f"reviewer{reviewer}_scenario"].split()):
                ended[text][row["final_scenario"].strip()] += 1
    codes = defaultdict(list)
    for code in Category.objects.filter(facet=facet, is_code=True):
        codes[ended[code.name].most_common(1)[0][0]].append(code)
    for name, mine in codes.items():
        if name:
            same = next((code for code in mine if code.name == name), None)
            if same:
                coding.make_category(facet=facet, code=same.uid, by=by)
                rest = [code.uid for code in mine if code != same]
                coding.place(facet=facet, codes=rest, under=same.uid, by=by)
            else:
                coding.new_category(facet=facet, name=name, codes=[code.uid for code in mine], by=by)
