"""One table of the analysis as a picture or a file, drawn here and now; nothing is stored."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotator.analysis.asked import CHOICES, KINDS, Asked, read_asked
from annotator.analysis.formats import FORMATS
from annotator.analysis.kept import PICTURES
from annotator.analysis.numbers import numbers
from annotator.analysis.sheets import Sheet
from annotator.analysis.simulating import monte_carlo
from annotator.studies.models import Study
from annotator.web.command import Command as Base
from annotator.web.errors import BadInput

TEXTS = ("by", "across", "labels", "other", "title")


class Command(Base):
    help = "Draw a figure, or write its table: SVG, PDF, PNG, LaTeX, Markdown, CSV or JSON, by the file's ending."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", metavar="SLUG")
        parser.add_argument("kind", metavar="KIND", help=", ".join(KINDS))
        parser.add_argument("--out", metavar="FILE", help=f"its ending is one of {', '.join([*PICTURES, *FORMATS])}")
        for name in TEXTS:
            parser.add_argument(f"--{name}", default="")
        for name, choices in CHOICES.items():
            parser.add_argument(f"--{name}", default="", metavar="|".join(choices))

    def answer(self, **options: Any) -> Any:
        study = Study.objects.filter(slug=options["slug"]).first()
        if study is None:
            raise BadInput(f"There is no study “{options['slug']}”.")
        asked = read_asked(options["kind"], {name: options[name] for name in (*TEXTS, *CHOICES)})
        path = Path(options["out"]) if options["out"] else None
        if path and path.suffix[1:] not in (*PICTURES, *FORMATS):
            raise BadInput(
                f"A figure is written as {', '.join([*PICTURES, *FORMATS])}; “{path.name[:80]}” ends otherwise."
            )
        sheet = numbers(study, asked, whole=True, simulate=monte_carlo)
        if path:
            write(path, sheet, asked)
        return {"asked": asked.document(), **sheet.document()}

    def show(self, result: Any) -> None:
        self.stdout.write(f"{result['title']} (n = {result['n']})")
        for row in result["rows"]:
            self.stdout.write("  ".join("–" if cell is None else str(cell) for cell in row))


def write(path: Path, sheet: Sheet, asked: Asked) -> None:
    try:
        path.write_bytes(content(path.suffix[1:], sheet, asked))
    except OSError as problem:
        raise BadInput(f"{path} cannot be written: {problem.strerror}.") from None


def content(ending: str, sheet: Sheet, asked: Asked) -> bytes:
    if ending in FORMATS:
        return FORMATS[ending][2](sheet, asked).encode()
    from annotator.analysis.picturing import pdf_of, picture_of, png_of  # a large library, for those who want it

    svg = picture_of(sheet, asked)
    return svg.encode() if ending == "svg" else pdf_of(svg) if ending == "pdf" else png_of(svg)
