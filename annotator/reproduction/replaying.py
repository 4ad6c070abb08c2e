"""A recipe as a folder that anybody reruns with uv alone, without this platform."""

import io
import json
import re
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from annotator.clients.sandboxes.images import is_own_number
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
else's and runs on your machine as you are{images}; contained, and without network while it runs:

{contained}

| file | is |
| --- | --- |
| `recipe.yaml` | environments, oracle (what the bug looks like), limits |
| `{script}` | the script |
{locks}
| `replay.py` | installs each environment into `.environments/` and runs the script in it |
"""
LOCKED = "| `{file}` | packages of “{name}”{how} |"
STAGE = "| `Dockerfile`, stage `{stage}` | the image of “{name}”: `{image}`{how} |"
IN_IMAGES = (
    ", except in environments that are container images: those run by `docker` (or the program in `CONTAINER_ENGINE`)"
)
BUILT = "    docker build{target} -t {name} . && docker run --rm --network none {name}"
IMAGE_STAGE = """FROM {image} AS {stage}
WORKDIR /replay
COPY {script} .
ENV {variables}
CMD ["python3", "{script}"]

"""
UV_STAGE = """FROM ghcr.io/astral-sh/uv:python3.12-bookworm-slim
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
    files = {"recipe.yaml": recipes.from_document(document).yaml(), name: script}
    plan, lines, stages, builds = [], [], [], []
    for one, file in zip(recipe.environments, locks_of, strict=True):
        lock, how = locks.get(one.name), "" if one.name in locks else ", not locked: it was not run yet"
        plan.append(_planned(one, file, lock))
        if one.image:
            image, stage = lock.image if lock else one.image, stage_of(file)
            stages.append(_stage(one, image, stage, name, recipe.seed))
            builds.append(BUILT.format(target=f" --target {stage}", name=stage))
            lines.append(STAGE.format(stage=stage, name=one.name, image=image, how=how))
            continue
        files[file] = lock.locked if lock and lock.locked else "".join(f"{line}\n" for line in one.requirements)
        lines.append(LOCKED.format(file=file, name=one.name, how=how))
    if len(stages) < len(plan):
        stages.append(UV_STAGE)
        builds.append(BUILT.format(target="", name="replay"))
    files["Dockerfile"] = "".join(stages)
    files["README.md"] = README.format(
        name=recipe.name,
        of=f" ({recipe.repository}#{recipe.number})" if recipe.repository and recipe.number else "",
        script=name,
        locks="\n".join(lines),
        images=IN_IMAGES if any(one.image for one in recipe.environments) else "",
        contained="\n".join(builds),
    )
    files["plan.json"] = json.dumps({**document, "environments": plan}, indent=2, ensure_ascii=False) + "\n"
    files["replay.py"] = TEMPLATE.read_text()
    return {path: text.encode() for path, text in sorted(files.items())}


def _planned(one: Environment, file: str, lock: Used | None) -> dict[str, object]:
    told = {**one.document(), "locked": bool(lock and (lock.locked or lock.image)), "variables": dict(one.variables)}
    if not one.image:
        return told | {"requirements": file}
    return told | {"image": lock.image if lock and not is_own_number(lock.image) else one.image}


def stage_of(file: str) -> str:
    """As Docker names one: it begins with a letter."""
    return "in-" + re.sub(r"[^a-z0-9-]+", "-", file.removesuffix(".requirements.txt"))


def _stage(one: Environment, image: str, stage: str, script: str, seed: int) -> str:
    """An image that no registry has is begun from its name, and its number stands above."""
    begun = f"# it ran in {image}, which no registry has\n" if is_own_number(image) else ""
    variables = {"PYTHONHASHSEED": str(seed), "RECIPE_SEED": str(seed), **one.variables}
    told = " ".join(f"{name}={json.dumps(value)}" for name, value in variables.items()).replace("$", r"\$")
    base = one.image if begun else image
    return begun + IMAGE_STAGE.format(image=base, stage=stage, script=script, variables=told)


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


def name_of(row: Recipe) -> str:
    """Of the folder, and of the file that holds it."""
    return f"R-{row.number}-v{row.version}"


def zipped(row: Recipe) -> bytes:
    """The folder of a stored recipe, which unpacks into one of its own."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in folder_of(row).items():
            entry = zipfile.ZipInfo(f"{name_of(row)}/{name}", MOMENT)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content)
    return held.getvalue()


def write(files: Mapping[str, bytes], place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (place / name).write_bytes(content)
