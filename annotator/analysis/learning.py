"""Labels that a model of the texts finds least likely: in a worker alone, since scikit-learn costs seconds to load.

Each bug's probabilities come from a model that never saw it, nor another bug of its item (cross-validated by item). A label
is doubted as in confident learning (Northcutt, Jiang and Chuang 2021): another category reaches its own threshold, the mean
probability it has among bugs labelled so, and is the likeliest that does.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold

from annotator.collection.likeness import MOST_WORDS, WORD, readable

FOLDS = 5
FEWEST = 5  # items of a category: of fewer nothing can be learnt
TOLD = 8  # words


@dataclass(frozen=True)
class Example:
    """A bug: its text with paths, its label, and its item."""

    text: str
    label: int
    item: int


@dataclass(frozen=True)
class Doubt:
    """By place among the examples; probabilities out of sample, 0 to 1; words that spoke for the likelier label."""

    place: int
    probability: float
    likely: int
    likely_probability: float
    words: tuple[str, ...]


@dataclass(frozen=True)
class Learnt:
    """The least likely first; how often the likeliest label was the settled one, and what was left out."""

    doubts: list[Doubt]
    bugs: int
    accuracy: float | None
    folds: int
    left_out: dict[int, int]  # label to bugs of which there are too few


def doubted(examples: Sequence[Example], *, seed: int, tell: Callable[[], None] = lambda: None) -> Learnt:
    items = {
        label: len({each.item for each in examples if each.label == label}) for label in {e.label for e in examples}
    }
    kept = [place for place, each in enumerate(examples) if items[each.label] >= FEWEST]
    few = Counter(each.label for each in examples if items[each.label] < FEWEST)
    labels = np.array([examples[place].label for place in kept])
    if len(set(labels)) < 2:
        return Learnt([], len(kept), None, 0, dict(few))
    texts = [examples[place].text for place in kept]
    groups = [examples[place].item for place in kept]
    try:
        chances, spoke, classes = out_of_sample(texts, labels, groups, seed=seed, tell=tell)
    except ValueError:  # not one word in a fold
        return Learnt([], len(kept), None, 0, dict(few))
    right = float(np.mean(classes[chances.argmax(axis=1)] == labels))
    found = sorted(confident(chances, labels, classes), key=lambda each: (each[2] - each[3], each[0]))
    doubts = [
        Doubt(kept[row], given, int(classes[column]), likely, spoke(row, int(labels[row]), int(classes[column])))
        for row, column, given, likely in found
    ]
    return Learnt(doubts, len(kept), right, FOLDS, dict(few))


def out_of_sample(
    texts: Sequence[str], labels: Any, groups: Sequence[int], *, seed: int, tell: Callable[[], None]
) -> tuple[Any, Callable[[int, int, int], tuple[str, ...]], Any]:
    classes = np.unique(labels)
    chances = np.zeros((len(texts), len(classes)))
    models: list[tuple[Any, Any]] = []
    fold_of = np.zeros(len(texts), int)
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed % 2**32)
    for fold, (train, test) in enumerate(folds.split(texts, labels, groups)):
        words = TfidfVectorizer(
            preprocessor=readable, token_pattern=WORD, stop_words="english", sublinear_tf=True, max_features=MOST_WORDS
        )
        weights = words.fit_transform([texts[place] for place in train])
        model = LogisticRegression(C=10.0, max_iter=1_000, class_weight="balanced").fit(weights, labels[train])
        chances[np.ix_(test, np.searchsorted(classes, model.classes_))] = model.predict_proba(
            words.transform([texts[place] for place in test])
        )
        models.append((words, model))
        fold_of[test] = fold
        tell()

    def spoke(row: int, given: int, likely: int) -> tuple[str, ...]:
        words, model = models[fold_of[row]]
        return words_for(words, model, texts[row], given, likely)

    return chances, spoke, classes


def words_for(words: Any, model: Any, text: str, given: int, likely: int) -> tuple[str, ...]:
    """Those that weigh most for the one label over the other."""
    weights, known = words.transform([text]), list(model.classes_)
    if len(known) == 2:
        sign = 1 if known.index(likely) == 1 else -1
        difference = sign * model.coef_[0]
    else:
        mine = model.coef_[known.index(given)] if given in known else 0
        difference = model.coef_[known.index(likely)] - mine
    scores = weights.multiply(difference).tocsr()
    names = words.get_feature_names_out()
    order = sorted(zip(-scores.data, scores.indices, strict=True))[:TOLD]
    return tuple(str(names[column]) for negative, column in order if negative < 0)


def confident(chances: Any, labels: Any, classes: Any) -> list[tuple[int, int, float, float]]:
    """Row, column of the likelier label, and both probabilities."""
    own = np.searchsorted(classes, labels)
    thresholds = np.array([chances[own == column, column].mean() for column in range(len(classes))])
    reaching = np.where(chances >= thresholds, chances, -1.0)
    best = reaching.argmax(axis=1)
    rows = np.flatnonzero((reaching.max(axis=1) >= 0) & (best != own))
    return [(int(row), int(best[row]), float(chances[row, own[row]]), float(chances[row, best[row]])) for row in rows]
