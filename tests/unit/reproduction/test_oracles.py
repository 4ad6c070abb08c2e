"""What a try shows, by what it wrote and how it ended."""

import math
import time

import pytest

from annotator.clients.patterns import TooSlow, search
from annotator.clients.sandboxes.job import Ended, How
from annotator.reproduction import recipes
from annotator.reproduction.comparing import same
from annotator.reproduction.oracles import exception_in, figure, json_in, judge

TRACEBACK = """Traceback (most recent call last):
  File "repro.py", line 3, in <module>
    f()
numpy.linalg.LinAlgError: Singular matrix
"""


def recipe(oracle=None, **more):
    described = {"name": "x", "script": "x.py", **more}
    buggy = {"name": "buggy", "python": "3.11", "expect": "bug"}
    if oracle is None:
        return recipes.from_document(
            described | {"kind": "differential", "environments": [{"name": name, "python": "3.11"} for name in "ab"]}
        )
    return recipes.from_document(described | {"environments": [buggy], "oracle": oracle})


def ended(stdout="", stderr="", code=0, how=How.EXITED):
    return Ended(
        how=how,
        exit_code=code if how == How.EXITED else None,
        seconds=1.0,
        cpu_seconds=1.0,
        peak_mb=10.0,
        stdout=stdout.encode(),
        stderr=stderr.encode(),
    )


@pytest.mark.parametrize(
    ("oracle", "shows", "does_not"),
    [
        ({"stdout_matches": "NaN: [1-9]"}, ended("rows\nNaN: 965"), ended("NaN: 0")),
        ({"stdout_matches": "^NaN$"}, ended("a\nNaN\nb"), ended("no NaN")),
        ({"stderr_matches": "overflow"}, ended(stderr="RuntimeWarning: overflow"), ended()),
        ({"exit_code": 3}, ended(code=3), ended(code=1)),
        ({"exit_code": 139}, ended(code=-11), ended(code=-6)),
        ({"exit_code": -11}, ended(code=139), ended()),
        ({"exception": "LinAlgError"}, ended(stderr=TRACEBACK, code=1), ended(stderr="LinAlgError", code=1)),
        ({"exception": "numpy.linalg.LinAlgError"}, ended(stderr=TRACEBACK, code=1), ended(stderr=TRACEBACK)),
        (
            {"exception": "MemoryError"},
            ended(stderr=TRACEBACK.replace("numpy.linalg.LinAlgError: Singular matrix", "MemoryError"), code=1),
            ended(),
        ),
        ({"timeout": True}, ended(how=How.TIMED_OUT), ended()),
        ({"out_of_memory": True}, ended(how=How.OUT_OF_MEMORY), ended()),
        ({"nan_in_output": True}, ended("[nan, 1]"), ended("nano banana")),
        ({"infinity_in_output": True}, ended("loss -inf"), ended("info")),
        ({"metric": {"name": "loss", "above": 30}}, ended("loss 50.000  mse 20"), ended("loss 20.000")),
        (
            {"metric": {"name": "accuracy", "below": 0.5}},
            ended("accuracy 0.93\naccuracy 0.28"),
            ended("accuracy 0.28\naccuracy 0.93"),
        ),
        ({"metric": {"name": "loss", "above": 30}}, ended('{"loss": 31}'), ended("loss nan")),
        ({"metric": {"name": "loss", "above": 1}}, ended("loss inf"), ended("nothing")),
        ({"stdout_matches": "5.0", "exit_code": 0}, ended("RMSE 5.0"), ended("RMSE 5.0", code=1)),
    ],
)
def test_an_oracle_tells_the_bug_from_its_absence(oracle, shows, does_not):
    assert judge(shows, recipe(oracle)).outcome == "bug"
    seen = judge(does_not, recipe(oracle))
    assert (seen.outcome, bool(seen.said)) == ("no_bug", True)


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        (ended(how=How.TIMED_OUT), "timed_out"),
        (ended(how=How.OUT_OF_MEMORY), "out_of_memory"),
        (ended(stderr="Traceback (most recent call last):\n  x\nMemoryError\n", code=1), "out_of_memory"),
        (ended(stderr="terminate called after throwing an instance of 'std::bad_alloc'", code=-6), "out_of_memory"),
        (ended("x" * 100, how=How.TOO_MUCH_OUTPUT), "too_much"),
    ],
)
def test_what_a_limit_ended_says_nothing_of_the_bug(given, outcome):
    assert judge(given, recipe({"stdout_matches": "x"})).outcome == outcome


def test_a_script_that_fell_over_is_told_of():
    seen = judge(ended(stderr=TRACEBACK, code=1), recipe({"stdout_matches": "NaN"}))
    assert (seen.outcome, "exit code 1 (numpy.linalg.LinAlgError)" in seen.said) == ("no_bug", True)


def test_a_pattern_without_end_is_given_up():
    begun = time.monotonic()
    with pytest.raises(TooSlow):
        search("(a+)+$", "a" * 40 + "!", seconds=0.5)
    assert time.monotonic() - begun < 5


def test_a_pattern_that_is_too_slow_is_no_verdict():
    def slow(pattern, text):
        raise TooSlow("not through")

    assert judge(ended("x"), recipe({"stdout_matches": "x"}), search=slow).outcome == "fault"


def test_what_python_raised_is_read_from_its_last_traceback():
    chained = (
        TRACEBACK
        + "\nDuring handling of the above exception, another exception occurred:\n\n"
        + TRACEBACK.replace("numpy.linalg.LinAlgError: Singular matrix", "KeyError: 'x'")
    )
    assert exception_in(chained) == "KeyError"
    assert exception_in("ValueError: not raised") == ""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("loss: 5", 5.0),
        ("loss=1e-3", 1e-3),
        ("Loss (2.5)", 2.5),
        ("val_loss 7", None),
        ("loss 1.18.0", None),
        ("loss -.5", -0.5),
    ],
)
def test_a_figure_is_read_after_its_name(text, value):
    assert figure("loss", text) == value


@pytest.mark.parametrize(("printed", "told"), [("2.9883", "2.9883"), ("2048.0", "2048"), ("1e30", "1e+30")])
def test_a_figure_is_told_as_it_was_printed(printed, told):
    found = judge(ended(f"loss {printed}"), recipe({"metric": {"name": "loss", "above": 1}}))
    assert found.said.startswith(f"loss is {told}, above 1")


def test_a_figure_that_is_none():
    assert math.isnan(figure("loss", "loss nan"))


def test_json_is_the_last_line_that_is_any():
    assert json_in('warning\n{"a": 1}\n') == ({"a": 1}, True)
    assert json_in('{\n"a": NaN}') == ({"a": "NaN"}, True)
    assert json_in("none here") == (None, False)


def test_a_differential_observes():
    assert judge(ended("b\n"), recipe()).measures == {"observed": {"value": "b"}}
    assert judge(ended(stderr=TRACEBACK, code=1), recipe()).measures["observed"] == {
        "crashed": "numpy.linalg.LinAlgError"
    }
    by_figure = recipe(compare="metric", metric="loss")
    assert judge(ended("loss nan"), by_figure).measures == {"observed": {"value": "nan"}}
    assert judge(ended('{"a": [1]}'), recipe(compare="json")).measures == {"observed": {"value": {"a": [1]}}}
    assert judge(ended(how=How.TIMED_OUT), recipe()).outcome == "timed_out"


@pytest.mark.parametrize(
    "output", ["loss " + "1" * 200_000 + "x", "loss" + " " * 200_000 + "x", "loss " + "1." * 100_000]
)
def test_long_hostile_output_is_read_in_no_time(output):
    began = time.monotonic()
    figure("loss", output)
    assert not same(output, f"{output} ", tolerance=0.1) or output.endswith(".")
    assert time.monotonic() - began < 5


def test_json_that_no_database_holds_is_made_storable():
    found, is_there = json_in('{"a": 1e999, "b\\u0000": ["\\ud800", -1e999, 5, 0.25]}')
    assert is_there
    assert found == {"a": "inf", "b�": ["�", "-inf", 5, 0.25]}


def test_json_nested_too_deeply_to_be_compared_is_none():
    assert json_in("[" * 52 + "]" * 52) == (None, False)
    deep, is_there = json_in("[" * 51 + "]" * 51)
    assert is_there
    assert same(deep, deep, tolerance=0.1)


@pytest.mark.parametrize("compare", ["stdout", "json"])
def test_an_output_too_long_to_be_kept_beside_the_run_is_not_compared(compare):
    seen = judge(ended("1" * 100_001), recipe(compare=compare))
    assert (seen.outcome, seen.measures) == ("too_much", {})
