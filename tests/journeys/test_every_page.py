"""Every page there is, as each role sees it in the demo study: served, titled, accessible, and narrow enough."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from django.utils.timezone import now
from playwright.sync_api import Page

from annotator.accounts.actions import make_password_link, make_token
from annotator.accounts.models import User
from annotator.adjudication.actions import adjudicate
from annotator.adjudication.audits import accept_unanimous
from annotator.adjudication.meetings import start_meeting
from annotator.adjudication.models import AuditPick, Dispute
from annotator.adjudication.queries import final_labels
from annotator.analysis.actions import ask
from annotator.analysis.asked import KINDS, read_asked
from annotator.analysis.drawing import perform as draw
from annotator.analysis.models import Drawing, LabelAudit, Suspect
from annotator.codebook.actions import edit_category
from annotator.codebook.changes import CategoryChange
from annotator.codebook.models import Category
from annotator.collection.models import Comparison, Item, NearDuplicate, Repository
from annotator.intake import actions as intake
from annotator.intake.mapping import from_document
from annotator.intake.running import perform
from annotator.labeling.models import Answer, Assignment, Round, RoundBug
from annotator.overview.demo import people, story
from annotator.publication.options import Options
from annotator.publication.releasing import make
from annotator.publication.stating import state
from annotator.reproduction.hosts import add_host
from annotator.reproduction.models import Run
from annotator.sampling.models import Bug
from annotator.screening.models import Candidate
from annotator.studies.actions import invite
from annotator.studies.models import Study
from tests.factories import make_harvest
from tests.factories.reproduction import end_all, make_series
from tests.integration.blindness.addresses import ARGUMENT, routes
from tests.journeys.acts import sign_in

SHORTEN = """() => {
    for (const list of document.querySelectorAll("main tbody, main ol, main ul, main dl"))
        for (const row of [...list.children].slice(6)) row.hidden = true;
}"""
NOBODY = ""
VIEWERS = ["cedar", "alder", "maple", NOBODY]  # the lead, a rater, the adjudicator, and who is not signed in
API_DOCS = "/api/v1/docs/"
CLOSED, OPEN = 2, 3  # rounds of the demo
READ, READ_NOW = 1, 2  # its screenings, the first closed
# There once a second factor is set up, which has a journey of its own; the last is no page and needs a key.
AFTER_OTHERS = {
    "/accounts/2fa/totp/deactivate/",
    "/accounts/2fa/recovery-codes/",
    "/accounts/2fa/recovery-codes/download/",
    "/metrics",
}
SHEET = b"project,number,Symptom,Gist\naxon,9001,Crash,https://gist.example/1\naxon,9002,Cash,https://gist.example/2\n"
MAPPING = {
    "item": {"kind": "pull_request", "repository": "project", "number": "number"},
    "context": {"Gist": "Gist"},
}


@pytest.fixture
def demo(live_server: Any) -> Study:
    """The demo study, with a meeting going on, a draw of unanimous bugs, one import stored and one with errors."""
    assert story.load()
    study = Study.objects.get(slug=people.SLUG)
    cast = {user.username: user for user in User.objects.all()}
    accept_unanimous(round_=Round.objects.get(number=CLOSED), share=0.2, seed=1, by=cast["maple"])
    start_meeting(study=study, participants=[cast["alder"], cast["birch"]], by=cast["cedar"])
    for mapping in (MAPPING, MAPPING | {"final": {"symptom": "Symptom"}}):
        sheet = intake.upload(study=study, filename="more.csv", data=SHEET, by=cast["cedar"])
        intake.choose(row=sheet, mapping=from_document(mapping), by=cast["cedar"])
        if mapping is MAPPING:
            assert perform(intake.start(row=sheet, by=cast["cedar"]).pk)
    draw_figures(study, cast["cedar"])
    reproduce(study, cast["cedar"])
    repository = Repository.objects.get(study=study, label="tessera-dl/tessera")
    items = list(repository.items.filter(fetched_at__isnull=False)[:5])
    stated = {"by": cast["cedar"], "override_reason": "What is missing was deleted."}
    make_harvest(study, items=items, gone=2, **stated)
    crash = {"facet": "symptom", "categories": [Category.objects.filter(facet__key="symptom")[0].name]}
    state(study=study, sentence="{share} of bugs show it ({count} of {n}).", asked=crash, by=cast["cedar"])
    doubt_one(study)
    make(study, Options(), by=cast["cedar"])
    settle_one(study, by=cast["maple"])
    make(study, Options(), by=cast["cedar"])
    alike = Comparison.objects.create(study=study, number=1, threshold=0.7, state="done", items=70, finished_at=now())
    NearDuplicate.objects.create(comparison=alike, first=items[0], second=items[1], similarity=0.8, words=["tensor"])
    make_harvest(study, items=items[:2], state="failed", message="GitHub refused the token.", **stated)
    return study


def doubt_one(study: Study) -> None:
    """A label audit that is over, with one label that waits for a ruling."""
    label = final_labels(study).filter(facet__key="symptom").select_related("facet", "bug")[0]
    audit = LabelAudit.objects.create(
        study=study, number=1, facet=label.facet, seed=1, state="done", bugs=20, measures={"accuracy": 0.8}
    )
    other = Category.objects.filter(facet=label.facet).exclude(pk=label.label_id)[0]
    chances = {"probability": 0.1, "likely_probability": 0.7}
    words = ["tensor", "shape"]
    Suspect.objects.create(
        audit=audit,
        bug=label.bug,
        reason="unlikely",
        label_id=label.label_id,
        likely=other,
        rank=1,
        words=words,
        **chances,
    )


def reproduce(study: Study, lead: User) -> None:
    """A recipe that was run and one that waits for a GPU runner, of bugs that no open round holds; and a host."""
    free = Bug.objects.filter(study=study).exclude(pk__in=RoundBug.objects.filter(round__state="open").values("bug"))
    ran, waits = free.order_by("number")[:2]
    end_all(make_series(ran, lead, repeats=1), buggy="bug", fixed="fault")
    make_series(waits, lead, repeats=1, limits={"gpus": 1})
    add_host(study=study, name="gpu-2", by=lead)


def settle_one(study: Study, *, by: User) -> None:
    """So that a label is another than in the release before."""
    dispute = Dispute.objects.filter(study=study, is_open=True).order_by("bug__number").last()
    assert dispute
    given = Answer.objects.current().filter(bug=dispute.bug, facet=dispute.facet).select_related("category")[0]
    adjudicate(bug=dispute.bug, facet=dispute.facet, categories=[given.category], reason="slip", by=by)


def draw_figures(study: Study, lead: User) -> None:
    """Two drawn, of one and of two facets, and one that waits for a worker."""
    for asked in (
        read_asked("distribution", {"by": "symptom"}),
        read_asked("cross", {"by": "symptom", "across": "stage"}),
    ):
        assert draw(ask(study=study, asked=asked, by=lead).pk)
    ask(study=study, asked=read_asked("agreement", {}), by=lead)


def known(study: Study) -> dict[str, Any]:
    """What stands in an address: by the argument's name, before it a part of the route where that differs."""
    lead, rater = User.objects.get(username="cedar"), User.objects.get(username="alder")
    make_token(user=lead, name="notebook", scopes=["read"], days=7)
    _, secret = invite(study=study, roles=["rater"], note="the third", by=lead)
    dispute = Dispute.objects.filter(is_open=True).order_by("bug__number")[0]
    pick = AuditPick.objects.filter(acceptance__round__number=CLOSED).order_by("bug__number")[0]
    root, other = Category.objects.filter(facet__key="root_cause", parent=None).order_by("position")[:2]
    run = Run.objects.filter(series__recipe__study=study, state="ended").earliest("pk")
    edit_category(category=root, by=lead, change=CategoryChange(include="Whatever shows it."), reason="Asked for")
    return {
        "slug": study.slug,
        "number": OPEN,
        "bug": turn_of(rater, OPEN, state="todo").bug.number,
        "candidate": 1,
        "position": 1,
        "facet": "root_cause",
        "first": "alder",
        "second": "birch",
        "username": "birch",
        "uid": root.uid,
        "row": root.uid,
        "column": other.uid,
        "key": "no-such-key",
        "kind": "cross",
        "/analysis/figures/ key": figure_of(study, "cross"),
        "table": "answers",
        "format_": "csv",
        "/join/ token": secret,
        "/reset/ token": make_password_link(user=User.objects.get(username="fern"), by=lead),
        "/agreement/ number": CLOSED,
        "/screening/ number": READ_NOW,
        "/agreement/screening/ number": READ,
        "candidates/<int:candidate>/files/ number": READ,
        "/adjudication/ number": dispute.bug.number,
        "/adjudication/rounds/ number": CLOSED,
        "/adjudication/audit/ number": CLOSED,
        "/adjudication/audit/ bug": pick.bug.number,
        "/reproduction/ number": run.series.recipe.number,
        "/reproduction/ key": run.key,
        "/reproduction/ bug": run.series.recipe.bug.number,
        "version": 1,
        "series": 1,
        "name": "gpu-2",
        "/import/ number": 2,
        "/harvests/ number": 1,
        "/near-duplicates/ number": 1,
        "/sampling/ number": 1,
        "/versions/ number": 1,
        "/publication/ number": 2,
        "/publication/findings/ number": 1,
        "/analysis/audits/ number": 1,
        "rank": 1,
        "file": "finals.csv",
        "/changes/ number": 1,
        "identity": quote(Item.objects.filter(study=study, files__position=1).order_by("pk")[0].identity),
    }


def figure_of(study: Study, kind: str) -> str:
    return Drawing.objects.get(study=study, asked__kind=kind).key


def in_conflict(study: Study) -> int:
    return Candidate.objects.filter(study=study, screening__number=READ, outcomes=None).earliest("position").position


def turn_of(rater: User, round_: int, **more: Any) -> Assignment:
    return Assignment.objects.filter(round__number=round_, rater=rater, **more).order_by("position")[0]


def addresses(study: Study) -> dict[str, str]:
    """One address for each route that is not for programs, and pages that look otherwise in another state."""
    values = known(study)
    pages = [route for route in routes() if route == API_DOCS or not route.startswith(("/api/", "/static/"))]
    found = {route: filled(route, values) for route in pages}
    closed = turn_of(User.objects.get(username="alder"), CLOSED).bug.number
    return found | {
        "a closed round": f"/demo/rounds/{CLOSED}/",
        **{f"the table {kind}": f"/demo/analysis/tables/{kind}/" for kind in KINDS},
        "a facet across the repositories": "/demo/analysis/tables/cross/?by=stage&across=repository&show=rows",
        "one facet alone": "/demo/analysis/?by=symptom",
        "a figure that waits": f"/demo/analysis/figures/{figure_of(study, 'agreement')}/",
        "a closed turn": f"/demo/rounds/{CLOSED}/bugs/{closed}/",
        "agreement of an open round": f"/demo/agreement/{OPEN}/",
        "adjudication of an open round": f"/demo/adjudication/bugs/{values['bug']}/",
        "a closed screening": f"/demo/screening/{READ}/",
        "its conflicts": f"/demo/screening/{READ}/conflicts/",
        "a candidate that is decided": f"/demo/screening/{READ}/candidates/1/",
        "a candidate in conflict": f"/demo/screening/{READ}/candidates/{in_conflict(study)}/",
        "a recipe that has not run": "/demo/reproduction/2/",
        "a recipe that waits for a GPU": f"/demo/reproduction/{values['/reproduction/ number'] + 1}/",
        "a new recipe": f"/demo/reproduction/new/?bug={values['/reproduction/ bug']}",
        "an import that is stored": "/demo/import/1/",
        "a harvest that failed": "/demo/harvests/2/",
    }


def filled(route: str, values: dict[str, Any]) -> str:
    return ARGUMENT.sub(lambda found: str(value_of(found[1], route, values)), route)


def value_of(argument: str, route: str, values: dict[str, Any]) -> Any:
    """The value whose part of the route is the longest."""
    places = [
        place for place in values if place.split()[-1] == argument and place.removesuffix(argument).strip() in route
    ]
    assert places, f"{route} takes {argument}: say above what may stand there"
    return values[max(places, key=len)]


@dataclass
class Walk:
    """What was met on the way. A page that another viewer saw of the same templates is not opened again.

    axe, which takes most of the time, examines each page that shows a template for the first time.
    """

    accessible: Callable[[Page], None]
    fits: Callable[[Page], None]
    faults: list[str] = field(default_factory=list)
    statuses: dict[str, set[int]] = field(default_factory=dict)
    opened: set[tuple[str, frozenset[str]]] = field(default_factory=set)
    examined: set[str] = field(default_factory=set)

    def look(self, person: Any, who: str, places: dict[str, str]) -> None:
        """At each address, and in the window at those that answer this person with a page."""
        client = signed_in_as(person)
        for name, address in places.items():
            answer = client.get(address)
            if who or answer.status_code >= 500:
                self.statuses.setdefault(name, set()).add(answer.status_code)
            if answer.status_code == 200 and is_page(answer):
                self.open(person, who or "nobody", address, templates_of(answer))

    def open(self, person: Any, who: str, address: str, templates: frozenset[str]) -> None:
        if (address, templates) in self.opened:
            return
        self.opened.add((address, templates))
        self.faults += [f"{who} at {address}: {fault}" for fault in self.faults_of(person, address, templates)]

    def faults_of(self, person: Any, address: str, templates: frozenset[str]) -> Iterator[str]:
        response = person.page.goto(address)
        person.page.locator("main").first.wait_for(timeout=60_000)  # the page of the interface draws its own
        if response.status != 200:
            yield f"status {response.status}"
        if not person.page.title().removesuffix("· Concord").strip():
            yield "no title of its own"
        is_examined = templates <= self.examined
        checks = [self.fits] if is_examined else [self.fits, self.examine]
        self.examined |= templates
        for check in checks:
            try:
                check(person.page)
            except AssertionError as found:
                yield str(found)
        yield from person.complaints
        person.complaints.clear()

    def examine(self, page: Page) -> None:
        """What follows in a list is like its first rows, and axe takes its time for each."""
        page.evaluate(SHORTEN)
        self.accessible(page)


def signed_in_as(person: Any) -> Client:
    """The same session outside the window: a quick look at what each address answers with."""
    client = Client(raise_request_exception=False)
    for cookie in person.context.cookies():
        client.cookies[cookie["name"]] = cookie["value"]
    return client


def is_page(answer: Any) -> bool:
    """Whole pages, not the fragments that are put into one (`_fragment.html`)."""
    if not answer["Content-Type"].startswith("text/html"):
        return False
    return not answer.templates[0].name.rpartition("/")[2].startswith("_")


def templates_of(answer: Any) -> frozenset[str]:
    """Those of the stages: what repeats everywhere needs no second look."""
    named = {template.name for template in answer.templates if template.name}
    return frozenset(name for name in named if not name.startswith(("django/", "components/", "allauth/")))


def test_every_page_is_served_titled_accessible_and_narrow(sit_down, demo, accessible, fits):
    walk = Walk(accessible, fits)
    places = addresses(demo)
    for who in VIEWERS:
        person = sit_down()
        if who:
            sign_in(person.page, who, password=people.PASSWORD)
        walk.look(person, who, places)
    assert walk.faults == []
    assert {name: codes for name, codes in walk.statuses.items() if max(codes) >= 500} == {}
    unseen = {name for name, codes in walk.statuses.items() if not codes & {200, 302, 405}}
    assert unseen == AFTER_OTHERS
