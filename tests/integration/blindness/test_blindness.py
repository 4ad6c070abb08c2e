"""Until a round closes no address tells anyone anything of another's answers.

The first rater's whole session, and one walk over every address for every role, are recorded in a world
where the other rater has done nothing, and again in worlds where the other did something. All must be equal.
"""

import datetime as dt
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest
import time_machine
from django.db import connection, reset_queries, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotator.accounts.models import User
from annotator.analysis.actions import ask
from annotator.analysis.asked import KINDS, read_asked
from annotator.analysis.drawing import perform
from annotator.analysis.models import Drawing
from annotator.codebook.actions import add_category, edit_facet, remove_category
from annotator.codebook.changes import CategoryChange, FacetChange
from annotator.labeling.actions import note_further_bug, park, save_draft, skip, submit
from annotator.labeling.models import Assignment, Round
from annotator.labeling.proposals import propose
from annotator.labeling.submission import Submission
from annotator.overview.rounds.closing import close_round
from annotator.sampling.actions import draw_sample
from annotator.sampling.models import Bug
from annotator.sampling.rules import Rule
from annotator.screening import actions as screening
from annotator.screening.models import Reading
from annotator.studies.models import Study
from tests.factories import (
    StudyFactory,
    UserFactory,
    answer,
    make_bugs,
    make_codebook,
    make_harvest,
    make_round,
    member,
)
from tests.factories.screening import make_screening, screen
from tests.integration.blindness.addresses import every_address

NOW = dt.datetime(2026, 3, 2, 12, 0, tzinfo=dt.UTC)
SAME = {"cause": "type", "stage": "training"}
GONE = "leak"  # a category that was retired
OTHER = {"cause": "api", "stage": "not applicable"}
SECRETS = [
    re.compile(rb'(name="csrfmiddlewaretoken" value=")[A-Za-z0-9]+'),
    re.compile(rb'("X-CSRFToken": ?")[A-Za-z0-9]+'),
    re.compile(rb"(X-CSRFToken&quot;: ?&quot;)[A-Za-z0-9]+"),
]
HEADERS_APART = {"date", "set-cookie", "x-request-id"}


@dataclass(frozen=True)
class World:
    study: Study
    round: Round
    bugs: list[Bug]
    alice: User
    bob: User
    people: dict[str, User]


@pytest.fixture
def world(db: Any) -> World:
    """A closed round with a dispute behind it, and an open one that Alice, Bob and a rating lead share; the same of screenings."""
    names = ["alice", "bob", "lee", "ada", "charlie", "reader", "rating-lead"]
    people = {name: UserFactory(username=name) for name in names}
    study = StudyFactory(slug="frameworks")
    member(study, people["lee"], "lead")
    member(study, people["rating-lead"], "lead", "rater")
    member(study, people["alice"], "rater")
    member(study, people["bob"], "rater")
    member(study, people["ada"], "adjudicator")
    member(study, people["reader"], "reader")
    make_codebook(study, {"cause": ["type", "shape", "api"], "stage": ["training", "deployment"]}, optional=["stage"])
    cause = study.codebook.facets.get(key="cause")
    edit_facet(facet=cause, change=FacetChange(takes_codes=True), by=people["lee"])
    retired = add_category(facet=cause, change=CategoryChange(name=GONE), by=people["lee"])
    bugs = make_bugs(study, 6)
    make_harvest(study, items=[bug.item for bug in bugs], by=people["lee"])
    alice, bob = people["alice"], people["bob"]
    old = make_round(study, bugs=bugs[:2], raters=[alice, bob], by=people["lee"], name="Pilot")
    for bug in bugs[:2]:
        answer(old, bug, alice, SAME)
    answer(old, bugs[0], bob, SAME)
    answer(old, bugs[1], bob, OTHER)
    close_round(round_=old, by=people["lee"])
    remove_category(category=retired, by=people["lee"])
    raters = [alice, bob, people["rating-lead"]]
    read = make_screening(study, reviewers=[alice, bob], by=people["lee"], name="Pilot", count=2)
    screen(read, alice, {1: "in", 2: "in"})
    screen(read, bob, {1: "in", 2: "E1"})
    screening.close(screening=read, by=people["lee"])
    make_screening(study, reviewers=raters, by=people["lee"], name="Reading", count=2)
    figure = ask(study=study, asked=read_asked("distribution", {"by": "cause"}), by=people["lee"])
    assert perform(figure.pk)
    draw_sample(study=study, name="Main sample", rule=Rule(), seed=1, by=people["lee"])
    now_open = make_round(
        study, bugs=bugs[2:], raters=raters, by=people["lee"], name="Round 1", gate_coefficient="kappa"
    )
    return World(study=study, round=now_open, bugs=bugs[2:], alice=alice, bob=bob, people=people)


def nothing(world: World) -> None:
    """The other rater has not begun."""


def answers_alike(world: World) -> None:
    for bug in world.bugs:
        answer(world.round, bug, world.bob, SAME, confidence="sure", note="As I see it.")


def answers_otherwise(world: World) -> None:
    for bug in world.bugs:
        answer(world.round, bug, world.bob, OTHER, confidence="unsure", note="Another view.")


def says_not_a_bug(world: World) -> None:
    for bug in world.bugs:
        answer(world.round, bug, world.bob, {}, not_a_bug="new feature")


def skips(world: World) -> None:
    for turn in turns_of_bob(world):
        skip(assignment=turn, reason="knowledge", by=world.bob)


def parks_and_drafts(world: World) -> None:
    for turn in turns_of_bob(world):
        save_draft(assignment=turn, draft={"note": "half"}, by=world.bob)
        park(assignment=turn, by=world.bob)


def notes_a_further_bug(world: World) -> None:
    for turn in turns_of_bob(world):
        note_further_bug(assignment=turn, note="It also fixes a leak.", by=world.bob)


def proposes_a_code(world: World) -> None:
    """On every bug a code of his own, named as one that was retired, and answered with."""
    cause = world.study.codebook.facets.get(key="cause")
    for place, turn in enumerate(turns_of_bob(world)):
        code = propose(
            assignment=turn, facet=cause, name=f"{GONE}{place or ''}", definition="It leaks.", by=world.bob
        ).category
        chosen = {"cause": [code.uid], "stage": [cause.codebook.facets.get(key="stage").categories.first().uid]}
        submit(assignment=turn, submission=Submission(answers=chosen), by=world.bob)


def changes_mind(world: World) -> None:
    answers_alike(world)
    answers_otherwise(world)


def votes_alike(world: World) -> None:
    for reading in readings_of_bob(world):
        screening.vote(reading=reading, decision="include", comment="As I see it.", by=world.bob)


def votes_otherwise(world: World) -> None:
    for reading in readings_of_bob(world):
        screening.vote(reading=reading, decision="exclude", criterion="E2", by=world.bob)


def wavers_over_a_vote(world: World) -> None:
    votes_alike(world)
    votes_otherwise(world)
    first, second = readings_of_bob(world)
    screening.take_back(reading=first, by=world.bob)
    screening.take_back(reading=second, by=world.bob)
    screening.put_off(reading=second, by=world.bob)


def readings_of_bob(world: World) -> list[Reading]:
    return list(Reading.objects.filter(screening__state="open", reviewer=world.bob))


def turns_of_bob(world: World) -> list[Assignment]:
    return list(Assignment.objects.filter(round=world.round, rater=world.bob))


ACTS = [
    answers_alike,
    answers_otherwise,
    says_not_a_bug,
    skips,
    parks_and_drafts,
    notes_a_further_bug,
    proposes_a_code,
    changes_mind,
]
VOTES = [votes_alike, votes_otherwise, wavers_over_a_vote]


def at_once(*acts: Callable[[World], None]) -> Callable[[World], None]:
    """One walk for acts of different stages, none of which can undo what another would tell."""

    def act(world: World) -> None:
        for each in acts:
            each(world)

    act.__name__ = " and ".join(each.__name__ for each in acts)
    return act


ALIKE, OTHERWISE = at_once(answers_alike, votes_alike), at_once(answers_otherwise, votes_otherwise)
WAVERS = at_once(changes_mind, wavers_over_a_vote)
FOR_RATERS = [ALIKE, OTHERWISE, WAVERS, says_not_a_bug, skips, parks_and_drafts, notes_a_further_bug, proposes_a_code]
FOR_OTHERS = [WAVERS, skips, proposes_a_code]  # who have no turn of their own


def values(world: World) -> dict[str, list[Any]]:
    """What may stand in an address."""
    facet = world.study.codebook.facets.get(key="cause")
    uids = list(facet.categories.values_list("uid", flat=True)[:2])
    return {
        "slug": ["frameworks"],
        "number": [1, 2],
        "bug": [2, 3],
        "candidate": [1, 2],
        "facet": ["cause", "verdict"],
        "first": ["alice"],
        "second": ["bob"],
        "uid": uids[:1],
        "row": uids[:1],
        "column": uids,
        "username": ["bob"],
        "token": ["no-such-token"],
        "import_number": [1],
        "position": [0],
        "version": [1],
        "series": [1],
        "name": ["box-1"],
        "table": ["answers", "finals", "bugs", "history", "side_by_side"],
        "format_": ["csv", "jsonl"],
        "file": ["finals.csv", "answers.jsonl"],
        "rank": [1],
        "key": ["no-such-key", Drawing.objects.get().key],
        "kind": list(KINDS),
        "identity": [quote(world.bugs[0].item.identity)],
    }


def said(response: Any) -> tuple[int, list[tuple[str, str]], bytes]:
    """Status, headers and body, less exactly the CSRF token, Date, cookies and the request's id."""
    body = b"".join(response.streaming_content) if response.streaming else response.content
    for secret in SECRETS:
        body = secret.sub(rb"\1", body)
    headers = sorted((name.lower(), value) for name, value in response.headers.items())
    return response.status_code, [pair for pair in headers if pair[0] not in HEADERS_APART], body


def walk(world: World, who: str) -> dict[str, Any]:
    """What every address says to this person, with the number of queries it took."""
    client = Client(raise_request_exception=False)
    if who != "nobody":
        client.force_login(world.people[who])
    seen = {}
    for address in every_address(values(world)):
        if address.startswith(("/accounts/", "/healthz", "/readyz", "/metrics")):
            continue
        reset_queries()  # the log is bounded
        with CaptureQueriesContext(connection) as queries:
            seen[address] = (*said(client.get(address)), len(queries))
        assert seen[address][0] < 500, address
    return seen


def label_everything(world: World) -> list[Any]:
    """Alice's whole session: each page, each save and each redirect, with the number of queries."""
    client, heard = Client(raise_request_exception=False), []
    client.force_login(world.alice)
    start = f"/{world.study.slug}/rounds/{world.round.number}/label/"
    cause = world.study.codebook.facets.get(key="cause").categories.get(name="shape").uid
    stage = world.study.codebook.facets.get(key="stage").categories.get(name="training").uid
    reset_queries()
    with CaptureQueriesContext(connection) as queries:
        page = client.get(start, follow=True)
        for _ in world.bugs:
            heard.append((page.redirect_chain, said(page)))
            sent = {"f-cause": cause, "f-stage": stage, "note": "Shapes differ.", "act": "submit", "revision": "0"}
            page = client.post(page.context["bug_url"], sent, follow=True)
        heard.append((page.redirect_chain, said(page)))
    done = Assignment.objects.filter(round=world.round, rater=world.alice, state="submitted").count()
    assert done == len(world.bugs), "the session must label every bug, or it proves nothing"
    return [*heard, len(queries)]


@pytest.fixture(autouse=True)
def cache_outlives_the_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Redis keeps its own clock, which nobody freezes: what a minute forgets would look like a query told by an act."""
    monkeypatch.setattr("annotator.labeling.turns.SHARE_KEPT", 3600)


@pytest.fixture
def recorded(world: World) -> Callable[[Callable[[World], None], Callable[[World], Any]], Any]:
    """Play an act of the other rater, record, and take all of it back."""

    def play(act: Callable[[World], None], record: Callable[[World], Any]) -> Any:
        with time_machine.travel(NOW, tick=False), transaction.atomic():
            act(world)
            result = record(world)
            transaction.set_rollback(True)
        return result

    return play


def differences(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    for address, one in before.items():
        other = after[address]
        if one == other:
            continue
        for place, what in enumerate(["status", "headers", "body", "queries"]):
            if one[place] != other[place]:
                yield f"{address}: {what} {excerpt(one[place], other[place])}"


def excerpt(one: Any, other: Any) -> str:
    if not isinstance(one, bytes):
        return f"{one!r} became {other!r}"
    at = next((i for i, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    return f"…{one[max(0, at - 60) : at + 80]!r} became …{other[max(0, at - 60) : at + 80]!r}"


def told(recorded: Any, *, acts: list[Any], before: Any, record: Any) -> list[str]:
    """What each act of the other rater changed in the record."""
    return [f"after {act.__name__}: {line}" for act in acts for line in differences(before, recorded(act, record))]


@pytest.mark.parametrize(
    ("who", "acts"),
    [
        ("alice", FOR_RATERS),
        ("rating-lead", FOR_RATERS),
        ("ada", FOR_OTHERS),
        ("reader", FOR_OTHERS),
        ("charlie", FOR_OTHERS),
        ("nobody", FOR_OTHERS),
    ],
)
def test_no_address_tells_of_the_others_acts(recorded, who, acts):
    def record(world: World) -> dict[str, Any]:
        return walk(world, who)

    recorded(nothing, record)  # fills the caches of the codebook's versions
    assert not told(recorded, acts=acts, before=recorded(nothing, record), record=record)


def test_lead_learns_progress_and_nothing_of_the_answers(recorded):
    def record(world: World) -> dict[str, Any]:
        return walk(world, "lee")

    recorded(nothing, record)
    acts = [OTHERWISE, at_once(says_not_a_bug, votes_alike), at_once(changes_mind, votes_otherwise)]
    assert not told(recorded, acts=acts, before=recorded(ALIKE, record), record=record)


def test_first_raters_whole_session_is_the_same(recorded):
    recorded(nothing, label_everything)  # fills the caches of the codebook's versions
    before = recorded(nothing, label_everything)
    for act in ACTS:
        for place, (one, other) in enumerate(zip(before, recorded(act, label_everything), strict=True)):
            assert one == other, f"after {act.__name__}, step {place}"


def read_everything(world: World) -> list[Any]:
    """Alice's whole reading: each page, each vote and each redirect, with the number of queries."""
    client, heard = Client(raise_request_exception=False), []
    client.force_login(world.alice)
    reset_queries()
    with CaptureQueriesContext(connection) as queries:
        page = client.get(f"/{world.study.slug}/screening/2/read/")
        for act in ("include", "exclude:E1"):
            heard.append((page.headers.get("Location"), said(page)))
            page = client.post(page.context["bug_url"], {"act": act, "comment": "Read."}, follow=True)
        heard.append(said(page))
    left = Reading.objects.filter(screening__state="open", reviewer=world.alice).exclude(state="voted")
    assert not left.exists(), "the session must vote on every candidate, or it proves nothing"
    return [*heard, len(queries)]


def test_first_reviewers_whole_reading_is_the_same(recorded):
    before = recorded(nothing, read_everything)
    for act in VOTES:
        for place, (one, other) in enumerate(zip(before, recorded(act, read_everything), strict=True)):
            assert one == other, f"after {act.__name__}, step {place}"


def test_the_walk_reaches_the_pages_that_matter(world):
    found = every_address(values(world))
    for part in [
        "/rounds/2/label/",
        "/rounds/2/bugs/3/",
        "/agreement/",
        "/adjudication/",
        "/history/",
        "/screening/2/read/",
        "/screening/2/candidates/1/",
        "/api/v1/",
    ]:
        assert any(part in address for address in found), part
