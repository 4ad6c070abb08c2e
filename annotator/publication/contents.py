"""The tables of a release: what the exports hold, with the names, texts and authors that the lead lets out."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from django.db.models import Q

from annotator.adjudication.models import Resolution
from annotator.labeling.models import Answer
from annotator.publication import columns, exports, queries, reproduced, side_by_side
from annotator.publication.columns import TEXT, Batch, Column, Table
from annotator.publication.options import HASHED, INCLUDED, PSEUDONYMS, Options
from annotator.publication.pseudonyms import Hide, hidden, pseudonyms_of
from annotator.studies.models import Study

HISTORY = "history"
FROM_ELSEWHERE = ("title", "body")  # written by people who take no part in the study
BY_ITSELF = (Resolution.Source.UNANIMOUS, Resolution.Source.SINGLE, Resolution.Source.IMPORTED)
HOLDS = {
    "bugs": "one row a bug: where it comes from",
    "answers": "every rater's answers, with their reasons: one row for each bug, round, rater and facet",
    "finals": "the final labels: one row for each bug and facet, where it comes from and who decided",
    HISTORY: "what the answers and final labels do not tell: earlier answers, moves after the close, decisions",
    side_by_side.NAME: "one row a bug: the raters beside each other, and the final labels",
    reproduced.RECIPES: "how bugs are made to happen: one row for each version of a recipe",
    reproduced.RUNS: "every try at it: one row a run",
}


def tables_of(study: Study, options: Options) -> list[Table]:
    """Each is read when its rows are asked for."""
    hide = aliases(study, options)
    found = [
        as_decided(exports.bugs(study), options, study),
        hidden(exports.answers(study, hide=hide), hide),
        hidden(exports.finals(study), hide),
        hidden(Table(HISTORY, columns.HISTORY, changes_of(study)), hide),
        as_decided(side_by_side.table(study, hide=hide), options, study),
    ]
    return found + [hidden(table, hide) for table in reproduced.tables(study)]


def aliases(study: Study, options: Options) -> Hide:
    """User name to the name that the release has: a pseudonym, but for who agreed to be named."""
    hide, named = pseudonyms_of(study), set(options.named)
    return lambda names: " ".join(name if name in named else hide(name) for name in names.split())


def as_decided(table: Table, options: Options, study: Study) -> Table:
    """Texts and authors left out, or written as the lead decided."""
    writes: dict[str, tuple[str, Callable[[str], str]] | None] = {}
    for name in FROM_ELSEWHERE:
        if options.texts != INCLUDED:
            writes[name] = (f"{name}_sha256", digest) if options.texts == HASHED else None
    if options.authors != INCLUDED:
        writes["author"] = ("author", author_aliases(study)) if options.authors == PSEUDONYMS else None
    return rewritten(table, writes)


def rewritten(table: Table, writes: dict[str, tuple[str, Callable[[str], str]] | None]) -> Table:
    """Columns under another name, each value written anew; those that lead to nothing are gone."""
    kept: list[tuple[int, Column, Callable[[Any], Any] | None]] = []
    for place, column in enumerate(table.columns):
        if column.name not in writes:
            kept.append((place, column, None))
        elif wanted := writes[column.name]:
            name, write = wanted
            says = f"SHA-256 of {column.says}" if name != column.name else f"{column.says}, under a pseudonym"
            kept.append((place, Column(name, TEXT, says), write))
    if len(kept) == len(table.columns) and not any(write for _, _, write in kept):
        return table

    def written(batch: Batch) -> Batch:
        return [batch[place].written(write) if write else batch[place] for place, _, write in kept]

    return replace(table, columns=tuple(column for _, column, _ in kept), batches=map(written, table.batches))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest() if text else ""


def author_aliases(study: Study) -> Callable[[str], str]:
    hide = pseudonyms_of(study)
    return lambda name: hide(f"author:{name}".replace(" ", "_")).replace("rater-", "author-") if name else ""


def changes_of(study: Study) -> Iterator[Batch]:
    """Earlier revisions, moves after the close, and decisions, but for those that stand and that nobody took."""
    earlier = Answer.objects.filter(is_current=False)
    taken = Resolution.objects.exclude(Q(is_current=True, is_stale=False, source__in=BY_ITSELF))
    return queries.history_of(study, answers=earlier, decisions=taken)
