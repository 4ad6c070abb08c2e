"""A closed round with disputes, and short ways to its facets and categories."""

import pytest

from annotator.adjudication import actions
from annotator.codebook.models import Category, Facet
from annotator.labeling.actions import hand_on, skip
from annotator.labeling.models import Assignment
from annotator.overview.rounds.closing import close_round
from tests.factories import answer, make_round, member

TYPE = {"cause": "type", "stage": "training"}
SHAPE = {"cause": "shape", "stage": "training"}


@pytest.fixture
def facet(study):
    return Facet.objects.get(codebook__study=study, key="cause")


@pytest.fixture
def verdict(study):
    return Facet.objects.get(codebook__study=study, key="verdict")


@pytest.fixture
def cause(study):
    return lambda name: [Category.objects.get(facet__codebook__study=study, facet__key="cause", name=name)]


@pytest.fixture
def disputed(main_round, bugs, alice, bob, lee):
    """Bug 1: type against shape; bug 2: not a bug against a bug; bug 3: agreed."""
    answer(main_round, bugs[0], alice, TYPE, confidence="sure", note="It is cast.")
    answer(main_round, bugs[0], bob, SHAPE, confidence="sure", note="It is reshaped.")
    answer(main_round, bugs[1], alice, {}, not_a_bug="upkeep")
    answer(main_round, bugs[1], bob, SHAPE)
    for rater in (alice, bob):
        answer(main_round, bugs[2], rater, TYPE)
    close_round(round_=main_round, by=lee)
    return bugs[0]


@pytest.fixture
def decide(disputed, ada, facet, cause):
    return lambda: actions.adjudicate(bug=disputed, facet=facet, categories=cause("type"), reason="slip", by=ada)


@pytest.fixture
def rating_ada(study, ada):
    return member(study, ada, "rater")


@pytest.fixture
def handing(study, disputed, alice, bob, rating_ada, lee):
    """Alice gives the bug back in an audit, where Ada could take it."""
    audit = make_round(study, bugs=[disputed], raters=[alice, bob], by=lee, kind="audit", overlap=2)
    turn = skip(assignment=Assignment.objects.get(round=audit, rater=alice), reason="I wrote it", by=alice)
    return lambda: hand_on(assignment=turn, to=rating_ada, by=lee)
