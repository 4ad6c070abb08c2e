"""Distributions of the labels of a study."""

from typing import Any

from django.core.management.base import CommandParser

from annotator.analysis.labels import FINAL
from annotator.analysis.tables import tables
from annotator.studies.models import Study
from annotator.web.command import Command as Base
from annotator.web.errors import BadInput


class Command(Base):
    help = "Count the labels of a study: by facet, by repository, facet across facet, and how alike repositories are."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", metavar="SLUG")
        parser.add_argument("--by", default="", metavar="FACET|repository")
        parser.add_argument("--across", default="", metavar="FACET|repository")
        parser.add_argument("--labels", default=FINAL, metavar="final|unanimous|USER")

    def answer(self, **options: Any) -> Any:
        study = Study.objects.filter(slug=options["slug"]).first()
        if study is None:
            raise BadInput(f"There is no study “{options['slug']}”.")
        return tables(study, choice=options["labels"], by=options["by"], across=options["across"])

    def show(self, result: Any) -> None:
        for facet, counts in result["facets"].items():
            self.stdout.write(f"\n{facet} ({result['bugs'][facet]} bugs)")
            for category, n in counts.items():
                self.stdout.write(f"{n:7}  {category}")
        for title, table in result["crosstabs"].items():
            self.stdout.write(f"\n{title}")
            for a, row in table.items():
                self.stdout.write(f"  {a}: " + ", ".join(f"{b} {n}" for b, n in row.items()))
