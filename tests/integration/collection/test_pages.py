"""Harvests in the browser: asked for, watched, stopped, looked through again; against a server that keeps GitHub's contract."""

import csv
import datetime as dt
import io
import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotator.collection.models import Fault, Finding, Harvest, Item, Window
from annotator.history.models import Event
from tests.factories import ItemFactory, UserFactory, member
from tests.integration.collection.conftest import query
from tests.services.github_server import Fault as Struck
from tests.services.github_server.world import odd

NEW = "/frameworks/harvests/new/"
ONE = "/frameworks/harvests/1/"
HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any) -> list[tuple[Any, ...]]:
    """Which tasks were sent; nothing goes to a broker."""
    sent: list[tuple[Any, ...]] = []
    monkeypatch.setattr(
        "annotator.web.wake.send", lambda task, arguments, queue: sent.append((task, *arguments, queue))
    )
    monkeypatch.setattr("annotator.web.wake.transaction.on_commit", lambda run: run())
    return sent


def text(response: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


# --- starting


def test_a_harvest_is_started_in_the_browser_and_done_by_a_worker(lead, study, github, token, work, woken, carried_out):
    answer = lead.post(NEW, query())
    assert answer.url == ONE
    row = Harvest.objects.get(study=study)
    assert (row.state, row.created_by.username, row.host) == ("waiting", "lee", "github.com")
    assert woken == [("annotator.collection.tasks.harvest", row.pk, "mining")]
    assert github.log == []  # nothing was asked inside a web request
    assert "A worker takes it up in a moment." in text(lead.get(ONE))
    done = carried_out()
    assert (done.state, Item.objects.filter(study=study, fetched_at__isnull=False).count()) == ("done", 30)
    assert (done.rest_requests, done.graphql_requests) == (len(github.sent("rest")), len(github.sent("graphql")))
    page = text(lead.get(ONE))
    assert "Complete. Everything that was found is held whole: 30 of 30." in page
    assert "Pull requests of frame/wood, merged from 1 January 2021 to 31 December 2021" in page
    assert github.wrong == []


def test_what_was_asked_already_is_not_asked_twice(lead, study, github, token, carried_out):
    lead.post(NEW, query())
    again = lead.post(NEW, query())
    assert (again.status_code, Harvest.objects.count()) == (422, 1)
    assert "Harvest 1 asks for exactly this: look again there, or resume it." in text(again)
    lead.post("/frameworks/harvests/1/turn/", {"act": "cancel"})
    assert lead.post(NEW, query()).url == "/frameworks/harvests/2/"


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"repositories": ""}, "Name at least one"),
        ({"repositories": "frame"}, "“frame” is no repository"),
        ({"first": "2021-02-30"}, "Enter a valid date"),
        ({"first": "2022-01-01"}, "swap its dates"),
        ({"kind": "issue"}, "Issues are closed, not merged"),
        ({"state": "open"}, "What was merged in a period is merged"),
        ({"authors": "a b/c"}, "“b/c” is no user name of GitHub"),
        ({"labels": 'a"b'}, "holds no quotation mark"),
        ({"limit": "0"}, "greater than or equal to 1"),
        ({"urls": "https://github.com/frame/wood/pull/1"}, "Give repositories or a list of addresses, not both"),
        ({"repositories": "", "urls": "https://github.com/frame/wood"}, "is no address of a pull request or issue"),
        ({"repositories": "", "urls": "https://ghe.example/a/b/pull/1"}, "is no host that this server may ask"),
        ({"host": "ghe.example"}, "is no host that this server may ask"),
    ],
)
def test_what_cannot_be_asked_is_said_and_starts_nothing(lead, study, github, sent, said):
    answer = lead.post(NEW, query(**sent))
    assert (answer.status_code, Harvest.objects.count(), github.log) == (422, 0, [])
    assert said in text(answer)


def test_a_wrong_name_is_one_clear_message_on_the_page(lead, study, github, token, carried_out):
    lead.post(NEW, query(repositories="frame/wood\nno/where"))
    assert carried_out().state == "failed"
    assert "GitHub shows no repository at no/where (404): check the name" in text(lead.get(ONE))
    assert Window.objects.count() == Item.objects.count() == 0
    assert Harvest.objects.get().rest_requests == len(github.log) == 2


def test_two_repositories_and_their_sum(lead, study, github, token, work, carried_out):
    from tests.services.github_server.world import repository

    github.world.repositories.append(repository(name="other/place", number=900_000_002, pull_requests=5))
    lead.post(NEW, query(repositories="frame/wood, https://github.com/other/place"))
    assert carried_out().state == "done"
    sums = lead.get(ONE).context["progress"]
    assert [(line.label, line.found, line.fetched) for line in sums.lines] == [
        ("frame/wood", 30, 30),
        ("other/place", 5, 5),
    ]
    assert (sums.sum.found, sums.is_complete) == (35, True)


def test_what_narrows_a_query_reaches_github(lead, study, github, token, work, carried_out):
    lead.post(NEW, query(moment="updated", state="closed", authors="alice, bob", labels="bug", match="fix leak crash"))
    carried_out()
    asked = [entry.asked for entry in github.sent("rest") if entry.path == "/search/issues"]
    assert "is:closed" in asked[0] and "author:alice author:bob" in asked[0] and "updated:2021-01-01" in asked[0]
    wanted = {
        number
        for number, thing in work.things.items()
        if thing.kind == "pull_request"
        and thing.author in ("alice", "bob")
        and thing.labels
        and any(word.startswith(("fix", "leak", "crash")) for word in thing.title.lower().split())
    }
    assert set(Item.objects.values_list("number", flat=True)) == wanted
    assert github.wrong == []


# --- a list of addresses


def test_a_list_of_addresses_is_collected_as_it_stands(lead, study, github, token, work, carried_out):
    numbers = odd(work, files=3)
    listed = [
        "https://github.com/Frame/Wood/pull/3/files#diff-1",
        "github.com/frame/wood/issues/35",
        "https://github.com/frame/wood/pull/3",
        f"https://github.com/frame/wood/pull/{numbers['gone_410']}",
        "https://github.com/frame/wood/issues/9999",
        "https://github.com/lost/place/issues/4",
    ]
    lead.post(NEW, query(repositories="", urls="\n".join(listed)))
    done = carried_out()
    kept = Item.objects.filter(study=study, fetched_at__isnull=False).values_list("kind", "number", "identity")
    assert set(kept) == {
        ("pull_request", 3, "github.com/frame/wood#3"),
        ("issue", 35, "github.com/frame/wood#35"),
    }
    gone = Finding.objects.filter(state="unavailable").values_list("repository__label", "number", "reason")
    assert set(gone) == {
        ("Frame/Wood", numbers["gone_410"], "410"),
        ("Frame/Wood", 9999, "404"),
        ("lost/place", 4, "404"),
    } or set(gone) == {
        ("frame/wood", numbers["gone_410"], "410"),
        ("frame/wood", 9999, "404"),
        ("lost/place", 4, "404"),
    }
    assert (done.state, github.wrong) == ("done", [])
    assert [entry for entry in github.log if "search" in entry.asked] == []
    page = text(lead.get(ONE))
    assert "Complete but for 3. 2 fetched + 3 unavailable = 5 found" in page
    assert "5 pull requests and issues of Frame/Wood and lost/place, named one by one." in page


# --- preview


def test_a_query_is_read_back_without_asking_github(lead, study, github, token):
    answer = lead.post(NEW, query(act="preview", match="fix, defect", limit="250"))
    assert "begins with fix or defect. The newest 250." in text(answer)
    assert (github.log, Harvest.objects.count(), answer.context["counted"]) == ([], 0, None)
    fragment = lead.post(NEW, query(act="preview"), **HTMX)
    assert next(template.name for template in fragment.templates) == "collection/_preview.html"


def test_github_counts_in_one_search_and_only_when_told_to(lead, study, github, token):
    answer = lead.post(NEW, query(act="count", match="fix"), **HTMX)
    assert [(entry.method, entry.path) for entry in github.log] == [("GET", "/search/issues")]
    assert answer.context["counted"].total == 30
    assert "before the words are looked for" in text(answer)
    assert (github.wrong, Harvest.objects.count()) == ([], 0)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Struck("502"), "GitHub did not answer in time"),
        (Struck("secondary", seconds=40), "GitHub takes no search before"),
        (Struck("revoked"), "refused the token"),
    ],
)
def test_where_github_does_not_count_that_is_said_after_one_request(lead, study, github, token, fault, said):
    github.faults.add(fault)
    answer = lead.post(NEW, query(act="count"))
    assert (answer.status_code, len(github.log)) == (422, 1)
    assert said in text(answer)


def test_without_a_token_the_page_says_what_is_missing(lead, study, github):
    assert "There is no GitHub token for github.com" in text(lead.post(NEW, query(act="count")))
    assert github.log == []


# --- the page while it goes on


def test_the_page_asks_again_while_it_runs_and_stops_when_it_is_over(lead, study, github, token, carried_out):
    lead.post(NEW, query())
    assert b'hx-trigger="every 5s"' in lead.get(ONE).content
    still = lead.get(ONE + "progress/?state=waiting", **HTMX)
    assert "HX-Refresh" not in still.headers
    carried_out()
    over = lead.get(ONE + "progress/?state=running", **HTMX)
    assert (over.headers["HX-Refresh"], b"every 5s" in over.content) == ("true", False)


def test_half_way_it_says_what_is_left_and_how_long_it_may_take(lead, study, github, token, carried_out):
    github.faults.add(Struck("secondary", on="files", skip=10, seconds=900))
    lead.post(NEW, query())
    asleep = carried_out()
    assert (asleep.state, asleep.wake_at > timezone.now() + dt.timedelta(minutes=14)) == ("waiting", True)
    page = text(lead.get(ONE))
    assert "GitHub says to wait. It goes on by itself at" in page
    assert "GitHub said to wait: too many requests in a short time" in page
    Harvest.objects.update(state="running", lease_until=timezone.now() + dt.timedelta(minutes=5))
    found = lead.get(ONE).context["progress"]
    assert (found.sum.fetched, found.sum.to_fetch, found.total) == (10, 20, 30)
    assert found.per_minute > 0 and found.minutes_left >= 1
    key = found.keys[0]
    assert (key.name, key.blocked_until is not None) == ("Lee’s", True)
    assert {one.resource for one in key.allowances} == {"core", "search", "graphql"}


def test_it_is_paused_resumed_and_stopped_for_good(lead, study, github, token, woken, carried_out):
    lead.post(NEW, query())
    for act, state in [("pause", "paused"), ("resume", "waiting"), ("cancel", "cancelled")]:
        assert lead.post(ONE + "turn/", {"act": act}).status_code == 302
        assert Harvest.objects.get().state == state
    assert len(woken) == 2
    assert lead.post(ONE + "turn/", {"act": "resume"}).status_code == 409
    assert lead.post(ONE + "turn/", {"act": "explode"}).status_code == 400
    assert not carried_out().finished_at
    verbs = Event.objects.filter(kind="harvest").order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["started a harvest", "paused a harvest", "resumed a harvest", "cancelled a harvest"]


def test_looked_at_again_it_takes_what_is_new(lead, study, github, token, work, woken, carried_out):
    lead.post(NEW, query())
    carried_out()
    work.add(work.things[30].__class__(**{**vars(work.things[30]), "number": 99, "id": 99_000}))
    assert lead.post(ONE + "turn/", {"act": "again"}).status_code == 302
    assert len(woken) == 2
    done = carried_out()
    assert (done.state, Item.objects.filter(number=99).exists()) == ("done", True)
    assert Event.objects.filter(verb="looked again at a harvest", actor_name="lee").exists()


def test_one_item_that_never_comes_does_not_hold_up_the_others(lead, study, github, token, carried_out, monkeypatch):
    """A worker sleeps between tries, so what it knew of them is in the rows."""
    github.faults.add(Struck("502", on="files", times=9))
    lead.post(NEW, query())
    for _ in range(20):
        row = carried_out()
        if row.state == "done":
            break
        assert (row.state, row.message) == ("waiting", "GitHub does not answer.")
        Harvest.objects.update(wake_at=None)
    assert row.state == "done"
    assert Finding.objects.filter(state="fetched").count() == 30 - Finding.objects.filter(reason="no_answer").count()
    assert Fault.objects.get(kind="no_answer").count == 3
    assert "GitHub did not answer" in text(lead.get(ONE))


def test_a_server_that_never_answers_is_asked_ever_later_and_then_a_person_decides(
    lead, study, github, token, carried_out
):
    github.faults.add(Struck("502", on="search", times=999))
    github.tokens[token].limits["search"] = 999
    lead.post(NEW, query())
    waits = []
    for _ in range(20):
        row = carried_out()
        if row.state == "paused":
            break
        waits.append(round((row.wake_at - timezone.now()).total_seconds()))
        Harvest.objects.update(wake_at=None)
    assert row.message.startswith("GitHub has not answered 13 times in a row.")
    assert waits[0] < 40 < waits[2] and waits == sorted(waits) and max(waits) <= 1800


def test_what_a_dead_worker_had_is_taken_up_and_said(lead, study, github, token, carried_out):
    lead.post(NEW, query())
    Harvest.objects.update(state="running", lease_owner="x", lease_until=timezone.now() - dt.timedelta(seconds=1))
    assert carried_out().state == "done"
    assert "A worker ended in the middle" in text(lead.get(ONE))


# --- completeness


@pytest.fixture
def incomplete(lead, study, github, token, work, carried_out):
    odd(work, files=3_300)
    lead.post(NEW, query())
    return carried_out()


def test_each_count_opens_its_list(lead, incomplete):
    found = lead.get(ONE).context["progress"].sum
    counts = {
        "found": found.found,
        "fetched": found.fetched,
        "unavailable": found.unavailable,
        "lacking": found.lacking,
    }
    assert counts == {"found": 49, "fetched": 46, "unavailable": 3, "lacking": 1}
    for show, count in counts.items():
        page = lead.get(f"{ONE}findings/?show={show}&repository=frame/wood")
        assert len(page.context["rows"]) == count, show
    gone = lead.get(f"{ONE}findings/?show=unavailable&reason=451")
    assert "451: blocked for legal reasons" in text(gone)
    assert "files: 3,000 of 3,300" in text(lead.get(f"{ONE}findings/?show=lacking"))
    assert "1 Jan 2021" in text(lead.get(f"{ONE}windows/"))
    assert lead.get(f"{ONE}windows/?show=capped").status_code == 200


def test_every_link_of_the_page_leads_somewhere(lead, incomplete):
    links = set(re.findall(r'href="(/frameworks/[^"#]*)"', lead.get(ONE).content.decode()))
    assert len(links) > 12
    assert {link: lead.get(link.replace("&amp;", "&")).status_code for link in links} == dict.fromkeys(links, 200)


def test_the_faults_as_csv(lead, incomplete):
    sent = b"".join(lead.get(f"{ONE}faults.csv").streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(sent)))
    assert [row["what"] for row in rows if row["kind"] == "unavailable"] == [
        "404: not found",
        "410: deleted",
        "451: blocked for legal reasons",
    ]


def test_an_incomplete_harvest_is_sampled_only_for_a_written_reason(lead, study, incomplete):
    assert "Complete but for 4." in text(lead.get(ONE))
    assert lead.post(ONE + "sampling/", {"reason": " "}).status_code == 400
    assert lead.post(ONE + "sampling/", {"reason": "Three were deleted, which we report."}).status_code == 302
    assert "May be sampled though not complete: Three were deleted, which we report." in text(lead.get(ONE))
    told = Event.objects.get(verb="allowed sampling of an incomplete harvest")
    assert (told.actor_name, told.why) == ("lee", "Three were deleted, which we report.")


# --- who may


PAGES = ["", "new/", "tokens/", "1/", "1/progress/", "1/findings/", "1/windows/", "1/faults.csv"]
ACTS = ["new/", "tokens/", "1/turn/", "1/schedule/", "1/sampling/"]


def test_everybody_in_the_study_looks_and_leads_alone_act(study, lead, github, token, carried_out, alice, ada):
    lead.post(NEW, query())
    carried_out()
    member(study, reader := UserFactory(username="reader"), "reader")
    for person in (alice, ada, reader):
        client = Client()
        client.force_login(person)
        seen = {page: client.get(f"/frameworks/harvests/{page}").status_code for page in PAGES}
        assert seen == dict.fromkeys(PAGES, 200) | {"new/": 403, "tokens/": 403}
        assert {client.post(f"/frameworks/harvests/{act}").status_code for act in ACTS} == {403}
        page = client.get(ONE)
        assert b"Lee" not in page.content and b"Pause" not in page.content and b"Look again" not in page.content
        assert client.get("/frameworks/items/").status_code == 200
        assert client.get("/frameworks/items/github.com/frame/wood%233/").status_code == 200


def test_a_stranger_meets_nothing(study, lead, github, token, charlie):
    lead.post(NEW, query())
    client = Client()
    client.force_login(charlie)
    assert {client.get(f"/frameworks/harvests/{page}").status_code for page in PAGES} == {404}
    assert {client.post(f"/frameworks/harvests/{act}").status_code for act in ACTS} == {404}
    assert client.get("/frameworks/items/").status_code == 404
    assert Client().get("/frameworks/harvests/").status_code == 302


# --- the lists


def test_a_study_without_a_harvest_offers_one_step(lead, study, client, alice):
    assert "No harvest yet." in text(lead.get("/frameworks/harvests/"))
    assert b"/frameworks/harvests/new/" in lead.get("/frameworks/harvests/").content
    client.force_login(alice)
    assert b"/frameworks/harvests/new/" not in client.get("/frameworks/harvests/").content


def test_harvests_are_listed_with_what_came_of_them(lead, study, github, token, carried_out):
    lead.post(NEW, query())
    carried_out()
    lead.post(NEW, query(moment="created"))
    lines = lead.get("/frameworks/harvests/").context["lines"]
    assert [(row.number, sum.fetched, chip) for row, _, sum, chip in lines] == [
        (2, 0, ("acc", "waiting for a worker")),
        (1, 30, ("good", "complete")),
    ]


def test_a_query_alike_begins_with_the_same_answers(lead, study, github):
    lead.post(NEW, query(match="fix, error", limit="7"))
    form = lead.get(f"{NEW}?like=1").context["form"]
    assert (form["repositories"].value(), form["match"].value(), form["limit"].value()) == (
        "frame/wood",
        "fix, error",
        7,
    )
    assert lead.get(f"{NEW}?like=99").status_code == lead.get(f"{NEW}?like=x").status_code == 200


def test_items_are_narrowed_by_the_address_and_paged_by_key(lead, study, github, token, carried_out):
    lead.post(NEW, query())
    carried_out()
    for number in range(500, 680):
        ItemFactory(study=study, number=number, kind="issue", state="closed")
    first = lead.get("/frameworks/items/?kind=issue")
    assert len(first.context["rows"]) == 100
    second = lead.get(f"/frameworks/items/{first.context['next_url']}")
    assert (len(second.context["rows"]), second.context["next_url"]) == (80, "")
    assert "kind=issue" in second.context["previous_url"]
    back = lead.get(f"/frameworks/items/{second.context['previous_url']}")
    assert [row.pk for row in back.context["rows"]] == [row.pk for row in first.context["rows"]]
    assert len(lead.get("/frameworks/items/?harvest=1").context["rows"]) == 30
    assert len(lead.get("/frameworks/items/?q=%2312&repository=frame/wood").context["rows"]) == 1
    assert len(lead.get("/frameworks/items/?state=merged").context["rows"]) == 30
    assert "No item matches." in text(lead.get("/frameworks/items/?q=nothing-like-it"))
    for odd_place in ("after=nowhere", "before=x~y", "harvest=x", "harvest=99999999999999999999"):
        assert lead.get(f"/frameworks/items/?{odd_place}").status_code == 200


def test_findings_and_windows_are_paged_by_key(lead, study, github, token, work, carried_out):
    for number in range(100, 230):
        work.add(work.things[1].__class__(**{**vars(work.things[1]), "number": number, "id": number, "files": ()}))
    lead.post(NEW, query())
    carried_out()
    first = lead.get(f"{ONE}findings/")
    second = lead.get(f"{ONE}findings/{first.context['next_url']}")
    numbers = [row.number for page in (first, second) for row, _ in page.context["rows"]]
    assert numbers == sorted(numbers) and len(set(numbers)) == 160
    for odd_place in ("after=x", "after=frame/wood~x", "before=~", "show=x", "after=a~99999999999999999999"):
        assert lead.get(f"{ONE}findings/?{odd_place}").status_code == 200
        assert lead.get(f"{ONE}windows/?{odd_place}").status_code == 200


def test_an_item_is_read_whole_where_there_is_no_bug_of_it(lead, study, github, token, work, carried_out):
    work.change(3, title="<script>x</script>", body="**bold** <img src=x onerror=y>")
    lead.post(NEW, query())
    carried_out()
    page = lead.get("/frameworks/items/github.com/frame/wood%233/")
    assert page.status_code == 200
    assert b"<script>x" not in page.content and b"onerror" not in page.content and b"<strong>bold" in page.content
    assert b"harvest 1" in page.content and b"src/a.py" in page.content
    assert lead.get("/frameworks/items/github.com/frame/wood%233/files/1/").status_code == 200
    assert lead.get("/frameworks/items/github.com/frame/wood%233/files/9/").status_code == 404
    assert lead.get("/frameworks/items/nowhere/").status_code == 404


@pytest.mark.parametrize("identity", ["key:a\nb", "https://x.example/a//b?c=d#e", "key:100% ✓", "a/files/1", "x" * 600])
def test_an_item_is_found_by_whatever_makes_it_the_same(lead, study, identity):
    ItemFactory(study=study, number=None, identity=identity, key="K", title="Odd", url="")
    listed = lead.get("/frameworks/items/").content.decode()
    address = re.search(r'href="(/frameworks/items/[^"]+)"', listed)[1]
    assert lead.get(address).context["item"].identity == identity
    told = lead.get(address.replace("/frameworks/", "/api/v1/studies/frameworks/"))
    assert told.json()["identity"] == identity
