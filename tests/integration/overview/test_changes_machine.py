"""Whatever is changed, answered, closed and undone in whatever order: no answer is lost, no id returns, no kappa moves."""

import json
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from annotator.adjudication.queries import final_labels
from annotator.agreement.actions import digest_of
from annotator.agreement.comparing import recompute
from annotator.agreement.models import Snapshot
from annotator.codebook import choices
from annotator.codebook.actions import add_category, edit_category, remove_category, restore_category
from annotator.codebook.changes import CategoryChange
from annotator.codebook.living import merge_categories, redefine_category, split_category, waiting, withdraw_change
from annotator.codebook.models import Category, Change, Version
from annotator.labeling.models import Answer, Round
from annotator.overview.changes.changing import carry_out, make, undo
from annotator.overview.changes.relabelling import open_relabel_round
from annotator.overview.rounds.closing import close_round
from annotator.publication.exports import export
from annotator.web.errors import BadInput, Refused
from tests.factories import StudyFactory, UserFactory, answer, make_bugs, make_codebook, make_round, member

PLACE = st.integers(min_value=0, max_value=20)  # of a row in a list, taken around


def canonical(entries: list[Any]) -> str:
    """A database may keep the keys of a document in an order of its own."""
    return json.dumps(entries, sort_keys=True)


class Living(RuleBasedStateMachine):
    """A study with two raters and four bugs, whose codebook lives."""

    def __init__(self) -> None:
        super().__init__()
        self.sandbox = transaction.atomic()
        self.sandbox.__enter__()
        choices._read.cache_clear()
        self.names = (f"name {n}" for n in count())
        self.answers: dict[int, tuple[int, int, int]] = {}
        self.ids: dict[str, tuple[int, int]] = {}
        self.counts: dict[int, str] = {}
        self.tables: dict[int, bytes] = {}

    @initialize()
    def begin(self) -> None:
        self.study = StudyFactory()
        self.lee = member(self.study, UserFactory(), "lead")
        self.raters = [member(self.study, UserFactory(), "rater") for _ in range(2)]
        make_codebook(self.study, {"cause": ["A", "B", "C", "D"]})
        self.facet = self.study.codebook.facets.get(key="cause")
        self.bugs = make_bugs(self.study, 4)
        self.begin_round("main")

    def teardown(self) -> None:
        try:
            if hasattr(self, "study"):
                self.every_old_count_comes_out_the_same()
        finally:
            transaction.set_rollback(True)
            self.sandbox.__exit__(None, None, None)

    # --- rounds

    @property
    def now_open(self) -> Round | None:
        return Round.objects.open().filter(study=self.study).first()

    def begin_round(self, kind: str) -> None:
        make_round(self.study, bugs=self.bugs, raters=self.raters, by=self.lee, kind=kind)

    @rule(kind=st.sampled_from(["main", "retest"]))
    def another_round(self, kind: str) -> None:
        if self.now_open is None:
            self.begin_round(kind)

    @rule(bug=PLACE, rater=PLACE, category=PLACE)
    def answers_one(self, bug: int, rater: int, category: int) -> None:
        self.answer(bug, rater, category)

    @rule(picks=st.lists(PLACE, min_size=8, max_size=8))
    def answers_all(self, picks: list[int]) -> None:
        for place, pick in enumerate(picks):
            self.answer(place // 2, place, pick)

    def answer(self, bug: int, rater: int, category: int) -> None:
        if (open_one := self.now_open) is None:
            return
        turn = open_one.assignments.filter(rater=self.raters[rater % 2]).order_by("position")
        if turn:
            chosen = turn[bug % len(turn)]
            answer(open_one, chosen.bug, chosen.rater, {"cause": self.active()[category % len(self.active())].name})

    @rule()
    def closes(self) -> None:
        if (open_one := self.now_open) is not None:
            close_round(round_=open_one, by=self.lee)
            kept = Snapshot.objects.get(round=open_one)
            self.counts[kept.pk] = canonical(kept.entries)
            self.tables[self.version_at(open_one)] = self.table(self.version_at(open_one))

    def version_at(self, over: Round) -> int:
        version = Round.objects.select_related("codebook_version").get(pk=over.pk).codebook_version
        assert version is not None
        return version.number

    def table(self, version: int) -> bytes:
        """The answers of rounds that are over by now, as of a version; later rounds add lines of their own."""
        rows = b"".join(export(self.study, "answers", "csv", codebook=str(version)).pieces)
        over = Round.objects.with_agreement().filter(study=self.study).count()
        return str(over).encode() + rows

    # --- changes

    def active(self) -> list[Category]:
        return list(self.facet.categories.filter(state="active").select_related("facet__codebook", "parent"))

    def pick(self, place: int) -> Category:
        rows = self.active()
        return rows[place % len(rows)]

    def tries(self, act: Callable[[], Any]) -> None:
        """What makes no sense is refused, and leaves nothing."""
        before = Change.objects.count(), Version.objects.count()
        try:
            with transaction.atomic():
                act()
        except (BadInput, Refused):
            assert (Change.objects.count(), Version.objects.count()) == before

    @rule(place=PLACE)
    def renames(self, place: int) -> None:
        change = CategoryChange(name=next(self.names))
        self.tries(lambda: edit_category(category=self.pick(place), by=self.lee, change=change))

    @rule(place=PLACE, below=PLACE)
    def moves(self, place: int, below: int) -> None:
        change = CategoryChange(parent=self.pick(below).uid, hotkey="")
        self.tries(lambda: edit_category(category=self.pick(place), by=self.lee, change=change))

    @rule(old=st.booleans())
    def adds(self, old: bool) -> None:
        gone = self.facet.categories.exclude(state="active").first()
        name = gone.name if old and gone else next(self.names)
        self.tries(lambda: add_category(facet=self.facet, by=self.lee, change=CategoryChange(name=name)))

    @rule(place=PLACE)
    def retires(self, place: int) -> None:
        if len(self.active()) > 2:
            self.tries(lambda: remove_category(category=self.pick(place), by=self.lee, reason="r"))

    @rule(place=PLACE)
    def restores(self, place: int) -> None:
        rows = list(self.facet.categories.filter(state="retired").select_related("facet__codebook"))
        if rows:
            self.tries(lambda: restore_category(category=rows[place % len(rows)], by=self.lee))

    @rule(place=PLACE, into=PLACE)
    def merges(self, place: int, into: int) -> None:
        rows = {"sources": [self.pick(place)], "into": self.pick(into)}
        self.tries(lambda: make(self.study, merge_categories, reason="r", by=self.lee, **rows))

    @rule(place=PLACE)
    def splits(self, place: int) -> None:
        parts = [CategoryChange(name=next(self.names)) for _ in range(2)]
        row = self.pick(place)
        self.tries(lambda: make(self.study, split_category, category=row, parts=parts, reason="r", by=self.lee))

    @rule(place=PLACE)
    def redefines(self, place: int) -> None:
        change, row = CategoryChange(definition=next(self.names)), self.pick(place)
        self.tries(lambda: make(self.study, redefine_category, category=row, change=change, reason="r", by=self.lee))

    @rule(place=PLACE)
    def undoes(self, place: int) -> None:
        rows = list(Change.objects.filter(codebook__study=self.study, applied_at__isnull=False).order_by("-number"))
        if rows:
            self.tries(lambda: undo(change=rows[place % len(rows)], by=self.lee, reason="r"))

    @rule(place=PLACE, drop=st.booleans())
    def settles_what_waits(self, place: int, drop: bool) -> None:
        rows = waiting(self.study.codebook)
        if rows:
            row = rows[place % len(rows)]
            act = withdraw_change if drop else carry_out
            self.tries(lambda: act(change=row, by=self.lee))

    @rule(place=PLACE)
    def labels_again(self, place: int) -> None:
        rows = list(Change.objects.filter(codebook__study=self.study, applied_at__isnull=False).order_by("-number"))
        if rows and self.now_open is None:
            self.tries(lambda: open_relabel_round(change=rows[place % len(rows)], by=self.lee))

    # --- what always holds

    @invariant()
    def no_answer_is_lost_or_altered(self) -> None:
        now = {
            pk: tuple(rest)
            for pk, *rest in Answer.objects.filter(round__study_id=self.study_id).values_list(
                "pk", "category_id", "rater_id", "version"
            )
        }
        assert self.answers.items() <= now.items()
        self.answers = now

    @property
    def study_id(self) -> int:
        return int(self.study.pk) if hasattr(self, "study") else -1

    @invariant()
    def an_id_stays_with_its_category(self) -> None:
        rows = Category.objects.filter(facet__codebook__study_id=self.study_id)
        now = {uid: (pk, facet) for uid, pk, facet in rows.values_list("uid", "pk", "facet_id")}
        assert self.ids.items() <= now.items()
        self.ids = now

    @invariant()
    def a_merged_category_leads_to_one_that_is_not(self) -> None:
        assert not Category.objects.filter(merged_into__state="merged").exists()

    @invariant()
    def no_label_is_of_a_category_that_is_gone(self) -> None:
        if hasattr(self, "study"):
            labels = final_labels(self.study).values("label_id")
            assert not Category.objects.filter(pk__in=labels, state__in=["merged", "split"]).exists()

    @invariant()
    def no_kept_count_is_altered(self) -> None:
        kept = Snapshot.objects.filter(pk__in=self.counts)
        assert {row.pk: canonical(row.entries) for row in kept} == self.counts

    def every_old_count_comes_out_the_same(self) -> None:
        for kept in Snapshot.objects.filter(pk__in=self.counts):
            again = recompute(Round.objects.select_related("codebook_version").get(pk=kept.round_id))
            assert canonical(again) == self.counts[kept.pk]
            assert digest_of(again) == kept.digest
        for version, before in self.tables.items():
            if (now := self.table(version))[:1] == before[:1]:
                assert now == before
        self.every_answer_was_offered_under_its_stamp()

    def every_answer_was_offered_under_its_stamp(self) -> None:
        offered = {
            version.number: {
                c["id"] for f in version.document["facets"] for c in f["categories"] if not c.get("retired")
            }
            for version in Version.objects.filter(codebook__study=self.study)
        }
        given = Answer.objects.filter(round__study=self.study).values_list("version", "category__uid")
        assert all(uid in offered[version] for version, uid in given)


@pytest.mark.django_db
def test_no_sequence_of_changes_loses_anything() -> None:
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    run_state_machine_as_test(
        Living, settings=settings(max_examples=12, stateful_step_count=25, deadline=None, suppress_health_check=slow)
    )
