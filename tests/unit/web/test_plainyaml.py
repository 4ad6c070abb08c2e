"""YAML made to occupy the server: refused or read in no time."""

import time

import pytest

from annotator.codebook import reading
from annotator.intake.yamltext import read_yaml
from annotator.web.errors import BadInput

SECONDS = 5  # what took three quarters of a minute
PARTS = 240_000


@pytest.mark.parametrize("read", [read_yaml, reading.read], ids=["mapping", "codebook"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [" + "1," * PARTS + "1]", "more than 200,000 parts"),
        ('{"a":[' + "1," * PARTS + "1],}", "more than 200,000 parts"),
        ("[" * 100_000, "nested too deeply"),
        ("".join(" " * depth + "a:\n" for depth in range(100)), "nested too deeply"),
        ("a: " + "x" * 600_000, "longer than 500,000 characters|at most 500 kB"),
        ("a: &x [1]\nb: *x", "refers to another place"),
    ],
    ids=["a list", "JSON with a slip", "brackets", "indents", "a long text", "a reference"],
)
def test_what_would_take_long_is_refused_at_once(read, text, said):
    started = time.monotonic()
    with pytest.raises(BadInput, match=said):
        read(text)
    assert time.monotonic() - started < SECONDS


def test_a_mapping_of_many_keys_is_read_in_no_time():
    started = time.monotonic()
    assert len(read_yaml("\n".join(f"k{place}: v" for place in range(40_000)))) == 40_000
    assert time.monotonic() - started < SECONDS


def test_halves_that_belong_together_are_one_character():
    assert read_yaml(r'a: "\ud83d\ude00"') == {"a": "\N{GRINNING FACE}"}
    with pytest.raises(BadInput, match="half a character"):
        read_yaml(r'a: "\ud83d"')
