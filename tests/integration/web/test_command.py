"""Commands among other programs."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_command_whose_reader_has_seen_enough_ends_silently(options):
    command = [sys.executable, "manage.py", "codebooks", *options]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    assert (process.stderr.read(), process.wait(60)) == ("", 0)
    process.stderr.close()
