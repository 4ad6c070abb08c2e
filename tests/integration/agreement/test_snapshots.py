import pytest

from annotator.agreement.actions import continue_below_gate, digest_of, forget_counts, take_snapshot
from annotator.agreement.models import Snapshot
from annotator.agreement.queries import entries, entries_of, gate_of, pooled, recompute
from annotator.codebook.models import Category
from annotator.history.models import Event
from annotator.labeling.queries import round_named
from annotator.web.errors import BadInput, Refused
from tests.integration.agreement.votes import labelled, round_of

pytestmark = pytest.mark.django_db

DIFFERING = {"alice": "XXYYXY##!-Z", "bob": "XYYYXX#XXXZ", "cleo": "XYYYXXZXXXZ"}


def test_what_is_stored_equals_what_the_answers_give_again():
    round_ = labelled(DIFFERING, gate_coefficient="kappa")
    stored = Snapshot.objects.get(round=round_)
    assert stored.entries == recompute(round_)
    assert stored.digest == digest_of(stored.entries) == digest_of(recompute(round_))


def test_counting_again_stores_nothing_new():
    round_ = labelled(DIFFERING)
    first = Snapshot.objects.get(round=round_)
    assert take_snapshot(round_=round_, by=None) == first
    assert Event.objects.filter(verb="counted agreement").count() == 1


def test_the_count_is_written_into_the_history():
    round_ = labelled({"alice": "XY", "bob": "XY"})
    event = Event.objects.get(verb="counted agreement")
    assert (event.label, event.study_id) == (round_.name, round_.study_id)
    assert event.new == Snapshot.objects.get(round=round_).digest


def test_an_open_round_is_not_counted():
    round_ = labelled({"alice": "XY", "bob": "XY"}, close=False)
    with pytest.raises(Refused, match="open"):
        take_snapshot(round_=round_, by=None)
    assert not Snapshot.objects.exists()


def test_renaming_a_category_later_leaves_the_stored_numbers_alone():
    round_ = labelled({"alice": "XXYYXY", "bob": "XYYYXX"})
    before = entries_of(round_)
    Category.objects.filter(name="X").update(name="Renamed")
    assert entries_of(round_) == before == recompute(round_)


def test_pooled_main_rounds_are_one_table():
    first = labelled({"alice": "XXX", "bob": "XXY"}, name="A")
    lead = first.opened_by
    round_of(first.study, {"alice": "YY-", "bob": "YXY"}, by=lead, name="B")
    round_of(first.study, {"alice": "ZZ", "bob": "YZ"}, by=lead, name="Pilot", kind="training")
    round_of(first.study, {"alice": "ZZ", "bob": "ZZ"}, by=lead, name="Open", close=False)
    (entry,) = pooled(first.study)
    assert (entry["round"], entry["raters"], entry["n"], entry["excluded"]) == ("pooled", ["alice", "bob"], 5, 1)
    assert entry["kappa"] == pytest.approx(1 / 6)


def test_a_pooled_verdict_counts_the_rounds_in_which_nobody_denied():
    first = labelled({"alice": "XY#", "bob": "XYX"}, name="A")
    round_of(first.study, {"alice": "XX", "bob": "XX"}, by=first.opened_by, name="B")
    verdict = pooled(first.study)[-1]
    assert (verdict["facet"], verdict["n"], verdict["observed"]) == ("verdict", 5, 0.8)


def test_a_coefficient_without_an_interval_says_why():
    first = labelled({"alice": "XYXY", "bob": "XYXY", "cleo": "XYXX"}, name="A")
    round_of(first.study, {"alice": "XY#", "bob": "XYX", "cleo": "XYX"}, by=first.opened_by, name="B")
    found = {(entry["facet"], tuple(entry["raters"])): entry for entry in pooled(first.study)}
    assert found["cause", ("alice", "bob")]["no_interval"] == "no_variance"
    assert found["cause", ("alice", "cleo")]["no_interval"] is None
    assert found["verdict", ("alice", "bob")]["no_interval"] == "no_variance"
    assert found["verdict", ("alice", "bob", "cleo")]["no_interval"] == "shared_bugs"
    assert all((entry.get("ci") is None) == bool(entry["no_interval"]) for entry in found.values() if entry["kappa"])


def test_pooled_raters_come_pair_by_pair_and_together():
    first = labelled({"alice": "XXYY", "bob": "XXYX"}, name="A")
    round_of(first.study, {"bob": "XYXY", "cleo": "XYYY"}, by=first.opened_by, name="B")
    found = pooled(first.study)
    assert [entry["raters"] for entry in found] == [["alice", "bob"], ["bob", "cleo"], ["alice", "bob", "cleo"]]
    everybody = found[-1]
    assert (everybody["n"], everybody["n_pairs"], everybody["fleiss"]) == (8, 8, None)
    assert everybody["observed"] == 6 / 8
    assert everybody["alpha"] is not None


def test_pooled_figures_are_as_blind_as_the_least_blind_round():
    first = labelled({"alice": "XXYY", "bob": "XXYX"}, name="A")
    round_of(first.study, {"alice": "XY", "bob": "XY"}, by=first.opened_by, name="B", blindness="unknown")
    assert pooled(first.study)[0]["blindness"] == "unknown"


def test_a_round_is_named_by_number_or_name():
    round_ = labelled({"alice": "XY", "bob": "XY"}, name="Pilot")
    assert round_named(round_.study, "1") == round_named(round_.study, "Pilot") == round_
    assert round_named(round_.study, "2") is None


def test_the_gate_of_a_round_fails_with_its_lowest_facet():
    gate = gate_of(labelled({"alice": "XXYYXYXYXY", "bob": "XYYYXXXYXY"}, gate_coefficient="kappa"))
    assert (gate.result, gate.needs_reason) == ("failed", True)
    assert gate.lowest is not None
    assert gate.lowest.sentence.startswith("lower bound of κ ")
    assert gate.rule == "lower bound of κ at least .80 on at least 10 bugs, each facet and pair"


def test_the_gate_of_a_round_passes_where_every_pair_reaches_it():
    votes = "XY" * 20
    gate = gate_of(labelled({"alice": votes, "bob": votes}, gate_coefficient="kappa"))
    assert (gate.result, gate.needs_reason, gate.short_of) == ("passed", False, ())
    assert gate.holdings[0].sentence == "exact lower limit of observed agreement .91 ≥ .80"


def test_too_few_bugs_leave_the_gate_unanswered_and_say_so():
    round_ = labelled({"alice": "XYXY", "bob": "XYXX"}, gate_coefficient="kappa")
    gate = gate_of(round_)
    assert gate.result == "not_computable"
    assert gate.short_of[0].sentence == "4 bugs, fewer than the 10 that the gate asks for."
    assert entries_of(round_)[0]["reason"] == "n_below_floor"


def test_the_verdict_is_shown_but_not_gated():
    votes = "XY" * 10
    gate = gate_of(labelled({"alice": votes + "#", "bob": votes + "X"}, gate_coefficient="kappa"))
    assert {holding.facet for holding in gate.holdings} == {"cause"}


def test_no_gate_and_an_open_round_have_no_answer():
    assert gate_of(labelled({"alice": "XY", "bob": "XY"}, slug="one")).result == "none"
    assert (
        gate_of(labelled({"alice": "XY", "bob": "XY"}, slug="two", close=False, gate_coefficient="kappa")).result
        == "pending"
    )


def test_alpha_gates_all_raters_at_once():
    votes = {"alice": "XXYYXYXYXY", "bob": "XXYYXYXYXY", "cleo": "XXYYXYXYXX"}
    gate = gate_of(labelled(votes, gate_coefficient="alpha", gate_method="value"))
    assert [holding.raters for holding in gate.holdings] == [("alice", "bob", "cleo")]
    assert gate.result == "passed"


def test_going_on_below_the_gate_needs_a_written_reason_once(lee):
    round_ = labelled({"alice": "XXYYXYXYXY", "bob": "XYYYXXXYXY"}, gate_coefficient="kappa")
    with pytest.raises(BadInput):
        continue_below_gate(round_=round_, reason="  ", by=lee)
    before = Snapshot.objects.get(round=round_)
    continue_below_gate(round_=round_, reason="The rule for Y is rewritten.", by=lee)
    gate = gate_of(type(round_).objects.get(pk=round_.pk))
    assert (gate.is_continued, gate.needs_reason, gate.result) == (True, False, "failed")
    assert Snapshot.objects.get(round=round_).digest == before.digest
    assert Event.objects.get(verb="continued below the gate").why == "The rule for Y is rewritten."
    with pytest.raises(Refused):
        continue_below_gate(round_=round_, reason="Again.", by=lee)


def test_a_passed_gate_has_nothing_to_go_on_below(lee):
    round_ = labelled({"alice": "XY" * 20, "bob": "XY" * 20}, gate_coefficient="kappa")
    with pytest.raises(Refused):
        continue_below_gate(round_=round_, reason="Just so.", by=lee)


def test_screening_votes_have_entries_of_their_own(study, alice, bob, ada):
    from annotator.screening.models import Candidate, Screening, Vote
    from tests.factories import ItemFactory

    screening = Screening.objects.create(study=study, number=1, name="Imported votes", state="imported", overlap=0)
    for place, row in enumerate(("iii", "iie", "eee", "e-i", "eei"), 1):
        item = ItemFactory(study=study)
        candidate = Candidate.objects.create(study=study, screening=screening, item=item, position=place)
        for reviewer, sign in zip((alice, bob, ada), row, strict=True):
            if sign != "-":
                decision = "include" if sign == "i" else "exclude"
                Vote.objects.create(candidate=candidate, reviewer=reviewer, decision=decision)
    found = entries(study)
    assert [(e["round"], e["facet"], e["raters"], e["n"]) for e in found] == [
        ("screening", "vote", ["ada", "alice"], 5),
        ("screening", "vote", ["ada", "bob"], 4),
        ("screening", "vote", ["alice", "bob"], 4),
        ("screening", "vote", ["ada", "alice", "bob"], 5),
    ]
    assert found[2]["kappa"] == 1.0
    assert found[1]["excluded"] == 1
    assert found[3]["fleiss"] is None


def test_an_undone_import_takes_its_counts_along_and_a_closed_round_does_not():
    round_ = labelled({"alice": "XY", "bob": "XY"})
    with pytest.raises(Refused):
        forget_counts(round_=round_, by=None)
    study = round_.study
    imported = type(round_).objects.create(study=study, number=2, name="imported", state="imported")
    take_snapshot(round_=imported, by=None)
    assert forget_counts(round_=imported, by=None) == 1
    assert not Snapshot.objects.filter(round=imported).exists()
    assert Event.objects.filter(verb="forgot the agreement of an undone import").count() == 1
