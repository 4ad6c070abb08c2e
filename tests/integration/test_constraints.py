"""What the database itself refuses: each constraint of the models, broken on purpose."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, models, transaction

from annotator.accounts.models import Token, User
from annotator.adjudication.models import Acceptance, AuditPick, Dispute, Resolution, Stand
from annotator.agreement.models import Snapshot
from annotator.analysis.models import Drawing, LabelAudit, Suspect
from annotator.codebook.models import Category, Change, Facet, PathRule, TellApart, Version
from annotator.collection.models import (
    Budget,
    ChangedFile,
    Comment,
    Commit,
    Comparison,
    Context,
    Edit,
    Fault,
    Finding,
    GitHubToken,
    Harvest,
    Link,
    NearDuplicate,
    Window,
)
from annotator.intake.models import Import
from annotator.labeling.actions import note_further_bug
from annotator.labeling.models import Answer, Assignment, Evidence, Flag, Proposal, Round, RoundBug
from annotator.labeling.submission import Pin
from annotator.overview import guards
from annotator.overview.rounds.closing import close_round
from annotator.publication import models as publication
from annotator.publication.models import Release
from annotator.reproduction.models import Environment, Host, Log, Recipe, Run, Series
from annotator.sampling.models import Drawn, Sample, Stratum, TopUp
from annotator.screening.models import Candidate, Criterion, Outcome, Reading, Screening, Vote
from annotator.studies.models import Membership, Session
from tests.factories import ItemFactory, RepositoryFactory, answer, make_round

CONSTRAINTS = {
    constraint.name: (model, constraint)
    for model in apps.get_models()
    if model.__module__.startswith("annotator.")
    for constraint in model._meta.constraints
}
JUNE = dt.datetime(2021, 6, 1, tzinfo=dt.UTC)
# The same row once more, but for what other constraints hold; or a row that is there, with a value that cannot be.
AGAIN: Mapping[str, dict[str, Any]] = {
    "membership_once": {},
    "tell_apart_once": {},
    "path_rule_position": {},
    "link_once": {},
    "edit_once": {},
    "comparison_number": {},
    "near_duplicate_once": {},
    "facet_key": {},
    "category_name": {"uid": "another", "hotkey": ""},
    "category_hotkey": {"uid": "another", "name": "another"},
    "category_top_hotkey": {"uid": "another", "name": "another"},
    "version_number": {},
    "change_number": {"undoes": None},
    "change_undone_once": {"number": 99},
    "repository_label": {"github_id": None},
    "repository_github": {"label": "another"},
    "item_identity": {},
    "context_once": {},
    "comment_position": {},
    "commit_position": {},
    "file_position": {},
    "criterion_position": {"name": "another", "hotkey": ""},
    "criterion_name": {"position": 99, "hotkey": ""},
    "criterion_hotkey": {"name": "another", "position": 99},
    "screening_number": {"name": "another", "state": "open"},
    "screening_name": {"number": 99, "state": "open"},
    "screening_imported_once": {"name": "another", "number": 99},
    "candidate_position": {},
    "reading_once": {},
    "vote_once": {},
    "outcome_current": {},
    "bug_ordinal": {"number": 99},
    "bug_number": {"ordinal": 99},
    "sample_number": {"name": "another"},
    "sample_name": {"number": 99},
    "stratum_label": {},
    "drawn_position": {},
    "drawn_item": {"position": 99, "state": "reserve", "taken_at": None},
    "drawn_taken_once": {"position": 99},
    "round_number": {"name": "another"},
    "round_name": {"number": 99},
    "round_bug": {"position": 99},
    "assignment_once": {},
    "answer_current": {},
    "flag_once": {},
    "snapshot_current": {},
    "resolution_current": {},
    "dispute_current": {},
    "stand_current": {},
    "audit_pick_once": {},
    "import_number": {},
    "harvest_number": {},
    "window_once": {},
    "finding_once": {},
    "budget_once": {},
    "fault_once": {},
    "github_token_once": {"name": "another"},
    "github_token_name": {"digest": "1" * 64},
    "environment_digest": {},
    "host_name": {},
    "recipe_version": {"is_current": False},
    "recipe_current": {"version": 2},
    "series_number": {},
    "run_once": {"key": "another"},
    "log_sequence": {},
    "drawing_key": {},
    "label_audit_number": {},
    "suspect_rank": {},
    "release_number": {"sha256": "8" * 64},
    "release_once": {"number": 2},
    "release_one_at_a_time": {},
    "finding_version": {"is_current": False},
    "finding_current": {"version": 2},
}
CHANGED: Mapping[str, dict[str, Any]] = {
    "membership_role": {"role": "owner"},
    "session_kind": {"kind": "picnic"},
    "facet_kind": {"kind": "free"},
    "category_merged": {"state": "merged"},
    "change_act": {"act": "paint"},
    "change_applied_or_withdrawn": {
        "applied_at": dt.datetime(2021, 1, 1, tzinfo=dt.UTC),
        "withdrawn_at": dt.datetime(2021, 1, 1, tzinfo=dt.UTC),
        "version": models.F("codebook"),
    },
    "change_applied_has_version": {"applied_at": dt.datetime(2021, 1, 1, tzinfo=dt.UTC)},
    "item_has_identity": {"identity": ""},
    "criterion_kind": {"kind": "perhaps"},
    "criterion_retired_reason": {"retired_reason": "no longer"},
    "screening_closed_at": {"state": "closed"},
    "screening_rule": {"rule": "by lot"},
    "candidate_position_positive": {"position": 0},
    "reading_state": {"state": "read"},
    "vote_decision": {"decision": "maybe"},
    "vote_turn": {"turn": 0},
    "vote_include_cites_none": {"criterion": models.F("candidate")},
    "outcome_decision": {"decision": "maybe"},
    "outcome_include_cites_none": {"criterion": models.F("candidate")},
    "outcome_source": {"source": "decided"},
    "bug_ordinal_positive": {"ordinal": 0},
    "bug_left_together": {"left_reason": "duplicate"},
    "drawn_taken_at": {"taken_at": None},
    "top_up_of_another": {"came": models.F("left")},
    "round_closed_at": {"state": "closed"},
    "round_kind": {"kind": "trial"},
    "round_state": {"state": "shut"},
    "round_blindness": {"blindness": "perhaps"},
    "round_design": {"design": "chance"},
    "round_gate_coefficient": {"gate_coefficient": "phi"},
    "round_gate_method": {"gate_method": "upper"},
    "round_gate_bound": {"gate_bound": 1.1},
    "round_bug_taken": {"taken": 3},
    "assignment_submitted_at": {"state": "submitted"},
    "assignment_state": {"state": "lost"},
    "assignment_confidence": {"confidence": "very"},
    "evidence_kind": {"kind": "dream"},
    "further_bug_state": {"state": "seen"},
    "flag_state": {"state": "seen"},
    "resolution_by_and_reason": {"source": "adjudicated"},
    "resolution_category": {"category": None},
    "resolution_source": {"source": "decreed"},
    "resolution_recorded_by": {"source": "joint"},
    "resolution_reason": {
        "source": "adjudicated",
        "by": models.Subquery(User.objects.values("pk")[:1]),
        "reason": "whim",
    },
    "stand_move": {"move": "ignore"},
    "tell_apart_order": {"first": models.F("second")},
    "link_source": {"source": "rumour"},
    "comparison_threshold": {"threshold": 1.5},
    "near_duplicate_order": {"first": models.F("second")},
    "proposal_state": {"state": "lost", "settled_at": dt.datetime(2021, 1, 1, tzinfo=dt.UTC)},
    "proposal_settled": {"state": "accepted"},
    "audit_pick_outcome": {"outcome": "lost"},
    "dispute_open_is_current": {"is_current": False},
    "import_running_lease": {"state": "running"},
    "import_state": {"state": "lost"},
    "harvest_running_lease": {"state": "running"},
    "window_ends_after": {"ends": dt.datetime(2021, 1, 1, tzinfo=dt.UTC)},
    "finding_fetched_has_item": {"state": "fetched"},
    "finding_reason": {"reason": "404"},
    "budget_reserved": {"reserved": -1},
    "harvest_refresh_positive": {"refresh_days": 0},
    "fault_counted": {"count": 0},
    "github_token_removed_is_gone": {"removed_at": dt.datetime(2021, 1, 1, tzinfo=dt.UTC)},
    "item_kind": {"kind": "zz"},
    "comment_kind": {"kind": "zz"},
    "harvest_state": {"state": "zz"},
    "window_state": {"state": "zz"},
    "fault_kind": {"kind": "zz"},
    "comparison_state": {"state": "zz"},
    "screening_blindness": {"blindness": "zz"},
    "run_outcome": {"outcome": "zz"},
    "facet_decided": {"decided": "lot"},
    "category_state": {"state": "lost"},
    "acceptance_share": {"share": 1.5},
    "recipe_version_positive": {"version": 0},
    "series_runner": {"runner": "bare"},
    "run_state": {"state": "lost"},
    "run_lease_while_running": {"state": "running"},
    "run_outcome_when_ended": {"state": "ended"},
    "run_repeat": {"repeat": 0},
    "run_expects": {"expects": "luck"},
    "run_queue": {"queue": "mining"},
    "drawing_state": {"state": "lost"},
    "label_audit_state": {"state": "lost"},
    "suspect_reason": {"reason": "a hunch"},
    "suspect_ruled_together": {"ruling": "right"},
    "release_state": {"state": "lost", "number": None, "published_at": None, "sha256": ""},
    "release_published_together": {"published_at": None},
}


def screened(study, item, alice) -> list[models.Model]:
    """One row of each model of screening, all about the same candidate."""
    screening = Screening.objects.create(study=study, number=1, name="Imported votes", state="imported")
    candidate = Candidate.objects.create(study=study, screening=screening, item=item, position=1)
    return [
        screening,
        candidate,
        Criterion.objects.create(study=study, kind="exclude", position=1, name="no fix", hotkey="1"),
        Reading.objects.create(screening=screening, candidate=candidate, reviewer=alice, position=1),
        Vote.objects.create(candidate=candidate, reviewer=alice, decision="include"),
        Outcome.objects.create(candidate=candidate, decision="include", source="single"),
    ]


def beside(study, bugs, facet, lee) -> list[models.Model]:
    """Rows that stand beside two items or two categories."""
    top, other = facet.categories.order_by("pk")[:2]
    item, second = bugs[0].item, bugs[1].item
    comparison = Comparison.objects.create(study=study, number=1, threshold=0.5)
    return [
        TellApart.objects.create(first=top, second=other, text="One is of types.", by=lee),
        PathRule.objects.create(facet=facet, position=1, prefix="src/", category=top),
        Link.objects.create(item=item, host="github.com", owner="frame", name="wood", number=1, source="closing"),
        Edit.objects.create(item=item, edited_at=JUNE, seen_at=JUNE),
        comparison,
        NearDuplicate.objects.create(comparison=comparison, first=item, second=second, similarity=0.9),
    ]


def waiting_change(study, facet) -> Change:
    """One that would take back another."""
    more = {"codebook": study.codebook, "facet": facet, "reason": "r"}
    done = {"applied_at": JUNE, "version": study.codebook.versions.get()}
    renamed = Change.objects.create(number=1, act="rename", **more, **done)
    return Change.objects.create(number=2, act="rename", undoes=renamed, **more)


@pytest.fixture
def rounds(study, bugs, alice, bob, lee) -> tuple[Round, Round]:
    """One that is closed, with a dispute, and one that is open."""
    over = make_round(study, bugs=bugs[:2], raters=[alice, bob], by=lee)
    for bug in bugs[:2]:
        answer(over, bug, alice, {"cause": "type", "stage": "training"})
    answer(over, bugs[0], bob, {"cause": "type", "stage": "training"})
    answer(over, bugs[1], bob, {"cause": "api", "stage": "training"})
    close_round(round_=over, by=lee)
    still = make_round(study, bugs=bugs[2:], raters=[alice, bob], by=lee)
    pins = [Pin("line", "F1-3", "sum.py:3", "total += 1")]
    answer(still, bugs[2], alice, {"cause": "type", "stage": "training"}, pins=pins)
    return over, still


def labelled(still, bugs, bob, category) -> list[models.Model]:
    """What stands in the round that is open."""
    turns = Assignment.objects.filter(round=still)
    return [
        still,
        RoundBug.objects.filter(round=still).first(),
        turns.filter(state="todo").first(),
        Answer.objects.filter(round=still).first(),
        Evidence.objects.filter(assignment__round=still).get(),
        note_further_bug(assignment=turns.get(bug=bugs[2], rater=bob), note="Two.", by=bob),
        Proposal.objects.create(assignment=turns.first(), category=category),
    ]


def settled(study, over, facet, alice, ada) -> list[models.Model]:
    """What stands about the round that is closed."""
    dispute = Dispute.objects.get(study=study)
    bug = RoundBug.objects.filter(round=over).exclude(bug=dispute.bug).get().bug
    return [
        Snapshot.objects.get(round=over),
        Resolution.objects.filter(bug=bug, facet=facet).get(),
        dispute,
        Flag.objects.create(assignment=Assignment.objects.filter(round=over).first(), facet=facet, reason="a slip"),
        Stand.objects.create(round=over, bug=dispute.bug, facet=dispute.facet, rater=alice, move="keep"),
        accepted := Acceptance.objects.create(round=over, bugs=1, share=0.5, seed=1, by=ada),
        AuditPick.objects.create(acceptance=accepted, bug=bug),
    ]


def collected(study, item, lee) -> list[models.Model]:
    """A harvest with what came of it, and the copy of an item."""
    repository = RepositoryFactory(study=study, github_id=7)
    harvest = Harvest.objects.create(study=study, number=1, created_by=lee)
    window = Window.objects.create(harvest=harvest, repository=repository, starts=JUNE, ends=JUNE)
    token = {"study": study, "host": "github.com", "name": "laptop", "digest": "0" * 64}
    return [
        repository,
        harvest,
        window,
        Finding.objects.create(harvest=harvest, window=window, repository=repository, number=1),
        Budget.objects.create(digest="0" * 64, resource="core"),
        Fault.objects.create(harvest=harvest, kind="worker", first_at=JUNE, last_at=JUNE),
        GitHubToken.objects.create(**token, sealed="sealed", added_by=lee),
        item,
        Context.objects.create(item=item, ordinal=1),
        Comment.objects.create(item=item, position=1),
        Commit.objects.create(item=item, position=1, sha="a" * 40),
        ChangedFile.objects.create(item=item, position=1, path="sum.py"),
    ]


def sampled(study, bugs) -> list[models.Model]:
    sample = Sample.objects.create(study=study, number=1, name="Sample 1", rule={}, seed=1, pool_size=1)
    stratum = Stratum.objects.create(sample=sample, size=1)
    taken = {"stratum": stratum, "item": bugs[0].item, "state": Drawn.State.TAKEN, "taken_at": JUNE}
    return [
        sample,
        stratum,
        Drawn.objects.create(sample=sample, position=1, **taken),
        TopUp.objects.create(sample=sample, left=bugs[4], came=bugs[5]),
        bugs[0],
    ]


def run_and_released(study, bug, facet, category, lee) -> list[models.Model]:
    """How a bug is made to happen, what is drawn of the labels, and what is handed out."""
    token = Token.objects.create(user=lee, name="host", digest="2" * 64, hint="22", expires_at=JUNE)
    recipe = Recipe.objects.create(study=study, bug=bug, number=1, name="sum", document={}, script_name="sum.py")
    series = Series.objects.create(recipe=recipe, number=1)
    of_run = {"environment": "buggy", "position": 1, "repeat": 1, "seed": 1, "queue": "reproduction"}
    run = Run.objects.create(series=series, key="k", **of_run)
    audit = LabelAudit.objects.create(study=study, number=1, facet=facet, seed=1)
    return [
        Environment.objects.create(study=study, digest="3" * 64),
        Host.objects.create(study=study, name="laptop", token=token, added_by=lee),
        recipe,
        series,
        run,
        Log.objects.create(run=run, attempt=1, sequence=1, text="1"),
        Drawing.objects.create(study=study, key="4" * 64, asked={}, wanted="5" * 64),
        audit,
        Suspect.objects.create(audit=audit, bug=bug, reason="unlikely", label=category, rank=1),
        Release.objects.create(study=study, number=1, state="published", published_at=JUNE, sha256="7" * 64),
        publication.Finding.objects.create(study=study, number=1, sentence="{n} bugs", written_by=lee),
    ]


@pytest.fixture
def rows(study, bugs, rounds, alice, bob, ada, lee) -> dict[type[models.Model], models.Model]:
    """One row of each model, without the guards: they would speak first, and are tried on their own."""
    over, still = rounds
    facet = Facet.objects.get(codebook__study=study, key="cause")
    top, item = facet.categories.get(name="type"), bugs[0].item
    open_rows = labelled(still, bugs, bob, top)
    guards.remove()
    found = [
        Membership.objects.filter(study=study).first(),
        Session.objects.create(study=study, kind="consensus", started_by=lee),
        facet,
        top,
        Version.objects.get(codebook__study=study),
        waiting_change(study, facet),
        Import.objects.create(study=study, number=1, filename="bugs.csv", created_by=lee),
        *open_rows,
        *settled(study, over, facet, alice, ada),
        *collected(study, item, lee),
        *sampled(study, bugs),
        *screened(study, item, alice),
        *beside(study, bugs, facet, lee),
        *run_and_released(study, bugs[0], facet, top, lee),
    ]
    return {type(row): row for row in found}


def broken(error: IntegrityError, constraint: models.BaseConstraint, model: type[models.Model]) -> bool:
    """PostgreSQL names the constraint; SQLite names a check, and of what is unique the columns."""
    said = str(error)
    if constraint.name in said:
        return True
    named = [model._meta.get_field(field).column for field in getattr(constraint, "fields", ())]
    return said == "UNIQUE constraint failed: " + ", ".join(f"{model._meta.db_table}.{column}" for column in named)


def test_every_constraint_is_tried_here():
    assert {*AGAIN, *CHANGED} == set(CONSTRAINTS)


WORDS = [
    (model, field)
    for model in apps.get_models()
    if model.__module__.startswith("annotator.")
    for field in model._meta.concrete_fields
    if field.choices
]


@pytest.mark.parametrize(("model", "field"), WORDS, ids=str)
def test_a_word_is_one_of_those_that_are_known(rows, model, field):
    row = model.objects.filter(pk=rows[model].pk)
    with pytest.raises(IntegrityError, match=r"(?i)check"), transaction.atomic():
        row.update(**{field.name: "zz"})


@pytest.mark.parametrize("name", AGAIN)
def test_the_same_row_is_not_there_twice(rows, name):
    model, constraint = CONSTRAINTS[name]
    row = rows[model]
    if name == "candidate_position":
        row.item = type(row.item).objects.exclude(pk=row.item_id).first()
    if name == "category_hotkey":
        row = Category.objects.create(facet=row.facet, name="narrower", parent=row, hotkey="7")
    if name == "host_name":
        row.token = Token.objects.create(user=row.added_by, name="host", digest="6" * 64, hint="66", expires_at=JUNE)
    if name == "release_one_at_a_time":
        row = Release.objects.create(study=row.study)
    if name == "drawn_position":
        row.item = ItemFactory(study=row.sample.study)
    if name == "drawn_taken_once":
        row.sample = Sample.objects.create(
            study=row.sample.study, number=2, name="another", rule={}, seed=1, pool_size=1
        )
    row.pk = None
    for field, value in AGAIN[name].items():
        setattr(row, field, value)
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        row.save(force_insert=True)
    assert broken(caught.value, constraint, model), caught.value


@pytest.mark.parametrize("name", CHANGED)
def test_a_row_takes_no_value_that_cannot_be(rows, name):
    model, constraint = CONSTRAINTS[name]
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        model.objects.filter(pk=rows[model].pk).update(**CHANGED[name])
    assert broken(caught.value, constraint, model), caught.value


def test_a_category_with_answers_is_not_deleted(rows):
    with pytest.raises(models.ProtectedError):
        rows[Answer].category.delete()
