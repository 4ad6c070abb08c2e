import json

import pytest

from annotator.agreement.queries import entries, entries_of, recompute
from tests.factories import answer, make_bugs, make_round, member
from tests.integration.agreement.votes import closed, labelled, rater_of, round_of

pytestmark = pytest.mark.django_db

KEYS = [
    "round", "facet", "raters", "blindness", "basis", "n", "excluded", "excluded_by", "observed", "expected", "kappa",
    "se", "ci", "kappa_linear", "kappa_quadratic", "ac1", "pabak", "reason", "warnings", "gate", "categories", "table",
]  # fmt: skip


def only(round_):
    found = [entry for entry in entries_of(round_) if entry["facet"] != "verdict"]
    assert len(found) == 1
    return found[0]


def verdict(round_):
    (found,) = [entry for entry in entries_of(round_) if entry["facet"] == "verdict"]
    return found


def test_an_entry_has_the_fixed_keys_in_their_order():
    entry = recompute(labelled({"alice": "XXYYXY", "bob": "XYYYXX"}))[0]
    assert list(entry)[: len(KEYS)] == KEYS


def test_one_category_alone_gives_null_with_a_reason_as_strict_json():
    round_ = labelled({"alice": "XXXXX", "bob": "XXXXX"}, categories="XYZW", gate_coefficient="kappa", gate_min_n=1)
    entry = only(round_)
    assert (entry["observed"], entry["n"], entry["kappa"], entry["reason"]) == (1.0, 5, None, "single_category")
    assert (entry["gate"]["result"], entry["gate"]["reason"]) == ("not_computable", "single_category")
    assert [row["kappa"] for row in entry["categories"]] == [None] * 4
    json.dumps(entries_of(round_), allow_nan=False)


def test_high_agreement_with_a_negative_kappa_carries_its_companions_and_a_warning():
    votes = {"alice": "b" * 18 + "bn", "bob": "b" * 18 + "nb"}
    entry = only(labelled(votes, categories="bn", gate_coefficient="kappa", gate_method="value"))
    assert entry["observed"] == 0.90
    assert entry["kappa"] == pytest.approx(-0.0526, abs=5e-5)
    assert entry["ac1"] == pytest.approx(0.8895, abs=5e-5)
    assert entry["pabak"] == pytest.approx(0.80)
    assert entry["warnings"] == ["prevalence"]
    assert entry["dominant"] == {"category": "b", "share": 0.95}
    assert (entry["gate"]["coefficient"], entry["gate"]["result"]) == ("kappa", "failed")


def test_bugs_that_both_left_blank_are_excluded_not_agreed_on():
    entry = only(labelled({"alice": "XXYYXY----", "bob": "XYYYXX----"}, categories=["X", "Y", "Unclear"]))
    assert entry["kappa"] == pytest.approx(1 / 3)
    assert (entry["n"], entry["excluded"]) == (6, 4)
    assert entry["excluded_by"] == {"not_a_bug_both": 0, "not_a_bug_one": 0, "skipped": 0, "unanswered": 4}


def test_bugs_that_one_left_blank_do_not_enter_chance():
    entry = only(labelled({"alice": "XXXYYYYY", "bob": "XXYYX---"}))
    assert entry["kappa"] == pytest.approx(1 / 6)
    assert (entry["n"], entry["excluded"]) == (5, 3)


def test_votes_are_paired_by_bug_whatever_the_order_of_the_raters():
    first = only(labelled({"alice": "PPQQRR", "bob": "PPQQRR"}, categories="PQR", slug="one"))
    second = only(labelled({"bob": "PPQQRR", "alice": "PPQQRR"}, categories="PQR", slug="two"))
    assert first["kappa"] == second["kappa"] == 1.0
    assert first["raters"] == second["raters"] == ["alice", "bob"]


def test_table_rows_are_the_first_rater_by_name():
    entry = only(labelled({"zoe": "XXY", "adam": "YYY"}, categories="XY"))
    assert entry["raters"] == ["adam", "zoe"]
    assert entry["table"]["categories"] == ["X", "Y"]
    assert entry["table"]["counts"] == [[0, 0], [2, 1]]


def test_not_applicable_is_an_answer_that_counts_as_a_category():
    votes = {"alice": ["X", "X", "not applicable", "Y"], "bob": ["X", "X", "not applicable", "not applicable"]}
    entry = only(labelled(votes, categories="XY", book={"optional": ["cause"]}))
    assert (entry["n"], entry["excluded"]) == (4, 0)
    assert entry["table"]["categories"][-1] == "not applicable"
    assert entry["pabak"] == pytest.approx((3 * 0.75 - 1) / 2)


def test_a_one_sided_not_a_bug_counts_in_the_verdict_and_is_excluded_elsewhere():
    round_ = labelled({"alice": "XXYY##!X", "bob": "XYYY#XXX"}, categories="XY")
    entry = only(round_)
    assert entry["excluded_by"] == {"not_a_bug_both": 1, "not_a_bug_one": 1, "skipped": 1, "unanswered": 0}
    assert (entry["n"], entry["excluded"]) == (5, 3)
    on_it = verdict(round_)
    assert on_it["table"] == {
        "categories": ["bug", "not a bug"],
        "counts": [[5, 0], [1, 1]],
        "uids": on_it["table"]["uids"],
    }
    assert on_it["kappa"] == pytest.approx(10 / 17)
    assert on_it["excluded_by"]["skipped"] == 1


def test_the_verdict_is_listed_only_where_somebody_said_not_a_bug():
    assert {entry["facet"] for entry in entries_of(labelled({"alice": "XY", "bob": "XY"}))} == {"cause"}


def test_an_open_round_gives_nothing():
    round_ = labelled({"alice": "XY", "bob": "XY"}, close=False)
    assert entries_of(round_) == recompute(round_) == entries(round_.study) == []


def test_one_rater_gives_one_entry_with_its_reason():
    (entry,) = entries_of(labelled({"alice": "XY-"}))
    assert (entry["raters"], entry["reason"], entry["kappa"]) == (["alice"], "one_rater", None)
    assert (entry["n"], entry["excluded"]) == (2, 1)


def test_raters_of_different_bugs_have_no_overlap():
    entry = only(labelled({"alice": "XY--", "bob": "--XY"}))
    assert (entry["n"], entry["kappa"], entry["reason"], entry["excluded"]) == (0, None, "no_overlap", 4)


def test_three_raters_give_three_pairs_and_one_entry_of_all():
    round_ = labelled({"alice": "XXYYX", "bob": "XXYXX", "cleo": "XYYYX"})
    found = entries_of(round_)
    assert [entry["raters"] for entry in found] == [
        ["alice", "bob"],
        ["alice", "cleo"],
        ["bob", "cleo"],
        ["alice", "bob", "cleo"],
    ]
    everybody = found[-1]
    assert {"round", "facet", "raters", "n", "fleiss", "alpha", "reason"} <= set(everybody)
    assert (everybody["n"], everybody["reason"]) == (5, None)
    assert everybody["fleiss"] == pytest.approx(0.4444444, abs=1e-6)


def test_fleiss_is_null_where_a_vote_is_missing_and_alpha_is_not():
    everybody = entries_of(labelled({"alice": "XXYYX", "bob": "XXYX-", "cleo": "XYYYX"}))[-1]
    assert (everybody["fleiss"], everybody["reason"], everybody["n"]) == (None, "no_overlap", 5)
    assert everybody["alpha"] is not None


def test_a_facet_with_several_answers_has_alpha_and_exact_matches_instead():
    votes = {"alice": [["X"], ["X", "Y"], ["Z"], ["Y"]], "bob": [["X"], ["X"], ["Z", "Y"], ["Y"]]}
    entry = only(labelled(votes, book={"many": ["cause"]}))
    assert (entry["kappa"], entry["reason"], entry["exact_match"]) == (None, "set_valued", 0.5)
    assert 0 < entry["alpha_masi"] < entry["alpha_jaccard"] < 1
    assert [row["category"] for row in entry["categories"]] == ["X", "Y", "Z"]
    assert entry["categories"][2]["kappa"] == 1.0


def test_weights_need_a_declared_order():
    votes = {"alice": ["low", "mid", "top", "low"], "bob": ["low", "top", "top", "mid"]}
    names = ["low", "mid", "high", "top"]
    plain = only(labelled(votes, categories=names, slug="nominal"))
    scaled = only(labelled(votes, categories=names, slug="ordinal", book={"ordinal": ["cause"]}))
    assert (plain["kappa_linear"], plain["kappa_quadratic"]) == (None, None)
    assert scaled["kappa"] == plain["kappa"]
    assert scaled["kappa_linear"] == pytest.approx(1 - (3 / 4) / (24 / 16))
    assert scaled["kappa_quadratic"] > scaled["kappa_linear"]


def test_rotating_pairs_say_which_bugs_others_had(study, lee):
    raters = [rater_of(study, name) for name in ("alice", "bob", "cleo")]
    bugs = make_bugs(study, 6)
    round_ = make_round(study, bugs=bugs, raters=raters, by=lee, design="rotating", overlap=2)
    for turn in round_.assignments.select_related("bug", "rater"):
        answer(round_, turn.bug, turn.rater, {"cause": "type", "stage": "training"})
    round_ = closed(round_, by=lee)
    found = [entry for entry in entries_of(round_) if entry["facet"] == "cause"]
    assert [(entry["n"], entry["excluded_by"].get("not_dealt")) for entry in found[:3]] == [(2, 4)] * 3
    assert (found[3]["n"], found[3]["fleiss"]) == (6, None)


def test_rounds_come_by_number_and_facets_in_the_codebooks_order(study, lee, alice, bob):
    bugs = make_bugs(study, 2)
    for name in ("Pilot", "Round 1"):
        round_ = make_round(study, bugs=bugs, raters=[alice, bob], by=lee, name=name)
        for rater in (alice, bob):
            for bug in bugs:
                answer(round_, bug, rater, {"cause": "type", "stage": "training"})
        round_ = closed(round_, by=lee)
    listed = [(entry["round"], entry["facet"]) for entry in entries(study)]
    assert listed == [("Pilot", "cause"), ("Pilot", "stage"), ("Round 1", "cause"), ("Round 1", "stage")]
    assert [entry["facet"] for entry in entries(study, facet="stage")] == ["stage", "stage"]


def test_a_changed_answer_counts_as_it_last_stood_before_the_close(study, lee, alice, bob):
    round_ = round_of(study, {"alice": ["-"], "bob": ["-"]}, by=lee, close=False)
    bug = round_.round_bugs.get().bug
    for rater, given in ((alice, "type"), (bob, "shape"), (alice, "shape")):
        answer(round_, bug, rater, {"cause": given, "stage": "training"})
    round_ = closed(round_, by=lee)
    entry = next(entry for entry in entries_of(round_) if entry["facet"] == "cause")
    assert (entry["n"], entry["observed"]) == (1, 1.0)


def test_a_stranger_to_the_round_changes_nothing(study, lee, ada):
    member(study, ada, "rater")
    round_ = round_of(study, {"alice": "----", "bob": "----"}, by=lee)
    assert entries_of(round_) == []
