"""A sheet as LaTeX with booktabs, Markdown, CSV and JSON: the same numbers, and nothing in a name does anything."""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from typing import Final

from annotator.analysis.asked import Asked
from annotator.analysis.grids import Grid, grid_of
from annotator.analysis.sheets import Sheet
from annotator.web.spreadsheets import safe_row

LATEX_SIGNS: Final[Mapping[str, str]] = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "^": r"\textasciicircum{}",
    "_": r"\_", "%": r"\%", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "'": r"\textquotesingle{}", "-": "{-}",
    "[": "{[}", "]": "{]}", "*": "{*}",
    "–": "--", "—": "---", "…": r"\dots{}", "×": r"$\times$", "→": r"$\to$", "≥": r"$\geq$", "≤": r"$\leq$",
    "−": "$-$", "ρ": r"$\rho$", "κ": r"$\kappa$", "χ": r"$\chi$", "α": r"$\alpha$", "²": r"$^2$", "\xa0": "~",
}  # fmt: skip
MARKDOWN_SIGNS: Final = re.compile(r"([\\`*_{}\[\]#|~!$^])")
BEGINS_A_BLOCK: Final = re.compile(r"^(\d+)([.)])|^([-+=:])")
NOT_PRINTED: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+")


def plain(text: str) -> str:
    """One line, without what is not printed."""
    return " ".join(NOT_PRINTED.sub(" ", text).split())


def latex_text(text: str) -> str:
    """As it stands, whatever signs it holds. Letters beyond Latin need an engine that reads Unicode."""
    return "".join(LATEX_SIGNS.get(sign, sign) for sign in plain(text))


def markdown_text(text: str) -> str:
    text = MARKDOWN_SIGNS.sub(r"\\\1", plain(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
    return BEGINS_A_BLOCK.sub(r"\1\\\2\3" if text[:1].isdigit() else r"\\\3", text)


def latex(sheet: Sheet, asked: Asked) -> str:
    """A table environment; the document needs booktabs and textcomp."""
    grid = grid_of(sheet, asked)
    columns = "".join("l" if is_text else "r" for is_text in grid.is_text)
    lines = [
        r"\begin{table}", r"  \centering", rf"  \caption{{{latex_text(sheet.title)} ({latex_text(sheet.told)})}}",
        rf"  \label{{tab:{asked.key[:12]}}}", rf"  \begin{{tabular}}{{{columns}}}", r"    \toprule",
        _latex_row(grid.head), r"    \midrule", *_latex_body(grid), r"    \bottomrule", r"  \end{tabular}",
        r"\end{table}", "",
    ]  # fmt: skip
    return "\n".join(lines)


def _latex_row(cells: tuple[str, ...]) -> str:
    return f"    {' & '.join(map(latex_text, cells))} \\\\"


def _latex_body(grid: Grid) -> list[str]:
    rows = [_latex_row(row) for row in grid.rows]
    if grid.sums:
        rows.insert(len(rows) - grid.sums, r"    \midrule")
    return rows


def markdown(sheet: Sheet, asked: Asked) -> str:
    grid = grid_of(sheet, asked)
    rule = ["---" if is_text else "--:" for is_text in grid.is_text]
    lines = [_markdown_row(grid.head), f"| {' | '.join(rule)} |", *(_markdown_row(row) for row in grid.rows)]
    notes = [markdown_text(note) for note in sheet.notes]
    told = f"**{markdown_text(sheet.title)}** ({markdown_text(sheet.told)})"
    return "\n".join([told, "", *lines, "", *notes, ""])


def _markdown_row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(map(markdown_text, cells))} |"


def csv_text(sheet: Sheet, asked: Asked) -> str:
    """In long form, unrounded, by the columns' keys. A text that a spreadsheet would run has an apostrophe before it."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow([column.key for column in sheet.columns])
    writer.writerows(map(safe_row, sheet.rows))
    return out.getvalue()


def json_text(sheet: Sheet, asked: Asked) -> str:
    """All of it: n, what was left out, tests, what other labels would change."""
    told = {"asked": asked.document(), **sheet.document()}
    return json.dumps(told, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


FORMATS: Final[dict[str, tuple[str, str, Callable[[Sheet, Asked], str]]]] = {
    "tex": ("LaTeX", "application/x-tex; charset=utf-8", latex),
    "md": ("Markdown", "text/markdown; charset=utf-8", markdown),
    "csv": ("CSV", "text/csv; charset=utf-8", csv_text),
    "json": ("JSON", "application/json", json_text),
}
