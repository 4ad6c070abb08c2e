"""What a runner says of its machine, without the machine's folders: it is stored, shown, and published with a release."""

import re
from pathlib import Path

from annotator.clients.environments.spec import PLACE, PYTHON
from annotator.clients.sandboxes.bubble import SYSTEM, WORK

SHOWN = "|".join([*(f"/{name}" for name in (*SYSTEM, "etc", "dev", "proc", "sys")), PLACE, PYTHON, WORK])
FOLDER = (
    re.compile(  # of a file's full path, where it begins a word; no address of the web, nothing that sandboxes show
        rf"…?(?:(?<![\w/:.~-])|(?<=unix://)|(?<=file://))(?!(?:{SHOWN})(?![\w.-]))(?:/[\w.@%+~-]+)+(?=/)"
    )
)


def placeless(text: str, *, own: Path) -> str:
    """Paths told by their last name alone. `own` is a folder of ours, whose name may hold blanks."""
    return FOLDER.sub("…", text.replace(str(own), "…"))
