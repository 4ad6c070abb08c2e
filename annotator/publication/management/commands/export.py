"""One table of a study as a file."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotator.publication import side_by_side
from annotator.publication.exports import FORMATS, TABLES, export
from annotator.publication.pseudonyms import pseudonyms_of
from annotator.studies.models import Study
from annotator.web.command import Command as Base
from annotator.web.errors import BadInput

MAPPING = "mapping"


class Command(Base):
    help = "Write a table of a study to a file, or the mapping that imports its table side_by_side back."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", metavar="SLUG")
        parser.add_argument("table", metavar="TABLE", help=", ".join((*TABLES, MAPPING)))
        parser.add_argument("--format", default="csv", metavar="|".join(FORMATS))
        parser.add_argument("--out", required=True, metavar="FILE")
        parser.add_argument("--pseudonyms", action="store_true", help="hide user names behind stable pseudonyms")
        parser.add_argument("--codebook", default="", metavar="VERSION", help="categories under the names of a version")
        parser.add_argument("--spreadsheet-safe", action="store_true", help="CSV whose cells no spreadsheet runs")

    def answer(self, **options: Any) -> Any:
        study = Study.objects.filter(slug=options["slug"]).first()
        if study is None:
            raise BadInput(f"There is no study “{options['slug']}”.")
        out = Path(options["out"])
        written = write(out, pieces_for(study, options))
        return {"study": study.slug, "table": options["table"], "file": str(out), "bytes": written}

    def show(self, result: Any) -> None:
        self.stdout.write(f"{result['file']}: {result['bytes']:,} bytes")


def pieces_for(study: Study, options: dict[str, Any]) -> Any:
    if options["table"] == MAPPING:
        hide = pseudonyms_of(study) if options["pseudonyms"] else None
        return [side_by_side.mapping(study, hide=hide).encode()]
    return export(
        study,
        options["table"],
        options["format"],
        pseudonyms=options["pseudonyms"],
        is_safe=options["spreadsheet_safe"],
        codebook=options["codebook"],
    ).pieces


def write(out: Path, pieces: Any) -> int:
    """Beside the place first, so that a half-written file never bears the name."""
    part = out.with_name(f"{out.name}.part")
    try:
        with part.open("wb") as file:
            written = sum(file.write(piece) for piece in pieces)
        part.replace(out)
    except OSError as problem:
        raise BadInput(f"{out} cannot be written: {problem.strerror}.") from None
    return written
