"""kill -9 of web, worker and broker at random points: what is left equals what an undisturbed harvest leaves."""

from pathlib import Path

import pytest

from tests.services import chaos, postgres
from tests.services.passes import clean_environment


@pytest.mark.postgresql
def test_killed_again_and_again_a_harvest_ends_as_if_nothing_had_been(tmp_path: Path) -> None:
    """`python -m bench chaos` does the same with 5,000 pull requests and twenty kills."""
    with postgres.cluster() as database:
        environment = clean_environment() | {"DATABASE_URL": database}
        calm, storm = chaos.compared(environment, tmp_path / "var", items=120, kills=5, seed=3)
    assert (calm.state, storm.state) == ("done", "done")
    assert sum(storm.killed.values()) == 5
    assert storm.counts == calm.counts
    assert storm.digest == calm.digest
    assert len(storm.again) <= storm.killed["worker"]
    assert [len(in_hand) for in_hand in storm.again] == [1] * len(storm.again)
    assert calm.repeated == 0
