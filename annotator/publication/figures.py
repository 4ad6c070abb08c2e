"""The study's figures in a release, drawn anew from the state that it holds."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from annotator.analysis.asked import AGREEMENT, Asked
from annotator.analysis.formats import csv_text
from annotator.analysis.kept import asked_of
from annotator.analysis.labels import FINAL, UNANIMOUS
from annotator.analysis.models import Drawing
from annotator.analysis.numbers import numbers
from annotator.analysis.picturing import pdf_of, picture_of
from annotator.analysis.sheets import Sheet
from annotator.analysis.simulating import monte_carlo
from annotator.publication.options import INCLUDED, Options
from annotator.publication.pseudonyms import Hide
from annotator.publication.writing import FIGURES
from annotator.studies.models import Study
from annotator.web.errors import BadInput

FORMATS = ("svg", "pdf", "csv")


@dataclass(frozen=True)
class Figure:
    asked: Asked
    sheet: Sheet

    def paths(self) -> dict[str, str]:
        """By format."""
        return {ending: f"{FIGURES}/{self.asked.kind}-{self.asked.key[:12]}.{ending}" for ending in FORMATS}

    def document(self) -> dict[str, Any]:
        told = {"title": self.sheet.title, "shows": self.sheet.told, "asked": self.asked.document()}
        return told | {"files": self.paths()}

    def files(self) -> Iterator[tuple[str, bytes]]:
        svg = picture_of(self.sheet, self.asked)
        made = {"svg": svg.encode(), "pdf": pdf_of(svg), "csv": csv_text(self.sheet, self.asked).encode()}
        yield from ((path, made[ending]) for ending, path in self.paths().items())


def figures_of(study: Study, options: Options, hide: Hide) -> list[Figure]:
    """Those that the study keeps and may tell: none that compares with another study or counts one rater's labels."""
    if options.figures != INCLUDED:
        return []
    found: dict[str, Figure] = {}
    for drawing in Drawing.objects.filter(study=study).only("asked").order_by("asked_at", "pk"):
        asked = asked_of(drawing)
        if not asked.other and asked.labels in (FINAL, UNANIMOUS):
            try:
                found[asked.key] = Figure(asked, hidden(numbers(study, asked, simulate=monte_carlo), hide))
            except BadInput:  # a facet that it names is no more
                continue
    return list(found.values())


def hidden(sheet: Sheet, hide: Hide) -> Sheet:
    """Raters of a pair under the names that the release has, in an order that tells nothing of theirs."""
    if sheet.kind != AGREEMENT:
        return sheet
    place = [column.key for column in sheet.columns].index("raters")
    rows = [(*row[:place], pair_of(row[place], hide), *row[place + 1 :]) for row in sheet.rows]
    order = {row[:place]: at for at, row in reversed(list(enumerate(rows)))}
    return replace(sheet, rows=tuple(sorted(rows, key=lambda row: (order[row[:place]], row[place]))))


def pair_of(names: str, hide: Hide) -> str:
    return " and ".join(sorted(hide(name) for name in names.split(" and ")))
