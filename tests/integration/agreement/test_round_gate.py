"""The gate over a whole round."""

from annotator.agreement.queries import gate_of
from annotator.overview.rounds.closing import close_round
from tests.factories import StudyFactory, answer, make_bugs, make_codebook, make_round, member


def closed_round(alice, bob, lee, facets, *, many):
    study = StudyFactory(slug="mixed")
    member(study, lee, "lead")
    for rater in (alice, bob):
        member(study, rater, "rater")
    make_codebook(study, facets, many=many)
    gate = {"gate_coefficient": "kappa", "gate_method": "value", "gate_bound": 0.8, "gate_min_n": 2}
    opened = make_round(study, bugs=make_bugs(study, 4), raters=[alice, bob], by=lee, **gate)
    for place, turn in enumerate(opened.round_bugs.select_related("bug")):
        chosen = {key: names[place % 2] for key, names in facets.items()}
        for rater in (alice, bob):
            answer(opened, turn.bug, rater, chosen)
    return close_round(round_=opened, by=lee)


def test_facet_with_many_answers_does_not_hold_up_the_gate_of_the_others(alice, bob, lee):
    closed = closed_round(alice, bob, lee, {"cause": ["type", "shape"], "part": ["a", "b"]}, many=["part"])
    gate = gate_of(closed)
    assert gate.result == "passed"
    assert [holding.facet for holding in gate.holdings] == ["cause"]


def test_gate_on_nothing_but_many_answers_is_not_computable(alice, bob, lee):
    closed = closed_round(alice, bob, lee, {"part": ["a", "b"]}, many=["part"])
    assert gate_of(closed).result == "not_computable"
