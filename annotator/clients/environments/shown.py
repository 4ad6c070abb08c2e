"""An environment as a sandbox shows it: at the same two places on every machine, so that nothing that a script says –
a traceback, `sys.path` – tells the folders of the one that it ran on.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from annotator.clients.environments.interpreters import Interpreter
from annotator.clients.environments.spec import PLACE, PYTHON, NotInstalled


def is_systems(interpreter: Interpreter) -> bool:
    """Every sandbox shows /usr where it is."""
    return interpreter.base.is_relative_to("/usr")


def reads(folder: Path, interpreter: Interpreter) -> Mapping[str, Path]:
    """Folders of this machine, by where the sandbox shows them."""
    return {PLACE: folder} if is_systems(interpreter) else {PLACE: folder, PYTHON: interpreter.base}


def show(folder: Path, interpreter: Interpreter) -> None:
    """Lead an environment that was just built to its Python inside a sandbox. Outside it no longer works."""
    if is_systems(interpreter):
        return
    program, settings = folder / "bin" / "python", folder / "pyvenv.cfg"
    real, base = program.resolve(), interpreter.base.resolve()
    if not real.is_relative_to(base):
        raise NotInstalled(f"the program of Python {interpreter.version} lies elsewhere than its library")
    inside = PYTHON / real.relative_to(base)
    program.unlink()
    program.symlink_to(inside)
    settings.write_text(re.sub(r"^home = .*", f"home = {inside.parent}", settings.read_text(), flags=re.MULTILINE))


def libraries(interpreter: Interpreter) -> Mapping[str, str]:
    """For a Python that looks for its own library in the folder that it was built for."""
    needed = not is_systems(interpreter) and _names_its_folder(interpreter.base)
    return {"LD_LIBRARY_PATH": f"{PYTHON}/lib"} if needed else {}


@lru_cache(maxsize=64)
def _names_its_folder(base: Path) -> bool:
    """As a path of the dynamic linker: behind `lib` it ends, or another one follows."""
    named = re.compile(re.escape(f"{base}/lib".encode()) + b"[\0:]")
    programs = [path for path in base.glob("bin/py*") if path.is_file() and not path.is_symlink()]
    return any(named.search(path.read_bytes()) for path in programs)
