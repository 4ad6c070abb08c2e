"""Changes that live on as rows: each with its opposite, none that loses an id."""

from typing import Any

import pytest

from annotator.accounts.models import User
from annotator.codebook.actions import (
    add_category,
    create_codebook,
    edit_category,
    remove_category,
    restore_category,
)
from annotator.codebook.changes import CategoryChange
from annotator.codebook.living import (
    apply_change,
    merge_categories,
    redefine_category,
    split_category,
    undo_change,
    waiting,
    withdraw_change,
)
from annotator.codebook.meanwhile import ChangedMeanwhile
from annotator.codebook.models import Category, Change, Codebook
from annotator.codebook.queries import as_document
from annotator.codebook.reading import read
from annotator.codebook.wording import sentence
from annotator.history.models import Event
from annotator.overview.rounds.closing import close_round
from annotator.web.errors import BadInput, Refused
from tests.factories import StudyFactory, make_bugs, make_round, member

BOOK = """
title: Book
facets:
  - id: symptom
    categories: [Crash, Hang, {name: Deadlock, parent: Hang}, Other]
  - {id: impact, kind: ordinal, categories: [low, high]}
  - {id: stage, optional: true, categories: [training, deployment]}
"""


@pytest.fixture
def book(lee: User, alice: User, bob: User) -> Codebook:
    """In use: a round was held on it."""
    study = StudyFactory(slug="living")
    member(study, lee, "lead")
    for rater in (alice, bob):
        member(study, rater, "rater")
    made = create_codebook(study=study, document=read(BOOK), by=lee)
    close_round(round_=make_round(study, bugs=make_bugs(study, 1), raters=[alice, bob], by=lee), by=lee)
    return made


def category(book: Codebook, name: str, **more: Any) -> Category:
    return Category.objects.get(facet__codebook=book, name=name, **more)


def last() -> Change:
    return Change.objects.latest("number")


def parts(*names: str) -> list[CategoryChange]:
    return [CategoryChange(name=name) for name in names]


def shape(book: Codebook) -> Any:
    """The categories in use with their places, keys left out, since free ones are given anew."""
    document = as_document(book)
    return [
        (c.id, c.name, c.parent, c.order, c.definition, c.merged_into)
        for facet in document.facets
        for c in facet.active
    ]


# --- each act is a row


def test_an_edit_is_as_many_changes_as_it_has_sides_and_one_version(book: Codebook, lee: User) -> None:
    change = CategoryChange(name="Abort", definition="It ends.", parent=category(book, "Other").uid, hotkey="")
    edit_category(category=category(book, "Crash"), by=lee, change=change, reason="clearer")
    rows = list(Change.objects.filter(codebook=book))
    assert [row.act for row in rows] == ["rename", "move", "clarify"]
    assert {row.version.number for row in rows if row.version} == {2}
    assert {row.reason for row in rows} == {"clearer"}
    assert sentence(rows[0]) == "“Crash” was renamed “Abort”"


def test_added_retired_and_restored_are_rows_too(book: Codebook, lee: User) -> None:
    new = add_category(facet=category(book, "Crash").facet, by=lee, change=CategoryChange(name="Leak"))
    assert (last().act, last().categories, new.added_in) == ("add", [new.uid], 2)
    remove_category(category=new, by=lee, reason="too rare")
    assert (last().act, last().reason) == ("retire", "too rare")
    restore_category(category=new, by=lee)
    assert [row.number for row in Change.objects.filter(codebook=book)] == [1, 2, 3]
    assert sentence(last()) == "“Leak” was taken back into use"


# --- merge


def test_a_merge_keeps_the_old_id_and_leads_on(book: Codebook, lee: User) -> None:
    hang, crash = category(book, "Hang"), category(book, "Crash")
    change = merge_categories(sources=[hang], into=crash, reason="one thing", by=lee)
    hang.refresh_from_db()
    assert (hang.state, hang.merged_into, hang.hotkey) == ("merged", crash, "")
    assert category(book, "Deadlock").parent == crash
    assert sentence(change) == "“Hang” was merged into “Crash”"
    assert change.version is not None
    assert change.version.number == 2


def test_a_merged_category_leads_in_one_step_to_the_last_one(book: Codebook, lee: User) -> None:
    hang, crash, other = (category(book, name) for name in ("Hang", "Crash", "Other"))
    merge_categories(sources=[hang], into=crash, reason="r", by=lee)
    second = merge_categories(sources=[category(book, "Crash")], into=other, reason="r", by=lee)
    assert category(book, "Hang").merged_into == other
    undo_change(change=second, by=lee, reason="too wide")
    assert category(book, "Hang").merged_into == crash


def test_undoing_a_merge_gives_everything_back(book: Codebook, lee: User) -> None:
    before = shape(book)
    merged = merge_categories(sources=[category(book, "Hang")], into=category(book, "Crash"), reason="r", by=lee)
    counter = undo_change(change=merged, by=lee, reason="they differ", answered_since=False)
    assert shape(book) == before
    assert (counter.act, counter.undoes) == ("restore", merged)
    assert sentence(counter) == "The merge of “Hang” into “Crash” was taken back"
    assert category(book, "Crash").relabel_until is None


def test_what_was_answered_while_merged_is_doubtful_afterwards(book: Codebook, lee: User) -> None:
    merged = merge_categories(sources=[category(book, "Hang")], into=category(book, "Crash"), reason="r", by=lee)
    counter = undo_change(change=merged, by=lee, reason="they differ")
    crash = category(book, "Crash")
    assert (crash.relabel_from, crash.relabel_until) == (merged.applied_at, counter.applied_at)


@pytest.mark.parametrize(
    ("sources", "into", "wanted"),
    [
        (["Crash"], "Crash", "another category"),
        (["Crash"], "low", "one facet"),
        (["Hang"], "Deadlock", "stands below"),
        (["not applicable"], "training", "answer of its own"),
        (["bug"], "not a bug", "built in"),
    ],
)
def test_a_merge_that_makes_no_sense_is_refused(
    book: Codebook, lee: User, sources: list[str], into: str, wanted: str
) -> None:
    rows, target = [category(book, name) for name in sources], category(book, into)
    with pytest.raises((BadInput, Refused), match=wanted):
        merge_categories(sources=rows, into=target, reason="r", by=lee)
    assert not Change.objects.exists()


def test_a_reason_is_asked_for(book: Codebook, lee: User) -> None:
    with pytest.raises(BadInput, match="Say why"):
        merge_categories(sources=[category(book, "Hang")], into=category(book, "Crash"), reason=" ", by=lee)


# --- split


def test_a_split_makes_new_ids_and_keeps_the_old_one(book: Codebook, lee: User) -> None:
    crash = category(book, "Crash")
    change = split_category(category=crash, parts=parts("Crash", "Crash on GPU"), reason="two", by=lee)
    crash.refresh_from_db()
    made = list(crash.parts.all())
    assert crash.state == "split"
    assert crash.relabel_until == change.applied_at
    assert [part.name for part in made] == ["Crash", "Crash on GPU"]
    assert crash.uid not in {part.uid for part in made}
    assert change.categories == [crash.uid, *(part.uid for part in made)]
    assert sentence(change) == "“Crash” was split into “Crash” and “Crash on GPU”"


def test_on_a_scale_the_parts_lie_where_the_whole_lay(book: Codebook, lee: User) -> None:
    split_category(category=category(book, "low"), parts=parts("lowest", "lower"), reason="finer", by=lee)
    ranks = [category(book, name).rank for name in ("lowest", "lower", "high")]
    assert ranks == [1.0, 1.5, 2.0]


def test_undoing_a_split_joins_the_parts(book: Codebook, lee: User) -> None:
    crash = category(book, "Crash")
    change = split_category(category=crash, parts=parts("On CPU", "On GPU"), reason="two", by=lee)
    undo_change(change=change, by=lee, reason="one")
    crash.refresh_from_db()
    assert (crash.state, crash.relabel_until) == ("active", None)
    assert {part.state for part in crash.parts.all()} == {"merged"}
    assert {part.merged_into for part in crash.parts.all()} == {crash}


@pytest.mark.parametrize(
    ("name", "made", "wanted"),
    [
        ("Crash", ["One"], "two categories"),
        ("Crash", ["One", "One"], "twice"),
        ("Crash", ["One", "Other"], "twice"),
        ("Hang", ["One", "Two"], "narrower"),
        ("bug", ["One", "Two"], "built in"),
    ],
)
def test_a_split_that_makes_no_sense_is_refused(
    book: Codebook, lee: User, name: str, made: list[str], wanted: str
) -> None:
    before = Category.objects.count()
    with pytest.raises((BadInput, Refused), match=wanted):
        split_category(category=category(book, name), parts=parts(*made), reason="r", by=lee)
    assert Category.objects.count() == before


# --- meaning


def test_a_changed_meaning_says_since_when(book: Codebook, lee: User) -> None:
    change = redefine_category(
        category=category(book, "Crash"), change=CategoryChange(definition="Ends by a signal."), reason="r", by=lee
    )
    crash = category(book, "Crash")
    assert (crash.definition, crash.redefined_in, crash.relabel_until) == ("Ends by a signal.", 2, change.applied_at)
    undo_change(change=change, by=lee, reason="back", answered_since=False)
    crash.refresh_from_db()
    assert (crash.definition, crash.redefined_in, crash.relabel_until) == ("", 0, None)


def test_after_labels_under_the_new_meaning_those_are_doubtful(book: Codebook, lee: User) -> None:
    change = redefine_category(
        category=category(book, "Crash"), change=CategoryChange(definition="Ends by a signal."), reason="r", by=lee
    )
    counter = undo_change(change=change, by=lee, reason="back")
    crash = category(book, "Crash")
    assert (crash.relabel_from, crash.relabel_until) == (change.applied_at, counter.applied_at)


def test_a_new_meaning_has_to_say_something_else(book: Codebook, lee: User) -> None:
    with pytest.raises(BadInput, match="otherwise"):
        redefine_category(
            category=category(book, "Crash"), change=CategoryChange(definition="", name="X"), reason="r", by=lee
        )


# --- waiting


def test_what_waits_changes_nothing_yet_and_can_be_withdrawn(book: Codebook, lee: User) -> None:
    before = shape(book)
    change = merge_categories(
        sources=[category(book, "Hang")], into=category(book, "Crash"), reason="r", by=lee, waits=True
    )
    book.refresh_from_db()
    assert (shape(book), book.number) == (before, 1)
    assert waiting(book) == [change]
    withdraw_change(change=change, by=lee)
    assert waiting(book) == []
    with pytest.raises(Refused, match="withdrawn"):
        apply_change(change=change, by=lee)
    assert Event.objects.filter(verb__in=["planned a change", "withdrew a change"]).count() == 2


def test_what_could_not_be_carried_out_is_refused_at_once(book: Codebook, lee: User) -> None:
    with pytest.raises(BadInput, match="twice"):
        split_category(category=category(book, "Crash"), parts=parts("A", "Other"), reason="r", by=lee, waits=True)
    assert not Change.objects.exists()


def test_what_waited_is_carried_out_with_the_ids_it_then_gets(book: Codebook, lee: User) -> None:
    crash = category(book, "Crash")
    change = split_category(category=crash, parts=parts("A", "B"), reason="r", by=lee, waits=True)
    assert change.categories == [crash.uid]
    done = apply_change(change=change, by=lee)
    assert len(done.categories) == 3
    assert done.applied_at is not None
    assert [part["uid"] for part in done.new["parts"]] == done.categories[1:]


def test_a_withdrawn_undo_can_be_asked_for_again(book: Codebook, lee: User) -> None:
    merged = merge_categories(sources=[category(book, "Hang")], into=category(book, "Crash"), reason="r", by=lee)
    counter = undo_change(change=merged, by=lee, reason="no", waits=True)
    with pytest.raises(Refused, match="that waits"):
        undo_change(change=merged, by=lee, reason="no")
    withdraw_change(change=counter, by=lee)
    undo_change(change=merged, by=lee, reason="no")
    assert category(book, "Hang").state == "active"


# --- undo


def test_every_plain_change_is_taken_back_by_its_opposite(book: Codebook, lee: User) -> None:
    start = shape(book)
    crash = category(book, "Crash")
    edit_category(category=crash, by=lee, change=CategoryChange(name="Abort"))
    undo_change(change=last(), by=lee)
    edit_category(category=crash, by=lee, change=CategoryChange(definition="d", include="i"))
    undo_change(change=last(), by=lee)
    edit_category(category=crash, by=lee, change=CategoryChange(parent=category(book, "Other").uid, hotkey=""))
    undo_change(change=Change.objects.filter(act="move").latest("number"), by=lee)
    edit_category(category=category(book, "low"), by=lee, change=CategoryChange(rank=7))
    undo_change(change=last(), by=lee)
    remove_category(category=category(book, "Other"), by=lee)
    undo_change(change=last(), by=lee)
    new = add_category(facet=crash.facet, by=lee, change=CategoryChange(name="Leak"))
    undo_change(change=last(), by=lee)
    new.refresh_from_db()
    assert new.state == "retired"
    assert shape(book) == start
    assert Change.objects.exclude(undoes=None).count() == 6


def test_what_was_changed_again_since_is_not_overwritten(book: Codebook, lee: User) -> None:
    crash = category(book, "Crash")
    edit_category(category=crash, by=lee, change=CategoryChange(name="Abort"))
    first = last()
    edit_category(category=crash, by=lee, change=CategoryChange(name="Halt"))
    with pytest.raises(Refused, match="changed again since"):
        undo_change(change=first, by=lee)


def test_a_change_is_undone_once_and_an_undo_is_not_undone(book: Codebook, lee: User) -> None:
    edit_category(category=category(book, "Crash"), by=lee, change=CategoryChange(name="Abort"))
    counter = undo_change(change=last(), by=lee)
    assert counter.undoes is not None
    with pytest.raises(Refused, match="undone already"):
        undo_change(change=counter.undoes, by=lee)
    with pytest.raises(Refused, match="undid another"):
        undo_change(change=counter, by=lee)


# --- two people


def test_the_second_is_told_what_the_first_changed(book: Codebook, lee: User) -> None:
    crash = category(book, "Crash")
    edit_category(category=crash, by=lee, change=CategoryChange(name="Abort"), seen=1)
    with pytest.raises(ChangedMeanwhile, match="“Crash” was renamed “Abort”") as told:
        edit_category(category=crash, by=lee, change=CategoryChange(definition="d"), seen=1)
    assert (told.value.seen, told.value.now) == (1, 2)
    edit_category(category=crash, by=lee, change=CategoryChange(definition="d"), seen=2)


def test_what_changed_elsewhere_does_not_hinder(book: Codebook, lee: User) -> None:
    edit_category(category=category(book, "Other"), by=lee, change=CategoryChange(name="Else"), seen=1)
    edit_category(category=category(book, "Crash"), by=lee, change=CategoryChange(name="Abort"), seen=1)
    with pytest.raises(ChangedMeanwhile):
        merge_categories(sources=[category(book, "Hang")], into=category(book, "Abort"), reason="r", by=lee, seen=1)
