"""A codebook written out and read back is the same codebook."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from annotator.codebook.document import BUG, NOT_A_BUG, NOT_APPLICABLE, CategoryDoc, Document, FacetDoc
from annotator.codebook.reading import read, to_document

PRINTABLE = st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\r\t\x85\u2028\ufeff")
NAMES = st.text(PRINTABLE, min_size=1, max_size=40).filter(str.strip).filter(lambda s: s.casefold() != NOT_APPLICABLE)
TEXTS = st.text(PRINTABLE, max_size=80)


@st.composite
def categories(draw: Any) -> tuple[CategoryDoc, ...]:
    names = draw(st.lists(NAMES, unique=True, max_size=6))
    return tuple(
        CategoryDoc(
            name=name,
            parent=draw(st.sampled_from(["", *names[:n]])),
            order=draw(st.none() | st.integers(-5, 5).map(float)),
            definition=draw(TEXTS),
            examples=tuple(draw(st.lists(NAMES, max_size=2))),
            unverified=draw(st.booleans()),
        )
        for n, name in enumerate(names)
    )


@settings(max_examples=60)
@given(title=NAMES, cats=categories(), optional=st.booleans())
def test_yaml_and_back_is_the_same(title: str, cats: tuple[CategoryDoc, ...], optional: bool) -> None:
    book = Document(title=title.strip(), facets=(FacetDoc(id="f", name="F", optional=optional, categories=cats),))
    assert read(book.as_yaml()) == book
    assert to_document(json.loads(json.dumps(book.as_dict()))) == book


BOOK = read("title: T\nfacets: [{id: f, optional: true, categories: [a, b]}, {id: g, categories: [c]}]")


def test_the_digest_tells_codebooks_apart_and_nothing_else() -> None:
    assert BOOK.digest() == read(BOOK.as_yaml()).digest()
    assert BOOK.digest() != read(BOOK.as_yaml().replace("name: c", "name: d")).digest()
    assert len(BOOK.digest()) == 64


def test_every_codebook_has_the_verdict() -> None:
    verdict = BOOK.with_builtins().facet("verdict")
    assert verdict is not None
    assert [c.name for c in verdict.children()] == [BUG, NOT_A_BUG]
    assert len(verdict.children(NOT_A_BUG)) >= 5


def test_a_verdict_of_ones_own_is_kept() -> None:
    own = read("title: T\nfacets: [{id: verdict, categories: [bug, not a bug, {name: odd, parent: not a bug}]}]")
    assert own.with_builtins() == own


def test_an_optional_facet_has_the_answer_not_applicable() -> None:
    with_it, without = BOOK.with_builtins().facets[:2]
    assert with_it.categories[-1].name == NOT_APPLICABLE
    assert with_it.categories[-1].not_applicable
    assert not any(c.not_applicable for c in without.categories)


def test_a_not_applicable_of_ones_own_is_kept() -> None:
    own = read(
        "title: T\nfacets: [{id: f, optional: true, categories: [a, {name: none at all, not_applicable: true}]}]"
    )
    assert own.with_builtins().facets[0] == own.facets[0]


def test_built_in_parts_need_not_be_written_down() -> None:
    assert BOOK.with_builtins().without_builtins() == BOOK


def test_the_tree_lists_each_category_before_its_narrower_ones() -> None:
    facet = read("title: T\nfacets: [{id: f, categories: [a, b, {name: c, parent: a}, {name: d, parent: c}]}]").facets[
        0
    ]
    assert [(depth, c.name) for depth, c in facet.tree()] == [(0, "a"), (1, "c"), (2, "d"), (0, "b")]
