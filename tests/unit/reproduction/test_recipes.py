"""A recipe file is read to the last key, says what is wrong where, and is written back the same."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.reproduction import recipes
from annotator.reproduction.recipe_parts import environment
from annotator.web.errors import BadInput

SHORT = """
name: numpy-dirichlet-nan
bug: {repository: numpy/numpy, number: 5851}
script: repro.py
environments:
  - {name: buggy, python: "3.8", requirements: [numpy==1.18.0], expect: bug}
  - {name: fixed, python: "3.8", requirements: [numpy==1.19.0], expect: no_bug}
oracle: {stdout_matches: "NaN: [1-9]"}
repeats: 3
limits: {seconds: 120, memory_mb: 2048, gpus: 0}
"""


def with_line(old: str, new: str) -> str:
    assert old in SHORT
    return SHORT.replace(old, new)


def test_a_recipe_is_read_with_what_was_left_out_filled_in():
    recipe = recipes.read(SHORT)
    buggy, fixed = recipe.environments
    assert (recipe.name, recipe.repository, recipe.number) == ("numpy-dirichlet-nan", "numpy/numpy", 5851)
    assert (buggy.python, buggy.requirements, buggy.expect) == ("3.8", ("numpy==1.18.0",), "bug")
    assert (fixed.name, fixed.expect, recipe.repeats, recipe.seed) == ("fixed", "no_bug", 3, 1)
    assert (recipe.limits.seconds, recipe.limits.memory_mb, recipe.limits.processes) == (120, 2048, 256)
    assert recipe.oracle.stdout_matches == "NaN: [1-9]"


def test_a_version_stays_as_written():
    assert recipes.read(with_line('"3.8", requirements: [numpy==1.18.0]', "3.10")).environments[0].python == "3.10"


def test_it_is_written_back_the_same():
    recipe = recipes.read(SHORT)
    assert recipes.read(recipe.yaml()) == recipe
    assert recipes.from_document(json.loads(json.dumps(recipe.document()))) == recipe


def test_equal_recipes_have_equal_digests_however_they_are_written():
    other = with_line("repeats: 3\n", "").replace("limits: {seconds: 120, memory_mb: 2048, gpus: 0}", "")
    one, two = recipes.read(SHORT).document(), recipes.read(other).document()
    assert recipes.digest(one, "print(1)") == recipes.digest(two, "print(1)")
    assert recipes.digest(one, "print(1)") != recipes.digest(one, "print(2)")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name: numpy-dirichlet-nan", "title: x", "title"),
        ("name: numpy-dirichlet-nan\n", "", "name: is missing"),
        ("script: repro.py", "script: ../repro.py", "script:"),
        ("script: repro.py", "script: /etc/shadow", "script:"),
        ("expect: bug}", "expect: maybe}", "expect: “maybe”"),
        ("expect: bug}", "}", "“buggy” needs expect"),
        ("expect: bug}", "expect: no_bug}", "at least one has to expect the bug"),
        ("name: fixed", "name: buggy", "two are named “buggy”"),
        ("[numpy==1.18.0]", "['--index-url=http://x']", "requirements"),
        ("[numpy==1.18.0]", "['numpy @ file:///etc/passwd']", "requirements"),
        ("[numpy==1.18.0]", "['./evil']", "requirements"),
        ("[numpy==1.18.0]", "numpy==1.18.0", "requirements: write a list"),
        ('python: "3.8", requirements: [numpy==1.18.0]', "python: three", "python is a version"),
        ('"NaN: [1-9]"', '"NaN: ["', "no regular expression"),
        ('{stdout_matches: "NaN: [1-9]"}', "{}", "oracle: say what"),
        ('{stdout_matches: "NaN: [1-9]"}', "{looks_bad: true}", "no key “looks_bad”"),
        ('{stdout_matches: "NaN: [1-9]"}', "{metric: {name: loss}}", "above or below"),
        ('{stdout_matches: "NaN: [1-9]"}', "{metric: {name: loss, above: nan}}", "no number"),
        ("repeats: 3", "repeats: 0", "repeats: “0”"),
        ("repeats: 3", "repeats: many", "repeats: “many”"),
        ("seconds: 120", "seconds: 1e9", "limits, seconds"),
        ("gpus: 0", "gpus: 8", "limits, gpus"),
        ("repeats: 3", "repeats: 3\nrepeats: 4", "a second time"),
        ("repeats: 3", "compare: stdout", "belongs to a differential"),
        ("repeats: 3", "kind: differential", "none has expect"),
        ("expect: bug}", "variables: {LD_PRELOAD: x}, expect: bug}", "LD_PRELOAD"),
    ],
)
def test_what_is_wrong_is_named(old, new, said):
    with pytest.raises(BadInput, match=said.replace("(", r"\(").replace("[", r"\[")):
        recipes.read(with_line(old, new))


@pytest.mark.parametrize(
    "text", ["", "[]", "a: [", "a: &x [*x]", "- " * 200, b"\xff\xfe", "!!python/object:os.system {}"]
)
def test_a_file_that_is_no_recipe_is_refused(text):
    with pytest.raises(BadInput):
        recipes.read(text)


def test_a_differential_names_what_it_compares():
    text = """
name: softmax over versions
kind: differential
script: repro.py
compare: metric
metric: loss
tolerance: 1e-6
environments:
  - {name: "1.9", python: "3.8", requirements: [torch==1.9.0]}
  - {name: "1.10", python: "3.8", requirements: [torch==1.10.0]}
"""
    recipe = recipes.read(text)
    assert (recipe.is_differential, recipe.compare, recipe.metric, recipe.tolerance) == (True, "metric", "loss", 1e-6)
    assert recipes.read(recipe.yaml()) == recipe
    with pytest.raises(BadInput, match="metric: name the figure"):
        recipes.read(text.replace("metric: loss\n", ""))


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*recipes.TOP, "x"]), inner, max_size=6)
        ),
    )
)
def test_whatever_is_sent_is_a_recipe_or_one_clear_error(raw):
    try:
        recipe = recipes.from_document(raw)
    except BadInput:
        return
    assert recipes.read(recipe.yaml()) == recipe


def test_a_script_is_text_of_some_length():
    assert recipes.checked_script(b"\xef\xbb\xbfprint(1)\r\n") == "print(1)\n"
    for wrong in (b"\xff", " \n", "x\x00", "x" * 500_001):
        with pytest.raises(BadInput):
            recipes.checked_script(wrong)


def test_a_requirement_that_is_none_is_refused_in_no_time():
    began = time.monotonic()
    for wrong in ("a" + "==1   " * 45 + "'", "a" + " " * 290 + "'", "a" + "!" * 290):
        with pytest.raises(BadInput, match="in requirements is none"):
            environment({"name": "x", "python": "3.8", "requirements": [wrong], "expect": "bug"}, 1)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    "right",
    ["numpy", "numpy==1.18.0", "torch [cuda, cpu] >= 1.9 , != 1.10.* ,<2", "a (>=1, <2)", "a===1!2.0+cu11; python_version < '3.9'"],
)  # fmt: skip
def test_requirements_as_people_write_them_are_taken(right):
    found = environment({"name": "x", "python": "3.8", "requirements": [right], "expect": "bug"}, 1)
    assert found.requirements == (right,)
