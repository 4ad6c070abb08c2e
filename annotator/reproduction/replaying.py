"""A recipe as a folder that anybody reruns with uv alone, without this platform."""

import io
import json
import re
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from annotator.reproduction import recipes
from annotator.reproduction.ledger import Used
from annotator.reproduction.models import Recipe, Run
from annotator.reproduction.recipe_parts import Environment

MOMENT = (1980, 1, 1, 0, 0, 0)  # the same recipe is the same file
OWN = ("recipe.yaml", "plan.json", "replay.py", "README.md", "Dockerfile")
TEMPLATE = Path(__file__).with_name("replay") / "replay.py.txt"

README = """# {name}

A recipe that makes a bug happen{of}, and the packages that it ran with, down to exact versions and hashes.

Rerun it with [uv](https://docs.astral.sh/uv/) alone (it fetches the Python that is named, and wheels from PyPI):

    uv run --no-project replay.py

It prints what each environment gives, and ends with exit code 0 where the bug shows as expected. The script is somebody
else's and runs on your machine as you are; contained, and without network while it runs:

    docker build -t replay . && docker run --rm --network none replay

| file | is |
| --- | --- |
| `recipe.yaml` | environments, oracle (what the bug looks like), limits |
| `{script}` | the script |
{locks}
| `replay.py` | installs each environment into `.environments/` and runs the script in it |
"""
LOCKED = "| `{file}` | packages of “{name}”{how} |"
DOCKERFILE = """FROM ghcr.io/astral-sh/uv:python3.12-bookworm-slim
RUN useradd --create-home replay && mkdir /replay && chown replay /replay
USER replay
WORKDIR /replay
COPY --chown=replay . .
RUN uv run --no-project replay.py --install
CMD ["uv", "run", "--no-project", "--offline", "replay.py"]
"""


def folder_of(row: Recipe) -> dict[str, bytes]:
    """Of a stored recipe: locked as its first run that counts was, where it has run."""
    runs = Run.objects.counted().filter(series__recipe=row).exclude(locked=None).select_related("locked")
    locks: dict[str, Used] = {}
    for run in runs.order_by("pk"):
        if run.locked and run.environment not in locks:
            locks[run.environment] = Used(python=run.locked.python, locked=run.locked.locked, image=run.locked.image)
    return folder(recipes.from_document(row.document), row.script, locks)


def folder(recipe: recipes.Recipe, script: str, locks: Mapping[str, Used]) -> dict[str, bytes]:
    """Files by name."""
    locks_of = file_names(recipe.environments)
    name = script_name(recipe, besides=locks_of)
    document = recipe.document() | {"script": name}
    files = {"recipe.yaml": recipes.from_document(document).yaml(), name: script, "Dockerfile": DOCKERFILE}
    plan, lines = [], []
    for one, file in zip(recipe.environments, locks_of, strict=True):
        lock = locks.get(one.name)
        files[file] = lock.locked if lock and lock.locked else "".join(f"{line}\n" for line in one.requirements)
        plan.append(_planned(one, file, lock))
        lines.append(LOCKED.format(file=file, name=one.name, how="" if lock else ", not locked: it was not run yet"))
    of = f" ({recipe.repository}#{recipe.number})" if recipe.repository and recipe.number else ""
    files["README.md"] = README.format(name=recipe.name, of=of, script=name, locks="\n".join(lines))
    files["plan.json"] = json.dumps({**document, "environments": plan}, indent=2, ensure_ascii=False) + "\n"
    files["replay.py"] = TEMPLATE.read_text()
    return {path: text.encode() for path, text in sorted(files.items())}


def _planned(one: Environment, file: str, lock: Used | None) -> dict[str, object]:
    is_locked = bool(lock and lock.locked)
    return {**one.document(), "requirements": file, "locked": is_locked, "variables": dict(one.variables)}


def script_name(recipe: recipes.Recipe, *, besides: Sequence[str]) -> str:
    """Its own, unless another file of the folder or a module that `replay.py` imports would be found under it."""
    name = recipe.script.rpartition("/")[2]
    taken = {one.lower() for one in (*OWN, *besides)}
    is_taken = name.lower() in taken or name.partition(".")[0].lower() in sys.stdlib_module_names
    return f"script-{name}" if is_taken else name


def file_names(environments: tuple[Environment, ...]) -> list[str]:
    found: list[str] = []
    for place, one in enumerate(environments, 1):
        slug = re.sub(r"[^a-z0-9.]+", "-", one.name.lower()).strip("-.") or f"environment-{place}"
        file = f"{slug}.requirements.txt"
        found.append(file if file not in found else f"{place}-{file}")
    return found


def zipped(files: Mapping[str, bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, MOMENT)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content)
    return held.getvalue()


def write(files: Mapping[str, bytes], place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (place / name).write_bytes(content)
