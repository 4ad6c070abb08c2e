"""What triggers refuse: each guard, broken on purpose."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management.sql import emit_pre_migrate_signal
from django.db import DatabaseError, models, transaction
from django.utils import timezone

from annotator.adjudication import actions as adjudication
from annotator.adjudication.models import Remark, Resolution, Stand
from annotator.agreement.actions import continue_below_gate, take_snapshot
from annotator.agreement.models import Snapshot
from annotator.codebook.models import Category, Change, Facet, Version
from annotator.history.models import Event, Seal
from annotator.history.tasks import seal
from annotator.labeling.actions import note_further_bug
from annotator.labeling.models import Answer, Assignment, Evidence, Flag, FurtherBug, Round, RoundBug
from annotator.labeling.submission import Pin
from annotator.overview import guards
from annotator.overview.rounds.closing import close_round
from annotator.publication import models as publication
from annotator.publication.models import Release
from annotator.reproduction.models import Environment, Log, Recipe, Run, Series
from annotator.sampling.models import Bug
from annotator.screening.actions import close
from annotator.screening.models import Candidate, Outcome, Reading, Screening, Vote
from annotator.studies.actions import change_protocol
from annotator.studies.models import Deviation
from annotator.studies.protocol import Protocol
from annotator.web.errors import Refused
from tests.factories import answer, make_bugs, make_round
from tests.factories.screening import make_screening, screen

GOOD = {"cause": "type", "stage": "training"}
OTHER = {"cause": "api", "stage": "training"}
PINS = [Pin("line", "F1-3", "sum.py:3", "total += 1")]


@pytest.fixture
def rounds(study, bugs, alice, bob, ada, lee) -> None:
    """A closed round with a dispute decided by Ada and one that waits; an open one that has begun; an imported one."""
    over = make_round(study, bugs=bugs[:3], raters=[alice, bob], by=lee, name="over", gate_coefficient="kappa")
    for bug in bugs[:2]:
        answer(over, bug, alice, GOOD, pins=PINS)
        answer(over, bug, bob, OTHER)
    note_further_bug(assignment=turns("over").get(bug=bugs[0], rater=bob), note="Another one.", by=bob)
    close_round(round_=over, by=lee)
    continue_below_gate(round_=over, reason="Only a trial.", by=lee)
    adjudication.adjudicate(bug=bugs[0], facet=facet("cause"), categories=[category("type")], reason="slip", by=ada)
    adjudication.take_stand(bug=bugs[1], facet=facet("cause"), move="keep", by=alice)
    adjudication.remark(bug=bugs[1], text="See the traceback.", by=bob)
    change_protocol(study=study, protocol=Protocol(by_majority=True), reason="We are three by now.", by=lee)
    begun = make_round(study, bugs=bugs[3:5], raters=[alice, bob], by=lee, name="begun")
    answer(begun, bugs[3], alice, GOOD, pins=PINS)
    answer(begun, bugs[3], alice, OTHER, pins=PINS)
    note_further_bug(assignment=turns("begun").get(bug=bugs[3], rater=alice), note="One more.", by=alice)
    sheet = Round.objects.create(study=study, number=9, name="sheet", state="imported", blindness="unknown")
    given_in(sheet, bugs[5], alice)
    take_snapshot(round_=sheet, by=lee)
    screened(study, alice, lee)
    seal()


def screened(study: Any, reviewer: Any, lead: Any) -> None:
    """A closed screening and an open one, each with a vote."""
    closed = make_screening(study, reviewers=[reviewer], by=lead)
    screen(closed, reviewer, {1: "in"})
    close(screening=closed, by=lead)
    screen(make_screening(study, reviewers=[reviewer], by=lead), reviewer, {1: "in"})


def given_in(round_: Round, bug: Any, rater: Any) -> Answer:
    turn = Assignment.objects.create(
        round=round_, bug=bug, rater=rater, position=0, state="submitted", submitted_at=timezone.now(), revision=1
    )
    chosen = category("type")
    return Answer.objects.create(
        assignment=turn, round=round_, bug=bug, rater=rater, facet=chosen.facet, category=chosen
    )


def facet(key: str) -> Facet:
    return Facet.objects.get(key=key)


def category(name: str) -> Category:
    return Category.objects.get(facet__key="cause", name=name)


def turns(name: str) -> Any:
    return Assignment.objects.filter(round__name=name)


def one_round(name: str) -> Any:
    return Round.objects.filter(name=name)


def given(name: str, **more: Any) -> Any:
    return Answer.objects.filter(round__name=name, facet__key="cause", **more)


def quotes(name: str) -> Any:
    return Evidence.objects.filter(assignment__round__name=name)


def counts(name: str) -> Any:
    return Snapshot.objects.filter(round__name=name)


def decisions(**more: Any) -> Any:
    return Resolution.objects.filter(facet__key="cause", **more)


def decided_anew() -> Any:
    """Ada's decision, replaced by another of hers."""
    first = decisions(source="adjudicated").get()
    by, seen = first.by, first.at.isoformat()
    more = {"reason": "slip", "note": "Read again.", "by": by, "seen_at": seen}
    adjudication.change_decision(bug=first.bug, facet=first.facet, categories=[category("api")], **more)
    return decisions(pk=first.pk)


def settled(number: int, **more: Any) -> Resolution:
    """As Ada would decide, but for what is given."""
    row = decisions(source="adjudicated").get()
    turn = turns("over").filter(bug__number=number).first()
    usual = {"bug": turn.bug, "round": turn.round, "source": "adjudicated", "by": row.by, "reason": "slip"}
    return Resolution.objects.create(
        study=row.study, facet=row.facet, **{"category": row.category, "is_current": False} | usual | more
    )


def stand(name: str, **more: Any) -> Stand:
    turn = turns(name).filter(state="submitted").first()
    usual = {"round": turn.round, "bug": turn.bug, "rater": turn.rater, "facet": facet("stage"), "move": "keep"}
    return Stand.objects.create(**usual | more)


def votes(state: str) -> Any:
    return Vote.objects.filter(candidate__screening__state=state)


def voted(state: str, turn: int) -> None:
    candidate = Candidate.objects.filter(screening__state=state, position=2).get()
    Vote.objects.create(candidate=candidate, reviewer_id=votes(state)[0].reviewer_id, turn=turn, decision="include")


def outcomes() -> Any:
    return Outcome.objects.filter(candidate__screening__state="closed")


def decided_early() -> None:
    Outcome.objects.create(candidate=votes("open")[0].candidate, decision="include", source="single")


def again(row: models.Model, **changes: Any) -> None:
    row.pk = None
    for name, value in changes.items():
        setattr(row, name, value)
    row.save(force_insert=True)


def late_round_bug(study: Any) -> None:
    RoundBug.objects.create(round=one_round("over").get(), bug=make_bugs(study, 1)[0], position=9, overlap=2)


def person(name: str) -> Any:
    return type(turns("over").first().rater).objects.get(username=name)


def by_one_who_rated() -> Resolution:
    return settled(2, by=person("bob"))


def by_one_who_is_to_rate() -> Resolution:
    turn = turns("begun").filter(state="todo").first()
    return settled(1, bug=turn.bug, by=turn.rater, note="Never answered so far.")


def version() -> Version:
    return Version.objects.latest("number")


def changed(act: str) -> Change:
    """A change that took effect."""
    now = {"applied_at": timezone.now(), "version": version()}
    return Change.objects.create(
        codebook=version().codebook, number=1, act=act, facet=facet("cause"), reason="r", **now
    )


def waiting() -> Change:
    return Change.objects.create(codebook=version().codebook, number=1, act="merge", facet=facet("cause"), reason="r")


def tried() -> Run:
    """A run that ended, with a line of its log."""
    bug = turns("over").first().bug
    recipe = Recipe.objects.create(study=bug.study, bug=bug, number=1, name="sum", document={}, script_name="sum.py")
    series = Series.objects.create(recipe=recipe, number=1)
    ended = {"state": "ended", "outcome": "bug", "ended_at": timezone.now()}
    row = {"environment": "buggy", "position": 1, "repeat": 1, "seed": 1, "queue": "reproduction"} | ended
    run = Run.objects.create(series=series, key="k", **row)
    Log.objects.create(run=run, attempt=1, sequence=1, text="1")
    return run


def released() -> None:
    study = turns("over").first().bug.study
    done = {"state": "published", "published_at": timezone.now(), "sha256": "0" * 64}
    Release.objects.create(study=study, number=1, **done)
    publication.Finding.objects.create(study=study, number=1, sentence="{n} bugs", written_by=person("lee"))


BREAKS: dict[str, Callable[[], Any]] = {
    "event_stays": lambda: Event.objects.all().update(verb="did nothing"),
    "event_remains": lambda: Event.objects.all().delete(),
    "seal_stays": lambda: Seal.objects.update(digest="0" * 64),
    "seal_remains": lambda: Seal.objects.all().delete(),
    "version_stays": lambda: Version.objects.update(document={}),
    "version_remains": lambda: Version.objects.all()._raw_delete("default"),
    "category_named_anew": lambda: Category.objects.filter(name="type").update(uid="another"),
    "change_stays": lambda: (changed("rename"), Change.objects.update(new={"into": "another"})),
    "change_rewritten": lambda: (waiting(), Change.objects.update(reason="On reflection.")),
    "change_remains": lambda: (waiting(), Change.objects.all()._raw_delete("default")),
    "change_early": lambda: (waiting(), Change.objects.update(applied_at=timezone.now(), version=version())),
    "change_at_once": lambda: changed("merge"),
    "deviation_stays": lambda: Deviation.objects.update(reason="On reflection."),
    "deviation_remains": lambda: Deviation.objects.all().delete(),
    "round_reopened": lambda: one_round("over").update(state="open", closed_at=None),
    "round_stays": lambda: one_round("over").update(gate_bound=0.1),
    "round_goes_on": lambda: one_round("over").update(gate_continued_reason="Never mind."),
    "round_begun": lambda: one_round("begun").update(gate_bound=0.1),
    "round_remains": lambda: one_round("begun")._raw_delete("default"),
    "round_bug_added": lambda: late_round_bug(one_round("over").get().study),
    "round_bug_late": lambda: RoundBug.objects.filter(round__name="over").update(taken=1),
    "round_bug_removed": lambda: RoundBug.objects.filter(round__name="over").delete(),
    "round_bug_moved": lambda: RoundBug.objects.filter(round__name="begun").update(round=one_round("over").get()),
    "assignment_added": lambda: again(turns("over").first(), rater=person("lee")),
    "assignment_late": lambda: turns("over").update(note="on second thought"),
    "assignment_removed": lambda: turns("begun").filter(state="todo").delete(),
    "assignment_moved": lambda: turns("begun").filter(state="todo").update(round=one_round("over").get()),
    "assignment_of_adjudicator": lambda: again(
        turns("begun").first(), bug=decisions(source="adjudicated").get().bug, rater=person("ada")
    ),
    "evidence_late": lambda: again(quotes("over").first()),
    "evidence_changed": lambda: quotes("over").update(is_current=False),
    "evidence_overwritten": lambda: quotes("begun").update(quote="total += 2"),
    "evidence_removed": lambda: quotes("begun").delete(),
    "further_bug_late": lambda: again(FurtherBug.objects.filter(assignment__round__name="over").first()),
    "further_bug_overwritten": lambda: FurtherBug.objects.update(note="None."),
    "further_bug_removed": lambda: FurtherBug.objects.all().delete(),
    "flag_early": lambda: Flag.objects.create(
        assignment=turns("begun").first(), facet=facet("cause"), reason="A slip."
    ),
    "answer_late": lambda: again(given("over").first(), is_current=False),
    "answer_second": lambda: again(given("begun", is_current=True).first(), slot=1),
    "answer_changed": lambda: given("over").update(is_current=False),
    "answer_overwritten": lambda: given("begun").update(category=category("shape")),
    "answer_revived": lambda: given("begun", is_current=False).update(is_current=True),
    "answer_removed": lambda: given("begun").delete(),
    "snapshot_early": lambda: again(counts("over").get(), round=one_round("begun").get()),
    "snapshot_stays": lambda: counts("over").update(is_current=False),
    "snapshot_overwritten": lambda: counts("sheet").update(entries=[]),
    "snapshot_remains": lambda: counts("over").delete(),
    "resolution_early": lambda: settled(1, round=one_round("begun").get()),
    "resolution_second": lambda: settled(1, slot=1),
    "resolution_by_rater": by_one_who_rated,
    "resolution_unexplained": lambda: settled(1, category=category("shape")),
    "resolution_rewritten": lambda: decisions().update(note="As it was."),
    "resolution_replaced": lambda: decided_anew().update(is_stale=True),
    "resolution_revived": lambda: decided_anew().update(is_current=True),
    "resolution_removed": lambda: decisions().delete(),
    "stand_early": lambda: stand("begun"),
    "stand_of_others": lambda: stand("over", rater=person("ada")),
    "stand_overwritten": lambda: Stand.objects.update(why="Look again."),
    "stand_revived": lambda: (Stand.objects.update(is_current=False), Stand.objects.update(is_current=True)),
    "stand_remains": lambda: Stand.objects.all()._raw_delete("default"),
    "remark_early": lambda: again(Remark.objects.first(), round=one_round("begun").get()),
    "remark_stays": lambda: Remark.objects.update(text="Nothing."),
    "vote_late": lambda: voted("closed", 1),
    "vote_early": lambda: voted("open", 2),
    "vote_changed": lambda: votes("closed").update(decision="exclude"),
    "vote_moved": lambda: votes("open").update(turn=2),
    "vote_removed": lambda: votes("closed").delete(),
    "reading_late": lambda: Reading.objects.filter(screening__state="closed").update(state="voted"),
    "outcome_early": decided_early,
    "outcome_overwritten": lambda: outcomes().update(decision="exclude"),
    "outcome_removed": lambda: outcomes().delete(),
    "bug_without_item": lambda: Bug.objects.create(study=version().codebook.study, item_id=0, number=99),
    "bug_moved": lambda: Bug.objects.update(item_id=0),
    "screening_reopened": lambda: Screening.objects.filter(state="closed").update(state="open", closed_at=None),
    "remark_remains": lambda: Remark.objects.all().delete(),
    "recipe_stays": lambda: (tried(), Recipe.objects.update(script="print(2)")),
    "recipe_remains": lambda: (tried(), Recipe.objects.all()._raw_delete("default")),
    "environment_stays": lambda: (
        Environment.objects.create(study=version().codebook.study, digest="0" * 64),
        Environment.objects.update(locked="numpy==1.19.0"),
    ),
    "run_final": lambda: (tried(), Run.objects.update(outcome="no_bug")),
    "run_remains": lambda: (tried(), Run.objects.all()._raw_delete("default")),
    "log_stays": lambda: (tried(), Log.objects.update(text="2")),
    "log_remains": lambda: (tried(), Log.objects.all().delete()),
    "finding_stays": lambda: (released(), publication.Finding.objects.update(sentence="All bugs")),
    "finding_remains": lambda: (released(), publication.Finding.objects.all().delete()),
    "release_stays": lambda: (released(), Release.objects.update(manifest=[{}])),
    "release_remains": lambda: (released(), Release.objects.all().delete()),
}


def test_every_guard_is_tried_here():
    assert set(BREAKS) == set(guards.GUARDS)


@pytest.mark.parametrize("name", BREAKS)
def test_a_guard_holds(rounds, name):
    with pytest.raises(DatabaseError, match=guards.GUARDS[name].said), transaction.atomic():
        BREAKS[name]()


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("gate_coefficient", ""),
        ("gate_method", "value"),
        ("gate_bound", 0.1),
        ("gate_min_n", 1),
        ("overlap", 9),
        ("seed", 9),
        ("lease_minutes", 1),
        ("codebook_version", None),
        ("blindness", "no"),
        ("kind", "training"),
        ("name", "Round 0"),
        ("closed_at", timezone.now()),
    ],
)
def test_all_of_a_closed_round_stands(rounds, name, changes):
    with pytest.raises(DatabaseError, match="closed round stays"), transaction.atomic():
        one_round("over").update(**{name: changes})


@pytest.mark.parametrize("act", [lambda: by_one_who_rated(), lambda: by_one_who_is_to_rate()])
def test_nobody_adjudicates_a_bug_of_their_own(rounds, act):
    with pytest.raises(DatabaseError, match="does not adjudicate"), transaction.atomic():
        act()


@pytest.mark.parametrize("state", ["open", "closed"])
def test_an_imported_round_stays_imported(rounds, state):
    with pytest.raises(DatabaseError, match="goes from open to closed"), transaction.atomic():
        one_round("sheet").update(state=state, closed_at=timezone.now() if state == "closed" else None)


def test_no_answer_of_a_sheet_is_put_out_of_force(rounds):
    with pytest.raises(DatabaseError, match="takes no answers"), transaction.atomic():
        given("sheet").update(is_current=False)


def test_an_imported_round_takes_further_sheets_and_gives_them_back(rounds, bob):
    sheet = one_round("sheet").get()
    further = given_in(sheet, Answer.objects.get(round=sheet).bug, bob)
    turn = further.assignment
    further.delete()
    turn.delete()
    assert not Assignment.objects.filter(round=sheet, rater=bob).exists()


def test_a_closed_round_keeps_the_reason_to_go_on_that_is_written_after_it(rounds, study, alice, lee):
    later = make_round(study, bugs=make_bugs(study, 1), raters=[alice], by=lee, name="later")
    close_round(round_=later, by=lee)
    one_round("later").update(gate_continued_reason="Because.", gate_continued_at=timezone.now())
    assert one_round("later").get().gate_continued_reason == "Because."


def test_another_count_of_a_closed_round_is_refused_in_words(rounds, monkeypatch):
    from annotator.agreement import actions

    monkeypatch.setattr(actions, "recompute", lambda round_: [])
    with pytest.raises(Refused, match="stays as it was counted"):
        actions.take_snapshot(round_=one_round("over").get(), by=None)


def test_guards_are_put_back_as_often_as_one_likes(rounds):
    guards.after_migrate()
    guards.after_migrate()
    with pytest.raises(DatabaseError), transaction.atomic():
        Event.objects.all().delete()


def test_guards_step_aside_for_migrations(rounds):
    emit_pre_migrate_signal(verbosity=0, interactive=False, db="default")
    assert Event.objects.all().delete()[0]
    guards.after_migrate()
