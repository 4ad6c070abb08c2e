"""Text of strangers is shown with its form and without its teeth."""

import pytest

from annotator.web.markdown import render


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "![x](javascript:alert(1))",
        "<a href='jav&#x09;ascript:alert(1)'>x</a>",
        "<p style='position:fixed' onclick=a() id=answer class=top>x</p>",
        "<iframe src=//x></iframe><form action=//x><input name=y></form>",
        "![a](https://example.org/track.png)",
    ],
)
def test_nothing_runs_loads_or_styles(text: str) -> None:
    html = render(text).lower()
    for bad in (
        "<script",
        "<img",
        "onerror",
        "onclick",
        'href="javascript',
        "style=",
        "id=",
        "class=",
        "<iframe",
        "<form",
        "<input",
        "src=",
    ):
        assert bad not in html


def test_pictures_become_links() -> None:
    assert '<a href="https://example.org/a.png" rel="nofollow noopener noreferrer">[loss curve]</a>' in render(
        "![loss curve](https://example.org/a.png)"
    )


def test_headings_keep_one_level_below_the_page() -> None:
    assert render("# A\n\n##### B") == "<h3>A</h3>\n<h3>B</h3>\n"


def test_code_keeps_its_white_space() -> None:
    assert "<pre><code>a\n    b\n</code></pre>" in render("```python\na\n    b\n```")


def test_template_comments_of_github_are_left_out() -> None:
    assert "tick" not in render("Fix\n\n<!-- please tick\n\nall boxes -->\n\nDone")


def test_nul_does_not_reach_the_page() -> None:
    assert "\x00" not in render("a\x00b")


def test_tables_and_strike_through_are_read() -> None:
    assert "<td>1</td>" in render("|a|\n|-|\n|1|")
    assert "<s>gone</s>" in render("~~gone~~")
