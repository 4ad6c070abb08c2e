"""What a codebook file may hold, and what is said when it holds something else."""

import json

import pytest

from annotator.codebook.plain import MAX_BYTES
from annotator.codebook.reading import read
from annotator.web.errors import BadInput

SEVERITY = """
title: Bugs in deep-learning frameworks
facets:
  - id: severity
    name: Severity
    kind: ordinal
    answers: one
    categories:
      - {name: low, order: 1, definition: "d", include: "i", exclude: "e", examples: ["x"], hotkey: l, aka: ["minor"]}
      - {name: high, order: 2}
      - {name: very high, order: 3, parent: high}
"""


def book(*categories: object, **facet: object) -> str:
    return json.dumps({"title": "T", "facets": [{"id": "f", **facet, "categories": list(categories)}]})


def test_the_documented_example_is_read_whole() -> None:
    facet = read(SEVERITY).facets[0]
    low, high, very = facet.categories
    assert (facet.id, facet.name, facet.kind, facet.answers) == ("severity", "Severity", "ordinal", "one")
    assert (low.order, low.definition, low.include, low.exclude) == (1, "d", "i", "e")
    assert (low.examples, low.hotkey, low.aka) == (("x",), "L", ("minor",))
    assert (high.order, very.parent) == (2, "high")


def test_title_facet_id_and_category_name_are_enough() -> None:
    found = read("title: T\nfacets:\n  - id: root_cause\n    categories:\n      - name: Crash\n")
    assert found.facets[0].name == "Root cause"
    assert found.facets[0].kind == "nominal"


def test_json_is_read_as_yaml_is() -> None:
    assert read('{"title": "T", "facets": [{"id": "f", "categories": [{"name": "a"}]}]}') == read(
        "title: T\nfacets: [{id: f, categories: [{name: a}]}]"
    )


def test_a_surrogate_pair_written_by_json_is_one_character() -> None:
    assert read(json.dumps({"title": "🐛", "facets": [{"id": "f"}]})).title == "🐛"


@pytest.mark.parametrize("word", ["no", "yes", "007", "1e5", "NA", "2021-03-04", "1_000", "0x1F"])
def test_a_plain_word_stays_what_was_written(word: str) -> None:
    text = f"title: T\nfacets: [{{id: f, categories: [{{name: {word}}}]}}]"
    assert read(text).facets[0].categories[0].name == word


def test_categories_may_be_listed_by_name_alone() -> None:
    assert [c.name for c in read("title: T\nfacets: [{id: f, categories: [a, b]}]").facets[0].categories] == ["a", "b"]


def test_categories_that_differ_in_case_or_blanks_are_different() -> None:
    assert len(read(book({"name": "crash"}, {"name": "Crash"}, {"name": "crash "})).facets[0].categories) == 3


def test_a_retired_name_may_be_used_again() -> None:
    assert len(read(book({"name": "a", "retired": True}, {"name": "a"})).facets[0].active) == 1


REFUSED = {
    "an empty file": ("", "has to be lines"),
    "a list": ("- a", "has to be lines"),
    "no title": ("facets: [{id: f}]", "no title"),
    "no facets": ("title: T", "no facets"),
    "an empty list of facets": ("title: T\nfacets: []", "no facets"),
    "facets that are no list": ("title: T\nfacets: {a: b}", "has to be a list"),
    "a facet without id": ("title: T\nfacets: [{name: F}]", "needs an id"),
    "an id with a blank": ("title: T\nfacets: [{id: a b}]", "needs an id"),
    "a facet twice": ("title: T\nfacets: [{id: f}, {id: F}]", "rename one"),
    "a facet named like another": ("title: T\nfacets: [{id: f}, {id: g, name: F}]", "rename one"),
    "a key twice": ("title: T\ntitle: U\nfacets: [{id: f}]", "stands twice, again in line 2"),
    "a JSON key twice": ('{"title": "T", "title": "U"}', "stands twice"),
    "an unknown key": ("title: T\nfacets: [{id: f, hotky: x}]", "did you mean “hotkey”?"),
    "an unknown kind": ("title: T\nfacets: [{id: f, kind: cardinal}]", "nominal or ordinal"),
    "an unknown number of answers": ("title: T\nfacets: [{id: f, answers: 3}]", "one or many"),
    "a flag that is neither": ("title: T\nfacets: [{id: f, optional: maybe}]", "true or false"),
    "a category twice": (book({"name": "a"}, {"name": "a"}), "twice: keep one"),
    "a category without name": (book({"order": 1}), "without a name"),
    "a blank name": (book({"name": " "}), "without a name"),
    "an unknown parent": (book({"name": "Crash"}, {"name": "b", "parent": "Crahs"}), "did you mean “Crash”?"),
    "its own parent": (book({"name": "a", "parent": "a"}), "own parent"),
    "a circle of parents": (book({"name": "a", "parent": "b"}, {"name": "b", "parent": "a"}), "own parent"),
    "a circle above": (
        book({"name": "a", "parent": "b"}, {"name": "b", "parent": "c"}, {"name": "c", "parent": "b"}),
        "circle",
    ),
    "an order that is no number": (book({"name": "a", "order": "first"}), "has to be a number"),
    "an order that is not finite": (book({"name": "a", "order": "Infinity"}), "has to be a number"),
    "an ordinal facet half ordered": (
        book({"name": "a", "order": 1}, {"name": "b"}, kind="ordinal"),
        "“b” has no order",
    ),
    "an order twice": (book({"name": "a", "order": 1}, {"name": "b", "order": 1}, kind="ordinal"), "share one order"),
    "an alias of two": (book({"name": "a", "aka": ["x"]}, {"name": "b", "aka": ["x"]}), "also leads to"),
    "an alias that is a name": (book({"name": "a", "aka": ["b"]}, {"name": "b"}), "also leads to"),
    "two not applicable": (
        book({"name": "a", "not_applicable": True}, {"name": "b", "not_applicable": True}),
        "keep one",
    ),
    "an id twice": (book({"name": "a", "id": "x"}, {"name": "b", "id": "x"}), "same id"),
    "a hotkey of two letters": (book({"name": "a", "hotkey": "ab"}), "one letter or digit"),
    "a verdict without its answers": ('{"title": "T", "facets": [{"id": "verdict"}]}', "is built in"),
    "text where a list belongs": (book({"name": "a", "definition": ["x"]}), "has to be text"),
    "NUL": (book({"name": "a\0b"}), "control character"),
    "a lone surrogate": (book({"name": "a\ud800"}), "control character"),
    "YAML that is none": ("title: [", "not valid YAML in line"),
    "two documents": ("title: T\n---\ntitle: U", "not valid YAML"),
    "an object": ("title: !!python/object/apply:os.getcwd []", "not valid YAML"),
    "an odd tag": ("title: !!timestamp x", "not valid YAML"),
    "a list tagged as a mapping": ("!!map [a]", "not valid YAML"),
    "a reference": ("title: &a T\nfacets: [{id: *a}]", "Line 2"),
    "depth without end": ("[" * 5000, "too deep"),
    "JSON depth without end": ('{"a":' * 100_000, "too deep"),
    "a long name": (book({"name": "x" * 601}), "at most 600"),
    "too many categories": (book(*({"name": str(n)} for n in range(5001))), "at most 5000"),
    "too many levels": (
        book({"name": "0"}, *({"name": str(n), "parent": str(n - 1)} for n in range(1, 9))),
        "levels deep",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses_in_one_clear_sentence(case: str) -> None:
    text, wanted = REFUSED[case]
    with pytest.raises(BadInput) as refusal:
        read(text)
    assert wanted in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 400


def test_refuses_a_file_that_is_not_utf8() -> None:
    with pytest.raises(BadInput, match="not UTF-8"):
        read(b"title: \xff\xfe")


def test_refuses_five_megabytes_at_once() -> None:
    with pytest.raises(BadInput, match="at most"):
        read(b"#" * 5_000_000)
    assert read(b"title: T\nfacets: [{id: f}]\n#" + b"x" * (MAX_BYTES - 100)).title == "T"


def test_a_byte_order_mark_does_no_harm() -> None:
    assert read("\ufefftitle: T\nfacets: [{id: f}]".encode()).title == "T"
