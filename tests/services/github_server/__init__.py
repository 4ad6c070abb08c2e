"""A GitHub of our own on loopback: a made-up world behind GitHub's real contract, with its limits and its faults.

Each GraphQL query is validated against GitHub's published schema, each REST call against its OpenAPI description; what
does not hold is refused and remembered. Start it by hand: `python -m tests.services.github_server --help`.
"""

from tests.services.github_server.clock import Clock
from tests.services.github_server.faults import Fault
from tests.services.github_server.server import GitHubServer
from tests.services.github_server.world import World

__all__ = ["Clock", "Fault", "GitHubServer", "World"]
