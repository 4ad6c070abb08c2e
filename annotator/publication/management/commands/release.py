"""A study's data set: numbered, with a hash, in a folder."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotator.publication.files import File
from annotator.publication.keeping import files_of, hand_out
from annotator.publication.options import AUTHORS, FIGURES, LICENCES, TEXTS, changed, check, usual
from annotator.publication.recompute import RELEASE
from annotator.publication.releasing import make
from annotator.studies.models import Study
from annotator.web.command import Command as Base
from annotator.web.errors import BadInput


class Command(Base):
    help = "Publish a study's present state as its next release, and write it to a folder. The same state is the same release."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", metavar="SLUG")
        parser.add_argument("--out", required=True, metavar="DIR", help="a new or empty folder, or one with a release")
        parser.add_argument(
            "--texts", choices=TEXTS, help="titles and texts from GitHub; default as in the last release"
        )
        parser.add_argument(
            "--authors", choices=AUTHORS, help="authors of pull requests; default as in the last release"
        )
        parser.add_argument("--figures", choices=FIGURES, help="those that are kept; default as in the last release")
        parser.add_argument("--licence", choices=LICENCES, help="of the labels; default as in the last release")
        parser.add_argument(
            "--named", action="append", metavar="NAME", help="a user who agreed to be named; repeatable"
        )

    def answer(self, **options: Any) -> Any:
        study = Study.objects.filter(slug=options["slug"]).first()
        if study is None:
            raise BadInput(f"There is no study “{options['slug']}”.")
        folder = Path(options["out"])
        check_folder(folder)
        wanted = check(study, changed(usual(study), options))
        release = make(study, wanted, by=None)
        files = files_of(release)
        write_to(folder, files)
        return {
            "study": study.slug,
            "version": release.number,
            "sha256": release.sha256,
            "files": [file.document() for file in files],
            "checks": release.checks,
        }

    def show(self, result: Any) -> None:
        self.stdout.write(f"Release {result['version']}, sha256:{result['sha256']}")
        for each in result["checks"]:
            self.stdout.write(f"  {'ok' if each['passed'] else '! '}  {each['says']}")
        for each in result["files"]:
            self.stdout.write(f"{each['bytes']:>13,}  {each['sha256'][:12]}  {each['path']}")


def check_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder} is a file: name a folder.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / RELEASE).is_file():
        raise BadInput(f"{folder} holds other files: name a new or empty folder.")


def write_to(folder: Path, files: list[File]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        hand_out(files, folder)
    except OSError as problem:
        raise BadInput(f"{folder} cannot be written: {problem.strerror}.") from None
