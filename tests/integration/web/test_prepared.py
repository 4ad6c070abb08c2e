import threading

import pytest
from django.db import connection
from django.db.models import F

from annotator.labeling import prepared
from annotator.labeling.models import Assignment, Round
from annotator.studies.models import Study
from annotator.web.prepared import Prepared
from tests.factories import StudyFactory, make_bugs, make_codebook, make_round, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def round_(alice, bob, lee):
    study = StudyFactory(slug="frameworks")
    for person in (alice, bob):
        member(study, person, "rater")
    make_codebook(study, {"cause": ["type", "shape"]})
    return make_round(study, bugs=make_bugs(study, 3), raters=[alice, bob], by=lee)


def test_rows_are_those_of_the_queryset_with_what_they_point_at(round_, alice, django_assert_num_queries):
    plain = Assignment.objects.filter(round=round_, rater=alice, state="todo").order_by("position").first()
    with django_assert_num_queries(1):
        found = prepared.NEXT_TURN.first(round_=round_.pk, rater=alice.pk)
        shown = (found.bug.number, found.bug.item.title, found.position)
    assert found == plain
    assert shown == (plain.bug.number, plain.bug.item.title, plain.position)


def test_an_annotation_comes_along(round_, alice):
    query = Prepared(lambda rater: Assignment.objects.filter(rater=rater).annotate(named=F("bug__number")), "rater")
    assert [turn.named for turn in query.all(rater=alice.pk)] == [turn.bug.number for turn in query.all(rater=alice.pk)]


def test_each_call_takes_its_own_values(round_, alice, bob):
    mine = prepared.TURN.first(round_=round_.pk, rater=alice.pk, number=1)
    theirs = prepared.TURN.first(round_=round_.pk, rater=bob.pk, number=2)
    assert (mine.rater_id, mine.bug.number) == (alice.pk, 1)
    assert (theirs.rater_id, theirs.bug.number) == (bob.pk, 2)


def test_a_text_is_a_value_too_and_a_deferred_column_stays_away(round_, alice):
    found = prepared.ROUND_OF_RATER.first(slug="frameworks", number=1, user=alice.pk)
    assert found == round_
    assert "document" in found.codebook_version.get_deferred_fields()
    assert prepared.ROUND_OF_RATER.first(slug="frameworks' OR '1'='1", number=1, user=alice.pk) is None


def test_nothing_is_found_where_nothing_matches_or_fits(round_, alice):
    assert prepared.TURN.first(round_=round_.pk, rater=alice.pk, number=99) is None
    assert prepared.TURN.first(round_=round_.pk, rater=alice.pk, number=10**30) is None


def test_the_sql_is_written_once(round_):
    written = []

    def build(round_):
        written.append(round_)
        return Round.objects.filter(pk=round_)[:1]

    query = Prepared(build, "round_")
    assert [query.first(round_=round_.pk), query.first(round_=round_.pk), query.first(round_=0)] == [
        round_,
        round_,
        None,
    ]
    assert len(written) == 1


def test_a_value_that_goes_nowhere_is_refused():
    query = Prepared(lambda slug, other: Study.objects.filter(slug=slug)[:1], "slug", "other")
    with pytest.raises(ValueError, match="not every one of slug, other"):
        query.first(slug="frameworks", other=1)


@pytest.mark.django_db(transaction=True)
def test_threads_do_not_share_a_connection(round_):
    found = []

    def look():
        found.append(prepared.ROUND.first(round_=round_.pk))
        connection.close()

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [round_] * 4


@pytest.mark.django_db(transaction=True)
def test_a_new_connection_is_told_the_plan_anew(round_, alice):
    for _ in range(2):
        assert prepared.TURN.first(round_=round_.pk, rater=alice.pk, number=1)
        connection.close()


def test_it_counts_as_one_query_from_the_first_time_on(round_, alice, django_assert_num_queries):
    fresh = Prepared(lambda round_: Round.objects.filter(pk=round_)[:1], "round_")
    for _ in range(2):
        with django_assert_num_queries(1):
            assert fresh.first(round_=round_.pk) == round_
