"""The numbers of each table, against counting by hand; with n and what was left out they are every bug."""

import datetime as dt
import json
import random
from collections import Counter

import pytest
from django.db import connection
from scipy.stats import fisher_exact

from annotator.adjudication.models import Resolution
from annotator.analysis import actions
from annotator.analysis.asked import read_asked
from annotator.analysis.numbers import numbers
from annotator.analysis.reading import Reading
from annotator.analysis.relating import quantile
from annotator.analysis.sheets import sheet_of
from annotator.analysis.simulating import monte_carlo
from annotator.codebook.models import Category
from annotator.collection.models import Repository
from annotator.labeling.models import Assignment
from annotator.overview.rounds.closing import close_round
from annotator.sampling.models import Bug, Drawn, Sample, Stratum
from annotator.screening.actions import close as close_screening
from annotator.stats.association import lift
from annotator.stats.shares import Part, share_of, weighted
from annotator.web.errors import BadInput
from tests.factories import StudyFactory, answer, make_bugs, make_codebook, make_round
from tests.factories.screening import make_screening, screen

PLACES = ("Axon", "corvid", "lumen/lumen")


def category(study, facet, name):
    return Category.objects.get(facet__codebook__study=study, facet__key=facet, name=name)


def settle(study, bug, labels):
    for key, names in labels.items():
        for slot, name in enumerate([names] if isinstance(names, str) else names):
            chosen = category(study, key, name)
            Resolution.objects.create(
                study=study, bug=bug, facet=chosen.facet, slot=slot, category=chosen, source="imported"
            )


def ask(study, kind, whole=False, **options):
    return numbers(study, read_asked(kind, options), whole=whole)


@pytest.fixture
def settled(study):
    """Eighty bugs of three repositories and none, merged over two years, with drawn labels."""
    draw = random.Random(7)
    places = {name: Repository.objects.create(study=study, label=name) for name in PLACES} | {"(no repository)": None}
    rows = []
    for bug in make_bugs(study, 80):
        name = draw.choice(list(places))
        bug.item.repository = places[name]
        month = draw.randrange(24)
        bug.item.merged_at = dt.datetime(2020 + month // 12, month % 12 + 1, 3, tzinfo=dt.UTC) if month else None
        bug.item.save()
        labels = {"cause": draw.choice(["type", "type", "shape", "api"])}
        if draw.random() < 0.8:
            labels["stage"] = draw.choice(["training", "deployment", "not applicable"])
        settle(study, bug, labels)
        rows.append(labels | {"repository": name, "month": month})
    return study, rows


def test_distribution_has_every_count_share_and_interval(settled):
    study, rows = settled
    sheet = ask(study, "distribution", by="cause")
    counted = Counter(row["cause"] for row in rows)
    assert {r["category"]: r["bugs"] for r in sheet.records()} == counted
    assert [r["bugs"] for r in sheet.records()] == sorted(counted.values(), reverse=True)
    for row in sheet.records():
        share = share_of(row["bugs"], 80)
        assert (row["share"], row["low"], row["high"]) == (share.value, *share.ci)
    assert sheet.told == "n = 80 bugs"


def test_every_bug_is_counted_or_left_out_for_one_reason(settled):
    study, _ = settled
    _, third, fourth, fifth, gone = make_bugs(study, 5)
    stage = category(study, "stage", "training").facet
    Resolution.objects.create(study=study, bug=third, facet=stage, source="unresolved", category=None)
    for bug, reason in ((fourth, "not_a_bug"), (gone, "withdrawn")):
        Bug.objects.filter(pk=bug.pk).update(
            left_at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC), left_reason=reason, left_note="Said so."
        )
    settle(study, gone, {"stage": "training"})
    sheet = ask(study, "distribution", by="stage")
    assert sheet.left_out == {
        "duplicate": 0,
        "withdrawn": 1,
        "not_a_bug": 1,
        "in_dispute": 0,
        "left_open": 1,
        "not_labelled": 80 - sheet.n + 2,
    }
    assert sheet.n + sum(sheet.left_out.values()) == 85
    assert fifth.left_at is None
    assert f"left out: 1 withdrawn, 1 not a bug, 1 left open by decision, {82 - sheet.n} without" in sheet.told


def test_disputes_are_left_out_until_they_are_settled(main_round, bugs, alice, bob, lee):
    for place, bug in enumerate(bugs):
        answer(main_round, bug, alice, {"cause": "type", "stage": "training"})
        answer(main_round, bug, bob, {"cause": "type" if place else "api", "stage": "training"})
    close_round(round_=main_round, by=lee)
    sheet = ask(main_round.study, "distribution", by="cause")
    assert (sheet.n, sheet.left_out["in_dispute"], sheet.left_out["not_labelled"]) == (5, 1, 0)
    crossed = ask(main_round.study, "cross", by="stage", across="cause")
    assert (crossed.n, crossed.left_out["in_dispute"]) == (5, 1)
    assert ask(main_round.study, "distribution", by="cause", labels="alice").n == 6


def test_ranks_that_other_labels_would_change_are_marked(main_round, bugs, alice, bob, lee):
    for place, bug in enumerate(bugs):
        answer(main_round, bug, alice, {"cause": "type" if place < 4 else "shape", "stage": "training"})
        answer(main_round, bug, bob, {"cause": "type" if place < 2 else "shape", "stage": "training"})
    close_round(round_=main_round, by=lee)
    turns = {
        turn.labels: turn
        for turn in ask(main_round.study, "distribution", whole=True, by="cause", labels="alice").turns
    }
    assert set(turns) == {"final", "unanimous", "bob"}
    assert (turns["bob"].n, turns["bob"].changed) == (6, (("type", "1 → 2"), ("shape", "2 → 1")))
    assert turns["unanimous"].changed == (("shape", "2 → 1"),)


def test_signs_that_other_labels_would_change_are_marked(study, alice, bob, lee):
    bugs = make_bugs(study, 60)
    round_ = make_round(study, bugs=bugs, raters=[alice, bob], by=lee)
    for place, bug in enumerate(bugs):
        stage = "training" if place % 2 else "deployment"
        answer(round_, bug, alice, {"cause": "type" if place % 2 else "shape", "stage": stage})
        answer(round_, bug, bob, {"cause": "type" if place % 4 < 2 else "shape", "stage": stage})
    close_round(round_=round_, by=lee)
    turns = {t.labels: t for t in ask(study, "cross", whole=True, by="cause", across="stage", labels="alice").turns}
    assert ("type", "training", "more often than chance → as chance has it") in turns["bob"].changed


def test_cross_table_has_counts_shares_and_lift(settled):
    study, rows = settled
    sheet = ask(study, "cross", by="cause", across="stage")
    both = [row for row in rows if "stage" in row]
    cells = Counter((row["cause"], row["stage"]) for row in both)
    causes, stages = Counter(row["cause"] for row in both), Counter(row["stage"] for row in both)
    assert sheet.n == len(both)
    assert len(sheet.rows) == len(causes) * len(stages)
    for row in sheet.records():
        n = cells[row["row"], row["column"]]
        found = lift(n, causes[row["row"]], stages[row["column"]], len(both))
        assert row["bugs"] == n
        assert row["row_share"] == n / causes[row["row"]]
        assert row["column_share"] == n / stages[row["column"]]
        assert (row["lift"], row["lift_low"]) == (found.value, found.ci[0] if found.ci else None)
    chi = sheet.tests[0]
    assert (chi.name, chi.n, chi.degrees) == ("Chi-square", len(both), (len(causes) - 1) * (len(stages) - 1))


def test_repository_can_be_either_side(settled):
    study, rows = settled
    cells = Counter((row["cause"], row["repository"]) for row in rows)
    for options, keys in (
        ({"by": "cause", "across": "repository"}, ("row", "column")),
        ({"by": "repository", "across": "cause"}, ("column", "row")),
    ):
        sheet = ask(study, "cross", **options)
        assert {(r[keys[0]], r[keys[1]]): r["bugs"] for r in sheet.records() if r["bugs"]} == cells


def test_two_by_two_is_tested_exactly(study):
    for place, bug in enumerate(make_bugs(study, 20)):
        settle(
            study, bug, {"cause": "type" if place < 10 else "shape", "stage": "training" if place < 9 else "deployment"}
        )
    tests = {test.name: test for test in ask(study, "cross", by="cause", across="stage").tests}
    assert tests["Fisher, exact"].p == pytest.approx(0.00011907, rel=1e-3)


@pytest.mark.django_db
def test_chi_square_of_many_answers_is_refused_with_its_reason():
    study = StudyFactory()
    make_codebook(study, {"part": ["core", "cuda"], "cause": ["type", "shape"]}, many=["part"])
    for place, bug in enumerate(make_bugs(study, 4)):
        settle(study, bug, {"part": ["core", "cuda"], "cause": "type" if place else "shape"})
    sheet = ask(study, "cross", by="part", across="cause")
    assert {(test.p, test.reason) for test in sheet.tests} == {(None, "set_valued")}
    assert (sheet.n, sum(sheet.column("bugs"))) == (4, 8)


def test_pairs_of_facets_are_corrected_for_their_number(settled):
    study, _ = settled
    sheet = ask(study, "association")
    assert len(sheet.rows) == 1
    assert sheet.records()[0]["holm"] == sheet.records()[0]["p"]


def test_months_without_a_bug_are_there_and_undated_bugs_are_told(settled):
    study, rows = settled
    sheet = ask(study, "trend", by="cause")
    counted = Counter((f"{2020 + r['month'] // 12}-{r['month'] % 12 + 1:02}", r["cause"]) for r in rows if r["month"])
    assert {(r["period"], r["category"]): r["bugs"] for r in sheet.records() if r["bugs"]} == counted
    months = list(dict.fromkeys(sheet.column("period")))
    assert months == [f"{2020 + m // 12}-{m % 12 + 1:02}" for m in range(24)][24 - len(months) :]
    assert sheet.left_out["no_moment"] == sum(not row["month"] for row in rows)
    quarters = ask(study, "trend", by="cause", period="quarter").records()
    assert quarters[0]["period"] == "2020 Q1"
    assert sum(row["bugs"] for row in quarters) == sheet.n == sum(counted.values())


def test_share_is_weighted_where_strata_come_from_unequal_pools(study, lee):
    sample = Sample.objects.create(
        study=study, number=1, name="S", rule={}, seed=1, digest="d", pool_size=400, drawn_by=lee
    )
    strata = [
        Stratum.objects.create(sample=sample, label=label, size=size, quota=10)
        for label, size in (("a", 300), ("b", 100))
    ]
    for place, bug in enumerate(make_bugs(study, 20)):
        stratum = strata[place % 2]
        Drawn.objects.create(
            sample=sample,
            stratum=stratum,
            position=place + 1,
            item=bug.item,
            state="taken",
            taken_at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
        )
        settle(study, bug, {"cause": "type" if place % 2 or place < 4 else "shape"})
    row = next(r for r in ask(study, "distribution", by="cause").records() if r["category"] == "type")
    expected = weighted([Part(k=2, n=10, pool=300), Part(k=10, n=10, pool=100)])
    assert row["share"] == 0.6
    assert (row["weighted"], row["weighted_low"], row["weighted_high"]) == (expected.value, *expected.ci)
    Stratum.objects.update(size=200)
    assert "weighted" not in ask(study, "distribution", by="cause").records()[0]


def test_interval_by_pull_request_stands_where_bugs_share_one(settled):
    study, _ = settled
    asked = read_asked("distribution", {"by": "cause"})
    assert "shared_low" not in numbers(study, asked, simulate=monte_carlo).records()[0]
    first = Bug.objects.filter(study=study).order_by("number")[0]
    twin = Bug.objects.create(study=study, item=first.item, ordinal=2, number=900)
    settle(study, twin, {"cause": "type"})
    drawn = numbers(study, asked, simulate=monte_carlo)
    for row in drawn.records():
        assert row["shared_low"] < row["share"] < row["shared_high"]
    assert drawn == numbers(study, asked, simulate=monte_carlo)
    assert "shared_low" not in numbers(study, asked).records()[0]


def test_large_tables_are_tested_by_drawing_tables_and_the_same_each_time(settled):
    study, _ = settled
    asked = read_asked("cross", {"by": "cause", "across": "stage"})
    assert [test.name for test in numbers(study, asked).tests] == ["Chi-square"]
    chi, simulated = numbers(study, asked, simulate=monte_carlo).tests
    assert simulated.name == "Fisher, Monte Carlo"
    assert simulated.p == pytest.approx(chi.p, abs=0.05)
    assert numbers(study, asked, simulate=monte_carlo).tests[1] == simulated


@pytest.mark.parametrize("table", [[[8, 2], [1, 9]], [[30, 28], [25, 31]], [[3, 0], [0, 4]]])
def test_drawn_tables_give_the_exact_p(table):
    assert monte_carlo(table) == pytest.approx(fisher_exact(table).pvalue, abs=0.01)


def test_totals_of_broader_categories_stand_beside_and_top_level_counts_them(study):
    api = category(study, "cause", "api")
    for name in ("wrong name", "wrong argument"):
        Category.objects.create(facet=api.facet, name=name, parent=api)
    for bug, name in zip(make_bugs(study, 4), ("api", "wrong name", "wrong name", "shape"), strict=True):
        settle(study, bug, {"cause": name})
    given = {r["category"]: (r["bugs"], r["with_narrower"]) for r in ask(study, "distribution", by="cause").records()}
    assert given == {"wrong name": (2, None), "api": (1, 3), "shape": (1, None)}
    top = ask(study, "distribution", by="cause", level="top")
    assert {r["category"]: r["bugs"] for r in top.records()} == {"api": 3, "shape": 1}


def test_time_per_bug_is_told_by_category_and_never_by_rater(main_round, bugs, alice, bob, lee):
    for place, bug in enumerate(bugs):
        for rater, seconds in ((alice, 10 * place), (bob, 100)):
            answer(main_round, bug, rater, {"cause": "type", "stage": "training"}, active_seconds=seconds)
    close_round(round_=main_round, by=lee)
    assert Assignment.objects.filter(active_seconds=0).count() == 1
    sheet = ask(main_round.study, "time", by="cause")
    row = sheet.records()[0]
    assert (row["turns"], row["median"], sheet.left_out) == (11, 100, {"not_timed": 1})
    assert "alice" not in str(sheet.document()) and "bob" not in str(sheet.document())


def test_quartiles_lie_between_the_nearest_values():
    assert [quantile(Counter([10, 20, 30, 40]), q) for q in (0.25, 0.5, 0.75)] == [17.5, 25, 32.5]
    assert quantile(Counter(), 0.5) is None


def test_agreement_is_that_of_the_blind_answers(main_round, bugs, alice, bob, lee):
    for place, bug in enumerate(bugs):
        answer(main_round, bug, alice, {"cause": "type" if place % 2 else "api", "stage": "training"})
        answer(main_round, bug, bob, {"cause": "type" if place % 2 or place == 0 else "api", "stage": "training"})
    close_round(round_=main_round, by=lee)
    sheet = ask(main_round.study, "agreement")
    by_facet = {row["facet"]: row for row in sheet.records()}
    assert by_facet["Cause"]["kappa"] == pytest.approx(2 / 3)
    assert (by_facet["Stage"]["kappa"], by_facet["Stage"]["reason"]) == (None, "single_category")
    assert (sheet.n, sheet.unit) == (6, "bugs in the largest round")
    for name in ("cause", "CAUSE"):
        assert ask(main_round.study, "agreement", by=name).column("facet") == ["Cause"]
    with pytest.raises(BadInput, match="no facet “repository”"):
        ask(main_round.study, "agreement", by="repository")


def test_agreement_of_screening_votes_stands_beside_that_of_answers(main_round, bugs, alice, bob, lee, client):
    study = main_round.study
    screening = make_screening(study, reviewers=[alice, bob], by=lee, count=8, name="First reading")
    for place in range(1, 9):
        for reviewer in (alice, bob):
            screen(screening, reviewer, {place: "in" if place % 2 or (place == 2 and reviewer == bob) else "E1"})
    close_screening(screening=screening, by=lee)
    votes = ask(study, "agreement", by="vote")
    assert [(row["facet"], row["bugs"], row["kappa"]) for row in votes.records()] == [("Screening vote", 8, 0.75)]
    assert (votes.n, votes.unit) == (8, "candidates in the largest screening")
    for bug in bugs:
        for rater in (alice, bob):
            answer(main_round, bug, rater, {"cause": "type", "stage": "training"})
    close_round(round_=main_round, by=lee)
    sheet = ask(study, "agreement")
    assert sheet.column("facet") == ["Cause", "Stage", "Screening vote"]
    assert (sheet.n, sheet.unit) == (6, "bugs in the largest round"), "candidates are no bugs"
    client.force_login(alice)
    page = client.get("/frameworks/analysis/tables/agreement/?by=vote").content.decode()
    assert '<option value="vote" selected>Screening vote</option>' in page
    assert (
        actions.ask(study=study, asked=read_asked("agreement", {"by": "Screening vote"}), by=lee).asked["by"] == "vote"
    )


def test_likeness_needs_no_test_and_says_over_how_many_categories(settled):
    sheet = ask(settled[0], "correlation", by="cause")
    assert len(sheet.rows) == 6
    assert {row["categories"] for row in sheet.records()} == {3}
    assert "p" not in [column.key for column in sheet.columns]


def test_published_counts_stand_beside_the_studys(settled):
    study, rows = settled
    sheet = ask(study, "comparison", by="cause", published={"Type": 5, "leak": 15}, published_as="A paper")
    found = {row["category"]: row for row in sheet.records()}
    counted = Counter(row["cause"] for row in rows)
    assert (found["type"]["bugs"], found["type"]["other_bugs"], found["type"]["other_share"]) == (
        counted["type"],
        5,
        0.25,
    )
    assert (found["leak"]["bugs"], found["leak"]["other_rank"], found["leak"]["rank"]) == (0, 1, 4)
    assert found["type"]["difference"] == counted["type"] / 80 - 0.25


def test_document_reads_back_as_it_was(settled):
    for sheet in (ask(settled[0], "cross", by="cause", across="stage"), ask(settled[0], "distribution", by="cause")):
        assert sheet_of(json.loads(json.dumps(sheet.document()))) == sheet


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        ("pie", {}, "no table “pie”"),
        ("cross", {"by": "cause"}, "across=FACET"),
        ("cross", {"by": "cause", "across": "Cause"}, "two different sides"),
        ("distribution", {"by": "colour"}, "no facet “colour”"),
        ("distribution", {"by": "cause", "order": "size"}, "order is one of"),
        ("distribution", {"by": "cause", "title": "x" * 201}, "at most 200"),
        ("comparison", {"by": "cause"}, "what to compare with"),
        ("comparison", {"by": "cause", "published": {"a": -1}}, "no whole number"),
        ("comparison", {"by": "cause", "published": {"a": 0}}, "all 0"),
        ("comparison", {"by": "cause", "published": ["a"]}, "by category"),
        ("distribution", {"by": "cause", "title": "a\x00b"}, "NUL"),
        ("distribution", {"by": ["cause"]}, "is a text"),
    ],
)
def test_what_cannot_be_shown_is_said(study, kind, options, said):
    with pytest.raises(BadInput, match=said):
        ask(study, kind, **options)


def test_labels_of_an_open_round_are_nowhere(main_round, bugs, alice, bob):
    before = [
        ask(main_round.study, "distribution", by="cause", labels=name) for name in ("final", "unanimous", "alice")
    ]
    for rater in (alice, bob):
        answer(main_round, bugs[0], rater, {"cause": "type", "stage": "training"}, active_seconds=30)
    after = [ask(main_round.study, "distribution", by="cause", labels=name) for name in ("final", "unanimous", "alice")]
    assert before == after
    assert ask(main_round.study, "time", by="cause").n == 0


def test_bugs_counted_in_halves_are_each_counted_once(settled):
    study, rows = settled
    reading = Reading(study)
    if connection.vendor == "postgresql":
        (first, middle), (same, last) = reading.spans
        ids = set(study.bugs.values_list("pk", flat=True))
        assert first < min(ids) < middle == same <= max(ids) < last
    cause, stage = reading.question("cause"), reading.question("stage")
    assert sum(reading.categories(cause).values()) == sum(reading.places(cause).values()) == len(rows)
    assert sum(reading.months(cause, "merged").values()) == len(rows)
    assert sum(reading.pairs(cause, stage).values()) == sum("stage" in row for row in rows)


def test_a_study_of_one_bug_or_none_is_counted(study):
    assert Reading(study).categories(Reading(study).questions[0]) == {}
    (bug,) = make_bugs(study, 1)
    settle(study, bug, {"cause": "type"})
    assert ask(study, "distribution", by="cause").n == 1
