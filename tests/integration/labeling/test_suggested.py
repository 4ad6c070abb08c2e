"""What path rules suggest: off in blind facets, shown and assisted where the protocol says so, openly by rule or jointly."""

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from annotator.adjudication.derived import derive
from annotator.adjudication.models import Resolution
from annotator.agreement.queries import entries
from annotator.codebook.actions import edit_facet
from annotator.codebook.changes import FacetChange
from annotator.codebook.models import Facet
from annotator.codebook.path_rules import Rule, set_rules
from annotator.collection.changed import changed_paths, listed_in
from annotator.collection.models import ChangedFile, Context, Repository
from annotator.labeling.models import Answer
from annotator.overview.rounds.closing import close_round
from annotator.studies.models import Study
from annotator.web.errors import Refused
from tests.factories import answer, make_round

SAID = {"cause": "type", "stage": "training"}


@pytest.fixture
def cause(study, bugs, lee):
    """Rules of one repository; three bugs change files below them."""
    facet = study.codebook.facets.select_related("codebook").get(key="cause")
    repository = Repository.objects.create(study=study, label="Lumen", owner="lumen", name="lumen")
    uids = {row.name: row.uid for row in facet.categories.all()}
    rules = [Rule("core/types/", uids["type"]), Rule("core/", ""), Rule("api/", uids["api"])]
    set_rules(facet=facet, repository="lumen/lumen", rules=rules, by=lee)
    for bug, paths in zip(
        bugs, [["core/types/a.c", "docs/x"], ["api/b.py", "core/types/a.c"], ["core/c.c"]], strict=False
    ):
        bug.item.repository = repository
        bug.item.save()
        for place, path in enumerate(paths):
            ChangedFile.objects.create(item=bug.item, position=place, path=path)
    return facet


@pytest.fixture
def round_(study, cause, bugs, alice, bob, lee):
    return make_round(study, bugs=bugs[:3], raters=[alice, bob], by=lee)


@pytest.fixture
def shown_to_raters(study):
    Study.objects.filter(pk=study.pk).update(protocol={"suggest_in_blind": True})
    study.refresh_from_db()


def bug_page(client, rater, round_, bug):
    client.force_login(rater)
    return client.get(reverse("labeling:bug", args=["frameworks", round_.number, bug.number])).content.decode()


# --- in a blind facet


def test_off_in_a_blind_facet(client, round_, bugs, alice):
    assert "suggest" not in bug_page(client, alice, round_, bugs[0])
    answer(round_, bugs[0], alice, SAID)
    assert not Answer.objects.filter(is_assisted=True).exists()


def test_where_the_protocol_says_so_it_is_shown_with_its_files_and_the_answer_is_assisted(
    client, shown_to_raters, study, round_, bugs, alice, bob, lee
):
    text = bug_page(client, alice, round_, bugs[0])
    for word in ("Its files suggest <b>type</b>", "core/types/a.c", "by core/types/", "1 file say nothing"):
        assert word in " ".join(text.split()), word
    assert "or <b>" in bug_page(client, alice, round_, bugs[1])
    assert "suggest" not in bug_page(client, alice, round_, bugs[2])
    for bug in bugs[:3]:
        for rater in (alice, bob):
            answer(round_, bug, rater, SAID)
    assisted = set(Answer.objects.filter(is_assisted=True).values_list("bug__number", "facet__key"))
    assert assisted == {(1, "cause"), (2, "cause")}
    close_round(round_=round_, by=lee)
    assert {entry["facet"]: entry["assisted"] for entry in entries(study)} == {"cause": True, "stage": False}


def test_over_rest_a_turn_says_what_is_suggested(shown_to_raters, round_, bugs, alice):
    api = APIClient()
    api.force_authenticate(alice)
    address = f"/api/v1/studies/frameworks/rounds/{round_.number}/bugs/"
    (said,) = api.get(f"{address}2/").json()["suggestions"]
    assert (said["facet"], said["kind"]) == ("cause", "several")
    assert {one["name"]: one["files"] for one in said["categories"]} == {
        "type": [{"path": "core/types/a.c", "prefix": "core/types/"}],
        "api": [{"path": "api/b.py", "prefix": "api/"}],
    }
    assert api.get(f"{address}3/").json()["suggestions"] == []


# --- by rule


@pytest.fixture
def by_rule(cause, lee):
    return edit_facet(facet=cause, by=lee, change=FacetChange(decided="rule"))


def close(study, bugs, alice, bob, lee):
    round_ = make_round(study, bugs=bugs[:3], raters=[alice, bob], by=lee)
    for bug in bugs[:3]:
        for rater in (alice, bob):
            answer(round_, bug, rater, {"stage": "training"})
    return close_round(round_=round_, by=lee)


def labels(facet):
    rows = Resolution.objects.current().filter(facet=facet).select_related("category", "bug")
    return {row.bug.number: (row.source, row.category.name, row.note) for row in rows}


def test_a_facet_decided_by_rule_gets_its_labels_with_the_evidence_when_a_round_closes(
    study, by_rule, bugs, alice, bob, lee
):
    round_ = close(study, bugs, alice, bob, lee)
    assert labels(by_rule) == {1: ("derived", "type", "core/types/a.c (rule core/types/)")}
    assert Resolution.objects.get(facet=by_rule).round == round_
    entry = next(entry for entry in entries(study) if entry["facet"] == "cause")
    assert (entry["kappa"], entry["reason"]) == (None, "rule")


def test_other_rules_give_other_labels_and_the_old_ones_stay_as_history(study, by_rule, bugs, alice, bob, lee):
    close(study, bugs, alice, bob, lee)
    uid = by_rule.categories.get(name="shape").uid
    set_rules(facet=by_rule, repository="lumen/lumen", rules=[Rule("core/", uid)], by=lee)
    outcome = derive(study=study, facet=by_rule, by=lee)
    assert (outcome.labelled, outcome.same, outcome.left) == (3, 0, 0)
    assert {number: name for number, (_, name, _) in labels(by_rule).items()} == dict.fromkeys((1, 2, 3), "shape")
    assert Resolution.objects.filter(facet=by_rule, is_current=False).count() == 1
    assert derive(study=study, facet=by_rule, by=lee).same == 3


def test_what_a_sheet_said_stays(study, by_rule, bugs, alice, bob, lee):
    api = by_rule.categories.get(name="api")
    close(study, bugs, alice, bob, lee)
    Resolution.objects.filter(facet=by_rule).update(is_current=False)
    Resolution.objects.create(study=study, bug=bugs[0], facet=by_rule, category=api, source="imported")
    assert derive(study=study, facet=by_rule, by=lee).same == 1
    assert labels(by_rule)[1][:2] == ("imported", "api")


def test_a_facet_that_takes_several_gets_all_that_the_rules_name(study, by_rule, bugs, alice, bob, lee):
    Facet.objects.filter(pk=by_rule.pk).update(is_many=True)
    close(study, bugs, alice, bob, lee)
    assert Resolution.objects.current().filter(facet=by_rule, bug=bugs[1]).count() == 2


def test_nothing_is_derived_without_rules_or_in_another_facet(study, cause, lee):
    with pytest.raises(Refused, match="not decided by rule"):
        derive(study=study, facet=cause, by=lee)
    stage = study.codebook.facets.get(key="stage")
    Facet.objects.filter(pk=stage.pk).update(decided="rule")
    stage.refresh_from_db()
    with pytest.raises(Refused, match="no rules"):
        derive(study=study, facet=stage, by=lee)


# --- where the paths come from


def test_a_column_that_lists_files_stands_in_for_a_copy(bugs):
    item = bugs[5].item
    Context.objects.create(item=item, ordinal=1, values={"Note": "x", "Files": "a/b.c+1-2\nc/d e.py + 3 - 0\nf/cut\n"})
    assert changed_paths([(item.pk, 1), (item.pk, 2)]) == {
        (item.pk, 1): ["a/b.c", "c/d e.py", "f/cut"],
        (item.pk, 2): [],
    }


@pytest.mark.parametrize("cell", ["", "a sentence + 1 - 2 and more", "a/b.c", "words\na/b+1-1"])
def test_another_column_does_not(cell):
    assert listed_in({"Files": cell}) == []
