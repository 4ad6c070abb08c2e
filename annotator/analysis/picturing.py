"""A sheet as a picture: SVG, and of that PDF and PNG. Only for workers and commands."""

from annotator.analysis import palette
from annotator.analysis.asked import CROSS, Asked
from annotator.analysis.sheets import Sheet
from annotator.analysis.specs import is_too_many, names_of, spec_of, stack_of
from annotator.clients.renderer import pdf_of, png_of, svg_of

__all__ = ["pdf_of", "picture_of", "png_of"]


def picture_of(sheet: Sheet, asked: Asked) -> str:
    """The same bytes from the same numbers."""
    svg = svg_of(spec_of(sheet, asked))
    if asked.fill != "hatched" or asked.kind != CROSS or not sheet.rows or is_too_many(sheet, asked):
        return svg
    return palette.hatched(svg, palette.series(len(names_of(sheet, stack_of(asked)[1])), asked.colours))
