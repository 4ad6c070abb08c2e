"""Each key does one thing while labelling."""

import pytest

from annotator.codebook.hotkeys import PAGE, check, with_hotkeys
from annotator.codebook.reading import read
from annotator.web.errors import BadInput


def book(facets: str) -> str:
    return f"title: T\nfacets: [{facets}]"


def keys(facets: str) -> list[tuple[str, str]]:
    found = with_hotkeys(read(book(facets)))
    return [(f.hotkey, "".join(c.hotkey or "-" for c in f.categories)) for f in found.facets]


def test_facets_get_a_letter_of_their_name() -> None:
    assert [k for k, _ in keys("{id: root_cause}, {id: symptom}, {id: stage}, {id: level}")] == ["R", "S", "T", "L"]


def test_categories_get_digits_then_letters_that_no_facet_has() -> None:
    names = ", ".join(f"c{n}" for n in range(14))
    assert keys(f"{{id: component, categories: [{names}]}}") == [("C", "123456789ABDEF")]


def test_the_keys_of_the_page_are_never_proposed() -> None:
    names = ", ".join(f"c{n}" for n in range(40))
    found = with_hotkeys(read(book(f"{{id: kpj, categories: [{names}]}}"))).facets[0]
    assert found.hotkey not in PAGE
    assert not set(PAGE) & {c.hotkey for c in found.categories}
    assert found.categories[-1].hotkey == ""


def test_keys_that_were_given_stay() -> None:
    assert keys("{id: severity, hotkey: v, categories: [{name: low, hotkey: s}, high]}") == [("V", "S1")]


def test_a_facet_gives_way_to_a_key_of_a_category() -> None:
    assert keys("{id: severity, categories: [{name: small, hotkey: s}]}") == [("E", "S")]


def test_narrower_categories_are_reached_through_their_parent() -> None:
    assert keys("{id: f, categories: [a, {name: b, parent: a}, c]}") == [("F", "1-2")]


def test_not_applicable_is_chosen_by_nought() -> None:
    found = with_hotkeys(read(book("{id: f, optional: true, categories: [a]}")).with_builtins())
    assert [c.hotkey for c in found.facets[0].categories] == ["1", "0"]


def test_the_verdict_takes_no_letter() -> None:
    found = with_hotkeys(read(book("{id: f, categories: [a]}")).with_builtins())
    assert found.facets[1].hotkey == ""


def test_proposing_twice_changes_nothing() -> None:
    once = with_hotkeys(read(book("{id: f, optional: true, categories: [a, {name: b, parent: a}]}")).with_builtins())
    assert with_hotkeys(once) == once


@pytest.mark.parametrize(
    ("facets", "wanted"),
    [
        ("{id: f, categories: [{name: a, hotkey: 2}, {name: b, hotkey: 2}]}", "to “a” and to “b”.*Free: 1, 3, 4"),
        ("{id: f, categories: [{name: a, hotkey: p}]}", "belongs to the labelling page. Free: 1, 2"),
        ("{id: f, hotkey: f, categories: [{name: a, hotkey: f}]}", "opens “F”"),
        ("{id: f, hotkey: f}, {id: g, hotkey: F}", "to “F” and to “G”. Free: A, B"),
        ("{id: f, hotkey: 1}", "belongs to the labelling page. Free: A, B"),
        ("{id: f, hotkey: J}", "belongs to the labelling page"),
    ],
)
def test_a_clash_is_refused_and_free_keys_are_named(facets: str, wanted: str) -> None:
    with pytest.raises(BadInput, match=wanted):
        read(book(facets))


def test_the_same_key_under_two_parents_is_no_clash() -> None:
    check(read(book("{id: f, categories: [a, b, {name: c, parent: a, hotkey: 1}, {name: d, parent: b, hotkey: 1}]}")))
