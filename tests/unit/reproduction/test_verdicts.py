"""From what each run gave to one word."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.reproduction import recipes
from annotator.reproduction.comparing import compare, same
from annotator.reproduction.verdicts import COUNTED, Try, judge
from annotator.stats.proportions import wilson

OUTCOMES = [
    "bug",
    "no_bug",
    "no_interpreter",
    "not_installed",
    "out_of_memory",
    "timed_out",
    "no_gpu",
    "refused",
    "lost",
    "fault",
    "too_much",
]
FAULTS = [outcome for outcome in OUTCOMES if outcome not in COUNTED]


def contrast(*expected):
    listed = [{"name": f"e{n}", "python": "3.11", "expect": one} for n, one in enumerate(expected)]
    return recipes.from_document({"name": "x", "script": "x.py", "environments": listed, "oracle": {"timeout": True}})


def differential(count, **more):
    listed = [{"name": f"e{n}", "python": "3.11"} for n in range(count)]
    return recipes.from_document(
        {"name": "x", "script": "x.py", "kind": "differential", "environments": listed, **more}
    )


def word(recipe, *outcomes):
    """`outcomes` by environment, as words."""
    return judge(recipe, {f"e{n}": [Try(outcome=each) for each in given.split()] for n, given in enumerate(outcomes)})


@pytest.mark.parametrize(
    ("buggy", "fixed", "verdict"),
    [
        ("bug bug bug", "no_bug no_bug no_bug", "reproduced"),
        ("bug bug lost", "no_bug fault no_bug", "reproduced"),
        ("no_bug no_bug", "no_bug no_bug", "not_reproduced"),
        ("no_bug no_bug", "bug bug", "not_reproduced"),
        ("bug bug", "bug bug", "fixed_also_fails"),
        ("bug no_bug bug", "no_bug no_bug", "flaky"),
        ("bug bug", "no_bug bug", "flaky"),
        ("no_interpreter no_interpreter", "no_bug no_bug", "infrastructure"),
        ("bug bug", "not_installed not_installed", "infrastructure"),
        ("out_of_memory", "no_bug", "infrastructure"),
        ("bug no_bug", "timed_out timed_out", "infrastructure"),
        ("no_gpu", "no_gpu", "infrastructure"),
        ("refused", "refused", "infrastructure"),
    ],
)
def test_the_verdict_of_a_contrast(buggy, fixed, verdict):
    told = word(contrast("bug", "no_bug"), buggy, fixed)
    assert (told.verdict, bool(told.said), told.votes) == (verdict, True, None)


def test_without_a_fixed_version_the_buggy_runs_decide():
    assert word(contrast("bug"), "bug bug").verdict == "reproduced"


def test_the_bug_has_to_show_in_every_buggy_environment():
    told = word(contrast("bug", "bug", "no_bug"), "bug", "no_bug", "no_bug")
    assert (told.verdict, told.said) == ("not_reproduced", "The bug did not show in e1.")


def test_a_run_that_is_not_through_keeps_the_verdict_open():
    recipe = contrast("bug", "no_bug")
    told = judge(recipe, {"e0": [Try(outcome="bug"), Try(outcome="")], "e1": [Try(outcome="no_bug")]})
    assert (told.verdict, told.environments[0].outcome) == ("waiting", "waiting")


def test_a_flaky_bug_is_told_with_its_rate_and_interval():
    told = word(contrast("bug", "no_bug"), "bug no_bug no_bug no_bug", "no_bug")
    one = told.environments[0]
    assert (one.outcome, one.rate, one.counted) == ("flaky", 0.25, 4)
    assert one.interval == pytest.approx((0.045587, 0.699358), abs=1e-6)
    assert "1 of 4 runs (25 %; 95 % interval 5 to 70 %)" in told.said


def test_wilsons_interval_is_the_published_one():
    """Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29."""
    for successes, n, low, high in [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ]:
        assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)
    assert wilson(0, 0) is None


lists = st.lists(st.sampled_from(OUTCOMES), max_size=6)


@given(lists, lists, st.lists(st.sampled_from(FAULTS), max_size=4))
def test_faults_never_change_what_counted_runs_say(buggy, fixed, faults):
    recipe = contrast("bug", "no_bug")
    before = word(recipe, " ".join(buggy), " ".join(fixed)).verdict
    after = word(recipe, " ".join(buggy + faults), " ".join(fixed)).verdict
    assert before == after


@given(lists, lists)
def test_the_verdict_is_as_the_definition_has_it(buggy, fixed):
    told = word(contrast("bug", "no_bug"), " ".join(buggy), " ".join(fixed))
    counted = [{one for one in given if one in COUNTED} for given in (buggy, fixed)]
    expected = {
        ("bug", "no_bug"): "reproduced",
        ("bug", "bug"): "fixed_also_fails",
        ("no_bug", "no_bug"): "not_reproduced",
        ("no_bug", "bug"): "not_reproduced",
    }
    if not all(counted):
        assert told.verdict == "infrastructure"
    elif any(len(found) > 1 for found in counted):
        assert told.verdict == "flaky"
    else:
        assert told.verdict == expected[(*counted[0], *counted[1])]


@given(lists, lists, st.randoms(use_true_random=False))
def test_the_order_of_runs_says_nothing(buggy, fixed, chance):
    recipe = contrast("bug", "no_bug")
    shuffled = sorted(buggy, key=lambda _: chance.random())
    one, other = word(recipe, " ".join(buggy), " ".join(fixed)), word(recipe, " ".join(shuffled), " ".join(fixed))
    assert one.verdict == other.verdict


# --- differential


def seen(recipe, *values):
    return judge(
        recipe,
        {
            f"e{n}": [Try(outcome="observed", observed={"value": each}) for each in given]
            for n, given in enumerate(values)
        },
    )


def test_the_odd_one_is_named():
    told = seen(differential(3), ["1"], ["2"], ["1"])
    assert (told.verdict, told.votes.deviants, told.votes.majority) == ("reproduced", ("e1",), ("e0", "e2"))
    assert told.said == "2 of 3 agree; e1 deviates."


def test_all_alike_is_not_reproduced():
    told = seen(differential(2), [5.0, 5.0], [5.0 + 1e-9])
    assert told.verdict == "reproduced"
    told = seen(differential(2, compare="metric", metric="x", tolerance=1e-6), [5.0, 5.0], [5.0 + 1e-9])
    assert (told.verdict, told.votes.deviants) == ("not_reproduced", ())


@pytest.mark.parametrize("values", [["1", "2"], ["1", "2", "3"], ["1", "1", "2", "2"]])
def test_a_tie_is_said(values):
    told = seen(differential(len(values)), *[[value] for value in values])
    assert (told.verdict, told.votes.is_tie, told.votes.deviants) == ("reproduced", True, ())


def test_a_crash_deviates():
    runs = {"e0": {"value": "1"}, "e1": {"value": "1"}, "e2": {"crashed": "ValueError"}}
    told = judge(differential(3), {name: [Try(outcome="observed", observed=value)] for name, value in runs.items()})
    assert told.votes.deviants == ("e2",)


def test_what_differs_from_run_to_run_is_flaky():
    told = seen(differential(2), ["1", "2"], ["1", "1"])
    assert (told.verdict, told.environments[0].outcome, told.votes) == ("flaky", "flaky", None)


def test_an_environment_that_could_not_be_tried():
    runs = {
        "e0": [Try(outcome="observed", observed={"value": 1})],
        "e1": [Try(outcome="no_interpreter", said="No 3.4.")],
    }
    assert judge(differential(2), runs).said == "e1: No 3.4."


values = st.sampled_from(
    [0.0, 1.0, 1.0 + 1e-9, 2.0, float("nan"), float("inf"), "a", "a 1.0", "a 1.0000000001", None, True]
)


@given(st.lists(values, min_size=2, max_size=6), st.sampled_from([0.0, 1e-6]))
def test_votes_do_not_depend_on_the_order(given, tolerance):
    votes = set()
    for order in itertools.islice(itertools.permutations(range(len(given))), 8):
        told = compare({f"e{place}": given[place] for place in order}, tolerance=tolerance)
        votes.add((frozenset(told.majority), frozenset(told.deviants), told.is_tie))
    assert len(votes) == 1


@given(values, values)
def test_the_same_is_mutual_and_reflexive(one, other):
    assert same(one, one, tolerance=0) and same(one, other, tolerance=1e-6) == same(other, one, tolerance=1e-6)


@given(st.lists(values, min_size=2, max_size=6))
def test_everybody_is_in_one_group(given):
    told = compare({f"e{n}": value for n, value in enumerate(given)}, tolerance=1e-6)
    assert sorted(name for group in told.groups for name in group.environments) == sorted(
        f"e{n}" for n in range(len(given))
    )
    assert told.is_tie or len(told.majority) + len(told.deviants) == len(given)


def test_figures_in_text_are_compared_within_the_tolerance():
    assert same("loss 1.0 after 3", "loss 1.0000001  after 3", tolerance=1e-6)
    assert not same("loss 1.0 after 3", "loss 1.0 after 4", tolerance=1e-6)
    assert not same("numpy 1.18.0", "numpy 1.19.0", tolerance=1e9)
