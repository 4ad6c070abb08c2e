"""Carries a harvest out, step by step. Rows, not loops: each step takes the next row, asks GitHub for it, and stores
the answer in one transaction, so that whoever comes next goes on from there and asks for nothing that is held.
"""

import datetime as dt
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotator.clients.github.client import GitHub
from annotator.clients.github.copies import Copy, FilesCopy
from annotator.clients.github.errors import Broken, Gone, Limited, NotAllowed, Unreachable
from annotator.clients.github.search import Query
from annotator.collection import actions, listing
from annotator.collection.filling import keep_rest, keep_threads
from annotator.collection.models import Finding, Harvest, Repository, Window
from annotator.collection.repositories import today
from annotator.collection.wanted import Wanted, from_document
from annotator.history.actions import record

LEASE = dt.timedelta(seconds=settings.HARVEST_LEASE)
TOGETHER = 50  # findings asked for by number in one question
TRIES = 3  # for one finding, then the others are not held up any longer
MOST_IDENTIFIED = 50
OUTAGE = 5  # times in a row that GitHub did not answer


class Stopped(Exception):
    """The harvest was paused, cancelled, or taken over by another run."""


@dataclass
class Harvester:
    harvest: Harvest
    github: GitHub
    owner: str
    wanted: Wanted = field(init=False)

    def __post_init__(self) -> None:
        self.wanted = from_document(self.harvest.query)
        self.waiting: deque[int] = deque()  # findings
        self.tries: Counter[int] = Counter()
        self.with_gaps: dict[int, Copy] = {}  # by finding's repository and number: spares asking a page's hit again
        self.completed: dict[int, Copy] = {}
        self.unidentified: deque[int] | None = None  # repositories of sheets

    # --- what is next

    def step(self) -> bool:
        """Do the next thing; False when nothing is left. Raises what the client raises, and Stopped."""
        if self._identify_next():
            return True
        if finding := self._next_finding():
            self._fetch(finding)
            return True
        windows = Window.objects.filter(harvest=self.harvest).select_related("repository")
        window = (
            windows.filter(state__in=["listing", "looking", "waiting"]).order_by("repository_id", "-starts").first()
        )
        if window is None:
            return False
        try:
            {"waiting": listing.settle, "listing": listing.go_on, "looking": listing.look}[window.state](self, window)
        except (Broken, Gone) as problem:
            self._give_up(window, problem)
        return True

    def _give_up(self, window: Window, problem: Broken | Gone) -> None:
        """What the window holds can't be had; the others are gone on with."""
        with self.held():
            Harvest.objects.filter(pk=self.harvest.pk).update(message=str(problem)[:500])
            Window.objects.filter(pk=window.pk).update(state=Window.State.DONE, is_partial=True)

    def _identify_next(self) -> bool:
        """Before the first item is stored: which one a sheet's repository is by its id. It may have been renamed."""
        if self.unidentified is None:
            begun = Finding.objects.filter(harvest=self.harvest).exclude(state=Finding.State.FOUND)
            self.unidentified = deque([] if begun.exists() else unidentified(self.harvest))
        if not self.unidentified:
            return False
        row = Repository.objects.filter(pk=self.unidentified[0], github_id=None).first()
        if row is not None:
            self._identify(row)
        self.unidentified.popleft()
        return True

    def _identify(self, row: Repository) -> None:
        asked = full_name(row) if row.owner else row.label
        try:
            found = self.github.repository(asked)
        except (Gone, Broken):
            return  # it stays what the sheet calls it
        owner, _, name = found.name.partition("/")
        with self.held():
            actions.repository_at(
                study=self.harvest.study, place=actions.Place(found.id, self.harvest.host, owner, name, asked)
            )

    def _next_finding(self) -> Finding | None:
        if not self.waiting and not self._refill():
            return None
        found = Finding.objects.select_related("item", "repository", "window")
        return found.get(pk=self.waiting[0])

    def _refill(self) -> bool:
        found = Finding.objects.filter(harvest=self.harvest, state=Finding.State.FOUND)
        newest = list(found.order_by("-window__starts", "-number").values_list("pk", flat=True))
        self.waiting = deque(sorted(newest, key=lambda pk: self.tries[pk]))
        return bool(self.waiting)

    # --- one finding

    def _fetch(self, finding: Finding) -> None:
        if finding.item is None:
            self._fetch_many(finding)
            return
        try:
            self._complete(finding)
        except Gone as gone:
            self._unavailable(finding, str(gone.reason))
        except Broken:
            self._unavailable(finding, "unreadable")
        except Unreachable:
            self.tries[finding.pk] += 1
            self.waiting.rotate(-1)
            if self.tries[finding.pk] < TRIES:
                raise
            self._unavailable(finding, "no_answer")
        else:
            self.waiting.popleft()

    def _complete(self, finding: Finding) -> None:
        copy = self._whole_copy(finding) if finding.lacks else None
        files = self._files(finding) if finding.changed_files is not None else None
        lacks = [*(copy.missing if copy else ()), *(files.missing if files else ())]
        item = finding.item
        assert item is not None  # noqa: S101 - the caller looked
        with self.held():
            study, host = self.harvest.study, finding.repository.host
            keep_rest(study=study, host=host, item=item, copy=copy, files=files)
            finding.state = Finding.State.FETCHED
            finding.lacks = [[gap.what, gap.held, gap.total] for gap in lacks]
            finding.etag = files.etag[:200] if files else ""
            finding.save(update_fields=["state", "lacks", "etag"])
        self.completed.pop(finding.pk, None)
        self.with_gaps.pop(finding.pk, None)

    def _whole_copy(self, finding: Finding) -> Copy:
        if finding.pk not in self.completed:
            page = self.with_gaps.get(finding.pk)
            name = full_name(finding.repository)
            self.completed[finding.pk] = self.github.complete(page) if page else self.github.fetch(name, finding.number)
        return self.completed[finding.pk]

    def _files(self, finding: Finding) -> FilesCopy:
        return self.github.files(full_name(finding.repository), finding.number, expected=finding.changed_files)

    def _unavailable(self, finding: Finding, reason: str) -> None:
        with self.held():
            Finding.objects.filter(pk=finding.pk).update(state=Finding.State.UNAVAILABLE, reason=reason)
        if finding.pk in self.waiting:
            self.waiting.remove(finding.pk)

    def _fetch_many(self, first: Finding) -> None:
        """What the search named and did not give: asked for by number, many at once."""
        same = Finding.objects.filter(pk__in=list(self.waiting), repository=first.repository, item=None)
        findings = {finding.number: finding for finding in same.select_related("window")[:TOGETHER]}
        answers = self.github.fetch_many(full_name(first.repository), list(findings))
        with self.held():
            held = {number: copy for number, copy in answers.items() if not isinstance(copy, Gone | Broken)}
            self._describe([findings[number] for number in held], held, first.repository)
            for number, gone in answers.items():
                if isinstance(gone, Gone | Broken):
                    reason = str(gone.reason) if isinstance(gone, Gone) else "unreadable"
                    Finding.objects.filter(pk=findings[number].pk).update(state="unavailable", reason=reason)
        self.waiting.clear()

    def _describe(self, findings: Sequence[Finding], held: dict[int, Copy], repository: Repository) -> None:
        kept = [copy for copy in held.values() if listing.is_wanted(self.wanted, copy)]
        items = keep_threads(study=self.harvest.study, repository=repository, found=kept)
        for finding in findings:
            listing.describe(finding, held[finding.number], items.get(finding.number))
            finding.save()
            if finding.lacks and finding.state == Finding.State.FOUND:
                self.with_gaps[finding.pk] = held[finding.number]
        self.tell(len(kept))

    # --- shared with listing

    @contextmanager
    def held(self) -> Iterator[None]:
        """A transaction in which the harvest is still this run's: the row is its own until the end."""
        with transaction.atomic():
            if not self._mine().filter(state=Harvest.State.RUNNING).update(**self.kept()):
                raise Stopped
            yield

    def kept(self) -> dict[str, Any]:
        """What is written down of the harvest with each step."""
        return {"lease_until": timezone.now() + LEASE}

    def _mine(self) -> "QuerySet[Harvest]":
        return Harvest.objects.filter(pk=self.harvest.pk, lease_owner=self.owner)

    def tell(self, items: int) -> None:
        if items:
            record(
                "collected items",
                by=self.harvest.created_by,
                kind="harvest",
                object_id=self.harvest.pk,
                study_id=self.harvest.study_id,
                new={"harvest": self.harvest.number, "items": items},
            )

    def query(self, repository: Repository) -> Query:
        return self.wanted.query(full_name(repository))

    def room(self, repository: Repository) -> int | None:
        """How many more the limit lets in."""
        if self.wanted.limit is None:
            return None
        taken = Finding.objects.filter(harvest=self.harvest, repository=repository)
        return max(0, self.wanted.limit - taken.exclude(state=Finding.State.PASSED_OVER).count())


def full_name(repository: Repository) -> str:
    return f"{repository.owner}/{repository.name}"


def unidentified(harvest: Harvest) -> list[int]:
    """Repositories that a sheet named on the harvest's host."""
    rows = Repository.objects.filter(study=harvest.study, github_id=None, items__isnull=False).distinct()
    places = {row.pk: next(today(row), "") for row in rows.order_by("pk")}
    return [pk for pk, name in places.items() if name.startswith(f"{harvest.host}/")][:MOST_IDENTIFIED]


# --- a whole run


def begin(harvest: Harvest, *, owner: str) -> None:
    """Take the harvest, from another run too, and see what is left: the rest, or else what is new."""
    now = timezone.now()
    Harvest.objects.filter(pk=harvest.pk).update(
        state=Harvest.State.RUNNING, lease_owner=owner, lease_until=now + LEASE, wake_at=None, message=""
    )
    harvest.refresh_from_db()
    actions.renew(harvest, now=now)


def run(harvester: Harvester, *, wait: Callable[[dt.datetime], None]) -> None:
    """To the end, waiting whenever GitHub says so. Raises NotAllowed, Unreachable, Gone and Stopped."""
    silent = 0
    while True:
        try:
            if not harvester.step():
                actions.finish_harvest(harvest=harvester.harvest, owner=harvester.owner)
                return
            silent = 0
        except Limited as limited:
            _wait(harvester, limited.until, wait)
        except Unreachable as unreachable:
            silent += 1
            if silent >= OUTAGE:
                _stand_still(harvester, Harvest.State.PAUSED, str(unreachable))
                raise
            _wait(harvester, unreachable.retry_at, wait)
        except (NotAllowed, Gone) as problem:
            _stand_still(harvester, Harvest.State.FAILED, str(problem))
            raise


def _wait(harvester: Harvester, until: dt.datetime, wait: Callable[[dt.datetime], None]) -> None:
    """Who waits here keeps the harvest."""
    mine = Harvest.objects.filter(pk=harvester.harvest.pk, lease_owner=harvester.owner)
    mine.update(lease_until=max(until, timezone.now()) + LEASE)
    wait(until)


def _stand_still(harvester: Harvester, state: str, why: str) -> None:
    mine = Harvest.objects.filter(pk=harvester.harvest.pk, lease_owner=harvester.owner, state=Harvest.State.RUNNING)
    mine.update(state=state, message=why[:500], lease_owner="", lease_until=None)
