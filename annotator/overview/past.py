"""What happened in a study, without what is still blind."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Q, QuerySet

from annotator.accounts.models import User
from annotator.history.models import Event
from annotator.labeling.models import Round
from annotator.labeling.queries import open_round_ids
from annotator.screening.queries import open_screening_ids
from annotator.studies.access import roles_in
from annotator.studies.models import Role, Study
from annotator.studies.protocol import protocol_of

PAGE, MOST_SHOWN = 100, 10**9
ROUTINE = {"answered", "changed an answer", "adjudicated", "took a stand", "voted", "changed a vote"}
TALK = {"took a stand", "came to agree", "remarked", "flagged an answer"}


@dataclass(frozen=True)
class Happening:
    """One event, or several alike in a row."""

    at: dt.datetime
    actor: str
    verb: str
    label: str
    round: str
    why: str
    change: str
    count: int = 1

    @property
    def key(self) -> tuple[str, str, str]:
        return self.actor, self.verb, self.round

    @property
    def is_routine(self) -> bool:
        """Many in a row say no more than their number."""
        return self.verb in ROUTINE and not self.why


@dataclass(frozen=True)
class Cursor:
    """Where a page of the history ends: the time of its last event, and how many of that time were shown."""

    at: dt.datetime
    shown: int

    @classmethod
    def read(cls, text: str) -> "Cursor | None":
        time, _, shown = text.partition("~")
        try:
            at, place = dt.datetime.fromisoformat(time), int(shown or 0)
            return cls(at.astimezone(dt.UTC), place) if at.tzinfo and 0 <= place < MOST_SHOWN else None
        except (ValueError, OverflowError):
            return None

    def __str__(self) -> str:
        return f"{self.at.isoformat()}~{self.shown}"


def visible(study: Study, viewer: User) -> "QuerySet[Event]":
    """The latest first. Acts in open rounds and screenings are left out, the viewer's own excepted."""
    events = Event.objects.of_study(study.pk).outside_rounds(open_round_ids(study.pk), except_by=viewer.pk)
    events = events.outside_screenings(open_screening_ids(study.pk), except_by=viewer.pk)
    return events.order_by("-at", "-pk")


def page(study: Study, viewer: User, *, after: Cursor | None, actor: str = "") -> tuple[list[Happening], Cursor | None]:
    """A page of events and where the next begins. The cursor holds times alone, so it tells of nobody's unseen act."""
    events = visible(study, viewer)
    if actor:
        events = events.filter(actor_name=actor)
        events = events.exclude(verb__in=TALK) if is_nameless(study, viewer) else events  # or the question names them
    if after:
        same = Q(at=after.at)
        later = events.filter(Q(at__lt=after.at) | same)
        rows = list(later[after.shown : after.shown + PAGE + 1])
    else:
        rows = list(events[: PAGE + 1])
    shown = rows[:PAGE]
    told = _once(_told(shown, study, viewer))
    if len(rows) <= PAGE:
        return told, None
    last = shown[-1].at
    before = after.shown if after and after.at == last else 0
    return told, Cursor(last, before + sum(event.at == last for event in shown))


def recent(study: Study, viewer: User, *, most: int = 8) -> list[Happening]:
    """The latest, with what is alike in a row told once."""
    return _once(_told(list(visible(study, viewer)[:200]), study, viewer), is_brief=True)[:most]


def _once(happenings: Sequence[Happening], *, is_brief: bool = False) -> list[Happening]:
    """Acts alike in a row as one with their number; in full only those that have nothing more to say."""
    found: list[Happening] = []
    for one in happenings:
        is_alike = bool(found) and one.is_routine and found[-1].is_routine and found[-1].key == one.key
        if is_alike and (is_brief or not (one.change or found[-1].change)):
            found[-1] = replace(found[-1], count=found[-1].count + 1, label="")
        else:
            found.append(one)
    return found


def _told(events: Sequence[Event], study: Study, viewer: User) -> list[Happening]:
    names = dict(Round.objects.filter(study=study).values_list("pk", "name"))
    nameless = is_nameless(study, viewer)
    return [
        Happening(
            at=event.at,
            actor="a rater" if nameless and event.verb in TALK else event.actor_name,
            verb=event.verb,
            label=event.label,
            round=names.get(event.round_id or 0, ""),
            why=event.why,
            change="" if nameless and event.verb == "opened a round" else change_of(event),
        )
        for event in events
    ]


def is_nameless(study: Study, viewer: User) -> bool:
    """Whether the protocol keeps the raters' names from the viewer, who decides on what they said."""
    return protocol_of(study).hide_names and Role.ADJUDICATOR in roles_in(viewer, study)


UNTOLD = {"assignment", "snapshot"}  # their old and new are rows' keys and digests, for machines


def change_of(event: Event) -> str:
    """What changed, where a person can read it."""
    if event.kind in UNTOLD:
        return ""
    old, new = _words(event.old), _words(event.new)
    return f"{old} → {new}" if old and new else new or old


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_words(each)}" for key, each in value.items() if _words(each) and key != "digest")[
            :400
        ]
    if isinstance(value, list):
        return ", ".join(filter(None, map(_words, value)))[:400]
    return "" if value is None or value is False else str(value)[:200]
