"""The client against GitHub's published contract: what it costs, what comes back, what is kept secret."""

import logging
import traceback
from dataclasses import replace
from datetime import timedelta

import pytest

from annotator.clients.github.budget import InMemoryBudget
from annotator.clients.github.client import GitHub
from annotator.clients.github.copies import IssueCopy, Missing, PullRequestCopy
from annotator.clients.github.errors import Broken, Gone, Limited, NotAllowed, Unreachable
from annotator.clients.github.wire import Key
from tests.contract.github_harvest import CLOSED, EVER, MERGED, Harvest, github
from tests.services.github_server import Clock, Fault, GitHubServer, World
from tests.services.github_server.server import TOKEN
from tests.services.github_server.world import odd, repository


@pytest.fixture
def clock() -> Clock:
    return Clock()


def served(clock: Clock, world: World, **options) -> GitHubServer:
    server = GitHubServer(world, clock=clock, **options)
    server.checks_answers = True
    return server


def test_five_hundred_pull_requests_cost_little_and_break_no_rule(clock: Clock) -> None:
    with served(clock, World.of(repository(pull_requests=500, days=60))) as server:
        server.checks_answers = False
        harvest = Harvest(github(server, clock), clock).run()
    assert len(harvest.items) == len(harvest.files) == 500
    assert len(server.sent("rest")) <= 1.05 * 500
    assert len(server.sent("graphql")) <= 0.05 * 500
    assert server.wrong == []
    assert server.sent_while_told_to_wait() == []
    assert server.repeated() == []
    assert harvest.github.used.rest == len(server.sent("rest"))
    assert harvest.github.used.graphql == len(server.sent("graphql"))
    assert harvest.github.used.points == sum(entry.points for entry in server.log)


def test_small_allowances_are_obeyed_to_the_second(clock: Clock) -> None:
    limits = {"core": 20, "search": 2, "graphql": 30}
    with served(clock, World.of(repository(pull_requests=60)), limits=limits) as server:
        harvest = Harvest(github(server, clock), clock).run()
    assert len(harvest.files) == 60
    assert server.sent_while_told_to_wait() == []
    assert server.repeated() == []
    assert any(isinstance(wait, Limited) for wait in harvest.waits)
    assert max(clock.pauses, default=0) <= 3


def test_every_oddity_is_held_whole_or_named_as_missing(clock: Clock) -> None:
    place = repository(pull_requests=5)
    numbers = odd(place)
    with served(clock, World.of(place)) as server:
        harvest = Harvest(github(server, clock), clock).run()
    assert server.wrong == []
    held = {
        name: next(item for item in harvest.items.values() if item.number == number) for name, number in numbers.items()
    }
    assert held["nul"].body == "beforeafter"
    assert held["nul"].notes == ("NUL removed from title", "NUL removed from body")
    assert held["crlf"].body == "one\r\ntwo\rthree\n  four\t"
    assert len(held["long"].body) == 65_536
    assert held["emoji"].title == "Fix 🐛 in 🧪"
    assert held["surrogate"].body == "half \N{REPLACEMENT CHARACTER} a pair"
    assert held["surrogate"].notes == ("half a character replaced in body",)
    assert held["deleted_fork"].head_repository == ""
    assert len(held["many_labels"].labels) == 103
    assert len(held["many_comments"].comments) == 230
    assert len(held["many_reviews"].comments) == 52
    assert len(held["long_review"].comments) == 141
    assert len(held["many_commits"].commits) == 240
    assert all(item.missing == () for item in held.values())
    assert harvest.unavailable == {numbers[f"gone_{reason}"]: reason for reason in (404, 410, 451)}


def test_files_come_with_patches_or_with_the_reason_why_not(clock: Clock) -> None:
    place = repository()
    numbers = odd(place)
    with served(clock, World.of(place)) as server:
        harvest = Harvest(github(server, clock), clock).run()
    huge = harvest.files[numbers["huge"]]
    assert len({file.path for file in huge.files}) == 3_000
    assert huge.missing == (Missing("files", 3_000, 3_300),)
    binary = harvest.files[numbers["binary"]].files
    assert [(file.patch, file.note) for file in binary] == [(None, "binary"), (None, "no_change"), (None, "too_large")]
    assert binary[1].old_path == "old.py"
    undecodable = harvest.files[numbers["undecodable"]]
    assert undecodable.files[0].note == "undecodable"
    assert undecodable.files[0].patch == "@@ -1 +1 @@\n-caf\N{REPLACEMENT CHARACTER}\n+café"
    assert undecodable.notes == ("NUL removed from a patch",)
    assert harvest.files[numbers["no_files"]].files == ()


def test_deleted_accounts_and_holes_stop_nothing(clock: Clock) -> None:
    """Deleted author, reviewer, commenter (even without the key), committer with a name in git or none; a 410."""
    place = repository(pull_requests=3)
    numbers = odd(place, files=10)
    with served(clock, World.of(place)) as server:
        harvest = Harvest(github(server, clock), clock).run()
        rest = harvest.github.review_comments("frame/wood", numbers["nobody"])
    nobody = next(item for item in harvest.items.values() if item.number == numbers["nobody"])
    assert (nobody.author, nobody.body) == ("", "")
    assert [(turn.kind, turn.author) for turn in nobody.comments] == [("comment", ""), ("inline", ""), ("review", "")]
    assert [commit.author for commit in nobody.commits] == ["Ada by Mail", ""]
    assert [(turn.author, turn.body) for turn in rest] == [("", "Written by nobody.")]
    assert harvest.unavailable[numbers["gone_410"]] == 410
    assert len(harvest.files) == len(place.things) - 3


def test_issues_come_with_comments_labels_and_who_closes_them(clock: Clock) -> None:
    place = repository(pull_requests=6, issues=40)
    place.change(6, closes=(7,))
    with served(clock, World.of(place)) as server:
        harvest = Harvest(github(server, clock), clock, CLOSED).run()
        found = harvest.github.fetch("frame/wood", 7)
        labelled = Harvest(github(server, clock), clock, replace(CLOSED, labels=("type:bug", "silent"))).run()
    assert len(harvest.items) == 40
    assert server.wrong == []
    assert isinstance(found, IssueCopy)
    assert [link.number for link in found.links] == [6]
    assert found.state_reason == "completed"
    assert labelled.numbers == {number for number in range(7, 47) if number % 2}


def test_a_renamed_repository_keeps_its_identity_and_its_pages(clock: Clock) -> None:
    place = repository(name="new/name", pull_requests=30)
    place.former = ("frame/wood",)
    numbers = odd(place, files=250)
    with served(clock, World.of(place)) as server:
        client = github(server, clock)
        harvest = Harvest(client, clock).run()
        found = client.repository("frame/wood")
        old = github(server, clock).files("frame/wood", numbers["huge"], expected=250)
    assert server.wrong == []
    assert (found.id, found.name) == (place.id, "new/name")
    assert {item.repository for item in harvest.items.values()} == {"new/name"}
    assert len(harvest.items) == len(place.things)
    assert len({file.path for file in old.files}) == 250


def test_many_by_number_take_few_questions_and_say_why_one_is_gone(clock: Clock) -> None:
    place = repository(pull_requests=120, issues=5)
    numbers = odd(place, files=5)
    asked = [*place.things, 99_999]
    with served(clock, World.of(place)) as server:
        client = github(server, clock)
        found = client.fetch_many("frame/wood", asked)
        with pytest.raises(Gone) as gone:
            client.fetch("frame/wood", numbers["gone_451"])
    assert server.wrong == []
    assert gone.value.reason == 451
    reasons = {number: thing.reason for number, thing in found.items() if isinstance(thing, Gone)}
    assert reasons == {numbers[f"gone_{reason}"]: reason for reason in (404, 410, 451)} | {99_999: 404}
    assert len(server.sent("graphql")) <= len(asked) // 50 + 2
    assert sum(isinstance(thing, PullRequestCopy) for thing in found.values()) == 120 + len(numbers) - 3


def test_a_repository_that_is_gone_is_asked_about_once(clock: Clock) -> None:
    with served(clock, World.of(repository())) as server:
        found = github(server, clock).fetch_many("no/where", list(range(1, 121)))
    assert {gone.reason for gone in found.values()} == {404}
    assert len(found) == 120
    assert len(server.log) == 2


def test_a_refresh_costs_next_to_nothing(clock: Clock) -> None:
    place = repository(pull_requests=300)
    with served(clock, World.of(place)) as server:
        client = github(server, clock)
        first = client.files("frame/wood", 1)
        before = client.used
        page = client.glances(MERGED, EVER)
        glances = [*page.hits]
        while page.after:
            page = client.glances(MERGED, EVER, after=page.after)
            glances += page.hits
        asked = client.used.graphql - before.graphql
        left = server.tokens[TOKEN].allowance("core").remaining
        again = client.files("frame/wood", 1, etag=first.etag)
        unchanged_left = server.tokens[TOKEN].allowance("core").remaining
        place.change(1, files=place.things[2].files[:1])
        changed = client.files("frame/wood", 1, etag=first.etag)
    assert len({glance.id for glance in glances}) == 300
    assert asked <= 0.1 * 300
    assert again.is_unchanged
    assert unchanged_left == left
    assert not changed.is_unchanged
    assert len(changed.files) == 1


def test_a_page_too_heavy_for_github_is_halved_and_that_is_remembered(clock: Clock) -> None:
    with served(clock, World.of(repository(pull_requests=100)), heaviest_page=20) as server:
        harvest = Harvest(github(server, clock), clock, with_files=False).run()
    assert len(harvest.items) == 100
    assert [entry.fault for entry in server.sent("graphql")].count("502") <= 4
    assert harvest.github.pages.size <= 20


def test_an_enterprise_server_is_asked_below_its_own_address(clock: Clock) -> None:
    with served(clock, World.of(repository(pull_requests=3)), prefix="/api/v3") as server:
        harvest = Harvest(github(server, clock), clock).run()
    assert len(harvest.files) == 3
    assert server.wrong == []


def test_a_second_token_takes_over_where_the_first_is_used_up_or_refused(clock: Clock) -> None:
    with served(clock, World.of(repository(pull_requests=20)), tokens=("one", "two")) as server:
        server.tokens["one"].limits["core"] = 5
        harvest = Harvest(github(server, clock, "revoked", "one", "two"), clock).run()
    assert len(harvest.files) == 20
    assert harvest.waits == []
    assert server.sent_while_told_to_wait() == []
    assert [entry.token for entry in server.log].count("revoked") == 1


def test_a_refused_token_is_one_clear_message(clock: Clock) -> None:
    with served(clock, World.of(repository(pull_requests=20))) as server:
        server.faults.add(Fault("revoked", on="files", skip=5))
        client = github(server, clock)
        with pytest.raises(NotAllowed, match="refused the token: it is wrong, expired or revoked") as refused:
            Harvest(client, clock).run()
        with pytest.raises(NotAllowed):
            client.files("frame/wood", 1)
    assert refused.value.keys == ("key 1",)
    assert [entry.status for entry in server.log].count(401) == 1


@pytest.mark.parametrize("fault", ["revoked", "secondary", "502", "reset", "cut", "bad_json", "404", "403"])
def test_a_token_is_in_no_error_and_no_log(clock: Clock, fault: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with served(clock, World.of(repository(pull_requests=2))) as server:
        server.faults.add(Fault(fault, times=99))
        client = github(server, clock)
        with pytest.raises((NotAllowed, Limited, Unreachable, Broken, Gone)) as raised:
            client.files("frame/wood", 1)
    told = "".join(traceback.TracebackException.from_exception(raised.value, capture_locals=True).format())
    assert server.log[0].token == TOKEN
    assert TOKEN not in told + repr(raised.value) + repr(client) + repr(client._wire._requesters) + caplog.text
    assert len(caplog.records) > 0


@pytest.mark.parametrize("token", ["", "two words", "with\nline", "pässword", "\ud83d"])
def test_a_token_that_would_break_a_header_is_refused_unseen(clock: Clock, token: str) -> None:
    with pytest.raises(NotAllowed) as refused:
        Key(token, InMemoryBudget(clock))
    assert str(refused.value) == "a GitHub token is one word of printable letters; store it again"


def test_a_token_follows_no_redirect_to_another_host(clock: Clock) -> None:
    place = repository(name="new/name")
    place.former = ("frame/wood",)
    with served(clock, World.of(place)) as other, served(clock, World.of(place)) as server:
        server.url = other.url  # so that its redirects lead there
        client = GitHub(
            f"http://127.0.0.1:{server._http.server_port}", [Key(TOKEN, InMemoryBudget(clock))], clock=clock
        )
        with pytest.raises(Broken, match="another host"):
            client.repository("frame/wood")
    assert other.log == []


def test_no_token_at_all_is_said(clock: Clock) -> None:
    with pytest.raises(NotAllowed, match="there is no token"):
        GitHub("http://127.0.0.1:9", [], clock=clock).repository("frame/wood")


def test_nobody_listening_is_unreachable_and_nothing_counts_as_sent(clock: Clock) -> None:
    client = GitHub("http://127.0.0.1:9", [Key(TOKEN, InMemoryBudget(clock))], clock=clock, pause=clock.pause)
    with pytest.raises(Unreachable, match="no connection") as error:
        client.repository("frame/wood")
    assert client.used.rest == 0
    assert error.value.retry_at > clock() - timedelta(seconds=1)
    assert sum(clock.pauses) <= 3
