"""Distributions of labels, against counting by hand."""

import json
import random
from collections import Counter

import pytest
from django.core.management import call_command
from scipy.stats import spearmanr

from annotator.adjudication.models import Resolution
from annotator.analysis.tables import tables
from annotator.codebook.models import Category, Facet
from annotator.collection.models import Repository
from annotator.overview.rounds.closing import close_round
from annotator.web.errors import BadInput
from tests.factories import StudyFactory, UserFactory, answer, make_bugs, make_codebook, make_round, member


def category(study, facet, name):
    return Category.objects.get(facet__codebook__study=study, facet__key=facet, name=name)


def settle(study, bug, labels, *, source="imported"):
    for key, names in labels.items():
        for slot, name in enumerate([names] if isinstance(names, str) else names):
            chosen = category(study, key, name)
            Resolution.objects.create(
                study=study, bug=bug, facet=chosen.facet, slot=slot, category=chosen, source=source
            )


@pytest.fixture
def settled(study):
    """Forty bugs of three repositories with drawn labels, and what they are."""
    draw = random.Random(7)
    places = [Repository.objects.create(study=study, label=name) for name in ("corvid", "Axon", "lumen/lumen")]
    rows = []
    for bug in make_bugs(study, 40):
        bug.item.repository = draw.choice([*places, None])
        bug.item.save()
        labels = {"cause": draw.choice(["type", "shape", "api"])}
        if draw.random() < 0.8:
            labels["stage"] = draw.choice(["training", "deployment", "not applicable"])
        settle(study, bug, labels)
        rows.append(labels | {"repository": bug.item.repository.label if bug.item.repository else "(no repository)"})
    return study, rows


def nested(counts):
    table = {}
    for (a, b), n in counts.items():
        table.setdefault(a, {})[b] = n
    return table


def test_every_count_is_that_of_counting_by_hand(settled):
    study, rows = settled
    read = tables(study)
    assert set(read["facets"]) == {"cause", "stage"}
    for facet in ("cause", "stage"):
        mine = [row for row in rows if facet in row]
        assert read["facets"][facet] == Counter(row[facet] for row in mine)
        assert read["bugs"][facet] == len(mine)
        assert read["by_repository"][facet] == nested(Counter((row[facet], row["repository"]) for row in mine))
    both = [row for row in rows if "stage" in row]
    assert set(read["crosstabs"]) == {"cause × stage", "stage × cause"}
    assert read["crosstabs"]["cause × stage"] == nested(Counter((row["cause"], row["stage"]) for row in both))
    assert read["crosstabs"]["stage × cause"] == nested(Counter((row["stage"], row["cause"]) for row in both))


def test_correlation_takes_zero_counts_and_is_scipys(settled):
    study, rows = settled
    pairs = tables(study)["spearman"]["cause"]
    assert next((pair["a"], pair["b"]) for pair in pairs) == ("(no repository)", "Axon")
    for pair in pairs:
        a, b = (
            [
                sum(row["cause"] == name and row["repository"] == place for row in rows)
                for name in ("type", "shape", "api")
            ]
            for place in (pair["a"], pair["b"])
        )
        assert pair["n"] == 3
        if pair["rho"] is None:
            assert len(set(a)) == 1 or len(set(b)) == 1
        else:
            assert pair["rho"] == pytest.approx(spearmanr(a, b).statistic)


def test_options_choose_the_table(settled):
    study, rows = settled
    whole = tables(study)
    one = tables(study, by="Cause", across="stage")
    assert one["crosstabs"] == {"cause × stage": whole["crosstabs"]["cause × stage"]}
    assert one["by_repository"] == {}
    assert list(tables(study, by="stage")["facets"]) == ["stage"]
    by_place = tables(study, by="repository", across="stage")
    assert set(by_place["crosstabs"]) == {"repository × stage"}
    assert by_place["crosstabs"]["repository × stage"]["Axon"] == Counter(
        row["stage"] for row in rows if row["repository"] == "Axon" and "stage" in row
    )
    assert by_place["by_repository"] == {"stage": whole["by_repository"]["stage"]}
    assert tables(study, by="repository")["crosstabs"] == {}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"by": "colour"}, "no facet “colour”"),
        ({"across": "cause"}, "--by"),
        ({"by": "cause", "across": "Cause"}, "two different sides"),
        ({"choice": "charlie"}, "“charlie” is none of them"),
    ],
)
def test_what_cannot_be_counted_is_said(study, options, said):
    with pytest.raises(BadInput, match=said):
        tables(study, **options)


def test_labels_of_an_open_round_are_counted_nowhere(main_round, bugs, alice, bob):
    for rater in (alice, bob):
        answer(main_round, bugs[0], rater, {"cause": "type", "stage": "training"})
    for choice in ("final", "unanimous", "alice"):
        assert tables(main_round.study, choice=choice)["facets"] == {}


def test_parent_counts_itself_alone_and_its_total_stands_beside(study):
    api = category(study, "cause", "api")
    for name in ("wrong name", "wrong argument"):
        Category.objects.create(facet=api.facet, name=name, parent=api)
    for bug, name in zip(make_bugs(study, 4), ("api", "wrong name", "wrong name", "shape"), strict=True):
        settle(study, bug, {"cause": name})
    read = tables(study)
    assert read["facets"]["cause"] == {"shape": 1, "api": 1, "wrong name": 2}
    assert read["rollup"]["cause"] == {"api": 3}


@pytest.mark.django_db
def test_facet_of_many_answers_counts_a_bug_under_each_and_once_in_a_total():
    study = StudyFactory()
    make_codebook(study, {"component": ["core", "cuda", "docs"], "cause": ["type"]}, many=["component"])
    core = category(study, "component", "core")
    core.children.set(Category.objects.filter(facet=core.facet, name__in=["cuda", "docs"]))
    one, other = make_bugs(study, 2)
    settle(study, one, {"component": ["cuda", "docs"], "cause": "type"})
    settle(study, other, {"component": "cuda", "cause": "type"})
    read = tables(study)
    assert read["facets"]["component"] == {"cuda": 2, "docs": 1}
    assert read["rollup"]["component"] == {"core": 2}
    assert read["bugs"]["component"] == 2
    assert read["crosstabs"]["cause × component"] == {"type": {"cuda": 2, "docs": 1}}


def test_name_given_anew_after_retirement_is_not_mixed_up(study):
    old = category(study, "cause", "api")
    settle(study, make_bugs(study, 1)[0], {"cause": "api"})
    old.state = Category.State.RETIRED
    old.save()
    new = Category.objects.create(facet=old.facet, name="api")
    bug = make_bugs(study, 1)[0]
    Resolution.objects.create(study=study, bug=bug, facet=new.facet, category=new, source="imported")
    assert tables(study)["facets"]["cause"] == {f"api ({old.uid})": 1, "api": 1}


def test_unanimous_and_one_raters_labels_come_from_blind_answers(main_round, bugs, alice, bob, lee):
    for place, bug in enumerate(bugs):
        answer(main_round, bug, alice, {"cause": "type", "stage": "training"})
        answer(main_round, bug, bob, {"cause": "type" if place < 4 else "api", "stage": "training"})
    close_round(round_=main_round, by=lee)
    study = main_round.study
    assert tables(study, choice="unanimous")["facets"] == {"cause": {"type": 4}, "stage": {"training": 6}}
    assert tables(study, choice="bob")["facets"]["cause"] == {"type": 4, "api": 2}


def test_unanimous_wants_the_same_set_where_many_answers_go(lee):
    study = StudyFactory()
    make_codebook(study, {"part": ["core", "cuda", "docs"]}, many=["part"])
    raters = [member(study, UserFactory(), "rater") for _ in range(2)]
    same, swapped, differs = bugs = make_bugs(study, 3)
    round_ = make_round(study, bugs=bugs, raters=raters, by=lee)
    sets = {
        same: (["core"], ["core"]),
        swapped: (["core", "cuda"], ["cuda", "core"]),
        differs: (["core"], ["core", "docs"]),
    }
    for bug, given in sets.items():
        for rater, names in zip(raters, given, strict=True):
            answer(round_, bug, rater, {"part": names})
    close_round(round_=round_, by=lee)
    assert tables(study, choice="unanimous")["facets"] == {"part": {"core": 2, "cuda": 1}}


def test_later_round_of_a_bug_wins_and_training_never_counts(main_round, bugs, alice, bob, lee):
    for rater in (alice, bob):
        answer(main_round, bugs[0], rater, {"cause": "type", "stage": "training"})
    close_round(round_=main_round, by=lee)
    for kind, cause in (("relabel", "api"), ("training", "shape")):
        later = make_round(main_round.study, bugs=bugs[:1], raters=[alice, bob], by=lee, kind=kind)
        for rater in (alice, bob):
            answer(later, bugs[0], rater, {"cause": cause, "stage": "training"})
        close_round(round_=later, by=lee)
    for choice in ("unanimous", "alice"):
        assert tables(main_round.study, choice=choice)["facets"]["cause"] == {"api": 1}


def test_verdict_is_shown_where_a_bug_is_none(study):
    one, other = make_bugs(study, 2)
    settle(study, one, {"verdict": "bug", "cause": "type"})
    assert "verdict" not in tables(study)["facets"]
    settle(study, other, {"verdict": "not a bug"})
    assert tables(study)["facets"]["verdict"] == {"bug": 1, "not a bug": 1}
    assert tables(study, by=Facet.VERDICT)["facets"] == {"verdict": {"bug": 1, "not a bug": 1}}


def test_number_of_queries_does_not_grow(settled, django_assert_num_queries):
    with django_assert_num_queries(7):
        tables(settled[0])


def test_command_prints_one_document_and_refuses_in_one_line(settled, capsys):
    study, _ = settled
    call_command("tables", study.slug, "--json")
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(tables(study)))
    with pytest.raises(SystemExit) as exit_:
        call_command("tables", "nowhere", "--json")
    out, err = capsys.readouterr()
    assert exit_.value.code == 2
    assert out == ""
    assert err.strip().count("\n") == 0
    assert "nowhere" in err
