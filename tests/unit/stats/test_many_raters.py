from collections import Counter

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from annotator.stats.many import alpha, fleiss
from annotator.stats.sets import SetTable, alpha_over, jaccard, masi

votes = st.lists(st.lists(st.sampled_from("ABC"), min_size=3, max_size=3).map(tuple), min_size=1, max_size=40)
votes_with_gaps = st.lists(st.tuples(*[st.sampled_from("ABC-")] * 3), min_size=1, max_size=40)
answers = st.frozensets(st.sampled_from("ABCD"), max_size=3)


@given(votes)
def test_fleiss_equals_statsmodels(bugs):
    assume(len({vote for bug in bugs for vote in bug}) > 1)
    theirs = fleiss_kappa(aggregate_raters(np.array([[ord(v) for v in bug] for bug in bugs]))[0])
    assert fleiss(Counter(bugs), raters=3).value == pytest.approx(theirs, abs=1e-12)


def test_fleiss_of_one_category_is_not_computable():
    found = fleiss({("A", "A", "A"): 4}, raters=3)
    assert (found.value, found.reason) == (None, "single_category")


def test_fleiss_needs_every_vote_where_alpha_does_not():
    bugs = {("A", "A", "B"): 4, ("B", "B", "B"): 3, ("A", "B"): 1}
    assert fleiss(bugs, raters=3).value is None
    assert fleiss(bugs, raters=3).reason == "no_overlap"
    assert alpha(bugs).value is not None


@settings(max_examples=100)
@given(votes_with_gaps)
def test_alpha_equals_krippendorff_with_missing_votes(bugs):
    units = [tuple(v for v in bug if v != "-") for bug in bugs]
    assume(len({v for unit in units if len(unit) > 1 for v in unit}) > 1)
    table = np.array([[np.nan if v == "-" else float(ord(v)) for v in bug] for bug in bugs]).T
    theirs = krippendorff.alpha(reliability_data=table, level_of_measurement="nominal")
    assert alpha(Counter(units)).value == pytest.approx(theirs, abs=1e-12)


def test_alpha_of_votes_that_never_meet_is_not_computable():
    assert alpha({("A",): 3, ("B",): 2}).reason == "no_overlap"


def test_alpha_of_one_category_is_not_computable():
    assert alpha({("A", "A"): 3, ("B",): 2}).reason == "single_category"


def test_votes_that_pair_with_nothing_do_not_move_alpha():
    bugs = {("A", "A"): 3, ("A", "B"): 2}
    assert alpha({**bugs, ("C",): 9}) == alpha(bugs)


@given(st.lists(st.tuples(*[st.sampled_from("ABC")] * 2), min_size=1, max_size=40))
def test_alpha_over_sets_of_one_answer_is_the_nominal_alpha(bugs):
    sets = Counter((frozenset(a), frozenset(b)) for a, b in bugs)
    nominal = alpha(Counter(bugs))
    for distance in (jaccard, masi):
        found = alpha_over(sets, distance=distance)
        assert found.value == (nominal.value and pytest.approx(nominal.value, abs=1e-12))


def test_distances_between_sets_worked_out_by_hand():
    one, two, three = frozenset("A"), frozenset("AB"), frozenset("BC")
    assert (jaccard(one, two), masi(one, two)) == (1 / 2, pytest.approx(1 - 1 / 2 * 2 / 3))
    assert (jaccard(two, three), masi(two, three)) == (
        pytest.approx(2 / 3),
        pytest.approx(1 - 1 / 3 * 1 / 3),
    )
    assert (jaccard(one, three), masi(one, three)) == (1.0, 1.0)
    assert (jaccard(frozenset(), frozenset()), masi(one, one)) == (0.0, 0.0)


@settings(max_examples=50)
@given(st.lists(st.tuples(answers, answers), min_size=1, max_size=25))
def test_alpha_over_sets_equals_its_definition(bugs):
    assume(len({a for bug in bugs for a in bug}) > 1)
    values = [a for bug in bugs for a in bug]
    n = len(values)
    for distance in (jaccard, masi):
        seen = sum(distance(*bug) for bug in bugs) / len(bugs)
        chance = sum(distance(a, b) for a in values for b in values) / (n * (n - 1))
        found = alpha_over(Counter(bugs), distance=distance).value
        assert found == pytest.approx(1 - seen / chance, abs=1e-12)


def test_sets_match_exactly_or_not_and_each_category_is_a_yes_or_no():
    both = frozenset({"A", "B"})
    table = SetTable({(both, both): 2, (both, frozenset("A")): 1, (frozenset("B"), frozenset("A")): 1})
    assert table.exact_match == 0.5
    assert table.yes_no("B").cells == {("yes", "yes"): 2, ("yes", "no"): 2}
    assert SetTable({}).exact_match is None


def test_the_error_of_alpha_is_close_to_the_jackknife():
    bugs = Counter({("A", "A", "B"): 30, ("B", "B", "B"): 90, ("A", "A"): 70, ("A", "B"): 12, ("C", "C", "B"): 20})
    n = sum(bugs.values())
    left = {bug: alpha({**bugs, bug: count - 1}).value for bug, count in bugs.items()}
    mean = sum(bugs[bug] * value for bug, value in left.items()) / n
    jackknife = ((n - 1) / n * sum(bugs[bug] * (value - mean) ** 2 for bug, value in left.items())) ** 0.5
    assert alpha(bugs).se == pytest.approx(jackknife, rel=0.02)
    sets = {tuple(frozenset(vote) for vote in bug): count for bug, count in bugs.items()}
    assert alpha_over(sets, distance=jaccard).se == pytest.approx(alpha(bugs).se, rel=1e-9)


def test_alpha_without_a_difference_has_no_variance():
    assert alpha({("A", "A"): 4, ("B", "B"): 4}).se == 0.0
