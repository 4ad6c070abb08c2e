"""Codebooks made to occupy the server."""

import random
import time

import pytest

from annotator.codebook import tree
from annotator.codebook.reading import to_document
from annotator.web.errors import BadInput

SECONDS = 0.6  # it took twice that, with a few names more half a minute


def test_parent_that_is_not_there_is_said_at_once() -> None:
    signs = [chr(0x4E00 + place) for place in range(101)] * 5
    chance = random.Random(1)
    names = ["".join(chance.sample(signs, len(signs))) for _ in range(400)]
    categories = [*({"name": name} for name in names[1:]), {"name": "z", "parent": names[0]}]
    started = time.monotonic()
    with pytest.raises(BadInput, match="there is no parent"):
        to_document({"title": "t", "facets": [{"id": "a", "categories": categories}]})
    assert time.monotonic() - started < SECONDS


def test_tree_of_five_thousand_categories_is_laid_out_at_once() -> None:
    categories = [{"name": f"c{place}"} for place in range(4990)]
    document = to_document({"title": "t", "facets": [{"id": "a", "categories": categories}]})
    started = time.monotonic()
    assert len(tree.questions(document)[0].branches) == 4990
    assert time.monotonic() - started < SECONDS
