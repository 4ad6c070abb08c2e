"""A codebook is the same after a journey through YAML, JSON or CSV."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.codebook import presets
from annotator.codebook.document import ApartDoc, CategoryDoc, Document, FacetDoc
from annotator.codebook.formats import FORMATS, is_csv, written
from annotator.codebook.reading import read
from annotator.web.errors import BadInput

HARD = Document(
    title='Bugs, "hard" ones',
    description="Two\nlines",
    source="=A paper",
    facets=(
        FacetDoc(
            id="cause",
            name="Cause",
            answers="many",
            optional=True,
            takes_codes=True,
            categories=(
                CategoryDoc(
                    name=" -1 means off ",
                    id="a1",
                    definition="x\ny",
                    examples=("one", "two\nlines"),
                    aka=("[b]",),
                ),
                CategoryDoc(
                    name="crash，segfault", parent=" -1 means off ", code=True, unverified=True, examples=("ends\n",)
                ),
                CategoryDoc(name="not applicable", not_applicable=True),
            ),
            tell_apart=(ApartDoc(" -1 means off ", "crash，segfault", "Look;\ntwice."),),
        ),
        FacetDoc(id="open", name="Open", takes_codes=True),
        FacetDoc(
            id="level",
            name="Level",
            kind="ordinal",
            categories=(CategoryDoc(name="low", order=1), CategoryDoc(name="high", order=2.5)),
        ),
    ),
)


@pytest.mark.parametrize("format_", FORMATS)
def test_nothing_is_lost(format_):
    assert read(written(HARD, format_)) == HARD
    assert read(written(HARD, format_).encode("utf-8")) == HARD


@pytest.mark.parametrize("slug", presets.slugs())
def test_each_preset_survives_csv(slug):
    assert read(written(presets.preset(slug), "csv")) == presets.preset(slug)


text = st.text(st.characters(blacklist_categories=("Cs", "Cc")) | st.sampled_from("\n\t"), min_size=1, max_size=12)
names = text.filter(str.strip)


@given(st.lists(names, min_size=1, max_size=4, unique=True), st.lists(names, max_size=3), text)
def test_any_words_survive_csv(found, listed, definition):
    first, *rest = found
    categories = (
        CategoryDoc(name=first, definition=definition, examples=tuple(listed)),
        *(CategoryDoc(name=name) for name in rest if name.casefold() != "not applicable"),
    )
    if first.casefold() == "not applicable":
        return
    document = Document(title="T", facets=(FacetDoc(id="f", name="F", categories=categories),))
    assert read(written(document, "csv")) == document


def test_three_columns_are_enough():
    document = read("codebook;facet;category\nMine;cause;type\n;cause;shape\n;stage;training\n")
    assert document.title == "Mine"
    assert [(facet.id, [category.name for category in facet.categories]) for facet in document.facets] == [
        ("cause", ["type", "shape"]),
        ("stage", ["training"]),
    ]


def test_a_csv_has_a_row_a_category():
    rows = list(csv.DictReader(io.StringIO(written(HARD, "csv"), newline="")))
    assert [row["category"] for row in rows] == [
        " -1 means off ",
        "crash，segfault",
        "not applicable",
        "",
        "",
        "low",
        "high",
    ]
    assert [bool(row["codebook"]) for row in rows] == [True] + [False] * 6


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("codebook,facet,category,colour\nA,f,c,red\n", "unknown column"),
        ("codebook,facet,category,category\nA,f,c,d\n", "two columns"),
        ("facet,category\nf,c\n", "no title"),
        ("codebook,facet,category\nA,,c\n", "needs an id"),
        ("codebook,facet,category,parent\nA,f,c,nobody\n", "no parent"),
        ('codebook,facet,category\nA,f,"c\n', "CSV"),
        ("codebook,facet,category\n", "no title"),
    ],
)
def test_what_cannot_be_read_says_why(content, says):
    with pytest.raises(BadInput, match=says):
        read(content)


def test_yaml_and_json_are_not_taken_for_csv():
    assert not is_csv("title: facet, category, and more\nfacets: []")
    assert not is_csv('{"title": "facet,category"}')


def test_another_format_is_refused():
    with pytest.raises(BadInput, match="yaml, json, csv"):
        written(HARD, "xlsx")
