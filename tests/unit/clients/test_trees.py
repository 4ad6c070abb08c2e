"""Processes below one are found while they come and go."""

import os
import subprocess

from annotator.clients.sandboxes.trees import below, cpu_seconds, held_mb


def test_what_a_process_started_is_below_it():
    with subprocess.Popen(["sleep", "60"]) as child:
        assert child.pid in below(os.getpid())
        assert held_mb(child.pid) > 0
        child.kill()


def test_a_process_that_has_ended_has_nothing_below_it_and_uses_nothing():
    with subprocess.Popen(["true"]) as child:
        child.wait()
    assert below(child.pid) == [child.pid]
    assert (held_mb(child.pid), cpu_seconds(child.pid)) == (0, 0)
