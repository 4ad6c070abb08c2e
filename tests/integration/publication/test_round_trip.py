"""The side-by-side table, imported into another study by its own mapping, gives the same answers and final labels."""

import pytest

from annotator.adjudication.models import Resolution
from annotator.codebook.models import Category
from annotator.collection.models import Context, Repository
from annotator.intake.actions import import_file
from annotator.intake.mapping import read_mapping
from annotator.intake.sheets import read_grid, read_sheet
from annotator.labeling.models import Answer
from annotator.overview.rounds.closing import close_round
from annotator.publication import side_by_side
from annotator.publication.exports import export
from annotator.publication.pseudonyms import pseudonyms_of
from annotator.sampling.models import Bug
from tests.factories import StudyFactory, answer, make_bugs, make_codebook, make_round, member

FACETS = {"cause": ["type", " shape ", "API misuse, wrong name"], "part": ["core|cuda", "docs", "build"]}


@pytest.fixture
def labelled(db, alice, bob, ada, lee):
    """Names with blanks and separators, a facet of many answers, notes that break tables, one bug that is none."""
    study = StudyFactory(slug="first")
    make_codebook(study, FACETS, many=["part"])
    for person, role in ((alice, "rater"), (bob, "rater"), (lee, "lead"), (ada, "adjudicator")):
        member(study, person, role)
    bugs = make_bugs(study, 4)
    place = Repository.objects.create(study=study, label="tessera/tessera")
    for bug in bugs:
        bug.item.repository = place
        bug.item.title = "- a title\nin two lines"
        bug.item.save()
        Context.objects.create(item=bug.item, ordinal=1, values={"Gist": "=1+1", "Note of mine": "'quoted"})
    Bug.objects.create(study=study, item=bugs[0].item, ordinal=2, number=5)
    return study, [*bugs, Bug.objects.get(study=study, number=5)]


@pytest.fixture
def closed(labelled, alice, bob, ada, lee):
    study, bugs = labelled
    round_ = make_round(study, bugs=bugs, raters=[alice, bob], by=lee, name="Main round")
    for place, bug in enumerate(bugs[:4]):
        answer(
            round_,
            bug,
            alice,
            {"cause": "type", "part": ["docs", "core|cuda"]},
            note="=SUM(1,2)\r\n",
            confidence="sure",
        )
        answer(
            round_, bug, bob, {"cause": FACETS["cause"][place % 3], "part": ["core|cuda", "docs"]}, confidence="unsure"
        )
    answer(round_, bugs[4], alice, {}, not_a_bug="duplicate")
    answer(round_, bugs[4], bob, {"cause": "type", "part": "build"})
    close_round(round_=round_, by=lee)
    cause = Category.objects.get(facet__codebook__study=study, name="API misuse, wrong name")
    Resolution.objects.create(
        study=study,
        bug=bugs[1],
        facet=cause.facet,
        category=cause,
        round=round_,
        source="adjudicated",
        by=ada,
        reason="slip",
        note="third",
    )
    return study


def answers_in(study):
    rows = Answer.objects.current().filter(bug__study=study)
    return sorted(
        rows.values_list(
            "bug__item__number",
            "bug__ordinal",
            "rater__username",
            "facet__key",
            "category__name",
            "assignment__note",
            "assignment__confidence",
            "round__name",
        )
    )


def finals_in(study):
    rows = Resolution.objects.current().filter(study=study, category__isnull=False)
    return sorted(rows.values_list("bug__item__number", "bug__ordinal", "facet__key", "category__name"))


def brought_over(study, slug, *, is_safe=False, hide=None):
    made = export(study, side_by_side.NAME, "csv", is_safe=is_safe, pseudonyms=hide is not None)
    data = b"".join(made.pieces)
    mapping = read_mapping(side_by_side.mapping(study, hide=hide))
    other = StudyFactory(slug=slug)
    make_codebook(other, FACETS, many=["part"])
    sheet = read_sheet(read_grid(data, filename=made.filename), header_rows=mapping.header_rows)
    report = import_file(study=other, filename=made.filename, data=data, sheet=sheet, mapping=mapping, by=None)
    assert report["errors"] == []
    assert report["new_categories"] == []
    return other


@pytest.mark.parametrize("is_safe", [False, True])
def test_answers_and_final_labels_are_the_same(closed, is_safe):
    other = brought_over(closed, "second", is_safe=is_safe)
    assert len(answers_in(closed)) > 20
    assert answers_in(other) == answers_in(closed)
    assert finals_in(other) == finals_in(closed)
    beside = Context.objects.filter(item__study=other)
    assert {tuple(row.values.items()) for row in beside if row.values} == {
        (("Gist", "=1+1"), ("Note of mine", "'quoted"))
    }


def test_a_second_round_trip_changes_nothing(closed):
    second = brought_over(closed, "second")
    third = brought_over(second, "third")
    assert answers_in(third) == answers_in(second)
    assert finals_in(third) == finals_in(second)
    first, again = (b"".join(export(study, side_by_side.NAME, "csv").pieces) for study in (second, third))
    assert first == again


def test_pseudonyms_come_back_as_people_of_that_name(closed):
    hide = pseudonyms_of(closed)
    other = brought_over(closed, "hidden", hide=hide)
    raters = set(Answer.objects.filter(bug__study=other).values_list("rater__username", flat=True))
    assert raters == {hide("alice"), hide("bob")}
    assert len(answers_in(other)) == len(answers_in(closed))
