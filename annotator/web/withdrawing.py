"""Rows that were brought in together are taken out again, while nothing else stands on them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from django.db.models import Model, Q, QuerySet

from annotator.web.errors import Refused

Spans: TypeAlias = list[list[int]]  # ids as runs [first, last]
Brought: TypeAlias = Mapping[str, Spans]  # by table
Kind: TypeAlias = tuple[str, type[Model], str]  # table, model, how a person would call a row
CHUNK = 500


def runs_of(spans: Spans, field: str = "pk") -> Iterator[Q]:
    """What finds the rows of these ids, some runs at a time."""
    for start in range(0, len(spans), CHUNK):
        wanted = Q()
        for first, last in spans[start : start + CHUNK]:
            wanted |= Q(**{f"{field}__range": (first, last)})
        yield wanted


def of_spans(model: type[Model], spans: Spans) -> Iterator["QuerySet[Any]"]:
    return (model._base_manager.filter(wanted) for wanted in runs_of(spans))


def take_out(brought: Brought, kinds: Sequence[Kind]) -> None:
    """Delete the rows, table by table, what points at others first; what still points at them is others' work."""
    for table, model, said in kinds:
        spans = brought.get(table, [])
        users = [what for what, field in pointing_at(model) if any(refers(what, field, spans))]
        if users:
            names = ", ".join(sorted({str(what._meta.verbose_name) for what in users}))
            raise Refused(
                f"The import cannot be undone: {said} that it brought is in use by now ({names}). Undo that first, or keep it."
            )
        for rows in of_spans(model, spans):
            rows._raw_delete(rows.db)


def refers(model: type[Model], field: str, spans: Spans) -> Iterator[bool]:
    return (model._base_manager.filter(wanted).exists() for wanted in runs_of(spans, f"{field}__pk"))


def pointing_at(model: type[Model]) -> Iterator[tuple[type[Model], str]]:
    """Every foreign key to the model, those without a way back included; not of a copy that the database keeps itself."""
    for relation in model._meta.get_fields(include_hidden=True):
        field = getattr(relation, "field", None)
        is_key = relation.auto_created and (relation.one_to_many or relation.one_to_one)
        if field is not None and is_key and field.db_constraint:
            yield field.model, field.name
