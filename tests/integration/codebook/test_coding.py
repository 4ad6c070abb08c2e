"""Placing codes in categories: several in one step, each step kept, each taken back."""

import pytest

from annotator.codebook import coding
from annotator.codebook.actions import create_codebook
from annotator.codebook.models import Category, Change
from annotator.codebook.queries import as_document
from annotator.codebook.reading import to_document
from annotator.history.models import Event
from annotator.web.errors import BadInput, Refused
from tests.factories import StudyFactory

CODES = ["segfault", "segmentation fault", "abort", "slow"]


@pytest.fixture
def facet(lee):
    codes = [{"name": name, "code": True} for name in CODES]
    described = {"id": "symptom", "takes_codes": True, "optional": True, "categories": [{"name": "Crash"}, *codes]}
    document = to_document({"title": "Codes", "facets": [described]})
    return create_codebook(study=StudyFactory(), document=document, by=lee).facets.get(key="symptom")


def uid(facet, name):
    return facet.categories.get(name=name).uid


def uids(facet, *names):
    return [uid(facet, name) for name in names]


def placed(facet):
    rows = facet.categories.exclude(parent=None).values_list("name", "parent__name")
    return dict(rows)


def test_several_codes_go_below_a_category_in_one_step(facet, lee):
    before = facet.codebook.number
    change = coding.place(facet=facet, codes=uids(facet, *CODES[:3]), under=uid(facet, "Crash"), by=lee)
    assert placed(facet) == dict.fromkeys(CODES[:3], "Crash")
    facet.codebook.refresh_from_db()
    assert facet.codebook.number == before + 1 == change.version.number
    told = Event.objects.get(verb="placed codes")
    assert (told.label, told.new["codes"]) == ("Crash", CODES[:3])


def test_a_code_that_others_are_placed_in_becomes_a_category(facet, lee):
    coding.place(facet=facet, codes=uids(facet, "segfault"), under=uid(facet, "abort"), by=lee)
    assert not facet.categories.get(name="abort").is_code
    assert facet.categories.get(name="segfault").is_code


def test_a_code_made_a_category_keeps_name_and_id(facet, lee):
    wanted = uid(facet, "slow")
    coding.make_category(facet=facet, code=wanted, by=lee)
    assert facet.categories.get(uid=wanted).is_code is False
    with pytest.raises(Refused):
        coding.make_category(facet=facet, code=wanted, by=lee)


def test_a_new_category_takes_its_codes_at_once(facet, lee):
    made = coding.new_category(facet=facet, name=" Poor performance ", codes=uids(facet, "slow"), by=lee)
    assert placed(facet) == {"slow": "Poor performance"}
    assert made.hotkey
    assert not made.is_code


def test_what_is_taken_out_waits_again(facet, lee):
    coding.place(facet=facet, codes=uids(facet, "slow"), under=uid(facet, "Crash"), by=lee)
    coding.take_out(facet=facet, codes=uids(facet, "slow", "Crash"), by=lee)
    assert placed(facet) == {}
    assert facet.categories.get(name="Crash").is_code


def test_each_step_is_taken_back_the_last_one_first(facet, lee):
    before = as_document(facet.codebook).digest()
    coding.place(facet=facet, codes=uids(facet, "segfault"), under=uid(facet, "abort"), by=lee)
    coding.place(facet=facet, codes=uids(facet, "slow"), under=uid(facet, "Crash"), by=lee)
    last = coding.last_step(facet, by=lee)
    coding.undo(change=last, by=lee)
    assert placed(facet) == {"segfault": "abort"}
    with pytest.raises(Refused, match="already"):
        coding.undo(change=last, by=lee)
    coding.undo(change=coding.last_step(facet, by=lee), by=lee)
    assert coding.last_step(facet, by=lee) is None
    assert as_document(facet.codebook).digest() == before
    assert Change.objects.filter(facet=facet).count() == 4


def test_a_step_of_another_is_not_ones_own_last(facet, lee, alice):
    coding.place(facet=facet, codes=uids(facet, "slow"), under=uid(facet, "Crash"), by=lee)
    assert coding.last_step(facet, by=alice) is None


def test_what_was_moved_on_since_is_not_put_back(facet, lee):
    change = coding.place(facet=facet, codes=uids(facet, "slow"), under=uid(facet, "Crash"), by=lee)
    coding.place(facet=facet, codes=uids(facet, "slow"), under=uid(facet, "abort"), by=lee)
    with pytest.raises(Refused, match="since"):
        coding.undo(change=change, by=lee)


def test_bare_categories_are_taken_as_codes(facet, lee):
    coding.take_as_codes(facet=facet, by=lee)
    assert facet.categories.get(name="Crash").is_code
    assert not facet.categories.get(is_not_applicable=True).is_code
    with pytest.raises(BadInput):
        coding.take_as_codes(facet=facet, by=lee)


@pytest.mark.parametrize(
    ("codes", "under"),
    [([], "Crash"), (["slow"], "slow"), (["not applicable"], "Crash"), (["slow"], "not applicable")],
)
def test_what_makes_no_sense_is_refused_and_nothing_moves(facet, lee, codes, under):
    with pytest.raises(BadInput):
        coding.place(facet=facet, codes=uids(facet, *codes), under=uid(facet, under), by=lee)
    assert placed(facet) == {}
    assert not Change.objects.exists()


def test_a_circle_is_refused(facet, lee):
    coding.place(facet=facet, codes=uids(facet, "slow"), under=uid(facet, "abort"), by=lee)
    with pytest.raises(BadInput):
        coding.place(facet=facet, codes=uids(facet, "abort"), under=uid(facet, "slow"), by=lee)


def test_what_is_no_longer_in_use_is_refused(facet, lee):
    wanted = uid(facet, "slow")
    Category.objects.filter(uid=wanted).update(state="retired")
    with pytest.raises(BadInput, match="not in use"):
        coding.place(facet=facet, codes=[wanted], under=uid(facet, "Crash"), by=lee)


def test_what_stands_there_already_makes_no_version(facet, lee):
    coding.place(facet=facet, codes=uids(facet, "slow"), under=uid(facet, "Crash"), by=lee)
    with pytest.raises(BadInput, match="already"):
        coding.place(facet=facet, codes=uids(facet, "slow"), under=uid(facet, "Crash"), by=lee)
