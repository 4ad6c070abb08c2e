"""Run it by hand: `python -m tests.services.github_server --pull-requests 500 --port 8099`."""

import argparse
from datetime import date

from tests.services.github_server.server import TOKEN, GitHubServer
from tests.services.github_server.world import World, odd, repository


def main() -> None:
    parser = argparse.ArgumentParser(description="A made-up GitHub on loopback, behind GitHub's published contract.")
    parser.add_argument("--port", type=int, default=8099)
    parser.add_argument("--repository", default="frame/wood")
    parser.add_argument("--pull-requests", type=int, default=200)
    parser.add_argument("--issues", type=int, default=0)
    parser.add_argument("--days", type=int, default=90)
    parser.add_argument("--odd", action="store_true", help="add one pull request for each oddity")
    parser.add_argument("--token", default=TOKEN)
    asked = parser.parse_args()
    made = repository(
        name=asked.repository,
        pull_requests=asked.pull_requests,
        issues=asked.issues,
        first=date(2021, 1, 1),
        days=asked.days,
    )
    if asked.odd:
        odd(made)
    server = GitHubServer(World.of(made), tokens=(asked.token,), port=asked.port)
    print(f"GITHUB_API_URL={server.url} GITHUB_TOKENS={asked.token}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
