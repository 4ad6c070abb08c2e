"""Limits, page sizes and links between texts: the parts that need no server."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from annotator.clients.github import limits
from annotator.clients.github.budget import InMemoryBudget, Reading
from annotator.clients.github.links import closes, names
from annotator.clients.github.pages import LARGEST, PageSize
from tests.services.github_server import Clock

NOW = datetime(2026, 1, 5, 9, 0, 0, tzinfo=UTC)
RESET = NOW + timedelta(minutes=20)


def read(status: int, message: str = "", **headers: str) -> Reading:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return limits.read(named, status=status, message=message, resource="core", reserved=1, now=NOW)


def primary(**more: str) -> dict[str, str]:
    return {"x_ratelimit_remaining": "0", "x_ratelimit_reset": str(int(RESET.timestamp())), **more}


def test_a_used_up_allowance_closes_its_resource_until_the_reset() -> None:
    reading = read(403, "API rate limit exceeded", **primary(x_ratelimit_resource="search"))
    assert (reading.resource, reading.is_secondary) == ("search", False)
    assert reading.closed_until == RESET + timedelta(seconds=1)


def test_the_last_request_that_went_through_closes_nothing_yet() -> None:
    reading = read(200, **primary())
    assert (reading.closed_until, reading.is_secondary, reading.remaining) == (None, False, 0)


@pytest.mark.parametrize("status", [403, 429, 503])
def test_retry_after_holds_the_whole_token_for_that_long(status: int) -> None:
    reading = read(status, "You have exceeded a secondary rate limit.", retry_after="37", **primary())
    assert reading.is_secondary
    assert reading.hold_until == NOW + timedelta(seconds=37)


def test_retry_after_may_be_a_date() -> None:
    assert read(429, retry_after="Mon, 05 Jan 2026 09:05:00 GMT").hold_until == NOW + timedelta(minutes=5)


@pytest.mark.parametrize("status", [403, 429])
def test_a_secondary_limit_without_a_time_is_one_all_the_same(status: int) -> None:
    reading = read(status, "You have exceeded a secondary rate limit.", x_ratelimit_remaining="4000")
    assert (reading.is_secondary, reading.hold_until) == (True, None)


def test_a_plain_403_is_no_limit() -> None:
    reading = read(403, "Resource not accessible by personal access token", x_ratelimit_remaining="4000")
    assert (reading.is_secondary, reading.closed_until, reading.hold_until) == (False, None, None)


def test_the_servers_clock_counts() -> None:
    ahead = NOW + timedelta(hours=2)
    reading = limits.read(
        {
            "x-ratelimit-remaining": "0",
            "x-ratelimit-reset": str(int((ahead + timedelta(seconds=60)).timestamp())),
            "date": "Mon, 05 Jan 2026 11:00:00 GMT",
        },
        status=403,
        message="",
        resource="core",
        reserved=1,
        now=NOW,
    )
    assert reading.closed_until == NOW + timedelta(seconds=61)


def test_headers_that_make_no_sense_close_nothing() -> None:
    reading = read(200, x_ratelimit_remaining="many", x_ratelimit_reset="soon", retry_after="later", date="today")
    assert (reading.remaining, reading.reset_at, reading.closed_until) == (None, None, None)


def test_no_more_is_reserved_than_is_left() -> None:
    clock = Clock()
    budget = InMemoryBudget(clock)
    reset = clock() + timedelta(minutes=5)
    budget.learn(Reading("core", 0, limit=100, remaining=50, reset_at=reset))
    with ThreadPoolExecutor(8) as threads:
        waits = list(threads.map(lambda _n: budget.reserve("core", 1), range(200)))
    assert waits.count(None) == 50
    assert set(waits) == {None, reset}
    assert budget.reserve("graphql", 1) is None


def test_what_was_reserved_and_cost_nothing_is_given_back() -> None:
    clock = Clock()
    budget = InMemoryBudget(clock)
    reset = clock() + timedelta(minutes=5)
    budget.learn(Reading("core", 0, limit=100, remaining=1, reset_at=reset))
    for _time in range(3):
        assert budget.reserve("core", 1) is None
        budget.learn(Reading("core", 1, limit=100, remaining=1, reset_at=reset))


def test_answers_that_overtake_each_other_never_raise_the_allowance() -> None:
    clock = Clock()
    budget = InMemoryBudget(clock)
    reset = clock() + timedelta(minutes=5)
    for remaining in (10, 0, 7):
        budget.learn(Reading("core", 0, limit=100, remaining=remaining, reset_at=reset))
    assert budget.reserve("core", 1) == reset
    clock.move_to(reset)
    assert budget.reserve("core", 1) is None


def test_secondary_limits_without_a_time_double_and_a_success_forgets_them() -> None:
    clock = Clock()
    budget = InMemoryBudget(clock)
    waits = []
    for _strike in range(6):
        budget.learn(Reading("core", 0, is_secondary=True))
        until = budget.reserve("search", 1)
        assert until is not None
        waits.append((until - clock()).total_seconds())
        clock.move_to(until)
    assert waits == [60, 120, 240, 480, 960, 960]
    budget.learn(Reading("core", 0, limit=9, remaining=9, reset_at=clock()))
    budget.learn(Reading("core", 0, is_secondary=True))
    assert budget.reserve("core", 1) == clock() + timedelta(seconds=60)


def test_a_page_that_failed_stays_halved_and_grows_after_many_good_ones() -> None:
    pages = PageSize()
    pages.failed()
    pages.failed()
    assert pages.size == 12
    for _page in range(8):
        pages.worked()
    assert pages.size == 24


def test_a_page_that_fails_as_soon_as_it_grew_is_not_tried_again() -> None:
    pages = PageSize()
    pages.failed()
    for _page in range(8):
        pages.worked()
    assert pages.size == LARGEST
    pages.failed()
    for _page in range(50):
        pages.worked()
    assert pages.size == LARGEST // 2


def test_a_page_is_never_empty() -> None:
    pages = PageSize(1)
    pages.failed()
    assert pages.size == 1


@pytest.mark.parametrize(
    ("text", "place"),
    [
        *((f"{word} #12", "frame/wood#12") for word in ("close", "closes", "closed", "fix", "fixes", "fixed")),
        *((f"{word} #12", "frame/wood#12") for word in ("resolve", "resolves", "resolved", "Fixes", "CLOSED")),
        ("this closes #12.", "frame/wood#12"),
        ("RESOLVED: #12", "frame/wood#12"),
        ("fixes:#12", "frame/wood#12"),
        ("fix #12\r\nmore", "frame/wood#12"),
        ("fixes\n#12", "frame/wood#12"),
        ("- [x] fixes #12", "frame/wood#12"),
        ("Fixes GH-12", "frame/wood#12"),
        ("**Fixes** #12", "frame/wood#12"),
        ("(Close Other/Place#7)", "other/place#7"),
        ("fixes [#7](https://example.org)", "frame/wood#7"),
        ("resolves https://github.com/Other/place/issues/7", "github.com/other/place#7"),
        ("fixes <https://www.github.com/Other/place/issues/7#issuecomment-1>", "github.com/other/place#7"),
        ("fixed https://github.example.org/other/place/pull/7)", "github.example.org/other/place#7"),
        ("<!-- fixes #3 -->\n\nfixes #12", "frame/wood#12"),
    ],
)
def test_every_spelling_of_closing_is_read(text: str, place: str) -> None:
    (found,) = closes(text, repository="Frame/Wood")
    assert "/".join(filter(None, (found.host, f"{found.repository}#{found.number}"))) == place


@pytest.mark.parametrize(
    "text",
    [
        "see #12",
        "prefixes #12",
        "fix 12",
        "Fixes #",
        "<!-- Fixes #12 -->",
        "`fixes #12`",
        "```\nfixes #12\n```",
        "~~~\nfixes #12\n~~~",
        "``a ` fixes #12``",
        "As in:\n\n    fixes #12",
        "> fixes #12",
        "> It says\n> fixes #12\n> in the end",
        "- > fixes #12",
        "fixes `#12`",
        "fixes #0",
        "fixes #12345678901",
        "fixes a/b/c#12",
        "fixes #12a",
        "",
    ],
)
def test_what_closes_nothing_is_no_link(text: str) -> None:
    assert closes(text, repository="frame/wood") == ()


def test_a_commit_message_is_no_markdown() -> None:
    text = "Revert it\n\n    fixes #12\n> closes #13"
    assert [found.number for found in closes(text, repository="frame/wood", is_markdown=False)] == [12, 13]
    assert closes(text, repository="frame/wood") == ()


def test_whatever_is_named_is_found_but_code_and_quotations() -> None:
    text = "Like #3 and other/place#4, GH-5, https://github.com/a/b/pull/6; not a#7, `#8`, #x9 or &#39;\n\n> #10"
    found = names(text, repository="frame/wood")
    assert [(one.repository, one.number) for one in found] == [
        ("frame/wood", 3),
        ("other/place", 4),
        ("frame/wood", 5),
        ("a/b", 6),
    ]


def test_a_long_text_is_read_in_no_time() -> None:
    text = "fixes #1 " + "[" * 30_000 + "*" * 30_000
    assert [found.number for found in closes(text, repository="frame/wood")] == [1]


def test_each_issue_is_named_once_and_in_order() -> None:
    text = "Fixes #3, fixes #1 and closes #3; fixes frame/wood#2"
    assert [reference.number for reference in closes(text, repository="frame/wood")] == [3, 1, 2]
