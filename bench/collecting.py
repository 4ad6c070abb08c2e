"""What a pull request costs to collect: `collect` beside a plain loop over PyGithub, on the same server.

python -m bench.collecting URL TOKEN REPOSITORY is the loop: the seven calls that everything about one takes.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from bench import server
from tests.services.github_server import GitHubServer, World
from tests.services.github_server.server import TOKEN
from tests.services.github_server.world import repository

PULL_REQUESTS = 100
LATENCY = 0.05  # seconds of each answer on its way: a near server; GitHub takes longer
PLACE = "frame/wood"


@dataclass(frozen=True)
class Cost:
    """Of one pull request."""

    rest: float
    graphql: float
    ms: float


def measured(environment: dict[str, str]) -> tuple[Cost, Cost]:
    """Ours, into an empty database, and the plain loop, which stores nothing."""
    world = World.of(repository(name=PLACE, pull_requests=PULL_REQUESTS, days=60))
    with GitHubServer(world, latency=LATENCY) as github:
        access = {"GITHUB_API_URL": github.url, "GITHUB_TOKENS": TOKEN}
        ours = cost_of(github, lambda: collect(environment | access))
        github.log.clear()
        plain = cost_of(github, lambda: loop(environment, github.url, TOKEN))
    if github.wrong:
        raise RuntimeError(f"GitHub's contract was broken: {github.wrong[:3]}")
    return ours, plain


def cost_of(github: GitHubServer, act: Callable[[], float]) -> Cost:
    seconds = act()
    rest, graphql = len(github.sent("rest")), len(github.sent("graphql"))
    return Cost(rest / PULL_REQUESTS, graphql / PULL_REQUESTS, seconds * 1000 / PULL_REQUESTS)


def collect(environment: dict[str, str]) -> float:
    manage = [sys.executable, "manage.py"]
    for command in (
        ["migrate", "-v0"],
        ["create_study", "bench", "--title", "Bench", "--codebook", "dl-framework-bugs"],
    ):
        subprocess.run([*manage, *command], cwd=server.ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    asked = ["collect", "bench", "--repo", PLACE, "--merged", "2020-12-01..2021-12-31", "--json"]
    done = subprocess.run([*manage, *asked], cwd=server.ROOT, env=environment, check=True, stdout=subprocess.PIPE)
    told = json.loads(done.stdout)
    if not told["complete"] or told["fetched"] != PULL_REQUESTS:
        raise RuntimeError(f"not all was collected: {told}")
    return float(told["seconds"])


def loop(environment: dict[str, str], url: str, token: str) -> float:
    return float(server.command(environment, "bench.collecting", url, token, PLACE))


def seven_calls_each(url: str, token: str, name: str) -> float:
    """Seconds. Without the library's own pause between requests."""
    from github import Auth, Github

    place = Github(base_url=url, auth=Auth.Token(token), seconds_between_requests=0).get_repo(name)
    started = time.perf_counter()
    for listed in place.get_pulls(state="closed"):
        pull = place.get_pull(listed.number)
        lists: list[Iterable[Any]] = [pull.get_files(), pull.get_commits(), pull.get_reviews()]
        for found in (*lists, pull.get_issue_comments(), pull.get_review_comments(), pull.get_labels()):
            list(found)
    return time.perf_counter() - started


if __name__ == "__main__":
    print(seven_calls_each(*sys.argv[1:]))
