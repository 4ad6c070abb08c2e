"""From found to settled: it adds up, and where it does not it says where."""

import datetime as dt
import io
import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from django.core.management import call_command

from annotator.adjudication.finals import Final, import_finals
from annotator.codebook.models import Category, Facet
from annotator.collection.models import Finding, Harvest, Item, Window
from annotator.labeling.actions import skip
from annotator.labeling.models import Assignment, FurtherBug
from annotator.overview.bugs import standing
from annotator.overview.bugs.replacing import replace_denied
from annotator.overview.flow.counting import flow_of
from annotator.overview.rounds.closing import close_round
from annotator.sampling.actions import draw_sample, leave, take_up, top_up
from annotator.sampling.models import Bug
from annotator.sampling.rules import Rule
from annotator.screening.actions import open_screening
from annotator.screening.choosing import Wanted
from annotator.screening.models import Candidate, Criterion, Outcome, Screening
from tests.factories import ItemFactory, answer, make_round
from tests.integration.sampling.conftest import fill_pool

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
SAME, OTHER = {"cause": "type", "stage": "training"}, {"cause": "api", "stage": "training"}
JUNE = dt.datetime(2021, 6, 1, tzinfo=dt.UTC)


def told(study):
    """Each step with what it holds and what leaves it; what joined it has a plus."""
    flow = flow_of(study)
    adds_up(flow)
    assert standing.counts(study) == Counter(standing.placed(study).values_list("place", flat=True))
    return {
        step.name: (
            step.n,
            {part.reason: part.n for part in step.excluded} | {f"+ {part.reason}": part.n for part in step.added},
        )
        for step in flow.steps
    }


def adds_up(flow):
    """By hand, from the document as it is sent."""
    steps = flow.document()["steps"]
    for one, following in pairwise(steps):
        left = one["n"] - sum(one["excluded"].values()) + sum(following["added"].values())
        assert left == following["n"], (one["name"], following["name"])
    assert flow.is_balanced, flow.breaks


def say(study, bugs, verdict):
    facet = Facet.objects.get(codebook__study=study, key=Facet.VERDICT)
    label = Category.objects.get(facet=facet, name=verdict, parent=None)
    import_finals(study=study, rows=[Final(bug.pk, facet.pk, [label.pk]) for bug in bugs], by=None)


def label(study, bugs, name="type"):
    category = Category.objects.get(facet__codebook__study=study, facet__key="cause", name=name)
    import_finals(study=study, rows=[Final(bug.pk, category.facet_id, [category.pk]) for bug in bugs], by=None)


@pytest.fixture
def items(study, lee):
    return fill_pool(study, {"axon/axon": 12, "lumen/lumen": 8})


@pytest.fixture
def sample(study, items, lee):
    sample = draw_sample(study=study, name="Main sample", rule=Rule(kind="equal", count=4), seed=1, by=lee)
    take_up(sample=sample, by=lee)
    return sample


def numbered(*numbers):
    return list(Bug.objects.filter(number__in=numbers).order_by("number"))


# --- step by step


def test_an_empty_study_adds_up(study):
    assert told(study) == {"found": (0, {})}


def test_items_wait_to_be_taken_up(study, items):
    assert told(study) == {"found": (20, {})}


def test_what_is_not_drawn_is_reserve(study, sample):
    assert told(study) == {
        "found": (20, {"not drawn: reserve": 12}),
        "sampled": (8, {}),
        "bugs": (8, {"in no main round yet": 8}),
        "labelled": (0, {}),
    }


def test_what_left_and_was_replaced_is_told(study, sample, lee):
    leave(bugs=numbered(1, 2), reason="duplicate", note="Of bug 3.", by=lee)
    leave(bugs=numbered(3), reason="withdrawn", note="Too large.", by=lee)
    top_up(sample=sample, by=lee)
    say(study, numbered(4), "not a bug")
    assert told(study)["found"] == (20, {"not drawn: reserve": 9})
    assert told(study)["bugs"] == (11, {"duplicate": 2, "withdrawn": 1, "not a bug": 1, "in no main round yet": 7})
    replace_denied(study=study, by=lee)
    assert told(study)["bugs"] == (12, {"duplicate": 2, "withdrawn": 1, "not a bug": 1, "in no main round yet": 8})
    flow = flow_of(study)
    assert flow.replaced == 4
    assert flow.steps[2].notes == ("4 that left were replaced from the reserve",)


def test_labels_settle_or_stay_in_dispute(study, sample, alice, bob, lee):
    round_ = make_round(study, bugs=numbered(1, 2, 3, 4), raters=[alice, bob], by=lee)
    for bug in numbered(1, 2, 3):
        answer(round_, bug, alice, SAME)
        answer(round_, bug, bob, OTHER if bug.number == 3 else SAME)
    for rater in (alice, bob):
        skip(assignment=Assignment.objects.get(bug__number=4, rater=rater), reason="knowledge", by=rater)
    close_round(round_=round_, by=lee)
    make_round(study, bugs=numbered(5), raters=[alice, bob], by=lee)
    assert told(study)["bugs"] == (
        8, {"in no main round yet": 3, "in an open round": 1, "skipped or unanswered": 1},
    )  # fmt: skip
    assert told(study)["labelled"] == (3, {"in dispute": 1})
    assert told(study)["settled"] == (2, {})


def test_a_further_bug_changes_the_unit(study, sample, alice, bob, lee):
    from annotator.labeling.actions import note_further_bug
    from annotator.labeling.follow_up import follow_further_bug

    round_ = make_round(study, bugs=numbered(1), raters=[alice, bob], by=lee)
    note_further_bug(assignment=Assignment.objects.get(rater=alice), note="A leak, too.", by=alice)
    close_round(round_=round_, by=lee)
    follow_further_bug(noted=FurtherBug.objects.get(), by=lee)
    assert told(study)["sampled"] == (8, {})
    assert told(study)["bugs"][0] == 9
    assert told(study)["bugs"][1]["+ further bugs of the same items"] == 1


def test_of_an_open_round_nothing_is_told(study, sample, alice, bob, lee):
    round_ = make_round(study, bugs=numbered(1, 2, 3), raters=[alice, bob], by=lee)
    before = flow_of(study).text()
    answer(round_, numbered(1)[0], alice, SAME)
    answer(round_, numbered(2)[0], bob, {}, not_a_bug="new feature")
    skip(assignment=Assignment.objects.get(bug__number=3, rater=bob), reason="knowledge", by=bob)
    assert flow_of(study).text() == before


def test_a_training_round_labels_nothing_for_good(study, sample, alice, bob, lee):
    round_ = make_round(study, bugs=numbered(1), raters=[alice, bob], by=lee, kind="training")
    for rater in (alice, bob):
        answer(round_, numbered(1)[0], rater, SAME)
    close_round(round_=round_, by=lee)
    assert told(study)["bugs"] == (8, {"in no main round yet": 8})


# --- collection


@pytest.fixture
def harvest(study, items, lee):
    return Harvest.objects.create(study=study, number=1, created_by=lee)


def find(harvest, items, state="fetched", reason=""):
    repository = items[0].repository if items else Item.objects.first().repository
    window, _ = Window.objects.get_or_create(harvest=harvest, repository=repository, starts=JUNE, ends=JUNE)
    for item in items:
        Finding.objects.create(
            harvest=harvest, window=window, repository=repository, number=item.number, state=state, reason=reason,
            item=item if state == "fetched" else None,
        )  # fmt: skip


def harvested(study, count):
    return [ItemFactory(study=study, repository=Item.objects.first().repository) for _ in range(count)]


def test_what_could_not_be_fetched_falls_out_by_reason(study, harvest):
    find(harvest, harvested(study, 5))
    gone = [Item(number=number) for number in range(7001, 7008)]
    for item in gone:
        item.repository = Item.objects.first().repository
    find(harvest, gone[:2], "unavailable", "404")
    find(harvest, gone[2:3], "unavailable", "451")
    find(harvest, gone[3:4], "passed_over", "words")
    find(harvest, gone[4:], "found")
    Window.objects.update(is_capped=True, hits=1_200)
    assert told(study) == {
        "found": (
            232,
            {
                "unavailable, 404: not found": 2,
                "unavailable, 451: blocked for legal reasons": 1,
                "passed over, without such a word in title or label": 1,
                "still to fetch": 3,
                "beyond the search’s cap": 200,
            },
        ),
        "fetched": (25, {}),
    }


def test_what_is_found_twice_is_held_once(study, harvest, lee):
    found = harvested(study, 3)
    find(harvest, found)
    find(Harvest.objects.create(study=study, number=2, created_by=lee), found[:2])
    assert told(study) == {"found": (25, {"found more than once": 2}), "fetched": (23, {})}


def test_what_a_sheet_brought_and_a_harvest_filled_in_is_held_once(study, harvest, tmp_path):
    sheet, mapping = tmp_path / "bugs.csv", tmp_path / "map.yaml"
    sheet.write_text("project,number\naxon/axon,9001\naxon/axon,9002\n")
    mapping.write_text("item: {kind: pull_request, repository: project, number: number}\n")
    call_command("import_sheet", "frameworks", str(sheet), "--mapping", str(mapping), "--json", stdout=io.StringIO())
    find(harvest, list(Item.objects.filter(number=9001)))
    assert told(study)["found"] == (23, {"found more than once": 1})
    assert told(study)["fetched"] == (22, {"not taken up": 20})


def test_what_is_held_in_part_only_is_not_drawn(study, harvest):
    (part,) = harvested(study, 1)
    find(harvest, [part], "unavailable", "410")
    Finding.objects.update(item=part)
    assert told(study) == {"found": (21, {"unavailable, 410: deleted": 1}), "fetched": (20, {})}


# --- screening


def test_what_screening_says_falls_out_by_reason(study, items, alice, bob, lee):
    screening = Screening.objects.create(study=study, number=1, name="Screening", state="imported")
    for place, item in enumerate(items[:12], 1):
        candidate = Candidate.objects.create(study=study, screening=screening, item=item, position=place)
        if place <= 10:
            decision = "include" if place <= 6 else "exclude"
            dropped = {"decision": "exclude", "source": "dropped", "note": "A feature after all."}
            Outcome.objects.create(
                candidate=candidate, **({"decision": decision, "source": "unanimous"} if place != 6 else dropped)
            )
    assert told(study) == {
        "found": (20, {"not put up for screening": 8}),
        "screened": (12, {"without a vote": 2, "excluded: no criterion given": 4}),
        "included": (6, {}),
    }
    sample = draw_sample(study=study, name="Main sample", rule=Rule(kind="newest", count=3), seed=1, by=lee)
    take_up(sample=sample, by=lee)
    assert told(study)["included"] == (6, {"dropped: A feature after all.": 1, "not drawn: reserve": 2})
    assert told(study)["sampled"] == (3, {})


def test_of_an_open_screening_nothing_is_told(study, items, alice, bob, lee):
    Criterion.objects.create(study=study, kind="exclude", position=1, name="no fix")
    open_screening(study=study, name="Screening", wanted=Wanted(newest=5), reviewers=[alice, bob], by=lee)
    assert told(study)["screened"] == (5, {"in an open screening": 5})
    assert flow_of(study).document()["steps"][1].get("votes") is None


# --- published studies


@pytest.fixture
def shared():
    def find(name):
        path = DATA / name
        if not path.exists():
            pytest.skip("needs the published sheets in ../shared/data, which are not part of the project")
        return str(path)

    return find


def test_silent_bugs_from_1168_issues_to_77(db, shared, tmp_path):
    from annotator.codebook.presets import preset
    from annotator.overview.actions import create_study

    study = create_study(slug="silent", title="Silent bugs", document=preset("silent-bugs"), by=None)
    finals = tmp_path / "finals.yaml"
    finals.write_text(
        "item: {kind: issue, url: url}\nfinal: {scenario: Final Scenario, impact: Impact}\n"
        'clean: {blank: ["", "None"], fold_case: true, unknown: add}\n'
    )
    votes = Path(__file__).resolve().parents[3] / "docs" / "mappings" / "tambon2023-votes.yaml"
    for sheet, mapping in (("issues_voting.csv", votes), ("final_77.csv", finals)):
        file = shared(f"tambon2023/{sheet}")
        call_command("import_sheet", "silent", file, "--mapping", str(mapping), "--json", stdout=io.StringIO())
    found = told(study)
    assert {name: n for name, (n, _) in found.items()} == {
        "found": 1168, "screened": 1168, "included": 83, "sampled": 77, "bugs": 77, "labelled": 77, "settled": 77,
    }  # fmt: skip
    assert found["screened"][1] == {"in conflict": 12, "excluded: no criterion given": 41 + 1032}
    assert flow_of(study).document()["steps"][1]["votes"] == {"3": 57, "2": 38, "1": 41, "0": 1032}


def test_1000_bugs_of_943_pull_requests(db, shared):
    from annotator.codebook.presets import preset
    from annotator.overview.actions import create_study

    study = create_study(slug="main", title="Main study", document=preset("dl-framework-bugs"), by=None)
    mapping = Path(__file__).resolve().parents[3] / "docs" / "mappings" / "chen2023.yaml"
    file = shared("chen2023/dataset_1000.csv")
    call_command("import_sheet", "main", file, "--mapping", str(mapping), "--json", stdout=io.StringIO())
    assert told(study) == {
        "found": (943, {}),
        "sampled": (943, {}),
        "bugs": (1000, {"+ further bugs of the same items": 57}),
        "labelled": (1000, {}),
        "settled": (1000, {}),
    }


# --- broken by hand


def test_a_bug_put_in_by_hand_is_found_out(study, sample):
    reserve = sample.drawn.filter(state="reserve").first().item
    Bug.objects.create(study=study, item=reserve, number=99)
    flow = flow_of(study)
    assert not flow.is_balanced
    assert flow.breaks[0] == (
        "Drawn: 8 items follow from the step before, 9 are there: 1 too many. Of bug 99 nothing is on record: "
        "no sheet, no draw and no rater’s note brought it."
    )
    assert flow.document()["balanced"] is False


def test_a_second_bug_of_an_item_put_in_by_hand_is_found_out(study, sample):
    Bug.objects.create(study=study, item=numbered(1)[0].item, ordinal=2, number=99)
    assert [sentence.split(":")[0] for sentence in flow_of(study).breaks] == ["Bugs"]


def test_a_bug_that_vanished_is_found_out(study, sample):
    sample.drawn.filter(item=numbered(8)[0].item).update(state="reserve", taken_at=None)
    Bug.objects.filter(number=8).delete()
    assert [sentence.split(":")[0] for sentence in flow_of(study).breaks] == ["Bugs"]


def test_an_item_put_in_by_hand_is_found_out(study, items):
    ItemFactory(study=study)
    assert flow_of(study).breaks == ("Brought in: 20 items follow from the step before, 21 are there: 1 too many.",)


# --- what it costs, and the command


def test_the_queries_are_the_same_whatever_the_size(study, sample, lee, django_assert_num_queries):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as few:
        flow_of(study)
    fill_pool(study, {"corvid/corvid": 40})
    take_up(sample=draw_sample(study=study, name="More", rule=Rule(), seed=1, by=lee), by=lee)
    with django_assert_num_queries(len(few)):
        flow_of(study)
    assert len(few) < 30


def run(*arguments):
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("flow", *arguments, stdout=out, stderr=err)
    except SystemExit as stop:
        return stop.code, out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def test_the_command_prints_the_document(study, sample):
    code, out, _ = run("frameworks", "--json")
    assert (code, json.loads(out)) == (0, flow_of(study).document())


def test_the_command_says_it_to_people(study, sample):
    _, out, _ = run("frameworks")
    assert "20  Brought in (items)" in out
    assert "− 12  not drawn: reserve" in out
    assert "It adds up." in out
    Bug.objects.create(study=study, item=numbered(1)[0].item, ordinal=2, number=99)
    assert "It does not add up.\n  Bugs: 8 bugs follow from the step before, 9 are there" in run("frameworks")[1]


@pytest.mark.parametrize(
    "arguments", [("nowhere",), ("frameworks", "--out", "flow.gif"), ("frameworks", "--out", "/no/such/flow.svg")]
)
def test_bad_input_is_one_line(study, arguments):
    code, out, err = run(*arguments, "--json")
    assert (code, out, len(err.strip().splitlines())) == (2, "", 1)


@pytest.mark.parametrize(("name", "begins"), [("flow.svg", b"<svg "), ("flow.pdf", b"%PDF-"), ("flow.json", b"{\n")])
def test_the_command_writes_the_picture_the_same_each_time(study, sample, tmp_path, name, begins):
    for place in ("a", "b"):
        assert run("frameworks", "--out", str(tmp_path / f"{place}-{name}"))[0] == 0
    first, second = ((tmp_path / f"{place}-{name}").read_bytes() for place in ("a", "b"))
    assert first == second
    assert first.startswith(begins)
