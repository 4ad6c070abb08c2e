"""Codebooks made to occupy the server."""

import gc
import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from annotator.codebook import tree
from annotator.codebook.reading import to_document
from annotator.web.errors import BadInput

BOUND = 10  # either takes one; it was forty, and with a few names more a thousand


def processor(act: Callable[[], Any]) -> float:
    started = time.process_time()
    act()
    return time.process_time() - started


def effort(act: Callable[[], Any]) -> float:
    """Processor time in that of a loop of a million steps: a slow or busy machine says the same."""

    def loop() -> None:
        for _ in range(1_000_000):
            pass

    gc.freeze()  # what other tests left is not looked through meanwhile
    try:
        return processor(act) / min(processor(loop) for _ in range(3))
    finally:
        gc.unfreeze()


def test_parent_that_is_not_there_is_said_at_once() -> None:
    signs = [chr(0x4E00 + place) for place in range(101)] * 5
    chance = random.Random(1)
    names = ["".join(chance.sample(signs, len(signs))) for _ in range(400)]
    categories = [*({"name": name} for name in names[1:]), {"name": "z", "parent": names[0]}]

    def refused() -> None:
        with pytest.raises(BadInput, match="there is no parent"):
            to_document({"title": "t", "facets": [{"id": "a", "categories": categories}]})

    assert effort(refused) < BOUND


def test_tree_of_five_thousand_categories_is_laid_out_at_once() -> None:
    categories = [{"name": f"c{place}"} for place in range(4990)]
    document = to_document({"title": "t", "facets": [{"id": "a", "categories": categories}]})
    assert len(tree.questions(document)[0].branches) == 4990
    assert effort(lambda: tree.questions(document)) < BOUND
