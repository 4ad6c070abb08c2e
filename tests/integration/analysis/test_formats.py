"""Tables as LaTeX, Markdown, CSV and JSON: set by TeX, read by readers, and no name does anything there."""

import csv
import io
import json
import subprocess

import pytest
from markdown_it import MarkdownIt

from annotator.adjudication.models import Resolution
from annotator.analysis.asked import read_asked
from annotator.analysis.formats import FORMATS, latex, latex_text, markdown, markdown_text
from annotator.analysis.numbers import numbers
from annotator.analysis.picturing import pdf_of, picture_of
from annotator.codebook.models import Category
from annotator.collection.models import Repository
from tests.factories import make_bugs

HOSTILE = {
    "type": r"\input{/etc/passwd} $x_1^2$ 50% # & ~ {",
    "shape": "<b>x</b> | `code` **bold** [a](http://x) ![i](y) \"quoted\" 'single' -- ---",
    "api": "=cmd|'/C calc'!A0",
}
DOCUMENT = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{textcomp}
\usepackage{booktabs}
\begin{document}
%s
\end{document}
"""
KINDS = [
    ("distribution", {"by": "cause"}),
    ("cross", {"by": "cause", "across": "stage"}),
    ("cross", {"by": "cause", "across": "repository", "show": "columns"}),
    ("cross", {"by": "cause", "across": "stage", "show": "lift"}),
    ("correlation", {"by": "cause"}),
    ("association", {}),
    ("trend", {"by": "cause"}),
    ("time", {"by": "cause"}),
    ("agreement", {}),
    ("comparison", {"by": "cause", "published": {"100 % _odd_": 4}, "published_as": "A & B"}),
]


@pytest.fixture
def hostile(study):
    """Categories and repositories named by somebody who means ill."""
    places = [Repository.objects.create(study=study, label=label) for label in ("a_b/c&d", "=1+1", "{x}")]
    causes = list(Category.objects.filter(facet__codebook__study=study, facet__key="cause").order_by("position"))
    stages = list(Category.objects.filter(facet__codebook__study=study, facet__key="stage").order_by("position"))
    for category in causes:
        category.name = HOSTILE[category.name]
        category.save()
    for place, bug in enumerate(make_bugs(study, 30)):
        bug.item.repository = places[place % 3]
        bug.item.save()
        for category in (causes[place % 7 % 3], stages[place % 2]):
            Resolution.objects.create(study=study, bug=bug, facet=category.facet, category=category, source="imported")
    return study


def ask(study, kind, **options):
    asked = read_asked(kind, options)
    return numbers(study, asked), asked


def set_by_tex(folder, text):
    """The words of the PDF that TeX makes of it."""
    (folder / "paper.tex").write_text(DOCUMENT % text)
    command = ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    return words_of(folder / "paper.pdf")


def words_of(pdf):
    done = subprocess.run(["pdftotext", "-layout", pdf, "-"], capture_output=True, text=True, check=True)
    return " ".join(done.stdout.split())


def test_tex_sets_every_table_and_runs_no_name(hostile, tmp_path):
    text = "\n".join(latex(*ask(hostile, kind, **options)) for kind, options in KINDS)
    words = set_by_tex(tmp_path, text)
    assert r"\input{/etc/passwd} $x_1^2$ 50% # & ~ {" in words
    assert "root:x:0:0" not in words
    assert "=cmd|'/C calc'!A0" in words
    assert words.count("n = 30 bugs") >= 5


def test_tex_sets_the_numbers_that_the_table_holds(hostile, tmp_path):
    sheet, asked = ask(hostile, "distribution", by="cause", title="Causes")
    words = set_by_tex(tmp_path, latex(sheet, asked))
    for row in sheet.records():
        assert f"{row['bugs']} {100 * row['share']:.1f} % [{100 * row['low']:.1f}, {100 * row['high']:.1f}]" in words


def test_pdf_of_a_figure_can_be_read_and_holds_its_numbers(hostile, tmp_path):
    sheet, asked = ask(hostile, "cross", by="cause", across="repository")
    (tmp_path / "figure.pdf").write_bytes(pdf_of(picture_of(sheet, asked)))
    words = words_of(tmp_path / "figure.pdf")
    assert "Cause by repository" in words and "n = 30 bugs" in words
    for row in sheet.records():
        assert not row["bugs"] or str(row["bugs"]) in words
    assert HOSTILE["api"] in words


def test_markdown_holds_names_as_text(hostile):
    for kind, options in KINDS:
        sheet, asked = ask(hostile, kind, **options)
        html = MarkdownIt("commonmark").enable("table").render(markdown(sheet, asked))
        assert html.count("<table>") == 1
        assert not any(tag in html for tag in ("<b>", "<code>", "<a ", "<img", "<em>", "<h1", "<li>", "<hr"))
    sheet, asked = ask(hostile, "distribution", by="cause")
    html = MarkdownIt("commonmark").enable("table").render(markdown(sheet, asked))
    assert html.count("<tr>") == 1 + len(sheet.rows)
    assert "&lt;b&gt;x&lt;/b&gt; | `code` **bold** [a](http://x)" in html


@pytest.mark.parametrize(
    "text", ["1. item", "- item", "+ item", "# head", "===", "a\nb", "| x |", "&amp;", "<!-- -->", "12) x"]
)
def test_markdown_line_begins_no_block(text):
    html = MarkdownIt("commonmark").render(markdown_text(text))
    assert html.startswith("<p>") and html.count("<") == 2


def test_latex_text_is_one_line_of_what_is_printed():
    assert latex_text("a\nb\x00\u202ec\u200b") == "a b c"


def test_spreadsheet_runs_no_cell_of_a_csv(hostile):
    for kind, options in KINDS:
        rows = list(csv.reader(io.StringIO(FORMATS["csv"][2](*ask(hostile, kind, **options)), newline="")))
        assert not [
            cell
            for row in rows
            for cell in row
            if cell[:1] in tuple("=+@\t\r") or (cell[:1] == "-" and not is_number(cell))
        ]


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_csv_and_json_hold_the_unrounded_numbers(hostile):
    sheet, asked = ask(hostile, "cross", by="cause", across="stage")
    rows = list(csv.DictReader(io.StringIO(FORMATS["csv"][2](sheet, asked), newline="")))
    told = json.loads(FORMATS["json"][2](sheet, asked))
    assert [float(row["row_share"]) for row in rows] == sheet.column("row_share")
    assert told["rows"] == [list(row) for row in sheet.rows]
    assert (told["n"], told["asked"]) == (30, {"kind": "cross", "by": "cause", "across": "stage"})
