"""GraphQL: validated against GitHub's published schema by graphql-core, answered from the world, priced in points."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    VariableNode,
    execute,
    parse,
    validate,
)

from tests.services.github_server import nodes
from tests.services.github_server.contract import graphql_schema
from tests.services.github_server.searching import AT_MOST, Unsearchable, found
from tests.services.github_server.world import World

MOST_NODES = 500_000


@dataclass(frozen=True)
class Checked:
    document: DocumentNode | None
    wrong: tuple[str, ...]


@functools.lru_cache(256)
def checked(query: str) -> Checked:
    try:
        document = parse(query)
    except GraphQLError as error:
        return Checked(None, (error.message,))
    return Checked(document, tuple(error.message for error in validate(graphql_schema(), document)))


@dataclass
class Tricks:
    """What a fault makes of one search."""

    is_half: bool = False
    null_at: int | None = None


@dataclass
class Answered:
    body: dict[str, Any]
    wrong: list[str] = field(default_factory=list)


def answer(
    world: World, *, query: str, variables: Mapping[str, Any], limit: Mapping[str, Any], tricks: Tricks, base: str
) -> Answered:
    document = checked(query).document
    assert document is not None, "only what is valid is answered"
    root = {
        "rateLimit": limit,
        "search": lambda info, **asked: _search(world, tricks, base, **asked),
        "repository": lambda info, **asked: _repository(world, base, **asked),
    }
    result = execute(graphql_schema(), document, root, variable_values=dict(variables))
    errors = [_error(error) for error in result.errors or []]
    wrong = [
        error.message for error in result.errors or [] if not isinstance(error.original_error, GraphQLError | None)
    ]
    return Answered({"data": result.data} | ({"errors": errors} if errors else {}), wrong)


def _error(error: GraphQLError) -> dict[str, Any]:
    kind = (error.extensions or {}).get("type", "")
    return {"type": kind, "path": error.path, "message": error.message, "locations": []}


def _search(
    world: World,
    tricks: Tricks,
    base: str,
    *,
    query: str,
    type: Any,
    first: int | None = None,
    after: str | None = None,
) -> dict[str, Any]:
    del type
    try:
        hits = found(world, query, is_strict=False)
    except Unsearchable as error:
        raise GraphQLError(str(error), extensions={"type": "INVALID"}) from error
    listed = hits[:AT_MOST]
    page = nodes.sliced(listed, first, after)
    made = [nodes.thing(place, thing, base) for place, thing in page.entries]
    has_next = page.end < len(listed)
    if tricks.is_half:
        made, has_next = made[: len(made) // 2], False
    if tricks.null_at is not None and made:
        made[tricks.null_at % len(made)] = None
    return {"issueCount": len(hits), "pageInfo": nodes.page_info(page.end, has_next=has_next), "nodes": made}


def _repository(world: World, base: str, *, owner: str, name: str, **asked: Any) -> dict[str, Any]:
    full = f"{owner}/{name}"
    place = world.named(full) or (world.formerly(full) if asked.get("followRenames", True) else None)
    if place is None:
        raise nodes.not_found(f"Could not resolve to a Repository with the name '{full}'.")
    return nodes.repository_with_things(place, base)


def points_of(query: str, variables: Mapping[str, Any]) -> tuple[int, int]:
    """(points, nodes): one point for each hundred connections that the question opens."""
    document = checked(query).document
    assert document is not None
    fragments = {part.name.value: part for part in document.definitions if isinstance(part, FragmentDefinitionNode)}
    asked = next(part for part in document.definitions if isinstance(part, OperationDefinitionNode))
    price = _Price(fragments, variables)
    price.walk(asked.selection_set, 1)
    return max(1, round(price.connections / 100)), price.nodes


@dataclass
class _Price:
    fragments: Mapping[str, FragmentDefinitionNode]
    variables: Mapping[str, Any]
    connections: int = 0
    nodes: int = 0

    def walk(self, selected: SelectionSetNode | None, parents: int) -> None:
        for selection in selected.selections if selected else ():
            if isinstance(selection, FragmentSpreadNode):
                self.walk(self.fragments[selection.name.value].selection_set, parents)
            elif isinstance(selection, InlineFragmentNode):
                self.walk(selection.selection_set, parents)
            elif isinstance(selection, FieldNode):
                self._field(selection, parents)

    def _field(self, selection: FieldNode, parents: int) -> None:
        size = next(
            (
                self._size(argument.value)
                for argument in selection.arguments or ()
                if argument.name.value in ("first", "last")
            ),
            0,
        )
        if size:
            self.connections += parents
            self.nodes += parents * size
        self.walk(selection.selection_set, parents * (size or 1))

    def _size(self, value: Any) -> int:
        if isinstance(value, VariableNode):
            return int(self.variables.get(value.name.value) or 0)
        return int(value.value) if isinstance(value, IntValueNode) else 0
