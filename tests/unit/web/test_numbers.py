import pytest

from annotator.web.numbers import whole


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("7", 7), ("007", 7), ("999999999", 999_999_999)])
def test_a_number_is_read(text, number):
    assert whole(text) == number


@pytest.mark.parametrize("text", ["", " 7", "-7", "7.0", "1e5", "seven", "²", "٣", "1000000000", "9" * 5000])
def test_what_no_row_could_have_is_none(text):
    assert whole(text) is None
