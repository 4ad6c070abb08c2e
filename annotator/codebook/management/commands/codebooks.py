"""manage.py codebooks"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotator.codebook import formats, presets, queries
from annotator.codebook.document import Document
from annotator.codebook.models import Codebook
from annotator.codebook.plain import MAX_BYTES
from annotator.codebook.reading import read
from annotator.web.command import Command as Base
from annotator.web.errors import BadInput


class Command(Base):
    help = "List the shipped codebooks, their facets and categories; or write one, a study's or a file's as YAML, JSON or CSV."

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--preset", metavar="SLUG", help="write this shipped codebook")
        what.add_argument("--study", metavar="SLUG", help="write the codebook of this study as it stands")
        what.add_argument("--file", metavar="FILE", help="read this file, check it and write it")
        parser.add_argument("--as", dest="format", choices=list(formats.FORMATS), default="yaml", help="default: yaml")

    def answer(self, **options: Any) -> Any:
        document = self._document(options)
        if document is None:
            return [presets.summary(slug) for slug in presets.slugs()]
        return {
            "title": document.title,
            "format": options["format"],
            "content": formats.written(document.without_builtins(), options["format"]),
        }

    def _document(self, options: dict[str, Any]) -> Document | None:
        if options["preset"]:
            return presets.preset(options["preset"])
        if options["study"]:
            codebook = Codebook.objects.filter(study__slug=options["study"]).first()
            if codebook is None:
                raise BadInput(f"There is no study “{options['study']}” with a codebook.")
            return queries.as_document(codebook)
        return read(_content(Path(options["file"]))) if options["file"] else None

    def show(self, result: Any) -> None:
        if isinstance(result, dict):
            self.stdout.write(result["content"], ending="")
            return
        for book in result:
            self.stdout.write(f"{book['slug']}: {book['title']}")
            for facet in book["facets"]:
                self.stdout.write(f"  {facet['id']} ({len(facet['categories'])}): {', '.join(facet['categories'])}")


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as problem:
        raise BadInput(f"The file {path} cannot be read: {problem.strerror}.") from None
