"""Asks an environment something."""

from annotator.clients.sandboxes.bubblewrap import Bubblewrap
from tests.integration.sandboxes.running import run


def inside(environment, script, **asked):
    """What a script prints in the environment, in a sandbox."""
    asked |= {"reads": environment.reads, "variables": environment.variables}
    ended = run(Bubblewrap(), environment.python, "-c", script, **asked)
    assert ended.exit_code == 0, ended.stderr.decode()
    return ended.stdout.decode().strip()
