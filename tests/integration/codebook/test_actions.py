"""A codebook is changed as a whole, checked, versioned and recorded."""

from typing import Any

import pytest

from annotator.accounts.models import User
from annotator.codebook import presets
from annotator.codebook.actions import (
    add_categories,
    add_category,
    add_facet,
    create_codebook,
    edit_category,
    edit_facet,
    publish_version,
    remove_category,
    remove_facet,
    replace_codebook,
    restore_category,
    withdraw_categories,
)
from annotator.codebook.changes import CategoryChange, FacetChange
from annotator.codebook.choices import choices_of
from annotator.codebook.models import Category, Codebook, Facet, Version
from annotator.codebook.queries import as_document, is_in_use, names_in
from annotator.codebook.reading import read
from annotator.history.models import Event
from annotator.studies.models import Study
from annotator.web.errors import BadInput, Refused
from tests.factories import StudyFactory, make_bugs, make_round, member

BOOK = """
title: T
facets:
  - {id: cause, categories: [type, shape, {name: tensor type, parent: type}, api]}
  - {id: stage, optional: true, categories: [training, deployment]}
  - {id: impact, kind: ordinal, categories: [low, high]}
"""


@pytest.fixture
def empty(lee: User, alice: User, bob: User) -> Study:
    study = StudyFactory(slug="fresh")
    member(study, lee, "lead")
    member(study, alice, "rater")
    member(study, bob, "rater")
    return study


@pytest.fixture
def book(empty: Study, lee: User) -> Codebook:
    return create_codebook(study=empty, document=read(BOOK), by=lee)


def facet(book: Codebook, key: str = "cause") -> Facet:
    return Facet.objects.get(codebook=book, key=key)


def category(book: Codebook, name: str, **more: Any) -> Category:
    return Category.objects.get(facet__codebook=book, name=name, **more)


def open_a_round(book: Codebook, lee: User, alice: User, bob: User) -> None:
    make_round(book.study, bugs=make_bugs(book.study, 1), raters=[alice, bob], by=lee)


# --- the whole


@pytest.mark.parametrize("slug", presets.slugs())
def test_a_study_starts_from_any_preset(empty: Study, lee: User, slug: str) -> None:
    made = create_codebook(study=empty, document=presets.preset(slug), by=lee)
    stored = as_document(made)
    assert [f.id for f in stored.facets] == [f.id for f in presets.preset(slug).facets] + ["verdict"]
    assert stored.source == presets.preset(slug).source
    assert made.number == 1


def test_what_was_read_is_what_is_stored(book: Codebook) -> None:
    stored = as_document(book)
    assert [(c.name, c.parent, c.hotkey) for c in stored.facets[0].categories] == [
        ("type", "", "1"),
        ("shape", "", "2"),
        ("tensor type", "type", ""),
        ("api", "", "3"),
    ]
    assert [f.hotkey for f in stored.facets] == ["C", "S", "I", ""]
    assert [c.order for c in stored.facets[2].categories] == [1, 2]


def test_an_optional_facet_gets_not_applicable_and_every_codebook_the_verdict(book: Codebook) -> None:
    stage, verdict = facet(book, "stage"), facet(book, "verdict")
    assert stage.categories.get(is_not_applicable=True).hotkey == "0"
    assert {Category.BUG, Category.NOT_A_BUG} <= set(verdict.categories.values_list("name", flat=True))
    assert choices_of(book).bug_id == verdict.categories.get(name="bug").pk


def test_the_written_file_gives_the_same_codebook_in_another_study(book: Codebook, lee: User) -> None:
    text = as_document(book).without_builtins().as_yaml()
    other = create_codebook(study=StudyFactory(), document=read(text), by=lee)

    def bare(b: Codebook) -> list[Any]:
        return [(f.id, [(c.name, c.parent, c.order, c.hotkey) for c in f.categories]) for f in as_document(b).facets]

    assert bare(other) == bare(book)
    assert not set(book.facets.values_list("categories__uid")) & set(other.facets.values_list("categories__uid"))


def test_a_second_codebook_is_refused(book: Codebook, lee: User) -> None:
    with pytest.raises(Refused, match="codebook already"):
        create_codebook(study=book.study, document=read(BOOK), by=lee)


def test_creating_is_recorded_and_published(book: Codebook, lee: User) -> None:
    version = Version.objects.get(codebook=book)
    event = Event.objects.get(kind="codebook")
    assert (version.number, version.digest, version.published_by) == (1, book.digest, lee)
    assert version.document == as_document(book).as_dict()
    assert (event.actor_name, event.study_id, event.verb) == ("lee", book.study_id, "created the codebook")


def test_publishing_without_a_change_makes_no_version(book: Codebook, lee: User) -> None:
    assert publish_version(codebook=book, by=lee).number == 1
    assert Version.objects.count() == 1


def test_replacing_keeps_the_ids_of_what_stays(book: Codebook, lee: User) -> None:
    kept, renamed = category(book, "shape").uid, category(book, "api").uid
    text = f"title: U\nfacets: [{{id: cause, categories: [shape, {{name: call, id: {renamed}}}, new]}}]"
    replaced = replace_codebook(codebook=book, document=read(text), by=lee)
    assert category(book, "shape").uid == kept
    assert category(book, "call").uid == renamed
    assert not Category.objects.filter(facet__codebook=book, name="type").exists()
    assert (replaced.title, replaced.number) == ("U", 2)


def test_replacing_is_refused_once_a_round_stands_on_it(book: Codebook, lee: User, alice: User, bob: User) -> None:
    assert not is_in_use(book)
    open_a_round(book, lee, alice, bob)
    assert is_in_use(book)
    with pytest.raises(Refused, match="in use"):
        replace_codebook(codebook=book, document=read(BOOK), by=lee)


# --- categories


def test_a_new_category_gets_an_id_a_key_and_a_version(book: Codebook, lee: User) -> None:
    new = add_category(facet=facet(book), by=lee, change=CategoryChange(name="memory", definition="d"))
    assert new.hotkey == "4"
    assert len(new.uid) == 10
    book.refresh_from_db()
    assert (book.number, Version.objects.latest("number").reason) == (2, "memory added to Cause")
    assert Event.objects.latest("pk").verb == "added a category"
    assert new.uid in choices_of(book).facets["cause"].categories


def test_on_a_scale_a_new_category_goes_to_the_upper_end(book: Codebook, lee: User) -> None:
    assert add_category(facet=facet(book, "impact"), by=lee, change=CategoryChange(name="huge")).rank == 3


def test_many_categories_are_one_version_and_one_event(book: Codebook, lee: User) -> None:
    before = Event.objects.count()
    rows = add_categories(facet=facet(book), names=["Type", "None", "007"], by=lee, reason="import")
    assert [row.name for row in rows] == ["Type", "None", "007"]
    book.refresh_from_db()
    assert (book.number, Event.objects.count()) == (2, before + 1)


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (CategoryChange(name="type"), "twice"),
        (CategoryChange(name=" "), "without a name"),
        (CategoryChange(name="x", hotkey="2"), "to “shape” and to “x”"),
        (CategoryChange(name="x", hotkey="S"), "opens “Stage”"),
        (CategoryChange(name="x", hotkey="p"), "labelling page"),
        (CategoryChange(name="x", aka=["api"]), "also leads to"),
        (CategoryChange(name="x", parent="0123456789"), "parent"),
        (CategoryChange(name="x" * 601), "at most 600"),
        (CategoryChange(name="x\0"), "control character"),
    ],
)
def test_a_bad_category_is_refused_and_nothing_stored(
    book: Codebook, lee: User, change: CategoryChange, wanted: str
) -> None:
    before = (Category.objects.count(), Version.objects.count(), Event.objects.count())
    with pytest.raises(BadInput, match=wanted):
        add_category(facet=facet(book), by=lee, change=change)
    assert (Category.objects.count(), Version.objects.count(), Event.objects.count()) == before


def test_renaming_keeps_the_id_and_is_free_though_in_use(book: Codebook, lee: User, alice: User, bob: User) -> None:
    open_a_round(book, lee, alice, bob)
    old = category(book, "type")
    new = edit_category(category=old, by=lee, change=CategoryChange(name="type issue"))
    assert (new.uid, new.name) == (old.uid, "type issue")
    assert category(book, "tensor type").parent == new
    event = Event.objects.latest("pk")
    assert (event.verb, event.old, event.new) == (
        "renamed a category",
        {"name": "type"},
        {"name": "type issue", "uid": old.uid},
    )


def test_the_published_version_keeps_the_old_name(book: Codebook, lee: User) -> None:
    edit_category(category=category(book, "type"), by=lee, change=CategoryChange(name="kind"))
    first, second = Version.objects.order_by("number")
    assert first.document["facets"][0]["categories"][0]["name"] == "type"
    assert second.document["facets"][0]["categories"][0]["name"] == "kind"


def test_an_edit_that_changes_nothing_leaves_no_trace(book: Codebook, lee: User) -> None:
    before = Event.objects.count()
    edit_category(category=category(book, "type"), by=lee, change=CategoryChange(name="type"))
    assert (Event.objects.count(), Version.objects.count()) == (before, 1)


def test_a_category_moves_below_another_and_back(book: Codebook, lee: User) -> None:
    api, kind = category(book, "api"), category(book, "type")
    moved = edit_category(category=api, by=lee, change=CategoryChange(parent=kind.uid, hotkey=""))
    assert moved.parent == kind
    assert edit_category(category=moved, by=lee, change=CategoryChange(parent="")).parent is None


def test_a_circle_of_parents_is_refused(book: Codebook, lee: User) -> None:
    with pytest.raises(BadInput, match="own parent"):
        edit_category(
            category=category(book, "type"), by=lee, change=CategoryChange(parent=category(book, "tensor type").uid)
        )


def test_an_unused_category_is_deleted(book: Codebook, lee: User) -> None:
    assert remove_category(category=category(book, "api"), by=lee) is None
    assert not Category.objects.filter(name="api").exists()


def test_once_in_use_a_category_is_retired_whether_or_not_anybody_chose_it(
    book: Codebook, lee: User, alice: User, bob: User
) -> None:
    open_a_round(book, lee, alice, bob)
    retired = remove_category(category=category(book, "api"), by=lee, reason="too broad")
    assert retired is not None
    assert (retired.state, retired.hotkey) == ("retired", "")
    assert retired.uid not in choices_of(Codebook.objects.get(pk=book.pk)).facets["cause"].categories
    assert Event.objects.latest("pk").why == "too broad"


def test_a_retired_name_comes_back_under_a_new_id(book: Codebook, lee: User, alice: User, bob: User) -> None:
    open_a_round(book, lee, alice, bob)
    old = remove_category(category=category(book, "api"), by=lee)
    new = add_category(facet=facet(book), by=lee, change=CategoryChange(name="api"))
    assert old is not None
    assert new.uid != old.uid
    with pytest.raises(BadInput, match="another category “api”"):
        restore_category(category=old, by=lee)


def test_a_retired_category_can_be_restored_under_its_id(book: Codebook, lee: User, alice: User, bob: User) -> None:
    open_a_round(book, lee, alice, bob)
    old = remove_category(category=category(book, "shape"), by=lee)
    assert old is not None
    with pytest.raises(Refused, match="retired"):
        edit_category(category=old, by=lee, change=CategoryChange(name="x"))
    back = restore_category(category=old, by=lee)
    assert (back.uid, back.state, back.hotkey) == (old.uid, "active", "2")


def test_what_has_narrower_categories_or_is_built_in_stays(book: Codebook, lee: User) -> None:
    with pytest.raises(BadInput, match="narrower"):
        remove_category(category=category(book, "type"), by=lee)
    with pytest.raises(Refused, match="built in"):
        remove_category(category=category(book, "bug"), by=lee)
    with pytest.raises(BadInput, match="built in"):
        edit_category(category=category(book, "bug"), by=lee, change=CategoryChange(name="fault"))


def test_what_an_import_added_is_withdrawn(book: Codebook, lee: User, alice: User, bob: User) -> None:
    def add_and_withdraw() -> None:
        rows = add_categories(facet=facet(book), names=["None", "NA"], by=lee)
        ids = [row.pk for row in rows]
        withdraw_categories(codebook=book, category_ids=ids, by=lee, reason="Import undone")

    before = as_document(book)
    add_and_withdraw()
    assert as_document(book) == before
    open_a_round(book, lee, alice, bob)
    add_and_withdraw()
    assert set(Category.objects.filter(state="retired").values_list("name", flat=True)) == {"None", "NA"}
    assert Event.objects.latest("pk").verb == "withdrew categories"


# --- facets


def test_a_facet_is_added_with_a_letter_of_its_own(book: Codebook, lee: User) -> None:
    new = add_facet(codebook=book, key="component", by=lee, change=FacetChange(is_many=True, is_optional=True))
    assert (new.name, new.hotkey, new.is_many) == ("Component", "E", True)
    assert new.categories.get().is_not_applicable


@pytest.mark.parametrize(
    ("key", "change", "wanted"),
    [
        ("Cause", FacetChange(), "already"),
        ("a b", FacetChange(), "needs an id"),
        ("x", FacetChange(name="Stage"), "rename one"),
        ("x", FacetChange(hotkey="c"), "to “Cause” and to"),
        ("x", FacetChange(kind="cardinal"), "nominal or ordinal"),
        ("x" * 61, FacetChange(), "at most 60"),
    ],
)
def test_a_bad_facet_is_refused(book: Codebook, lee: User, key: str, change: FacetChange, wanted: str) -> None:
    with pytest.raises(BadInput, match=wanted):
        add_facet(codebook=book, key=key, by=lee, change=change)
    assert Version.objects.count() == 1


def test_words_and_keys_of_a_facet_change_any_time_its_shape_does_not(
    book: Codebook, lee: User, alice: User, bob: User
) -> None:
    open_a_round(book, lee, alice, bob)
    changed = edit_facet(facet=facet(book), by=lee, change=FacetChange(name="Root cause", hotkey="r", is_many=False))
    assert (changed.name, changed.hotkey) == ("Root cause", "R")
    for change in (FacetChange(is_many=True), FacetChange(kind="ordinal"), FacetChange(is_optional=True)):
        with pytest.raises(Refused, match="in use"):
            edit_facet(facet=facet(book), by=lee, change=change)
    with pytest.raises(Refused, match="no further facet"):
        add_facet(codebook=book, key="new", by=lee, change=FacetChange())
    with pytest.raises(Refused, match="cannot be removed"):
        remove_facet(facet=facet(book), by=lee)


def test_a_facet_becomes_optional_or_a_scale_while_unused(book: Codebook, lee: User) -> None:
    changed = edit_facet(facet=facet(book), by=lee, change=FacetChange(is_optional=True, kind="ordinal"))
    assert changed.categories.filter(is_not_applicable=True).count() == 1
    assert [c.rank for c in changed.categories.filter(is_not_applicable=False)] == [1, 2, 3, 4]
    back = edit_facet(facet=facet(book), by=lee, change=FacetChange(is_optional=False))
    assert not back.categories.filter(is_not_applicable=True).exists()


def test_facets_are_removed_down_to_the_last(book: Codebook, lee: User) -> None:
    remove_facet(facet=facet(book, "stage"), by=lee)
    remove_facet(facet=facet(book, "impact"), by=lee)
    with pytest.raises(BadInput, match="at least one"):
        remove_facet(facet=facet(book), by=lee)
    with pytest.raises(Refused, match="built in"):
        remove_facet(facet=facet(book, "verdict"), by=lee)


# --- names


def test_facets_are_found_by_id_or_name(book: Codebook) -> None:
    names = names_in(book)
    assert names.facet("cause") == names.facet("CAUSE ") == facet(book)
    assert names.facet("nothing") is None


def test_categories_are_found_by_name_other_name_or_id(book: Codebook, lee: User) -> None:
    edit_category(category=category(book, "type"), by=lee, change=CategoryChange(aka=["Type Confusion"]))
    names, kind = names_in(book), category(book, "type")
    for word in ("type", "Type Confusion", kind.uid, "TYPE", " type  confusion"):
        assert names.category(facet(book), word) == kind
    assert names.category(facet(book), "TYPE", fold_case=False) is None


def test_a_word_that_fits_two_categories_only_loosely_finds_none(book: Codebook, lee: User) -> None:
    add_categories(facet=facet(book), names=["Type"], by=lee)
    names = names_in(book)
    assert names.category(facet(book), "TYPE") is None
    assert names.category(facet(book), "Type") == category(book, "Type")


def test_reading_takes_three_queries(book: Codebook, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(3):
        as_document(book)
    with django_assert_num_queries(2):
        names_in(book)
