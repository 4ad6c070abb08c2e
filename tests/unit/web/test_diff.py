"""Patches as GitHub gives them become tables whose lines can be pointed at."""

import re

import pytest

from annotator.web import diff

PATCH = """@@ -118,6 +118,6 @@ Status Foo(Ctx* c) {
   const Tensor& grad = ctx->input(0);
-  // Both tensors
-\tconst T* pa = a.flat<T>().data();
+  // The tape
+\tconst T* pa = a.cast<T>().flat().data();
   return Status::OK();
\x20
 }
\\ No newline at end of file"""


def _code(row: str) -> str:
    return re.sub(r"<[^>]+>", "", row.rsplit("<td>", 1)[1])


def test_each_line_carries_its_own_anchor() -> None:
    found = re.findall(r"<tr id=(\w+)", diff.table("f1", "a/b.cc", PATCH))
    assert found == ["f1n118", "f1o119", "f1o120", "f1n119", "f1n120", "f1n121", "f1n122", "f1n123"]


def test_white_space_of_the_code_is_kept() -> None:
    row = next(r for r in diff.table("f1", "a/b.cc", PATCH).split("<tr") if "id=f1o120" in r)
    assert _code(row).startswith("\tconst T* pa")


def test_only_changed_words_of_a_changed_line_are_marked() -> None:
    row = next(r for r in diff.table("f1", "a/b.cc", PATCH).split("<tr") if "id=f1n120" in r)
    assert re.findall(r'class="[a-z ]*w">([^<]*)<', row) == ["cast", "().flat"]


def test_code_of_a_patch_is_never_markup() -> None:
    html = diff.table("f1", "x.html", "@@ -1 +1 @@\n-<script>alert(1)</script>\n+<img src=x onerror=alert(1)>")
    assert "<script" not in html
    assert "<img" not in html


def test_what_is_no_patch_is_shown_as_it_stands() -> None:
    assert (
        diff.table("f1", "a.py", "Binary <files> differ") == '<pre class="diff-plain">Binary &lt;files&gt; differ</pre>'
    )


@pytest.mark.parametrize(
    "patch",
    [
        "",
        "@@ -1,3 +1,3 @@\n cut off",
        "@@ -1 +1 @@\n-a\x0cb\u2028c\n+\x1cd",
        "@@ -1 +1 @@\r\n-a\r\n+b\r",
        "@@ -0,0 +1 @@\n+only",
        "@@ -1,2 +0,0 @@\n-one\n-two",
    ],
)
def test_odd_patches_do_not_fail(patch: str) -> None:
    assert diff.table("f1", "a.py", patch).startswith(("<table", "<pre"))


def test_lines_with_form_feeds_stay_one_line() -> None:
    (block,) = diff.blocks("@@ -1 +1 @@\n-a\x0cb\u2028c\n+d")
    assert [line.text for line in block.lines] == ["a\x0cb\u2028c", "d"]


def test_a_comment_that_began_before_the_hunk_loses_no_text() -> None:
    html = diff.table("f1", "a.py", '@@ -9,2 +9,2 @@\n still docs"""\n-x = 1\n+x = 2')
    assert [_code(row) for row in html.split("<tr id=")[1:]] == [
        "still docs&quot;&quot;&quot;",
        "x = 1",
        "x = 2",
    ]
