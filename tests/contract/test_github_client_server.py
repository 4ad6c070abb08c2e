"""The test server itself: what breaks GitHub's contract is refused there, or it would prove nothing."""

import http.client
import json
from datetime import timedelta
from pathlib import Path

import pytest
from github import Auth, Github

from tests.services.github_server import Clock, Fault, GitHubServer, World, contract
from tests.services.github_server.openapi import operation, wrong_with_answer
from tests.services.github_server.server import TOKEN
from tests.services.github_server.world import repository


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server(clock: Clock):
    with GitHubServer(World.of(repository(pull_requests=7)), clock=clock, limits={"core": 5}) as running:
        yield running


def ask(server: GitHubServer, path: str, body: dict | None = None, **headers: str) -> tuple[int, dict, dict]:
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=20)
    sent = {"Authorization": f"token {TOKEN}"} | {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("POST" if body else "GET", path, json.dumps(body) if body else None, sent)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, dict(answer.headers), json.loads(content) if content[:1] in (b"{", b"[") else {}


def question(text: str, **variables: object) -> dict:
    return {"query": text, "variables": variables}


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/repos/frame/wood/pulls/1/patches", "not in the description"),
        ("/repos/frame/wood/pulls/1/files?sort=path", "sort is no query parameter"),
        ("/repos/frame/wood/pulls/1/files?per_page=200", "per_page=200"),
        ("/repos/frame/wood/pulls/1/files?page=two", "page=two is no number"),
        ("/search/issues?q=is:pr&order=up", "order=up is none of"),
    ],
)
def test_a_call_outside_the_description_is_refused(server: GitHubServer, path: str, why: str) -> None:
    status, _headers, _body = ask(server, path)
    assert status in (404, 422)
    assert why in server.wrong[0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("query {", "Syntax Error"),
        ("query { viewer { patch } }", "Cannot query field 'patch'"),
        ("query { search(query: 1, type: ISSUE, first: 1) { issueCount } }", "String cannot represent"),
        ('query { search(query: "a", type: PULL, first: 1) { issueCount } }', "PULL"),
        (
            'query { search(query: "a", type: ISSUE, first: 1) { nodes { '
            "... on Issue { state } ... on PullRequest { state } } } }",
            "conflict",
        ),
    ],
)
def test_a_question_outside_the_schema_is_refused(server: GitHubServer, text: str, why: str) -> None:
    status, _headers, body = ask(server, "/graphql", question(text))
    assert status == 200
    assert why in body["errors"][0]["message"]
    assert server.wrong


def test_a_list_without_first_or_with_too_many_is_an_error(server: GitHubServer) -> None:
    for asked in ("", ", first: 101"):
        text = f'query {{ search(query: "is:pr", type: ISSUE{asked}) {{ nodes {{ __typename }} }} }}'
        _status, _headers, body = ask(server, "/graphql", question(text))
        assert body["errors"][0]["type"] in ("MISSING_PAGINATION_BOUNDARIES", "EXCESSIVE_PAGINATION")


def test_a_plain_library_is_served_every_list(server: GitHubServer) -> None:
    """As the benchmark's loop asks: seven calls for each pull request."""
    server.checks_answers = True
    server.tokens[TOKEN].limits["core"] = 500
    server.tokens[TOKEN].allowance("core").remaining = 500
    place = Github(base_url=server.url, auth=Auth.Token(TOKEN), seconds_between_requests=0).get_repo("frame/wood")
    pulls = list(place.get_pulls(state="closed"))
    for pull in pulls:
        whole = place.get_pull(pull.number)
        assert len(list(whole.get_files())) == whole.changed_files == 2
        lists = [whole.get_commits(), whole.get_reviews(), whole.get_issue_comments(), whole.get_review_comments()]
        assert [len(list(one)) for one in (*lists, whole.get_labels())] == expected_of(server, pull.number)
    assert len(pulls) == 7
    assert server.wrong == []


def expected_of(server: GitHubServer, number: int) -> list[int]:
    thing = server.world.repositories[0].things[number]
    return [len(one) for one in (thing.commits, thing.reviews, thing.comments, thing.inline, thing.labels)]


def test_an_answer_outside_the_description_would_be_noticed() -> None:
    called = operation("GET", "/repos/frame/wood/pulls/1/files")
    assert called is not None
    assert wrong_with_answer(called, 200, [{"filename": "a.py"}])
    assert wrong_with_answer(called, 200, {"message": "no list"})
    assert wrong_with_answer(called, 418, {})


def test_the_allowance_falls_and_comes_back(server: GitHubServer, clock: Clock) -> None:
    left = [int(ask(server, "/repos/frame/wood")[1]["X-RateLimit-Remaining"]) for _time in range(5)]
    assert left == [4, 3, 2, 1, 0]
    status, headers, body = ask(server, "/repos/frame/wood")
    assert (status, body["message"][:23]) == (403, "API rate limit exceeded")
    assert [entry.was_told_to_wait for entry in server.log] == [False] * 5 + [True]
    clock.pause(int(headers["X-RateLimit-Reset"]) - clock().timestamp())
    assert ask(server, "/repos/frame/wood")[0] == 200


def test_an_unchanged_list_costs_nothing(server: GitHubServer) -> None:
    _status, first, _body = ask(server, "/repos/frame/wood/pulls/1/files")
    status, second, body = ask(server, "/repos/frame/wood/pulls/1/files", If_None_Match=first["ETag"])
    assert (status, body) == (304, {})
    assert second["X-RateLimit-Remaining"] == first["X-RateLimit-Remaining"]


def test_whoever_asks_while_told_to_wait_is_noted(server: GitHubServer, clock: Clock) -> None:
    server.faults.add(Fault("secondary", seconds=30))
    assert ask(server, "/repos/frame/wood")[1]["Retry-After"] == "30"
    clock.pause(29)
    assert ask(server, "/repos/frame/wood")[0] == 403
    clock.pause(1)
    assert ask(server, "/repos/frame/wood")[0] == 200
    assert [entry.was_told_to_wait for entry in server.log] == [False, True, False]


def test_whoever_asks_again_for_what_was_answered_is_noted(server: GitHubServer) -> None:
    server.faults.add(Fault("502"))
    for _time in range(3):
        ask(server, "/repos/frame/wood/pulls/1/files")
    assert [entry.is_repeated for entry in server.log] == [False, False, True]


def test_search_gives_a_thousand_and_not_a_word(clock: Clock) -> None:
    text = """query($after: String) { search(query: "is:pr", type: ISSUE, first: 100, after: $after) {
        issueCount pageInfo { hasNextPage endCursor } nodes { __typename } } }"""
    with GitHubServer(World.of(repository(pull_requests=1_200)), clock=clock) as server:
        seen, after, has_next = 0, None, True
        while has_next:
            found = ask(server, "/graphql", question(text, after=after))[2]["data"]["search"]
            seen += len(found["nodes"])
            after, has_next = found["pageInfo"]["endCursor"], found["pageInfo"]["hasNextPage"]
    assert (found["issueCount"], seen) == (1_200, 1_000)


def test_without_npm_the_reason_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(contract, "CACHE", tmp_path / "none")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(contract.NoContract, match="need npm, to fetch @octokit/openapi"):
        contract.published(*contract.OPENAPI)


def test_the_clock_only_goes_forward(clock: Clock) -> None:
    before = clock()
    clock.move_to(before - timedelta(hours=1))
    assert clock() == before
