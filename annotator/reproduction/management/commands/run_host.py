"""Run a study's recipes on this machine, which needs nothing of the platform but its address and a key."""

import logging
import signal
import threading
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from annotator.clients.platform import NotAllowed, Platform
from annotator.reproduction.hosting import Serving
from annotator.reproduction.matching import RUNNERS, Can
from annotator.reproduction.remote import Remote
from annotator.reproduction.workshop import workshop
from annotator.web.command import Command as Base
from annotator.web.errors import BadInput

MOST_JOBS = 64


class Command(Base):
    help = "Take runs of a study from the platform at URL and carry them out here, until SIGTERM or Ctrl-C."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("url", metavar="URL", help="where the platform is, such as https://concord.example.org")
        parser.add_argument("--token-file", required=True, metavar="FILE", help="holds the host's key, on one line")
        parser.add_argument("--runner", choices=RUNNERS, action="append", default=[], help="what may contain scripts")
        parser.add_argument("--environments", metavar="DIR", help="where built environments are kept")
        parser.add_argument("--pause", type=float, default=2.0, metavar="SECONDS", help="between two questions")
        parser.add_argument(
            "--jobs", type=int, default=1, metavar="N", help="runs at once, within this machine's memory"
        )
        parser.add_argument("--once", action="store_true", help="stop when there is nothing to do")

    def answer(self, **options: Any) -> Any:
        if not 1 <= options["jobs"] <= MOST_JOBS:
            raise BadInput(f"--jobs is a number from 1 to {MOST_JOBS}.")
        key = read_key(Path(options["token_file"]))
        place = workshop(
            Path(options["environments"] or settings.VAR_DIR / "environments").absolute(), runners=options["runner"]
        )
        remote = connected(options["url"], key)
        if not options["json"]:
            for line in told(place.can()):
                self.stderr.write(line)
        logging.getLogger("annotator.reproduction").setLevel(logging.INFO)
        stop = threading.Event()
        for how in (signal.SIGTERM, signal.SIGINT):
            signal.signal(how, lambda *_: stop.set())
        pause, jobs = max(0.1, options["pause"]), options["jobs"]
        serving = Serving(remote=remote, workshop=place, stop=stop, pause=pause, jobs=jobs)
        try:
            serving.go_on(once=options["once"])
        except NotAllowed as problem:
            raise BadInput(f"The platform does not take the key: {problem}") from None
        return {"done": serving.done}

    def show(self, result: dict[str, Any]) -> None:
        self.stdout.write(f"Stopped after {result['done']} runs.")


def connected(url: str, key: str) -> Remote:
    try:
        return Remote(lambda: Platform(url, key))
    except ValueError as problem:
        raise BadInput(f"{problem}.") from None


def read_key(path: Path) -> str:
    try:
        key = path.read_text().strip()
    except (OSError, ValueError) as problem:
        raise BadInput(f"The key cannot be read from {path}: {getattr(problem, 'strerror', problem)}.") from None
    if not key or len(key.split()) != 1 or not key.isascii():
        raise BadInput(f"{path} holds no key: it is one word on one line.")
    return key


def told(can: Can) -> list[str]:
    """What this machine will take, for who starts it."""
    works = [name for name, why in can.runners.items() if not why]
    broken = [f"{name} does not work here: {why}" for name, why in can.runners.items() if why]
    lines = [f"Pythons: {', '.join(can.pythons) or 'none'}; memory: {can.memory_mb:,} MB; GPUs: {can.gpus}."]
    return [*lines, f"Runners: {', '.join(works) or 'none, so nothing can be run here'}.", *broken]
