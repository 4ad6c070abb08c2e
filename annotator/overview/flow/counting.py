"""From found to released, with what fell out at each step and why. It adds up, or says where it does not.

What a step holds is counted from its own rows; what it should hold follows from the step before: less what was
excluded, and with what was added. Counts come from rounds and screenings that are over.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.urls import reverse

from annotator.collection.models import Finding, Harvest, Item, Window
from annotator.collection.saying import reason_in_words
from annotator.overview.bugs import standing
from annotator.overview.flow.origins import Origins, origins_of, unaccounted
from annotator.publication.frozen import document
from annotator.publication.models import Release
from annotator.sampling.models import Bug, Drawn, Sample, TopUp
from annotator.screening import queries as screening
from annotator.screening.models import Candidate, Screening, Vote
from annotator.studies.models import Study

SEARCH_CAP = 1_000
RECORDS, ITEMS, BUGS = "records", "items", "bugs"


@dataclass(frozen=True)
class Part:
    """So many of a step, for one reason; with the list of them where there is one."""

    reason: str
    n: int
    url: str = ""


@dataclass(frozen=True)
class Step:
    """`excluded` leave it, `added` joined it; `expected` follows from the step before."""

    name: str
    title: str
    unit: str
    n: int
    expected: int
    excluded: tuple[Part, ...] = ()
    added: tuple[Part, ...] = ()
    notes: tuple[str, ...] = ()
    votes: tuple[tuple[int, int], ...] = ()  # of screening: how many votes to include, and how many candidates
    url: str = ""

    @property
    def leaving(self) -> int:
        return sum(part.n for part in self.excluded)

    @property
    def is_balanced(self) -> bool:
        return self.n == self.expected

    @property
    def is_counted_anew(self) -> bool:
        """From here on another thing is counted."""
        return self.name == "bugs"


@dataclass(frozen=True)
class Flow:
    steps: tuple[Step, ...]
    breaks: tuple[str, ...]  # where it does not add up
    replaced: int  # bugs that left and have a successor

    @property
    def is_balanced(self) -> bool:
        return not self.breaks

    def document(self) -> dict[str, Any]:
        steps = [
            {
                "name": step.name,
                "title": step.title,
                "unit": step.unit,
                "n": step.n,
                "excluded": {part.reason: part.n for part in step.excluded},
                "added": {part.reason: part.n for part in step.added},
                "expected": step.expected,
                "notes": list(step.notes),
                **({"votes": {str(votes): n for votes, n in step.votes}} if step.votes else {}),
            }
            for step in self.steps
        ]
        return {"steps": steps, "balanced": self.is_balanced, "breaks": list(self.breaks), "replaced": self.replaced}

    def text(self) -> str:
        """The same bytes for the same counts."""
        return json.dumps(self.document(), ensure_ascii=False, indent=2) + "\n"


def flow_of(study: Study, *, with_release: bool = True) -> Flow:
    """`with_release`: as far as the latest release; a release itself tells of what led to it."""
    counting = _Counting(study)
    counting.count()
    if with_release:
        counting.released()
    return counting.flow()


class _Counting:
    """Step by step; each says what leaves it, so that the next knows what to expect."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.origins: Origins = origins_of(study)
        self.steps: list[Step] = []
        self.items = Item.objects.filter(study=study)
        self.is_screened = screening.is_screened(study)
        self.has_samples = Sample.objects.filter(study=study).exists()
        self.replaced = TopUp.objects.filter(sample__study=study).count()
        self.has_bug = Q(pk__in=Bug.objects.filter(self.origins.are_bugs, study=study).values("item"))

    def count(self) -> None:
        self.collected()
        if self.is_screened:
            self.screened()
        if self.origins.bugs or Bug.objects.filter(study=self.study).exists() or self.has_samples:
            self.taken_up()
            self.labelled()

    def flow(self) -> Flow:
        return Flow(tuple(self.steps), tuple(self.breaks()), self.replaced)

    def step(self, name: str, title: str, unit: str, n: int, *, added: Iterable[Part] = (), **more: Any) -> None:
        """The next step: what the one before passes on, and what joins it."""
        joined = _some(added)
        passed = self.steps[-1].n - self.steps[-1].leaving if self.steps else n
        expected = more.pop("expected", passed + sum(part.n for part in joined))
        self.steps.append(Step(name, title, unit, n, expected, added=joined, **more))

    def leave(self, parts: Iterable[Part], *, notes: Iterable[str] = ()) -> None:
        """What leaves the latest step."""
        last = self.steps[-1]
        self.steps[-1] = Step(**{**vars(last), "excluded": _some(parts), "notes": (*last.notes, *notes)})

    def url(self, view: str, **query: str) -> str:
        return f"{reverse(view, args=[self.study.slug])}{'?' + urlencode(query) if query else ''}"

    # --- collection

    def collected(self) -> None:
        if not Harvest.objects.filter(study=self.study).exists():
            n = self.held.count()
            self.step("found", "Brought in", ITEMS, n, expected=self.origins.items, url=self.url("collection:items"))
            return
        findings = Finding.objects.filter(harvest__study=self.study)
        by_state = findings.order_by().values("state", "reason").annotate(n=Count("pk")).order_by("state", "reason")
        capped = self.beyond_the_cap()
        total = sum(row["n"] for row in by_state) + capped + self.origins.items
        self.step("found", "Found", RECORDS, total, url=self.url("collection:harvests"))
        fetched = findings.filter(state=Finding.State.FETCHED)
        counted = fetched.aggregate(n=Count("pk"), items=Count("item", distinct=True))
        again = counted["n"] - counted["items"] + self.brought_and_found(fetched)
        self.leave(
            [
                *(self.not_fetched(row) for row in by_state if row["state"] != Finding.State.FETCHED),
                Part("beyond the search’s cap", capped),
                Part("found more than once", again),
            ]
        )
        self.step("fetched", "Fetched", ITEMS, self.held.count(), url=self.url("collection:items"))

    @property
    def held(self) -> "QuerySet[Item]":
        """Fetched whole, or brought in otherwise. Of what a harvest could not fetch some part may be here as well."""
        found = Finding.objects.filter(item=OuterRef("pk"))
        in_part = Q(Exists(found)) & ~Q(Exists(found.filter(state=Finding.State.FETCHED)))
        return self.items.exclude(in_part & ~self.origins.are_sheet_items)

    def not_fetched(self, row: Mapping[str, Any]) -> Part:
        url = self.url("collection:harvests")
        if row["state"] == Finding.State.FOUND:
            return Part("still to fetch", row["n"], url)
        kind = "unavailable" if row["state"] == Finding.State.UNAVAILABLE else "passed over"
        return Part(f"{kind}, {reason_in_words(row['reason'])}", row["n"], url)

    def beyond_the_cap(self) -> int:
        capped = Window.objects.filter(harvest__study=self.study, is_capped=True, hits__gt=SEARCH_CAP)
        return int(capped.aggregate(n=Coalesce(Sum(F("hits") - SEARCH_CAP), 0))["n"])

    def brought_and_found(self, fetched: "QuerySet[Finding]") -> int:
        """Items of a sheet that a harvest filled in: on record twice, held once."""
        found = fetched.filter(item=OuterRef("pk"))
        return self.items.filter(self.origins.are_sheet_items).filter(Exists(found)).count()

    # --- screening

    def screened(self) -> None:
        told = screening.counts(self.study)
        unscreened = self.items.exclude(Exists(Candidate.objects.filter(item=OuterRef("pk")))).count()
        self.leave([Part("not put up for screening", unscreened)])
        self.step(
            "screened",
            "Up for screening",
            ITEMS,
            told.candidates,
            votes=self.votes(),
            url=self.candidates("candidates"),
        )
        self.leave(
            [
                Part("in an open screening", told.reading, self.candidates("reading")),
                Part("without a vote", told.unread, self.candidates("unread")),
                Part("in conflict", told.conflict, self.candidates("conflict")),
                *(
                    Part(f"excluded: {why}", n, self.candidates("excluded", reason=why))
                    for why, n in told.excluded.items()
                ),
            ]
        )
        self.step("included", "In", ITEMS, told.included, url=self.candidates("included"))

    def candidates(self, what: str, **query: str) -> str:
        return self.url("screening:candidates", what=what, **query)

    def votes(self) -> tuple[tuple[int, int], ...]:
        """How many candidates had how many votes to include, of screenings that are over."""
        includes = Vote.objects.blind().filter(candidate=OuterRef("pk"), decision=Vote.Decision.INCLUDE)
        number = includes.order_by().values("candidate").annotate(n=Count("pk")).values("n")
        over = Candidate.objects.filter(study=self.study).exclude(screening__state=Screening.State.OPEN)
        rows = over.order_by().annotate(includes=Coalesce(Subquery(number, output_field=IntegerField()), 0))
        found = rows.values_list("includes").annotate(n=Count("pk")).order_by("-includes")
        return tuple((votes, n) for votes, n in found)

    # --- sampling

    def taken_up(self) -> None:
        base, dropped = self.in_question()
        free = base.exclude(self.has_bug)
        of_sample = Drawn.objects.filter(item=OuterRef("pk"))
        reserve = free.filter(Exists(of_sample.filter(state=Drawn.State.RESERVE))).count()
        undrawn = free.exclude(Exists(of_sample)).count()
        sampling = self.url("sampling:samples")
        self.leave(
            [
                *dropped,
                Part("not drawn: reserve", reserve, sampling),
                Part("in no sample" if self.has_samples else "not taken up", undrawn),
            ]
        )
        bugs = Bug.objects.filter(study=self.study)
        others = self.items.filter(self.has_bug).exclude(pk__in=self.passed_on().values("pk")).count()
        past = "brought in with bugs, past screening" if self.is_screened else "not fetched whole, but with bugs"
        n = bugs.aggregate(n=Count("item", distinct=True))["n"]
        title = "Drawn" if self.has_samples else "Taken up"
        self.step("sampled", title, ITEMS, n, added=[Part(past, others)], url=sampling)
        holding = bugs.filter(self.origins.are_bugs).aggregate(n=Count("item", distinct=True))["n"]
        further = [Part("further bugs of the same items", self.origins.bugs - holding)]
        self.step("bugs", "Bugs", BUGS, bugs.count(), added=further, url=self.url("bugs:bugs"))

    def in_question(self) -> tuple["QuerySet[Item]", list[Part]]:
        """The items that may be drawn, and those that were in and were dropped before they were."""
        if not self.is_screened:
            return self.held, []
        told = screening.counts(self.study).dropped
        gone = [
            Part(
                f"dropped: {why}",
                self.items.exclude(self.has_bug)
                .filter(pk__in=screening.candidates(self.study, "dropped", reason=why).values("item"))
                .count(),
                self.candidates("dropped", reason=why),
            )
            for why in told
        ]
        return screening.included(self.study), gone

    def passed_on(self) -> "QuerySet[Item]":
        """The items of the step before, what screening dropped later among them."""
        if not self.is_screened:
            return self.held
        return self.items.filter(pk__in=screening.candidates(self.study, "included").values("item"))

    # --- labelling

    def labelled(self) -> None:
        places = standing.counts(self.study)
        notes = [f"{self.replaced:,} that left were replaced from the reserve"] if self.replaced else []
        gone = [self.bugs_at(place, places) for place in standing.PLACES if place not in standing.LABELLED]
        self.leave(gone, notes=notes)
        n = standing.labelled(self.study).count()
        self.step("labelled", "Labelled", BUGS, n, url=self.url("bugs:bugs", state="labelled"))
        if n or any(places.get(place) for place in standing.LABELLED):
            left = [standing.IN_DISPUTE, standing.LEFT_OPEN]
            self.leave([self.bugs_at(place, places) for place in left])
            done = standing.settled(self.study).count()
            self.step("settled", "Settled", BUGS, done, url=self.url("bugs:bugs", state=standing.DONE))

    # --- publication

    def released(self) -> None:
        """Settled bugs of the latest release, as its own files count them."""
        release = Release.objects.published().filter(study=self.study).order_by("-number").first()
        if release is None or self.steps[-1].name != "settled":
            return
        steps = document(release, "flow.json")["steps"]
        n = next((step["n"] for step in steps if step["name"] == "settled"), 0)
        since = self.steps[-1].n - n
        self.leave([Part(f"settled since release {release.number}", max(since, 0))])
        reopened = Part("settled then, and not now", max(-since, 0))
        url = reverse("publication:release", args=[self.study.slug, release.number])
        self.step("released", f"In release {release.number}", BUGS, n, added=[reopened], url=url)

    def bugs_at(self, place: str, places: Mapping[str, int]) -> Part:
        return Part(standing.PLACES[place], places.get(place, 0), self.url("bugs:bugs", state=place))

    # --- does it add up

    def breaks(self) -> Iterable[str]:
        bugs: list[int] | None = None
        for step in self.steps:
            if step.is_balanced:
                continue
            much = f"{abs(step.n - step.expected):,} too {'many' if step.n > step.expected else 'few'}"
            told = f"{step.title}: {step.expected:,} {step.unit} follow from the step before, {step.n:,} are there: {much}."
            if step.name in ("sampled", "bugs"):
                bugs = unaccounted(self.study, self.origins) if bugs is None else bugs
                told += _named(bugs)
            yield told


def _some(parts: Iterable[Part]) -> tuple[Part, ...]:
    return tuple(part for part in parts if part.n)


def _named(bugs: list[int]) -> str:
    if not bugs:
        return ""
    names = ", ".join(map(str, bugs))
    return f" Of bug {names} nothing is on record: no sheet, no draw and no rater’s note brought it."
