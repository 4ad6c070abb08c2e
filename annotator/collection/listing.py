"""Windows of a harvest: counted and split, listed page by page, and looked through again on a later run."""

import datetime as dt
from collections.abc import Sequence
from typing import TYPE_CHECKING

from annotator.clients.github.copies import Copy, Glance, PullRequestCopy
from annotator.clients.github.search import says
from annotator.clients.github.windows import CAP, pieces
from annotator.clients.github.windows import Window as Period
from annotator.collection import edits, listed
from annotator.collection.filling import keep_threads
from annotator.collection.models import Finding, Item, Repository, Window
from annotator.collection.wanted import Wanted

if TYPE_CHECKING:
    from annotator.collection.harvesting import Harvester

PAGE = 50
LONG_AGO = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def period(window: Window) -> Period:
    return Period(window.starts, window.ends)


def is_wanted(wanted: Wanted, copy: Copy) -> bool:
    return says([copy.title, *(label.name for label in copy.labels)], wanted.words)


# --- counting


def settle(run: "Harvester", window: Window) -> None:
    """Count the window; split it where the search would not give all of it."""
    if run.room(window.repository) == 0:
        with run.held():
            Window.objects.filter(pk=window.pk).update(state=Window.State.BEYOND)
        return
    count = run.github.count(run.query(window.repository), period(window))
    at_most = CAP - 1 if run.wanted.limit is None else min(CAP - 1, max(PAGE, run.wanted.limit))
    smaller = pieces(period(window), count, at_most)
    with run.held():
        if smaller:
            _split(window, smaller)
            return
        window.hits = count.total
        window.is_capped = count.total > CAP
        window.is_partial = not count.is_complete
        window.state = Window.State.LISTING if count.total else Window.State.DONE
        window.save()


def _split(window: Window, smaller: Sequence[Period]) -> None:
    first, *others = smaller
    window.starts, window.ends, window.state = first.start, first.end, Window.State.WAITING
    window.save()
    Window.objects.bulk_create(
        Window(harvest_id=window.harvest_id, repository_id=window.repository_id, starts=part.start, ends=part.end)
        for part in others
    )


# --- listing


def go_on(run: "Harvester", window: Window) -> None:
    """One page; all pages at once where only the newest of them are wanted, since they come in no order."""
    query = run.query(window.repository)
    if run.wanted.limit is None:
        page = run.github.hits(query, period(window), after=window.cursor)
        copies: Sequence[Copy] = page.hits
        after = "" if page.after == window.cursor else page.after
    else:
        pages = list(run.github.all_hits(query, period(window)))
        copies, after = [hit for page in pages for hit in page.hits], ""
    if not copies and _was_renamed(run, window):
        return
    with run.held():
        keep(run, window, copies)
        window.cursor = after
        window.save(update_fields=["cursor"])
    if not after:
        _close(run, window)


def _was_renamed(run: "Harvester", window: Window) -> bool:
    """A search by an old name finds nothing; the client remembers today's for this run."""
    name = f"{window.repository.owner}/{window.repository.name}"
    before = run.github.today(name)
    return run.github.repository(name).name.lower() != before.lower()


def keep(run: "Harvester", window: Window, copies: Sequence[Copy]) -> None:
    """Findings of these hits, and items of those that are wanted."""
    repository = window.repository
    fresh = _fresh(run, repository, copies)
    good = [copy for copy in fresh if is_wanted(run.wanted, copy)]
    room = run.room(repository)
    if room is not None:
        good = sorted(good, key=lambda copy: (moment_of(copy, run.wanted), copy.number), reverse=True)[:room]
    edits.compare(run, repository, good)
    items = keep_threads(study=run.harvest.study, repository=repository, found=good)
    findings = []
    for copy in fresh:
        finding = Finding(harvest=run.harvest, window=window, repository=repository, number=copy.number)
        describe(finding, copy, items.get(copy.number))
        if finding.state == Finding.State.PASSED_OVER and is_wanted(run.wanted, copy):
            finding.reason = "limit"
        findings.append(finding)
    for finding, copy in zip(Finding.objects.bulk_create(findings), fresh, strict=True):
        if finding.state == Finding.State.FOUND and finding.lacks:
            run.with_gaps[finding.pk] = copy
    run.tell(len(good))


def _fresh(run: "Harvester", repository: Repository, copies: Sequence[Copy]) -> list[Copy]:
    by_number = {copy.number: copy for copy in copies}
    known = Finding.objects.filter(harvest=run.harvest, repository=repository, number__in=by_number)
    held = set(known.values_list("number", flat=True))
    return [copy for number, copy in by_number.items() if number not in held]


def moment_of(copy: Copy, wanted: Wanted) -> dt.datetime:
    if wanted.moment == "merged" and isinstance(copy, PullRequestCopy):
        return copy.merged_at or LONG_AGO
    if wanted.moment == "updated":
        return copy.updated_at or LONG_AGO
    return (copy.closed_at if wanted.moment == "closed" else copy.opened_at) or LONG_AGO


def describe(finding: Finding, copy: Copy, item: Item | None) -> None:
    """What is known of it from its page, before its files."""
    finding.updated_at = copy.updated_at
    if item is None:
        finding.state, finding.reason = Finding.State.PASSED_OVER, "words"
        return
    finding.item = item
    if item.fetched_at is not None:  # whole with its page, or held already
        finding.state = Finding.State.FETCHED
        return
    finding.lacks = [[gap.what, gap.held, gap.total] for gap in copy.missing]
    finding.changed_files = copy.changed_files if isinstance(copy, PullRequestCopy) else None


def _close(run: "Harvester", window: Window) -> None:
    """A list may end too early: what is short of the count is seen by a lighter search, and fetched by number."""
    promised = min(window.hits, CAP)
    findings = Finding.objects.filter(harvest=run.harvest, repository=window.repository)
    held = findings.filter(window=window).count()
    seen = _seen(run, window) if held < promised else ()
    with run.held():
        held += add_by_number(run, window, seen)
        window.is_partial = window.is_partial or held < promised
        window.state = Window.State.DONE
        window.save(update_fields=["is_partial", "state"])


def _seen(run: "Harvester", window: Window) -> Sequence[Glance]:
    """All hits of the window by the lighter search, under today's name."""
    seen = run.github.unheld(run.query(window.repository), period(window), set())
    if not seen and _was_renamed(run, window):
        seen = run.github.unheld(run.query(window.repository), period(window), set())
    return seen


def add_by_number(run: "Harvester", window: Window, glances: Sequence[Glance]) -> int:
    """Findings to be fetched by number, of what has none yet."""
    findings = Finding.objects.filter(harvest=run.harvest, repository=window.repository)
    known = set(findings.filter(number__in=[glance.number for glance in glances]).values_list("number", flat=True))
    new = [glance for glance in glances if glance.number not in known]
    room = run.room(window.repository)
    rows = Finding.objects.bulk_create(
        Finding(harvest=run.harvest, window=window, repository=window.repository, number=glance.number)
        for glance in (new if room is None else new[:room])
    )
    return len(rows)


# --- looking again


def look(run: "Harvester", window: Window) -> None:
    """One light page of a window that was listed before: what is new is fetched, what was edited is compared."""
    if run.wanted.listed:
        listed.look(run, window)
        return
    page = run.github.glances(run.query(window.repository), period(window), after=window.cursor)
    if not page.total and window.hits and _was_renamed(run, window):
        return
    edits.follow(run, window.repository, page.hits)
    with run.held():
        add_by_number(run, window, page.hits)
        window.hits = page.total
        window.is_capped = page.total > CAP
        is_over = not page.after or page.after == window.cursor
        window.cursor = "" if is_over else page.after
        window.state = Window.State.DONE if is_over else Window.State.LOOKING
        window.save()
