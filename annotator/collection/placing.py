"""Opens a harvest on the repositories that were found: a window for each, or the entries of its list."""

import datetime as dt
from collections.abc import Iterable, Mapping

from django.db import transaction

from annotator.collection.actions import Place, repository_at
from annotator.collection.models import Finding, Harvest, Repository, Window
from annotator.collection.wanted import Wanted
from annotator.studies.models import Study


@transaction.atomic
def open_windows(
    *, harvest: Harvest, wanted: Wanted, places: Mapping[str, Place], gone: Mapping[str, str], now: dt.datetime
) -> None:
    """`places` by the name that was asked for. `gone` are those that a list names and GitHub does not show, and why."""
    rows = {name: repository_at(study=harvest.study, place=place) for name, place in places.items()}
    if not wanted.listed:
        starts, ends = period_of(wanted, now)
        Window.objects.bulk_create(
            Window(harvest=harvest, repository=row, starts=starts, ends=ends) for row in set(rows.values())
        )
        return
    rows |= {name: repository_named(study=harvest.study, host=harvest.host, name=name) for name in gone}
    numbers: dict[Repository, dict[int, str]] = {}
    for name, row in rows.items():
        numbers.setdefault(row, {}).update(dict.fromkeys(wanted.listed_of(name), gone.get(name, "")))
    for row, reasons in numbers.items():
        _list(harvest, row, reasons, now.replace(microsecond=0))


def _list(harvest: Harvest, repository: Repository, reasons: Mapping[int, str], now: dt.datetime) -> None:
    """Entries without a reason are to be fetched by number."""
    window = Window.objects.create(
        harvest=harvest, repository=repository, starts=now, ends=now, state=Window.State.DONE, hits=len(reasons)
    )
    Finding.objects.bulk_create(
        Finding(
            harvest=harvest,
            window=window,
            repository=repository,
            number=number,
            state=Finding.State.UNAVAILABLE if reason else Finding.State.FOUND,
            reason=reason,
        )
        for number, reason in reasons.items()
    )


def period_of(wanted: Wanted, now: dt.datetime) -> tuple[dt.datetime, dt.datetime]:
    """Its first and its last second."""
    starts = dt.datetime.combine(wanted.first, dt.time.min, dt.UTC)
    if wanted.last is None:
        return starts, max(starts, now.replace(microsecond=0))
    return starts, dt.datetime.combine(wanted.last, dt.time(23, 59, 59), dt.UTC)


def repository_named(*, study: Study, host: str, name: str) -> Repository:
    """The study's row of a repository that GitHub does not show."""
    owner, _, short = name.partition("/")
    rows = Repository.objects.filter(study=study)
    known = rows.filter(host__in=["", host], owner__iexact=owner, name__iexact=short).first()
    if known:
        return known
    label = _free(name, rows.filter(label__startswith=name).values_list("label", flat=True))
    return Repository.objects.create(study=study, label=label, host=host, owner=owner, name=short)


def _free(name: str, taken: Iterable[str]) -> str:
    labels = set(taken)
    tried = [name, *(f"{name} (not found {place})" for place in range(1, len(labels) + 2))]
    return next(label for label in tried if label not in labels)
