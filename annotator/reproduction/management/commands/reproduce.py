"""Make a bug happen from a recipe file."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from annotator.reproduction import replaying
from annotator.reproduction.foreground import Reproduction, read_files
from annotator.reproduction.matching import RUNNERS
from annotator.reproduction.verdicts import SAID, WAITING
from annotator.reproduction.workshop import workshop
from annotator.web.command import Command as Base
from annotator.web.errors import BadInput


class Command(Base):
    help = "Run a recipe: every environment as often as it says, in a sandbox, and the verdict. No database, no server."

    verdict = ""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("recipe", metavar="RECIPE.yaml", help="the recipe file, its script beside it")
        parser.add_argument(
            "--runner", choices=RUNNERS, default="", help="what contains the script; default: what works"
        )
        parser.add_argument("--environments", metavar="DIR", help="where built environments are kept")
        parser.add_argument(
            "--replay", metavar="DIR", help="write the recipe there as a folder that reruns with uv alone"
        )
        parser.add_argument(
            "--expect",
            choices=[one for one in SAID if one != WAITING],
            metavar="VERDICT",
            help="exit code 1 where it is another one",
        )

    def answer(self, **options: Any) -> Any:
        recipe, script = read_files(Path(options["recipe"]))
        kept = Path(options["environments"] or settings.VAR_DIR / "environments").absolute()
        place = workshop(kept, runners=[options["runner"]] if options["runner"] else ())
        say = (lambda text: None) if options["json"] else self.stdout.write
        reproduction = Reproduction(recipe=recipe, script=script, workshop=place, runner=options["runner"], say=say)
        document = reproduction.carry_out()
        self.verdict = document["verdict"]
        if options["replay"]:
            self.write_replay(reproduction, Path(options["replay"]))
        return document

    def write_replay(self, reproduction: Reproduction, place: Path) -> None:
        files = replaying.folder(reproduction.recipe, reproduction.script, reproduction.locks())
        try:
            replaying.write(files, place)
        except OSError as problem:
            raise BadInput(f"{place} cannot be written: {problem.strerror}.") from None

    def show(self, result: dict[str, Any]) -> None:
        for one in result["environments"]:
            self.stdout.write(f"{one['name']}: {one['outcome']}, {one['counted']} of {len(one['runs'])} runs count")
        self.stdout.write(f"{result['verdict']}: {result['said']}")

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        if options["expect"] not in (None, self.verdict):
            self.stderr.write(f"The verdict is {self.verdict}; {options['expect']} was expected.")
            raise SystemExit(1)
