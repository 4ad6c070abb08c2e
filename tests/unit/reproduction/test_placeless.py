"""Messages of a runner, without the folders of its machine."""

from pathlib import Path

import pytest

from annotator.reproduction.placeless import placeless

OWN = Path("/srv/our data/environments")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("not found: `/srv/our data/environments/half-1/a.txt`", "not found: `…/a.txt`"),
        (
            "cannot connect to unix:///var/run/docker.sock. Is it up?",
            "cannot connect to unix://…/docker.sock. Is it up?",
        ),
        ("from file:///srv/wheels/six.whl", "from file://…/six.whl"),
        ("/root/.pyenv/versions/3.8.18/bin/python3.8 is gone", "…/python3.8 is gone"),
        ("--find-links=/srv/wheels/x (/home/lee/y)", "--find-links=…/x (…/y)"),
        ("/tmp/jobs/1/z", "…/z"),
    ],
)
def test_paths_of_the_machine_are_told_by_their_last_name(said, told):
    assert placeless(said, own=OWN) == told


@pytest.mark.parametrize(
    "said",
    [
        "http://index.example/simple/numpy/ did not answer",
        "/bin/sh: 1: make: not found; /usr/bin/gcc failed",
        "/tmp/job/repro.py, /environment/lib/python3.8/site-packages/six.py, /python/lib/python3.8/json/decoder.py",
        "docker.io/library/python:3.8 and a/b/c",
    ],
)
def test_what_a_sandbox_shows_and_addresses_stay(said):
    assert placeless(said, own=OWN) == said
