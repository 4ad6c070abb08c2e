"""Asks an environment something."""

from annotator.clients.environments import interpreters
from annotator.clients.environments.spec import Spec
from annotator.clients.environments.store import Environments
from annotator.clients.sandboxes.bubblewrap import Bubblewrap
from tests.integration.sandboxes.running import run

TELLS = """
import json, os, sys, traceback
print(sys.executable, sys.prefix, sys.base_prefix, sys.path, json.__file__, os.getcwd(), dict(os.environ))
try:
    json.loads("{")
except ValueError:
    traceback.print_exc(file=sys.stdout)
"""


def inside(environment, script, *, sandbox=None, **asked):
    """What a script prints in the environment, in a sandbox."""
    asked |= {"reads": environment.reads, "variables": environment.variables}
    ended = run(sandbox or Bubblewrap(), environment.python, "-c", script, **asked)
    assert ended.exit_code == 0, ended.stderr.decode()
    return ended.stdout.decode().strip()


def refuse_told_places(environments, *, sandbox=None, python="", requirements=(), also=""):
    """Fails where a script that tells all it can names a folder of this machine."""
    with environments.ready(environments.lock(Spec(python=python, requirements=requirements))) as environment:
        said = inside(environment, TELLS + also, sandbox=sandbox)
    base = interpreters.find(python).base
    assert "JSONDecodeError" in said and str(environments.folder) not in said
    assert base.is_relative_to("/usr") or str(base) not in said


def refuse_told_places_in(sandbox, folder):
    refuse_told_places(Environments(folder=folder / "environments"), sandbox=sandbox)
