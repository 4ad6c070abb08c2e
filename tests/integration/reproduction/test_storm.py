"""Two workers, messages that come twice, kill -9 every few seconds: each run is counted once, and none is lost."""

from pathlib import Path

import pytest

from tests.services import broker, postgres, storm
from tests.services.passes import clean_environment


@pytest.mark.postgresql
def test_killed_again_and_again_each_run_counts_once(tmp_path: Path) -> None:
    with postgres.cluster() as database, broker.broker() as redis:
        environment = clean_environment() | {"DATABASE_URL": database, "REDIS_URL": redis}
        with storm.two_workers(environment, tmp_path / "var") as workers:
            runs = storm.weathered(workers, repeats=2, seconds=9, kills=4, seed=5)
    assert workers.killed == 4
    assert [(run["state"], run["outcome"]) for run in runs] == [("ended", "bug")] * 4
    assert any(run["faults"] for run in runs), "no kill met a run: the test proves nothing"
    for run in runs:
        assert set(run["faults"]) <= {"lost"} and run["attempt"] == len(run["faults"]) + 1
        assert run["stdout"].splitlines() == [*(f"second {n}" for n in range(9)), "NaN"]
        apart(run["heard"])


def apart(heard: list[list]) -> None:
    """No attempt was heard after the next one had begun."""
    times = {}
    for attempt, at, _ in heard:
        times.setdefault(attempt, []).append(at)
    for attempt in sorted(times)[1:]:
        earlier = [at for one, found in times.items() if one < attempt for at in found]
        assert max(earlier) < min(times[attempt])
