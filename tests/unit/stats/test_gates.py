import pytest

from annotator.stats.cohen import cohen
from annotator.stats.gates import Gate, answer
from annotator.stats.intervals import lower_limit_of_all
from annotator.stats.tables import Table

LOWER = Gate(coefficient="kappa", bound=0.8, method="lower")
VALUE = Gate(coefficient="kappa", bound=0.8, method="value")


def agreeing(n: int) -> Table:
    return Table({("A", "A"): n // 2, ("B", "B"): n - n // 2})


def test_a_value_at_the_bound_passes():
    assert answer(Gate("kappa", 1.0), cohen(agreeing(4))).result == "passed"


def test_a_value_below_the_bound_fails():
    kappa = cohen(Table({("A", "A"): 6, ("B", "B"): 6, ("A", "B"): 4}))
    assert answer(VALUE, kappa).result == "failed"


def test_a_value_above_the_bound_with_its_lower_end_below_fails_by_lower_alone():
    kappa = cohen(Table({("A", "A"): 45, ("B", "B"): 47, ("A", "B"): 8}))
    assert kappa.value is not None
    assert kappa.value > 0.8
    assert answer(VALUE, kappa).result == "passed"
    assert answer(LOWER, kappa).result == "failed"
    assert answer(LOWER, kappa).read == kappa.ci[0]


def test_one_category_alone_is_neither_passed_nor_failed():
    found = answer(VALUE, cohen(Table({("A", "A"): 5})))
    assert (found.result, found.reason) == ("not_computable", "single_category")


def test_too_few_bugs_are_neither_passed_nor_failed():
    found = answer(Gate("kappa", 0.8, min_n=30), cohen(agreeing(29)))
    assert (found.result, found.reason) == ("not_computable", "n_below_floor")
    assert answer(Gate("kappa", 0.8, min_n=30), cohen(agreeing(30))).result == "passed"


def test_perfect_agreement_is_held_by_the_exact_binomial_limit():
    found = answer(LOWER, cohen(agreeing(100)))
    assert found.read == pytest.approx(0.964, abs=5e-4)
    assert (found.result, found.is_binomial) == ("passed", True)


def test_perfect_agreement_on_few_bugs_does_not_pass():
    assert answer(LOWER, cohen(agreeing(16))).result == "failed"
    assert answer(LOWER, cohen(agreeing(17))).result == "passed"


def test_a_constant_rater_never_passes_on_observed_agreement():
    kappa = cohen(Table({("A", "A"): 99, ("A", "B"): 1}))
    assert (kappa.observed, kappa.se) == (0.99, 0.0)
    assert answer(LOWER, kappa).result == "failed"
    assert answer(Gate("kappa", 0.0, method="lower"), kappa).result == "not_computable"


@pytest.mark.parametrize("n", [1, 5, 100])
def test_the_limit_of_all_equals_clopper_and_pearson(n):
    from scipy.stats import beta

    assert lower_limit_of_all(n) == pytest.approx(beta.ppf(0.025, n, 1), rel=1e-12)
