"""A harvester that finds its repositories first, and writes down what it sent, what went wrong, and refused tokens."""

from collections import deque
from dataclasses import dataclass
from typing import Any

from django.db.models import F
from django.utils import timezone

from annotator.clients.github.errors import Broken, GitHubError, Gone, Limited, Unreachable
from annotator.collection import tokens
from annotator.collection.access import Access
from annotator.collection.actions import Place
from annotator.collection.budget import WHOLE
from annotator.collection.harvesting import Harvester
from annotator.collection.models import Budget, Fault, Finding, Harvest, Window
from annotator.collection.placing import open_windows
from annotator.web.errors import BadInput


@dataclass
class Watched(Harvester):
    access: Access

    def __post_init__(self) -> None:
        super().__post_init__()
        self.before = (self.harvest.rest_requests, self.harvest.graphql_requests, self.harvest.points)
        self.silent = self.harvest.silent
        self.refused = 0
        self.places: dict[str, Place] = {}
        self.gone: dict[str, str] = {}
        is_new = not Window.objects.filter(harvest=self.harvest).exists()
        self.unplaced = deque(self.wanted.repositories if is_new else ())
        waiting = Finding.objects.filter(harvest=self.harvest, state=Finding.State.FOUND, tries__gt=0)
        self.tries.update(dict(waiting.values_list("pk", "tries")))
        self._mine().update(keys=[list(pair) for pair in zip(self.access.named(), self.access.digests, strict=True)])
        tokens.mark_used(study=self.harvest.study, host=self.harvest.host, digests=self.access.digests)

    def step(self) -> bool:
        try:
            return self._place_next() or super().step()
        except Limited as limited:
            self._note_limit(limited)
            self._remember()
            raise
        except Unreachable as unreachable:
            self.silent += 1
            note(self.harvest, Fault.Kind.NO_ANSWER, said=unreachable.why)
            self._remember()
            raise
        except (BadInput, GitHubError):
            self._remember()
            raise
        finally:
            self._note_refused()

    # --- finding its repositories

    def _place_next(self) -> bool:
        """Look one repository up; with the last of them the harvest has its windows."""
        if not self.unplaced:
            return False
        name = self.unplaced[0]
        try:
            found = self.github.repository(name)
        except Gone as gone:
            if not self.wanted.listed:
                raise BadInput(not_shown(name, gone.reason)) from None
            self.gone[name] = str(gone.reason)
        except Broken as broken:
            raise BadInput(f"{broken}.") from None
        else:
            owner, _, today = found.name.partition("/")
            self.places[name] = Place(found.id, self.harvest.host, owner, today, name)
        self.unplaced.popleft()
        if not self.unplaced:
            self._open()
        return True

    def _open(self) -> None:
        with self.held():
            open_windows(
                harvest=self.harvest, wanted=self.wanted, places=self.places, gone=self.gone, now=timezone.now()
            )

    # --- what is written down

    def kept(self) -> dict[str, Any]:
        self.silent = 0
        return super().kept() | self._sent()

    def _sent(self) -> dict[str, Any]:
        """By all runs of this harvest, as whole numbers: written twice they are the same."""
        used, (rest, graphql, points) = self.github.used, self.before
        return {
            "rest_requests": rest + used.rest,
            "graphql_requests": graphql + used.graphql,
            "points": points + used.points,
            "silent": self.silent,
        }

    def _remember(self) -> None:
        """Before a wait in which this process may end."""
        self._mine().update(**self._sent())
        for finding, tries in self.tries.items():
            Finding.objects.filter(pk=finding, tries__lt=tries).update(tries=tries)

    def _note_limit(self, limited: Limited) -> None:
        digests = self.access.digests
        told = Budget.objects.filter(digest__in=digests, resource=WHOLE, blocked_until=limited.until).exists()
        kind = Fault.Kind.TOO_FAST if told else Fault.Kind.ALLOWANCE
        until = f"told to wait until {limited.until:%H:%M:%S} UTC"
        note(self.harvest, kind, place="" if told else limited.resource, said=until)

    def _note_refused(self) -> None:
        names = self.github.refused
        digests = dict(zip(self.access.named(), self.access.digests, strict=True))
        for name in names[self.refused :]:
            note(self.harvest, Fault.Kind.TOKEN, place=name, said="wrong, expired or revoked")
            tokens.mark_refused(study=self.harvest.study, host=self.harvest.host, digest=digests[name])
        self.refused = len(names)


def not_shown(name: str, reason: int) -> str:
    return f"GitHub shows no repository at {name} ({reason}): check the name, and what the token may see."


def note(harvest: Harvest, kind: str, *, place: str = "", said: str = "") -> None:
    """Once more, or for the first time."""
    now, rows = timezone.now(), Fault.objects.filter(harvest=harvest, kind=kind, place=place[:200])
    if not rows.update(count=F("count") + 1, said=said[:500], last_at=now):
        Fault.objects.create(harvest=harvest, kind=kind, place=place[:200], said=said[:500], first_at=now, last_at=now)
