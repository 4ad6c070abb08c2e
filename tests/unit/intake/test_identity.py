"""Which item a row speaks of."""

import pytest

from annotator.intake.identity import Identity, ItemCells, NoIdentity, Place, identify, read_number

TF = "https://github.com/tensorflow/tensorflow/pull/49173"


def of(**cells: str) -> Identity:
    return identify(ItemCells(**cells))


@pytest.mark.parametrize(
    ("cell", "read"),
    [
        ("49173", (49173, None)),
        ("49173 2", (49173, 2)),
        ("49173-2", (49173, 2)),
        (" #12\n", (12, None)),
        ("12.0", (12, None)),
        ("PR 12", None),
        ("#1\n#2", None),
        ("1.5", None),
    ],
)
def test_number_may_carry_the_bug(cell: str, read: tuple[int, int | None] | None) -> None:
    assert read_number(cell) == read


@pytest.mark.parametrize(
    "url",
    [
        TF,
        "http://www.github.com/TensorFlow/tensorflow/pull/49173/files#diff-1",
        "github.com/tensorflow/tensorflow/pull/49173/",
        "https://api.github.com/repos/tensorflow/tensorflow/pulls/49173",
        f" {TF}?w=1 ",
    ],
)
def test_github_address_is_one_item_however_written(url: str) -> None:
    found = of(url=url)
    assert (found.text, found.number) == ("github.com/tensorflow/tensorflow#49173", 49173)


def test_issue_and_pull_request_share_their_numbers() -> None:
    assert of(url=TF).text == of(url=TF.replace("pull", "issues")).text


def test_key_comes_first_and_keeps_its_case() -> None:
    found = of(key="Abc 2", url=TF, repository="linux")
    assert (found.text, found.key, found.ordinal) == ("key:Abc 2", "Abc 2", None)


def test_label_is_a_label_and_the_address_says_the_place() -> None:
    found = of(repository="TensorFlow", number="49173 2", url=TF)
    assert (found.label, found.place) == ("TensorFlow", Place("github.com", "tensorflow", "tensorflow"))
    assert (found.text, found.also, found.ordinal) == ("github.com/tensorflow/tensorflow#49173", "tensorflow#49173", 2)


def test_owner_and_name_with_a_number_are_what_the_address_is() -> None:
    assert of(repository="tensorflow/tensorflow", number="49173").text == of(url=TF).text


def test_label_whose_place_is_known_is_found_there() -> None:
    place = Place("github.com", "apache", "tvm")
    found = identify(ItemCells(repository="TVM", number="7"), places={"tvm": place})
    assert found.text == "github.com/apache/tvm#7"
    assert of(repository="TVM", number="7").text == "tvm#7"


def test_other_address_is_taken_whole() -> None:
    assert of(url="HTTPS://Discuss.PyTorch.org/T/5/").text == "https://discuss.pytorch.org/T/5"
    assert of(url=f"https://example.org/{'x' * 700}").text.startswith("sha256:")


def test_number_that_contradicts_the_address_is_doubted() -> None:
    found = of(number="4243", url="https://github.com/apache/tvm/pull/6298", repository="TVM")
    assert found.number == 6298
    assert [doubt[0] for doubt in found.doubts] == ["number_differs"]


def test_text_in_the_address_column_is_doubted_where_a_number_names_the_item() -> None:
    found = of(number="5", url="see mail", repository="TVM")
    assert found.text == "tvm#5"
    assert [doubt[0] for doubt in found.doubts] == ["bad_url"]


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        ({}, "no_identity"),
        ({"number": "5"}, "no_repository"),
        ({"number": "five", "repository": "x"}, "bad_number"),
        ({"url": "Note: issues in red"}, "bad_url"),
        ({"url": "http://[bad"}, "bad_url"),
        ({"key": "k", "ordinal": "first"}, "bad_ordinal"),
        ({"key": "k", "ordinal": "0"}, "bad_ordinal"),
        ({"key": "k" * 501}, "identity_too_long"),
        ({"repository": "r" * 301, "number": "1"}, "identity_too_long"),
    ],
)
def test_row_that_names_no_item_says_why(cells: dict[str, str], code: str) -> None:
    with pytest.raises(NoIdentity) as missing:
        of(**cells)
    assert missing.value.code == code
