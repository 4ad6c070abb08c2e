"""The whole suite on SQLite with the browser's journeys, then what asks for a database on PostgreSQL, with a broker.

More arguments are handed to pytest.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.services import broker, install, postgres

ROOT = Path(__file__).resolve().parents[2]


def main(arguments: list[str]) -> int:
    install.everything()
    with tempfile.TemporaryDirectory(prefix="concord-tests-", dir="/tmp") as var:
        environment = clean_environment() | {"CONCORD_VAR": var}
        return on_node(environment) or on_sqlite(environment, arguments) or on_postgresql(environment, arguments)


def clean_environment() -> dict[str, str]:
    """The caller's, less what would point the tests at data that matter."""
    ours = ("DATABASE_", "REDIS_", "CONCORD_", "DJANGO_", "GITHUB_", "CELERY_", "SECRET_KEY", "METRICS_", "HTTPS")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def on_node(environment: dict[str, str]) -> int:
    print("— the pages' modules, under Node", flush=True)
    return run(["node", "--test", *map(str, sorted((ROOT / "tests/js").glob("*.test.mjs")))], environment)


def on_sqlite(environment: dict[str, str], arguments: list[str]) -> int:
    print("— SQLite, with the browser", flush=True)
    return pytest(environment, "-m", "not postgresql", *arguments)


def on_postgresql(environment: dict[str, str], arguments: list[str]) -> int:
    print("— PostgreSQL and a broker", flush=True)
    with postgres.cluster() as database, broker.broker() as redis:
        services = {"DATABASE_URL": database, "REDIS_URL": redis}
        return pytest(environment | services, "-m", "not browser and not once", *arguments)


def pytest(environment: dict[str, str], *arguments: str) -> int:
    return run(
        [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadgroup", "--durations=30", *arguments], environment
    )


def run(command: list[str], environment: dict[str, str]) -> int:
    return subprocess.run(command, check=False, cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
