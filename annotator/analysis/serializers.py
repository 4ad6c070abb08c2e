"""Final labels and their counts as programs see them."""

from typing import Any

from rest_framework import serializers


class FinalShape(serializers.Serializer[Any]):
    bug = serializers.IntegerField(source="bug_number")
    facet = serializers.CharField(source="facet_key")
    slot = serializers.IntegerField()
    category = serializers.CharField(source="category__name")
    category_uid = serializers.CharField(source="category__uid")
    source = serializers.CharField()  # type: ignore[assignment]  # Field has an attribute of this name
    round = serializers.IntegerField(source="round__number", allow_null=True)
    by = serializers.CharField(source="by__username", allow_null=True)
    participants = serializers.ListField(child=serializers.CharField())
    reason = serializers.CharField()
    note = serializers.CharField()
    at = serializers.DateTimeField()


COUNTS = {"type": "object", "additionalProperties": {"type": "integer"}}
BY_FACET = {"type": "object", "additionalProperties": COUNTS}
CROSS = {"type": "object", "additionalProperties": BY_FACET}
PAIR = {
    "type": "object",
    "properties": {
        "a": {"type": "string"},
        "b": {"type": "string"},
        "rho": {"type": ["number", "null"]},
        "p": {"type": ["number", "null"]},
        "n": {"type": "integer"},
        "reason": {"type": ["string", "null"]},
    },
    "required": ["a", "b", "rho", "p", "n"],
}
TABLES = {
    "type": "object",
    "description": "As the tables command prints them: categories and repositories by name; what is absent counts 0.",
    "properties": {
        "study": {"type": "string"},
        "labels": {"type": "string"},
        "bugs": COUNTS,
        "facets": BY_FACET,
        "rollup": BY_FACET,
        "by_repository": CROSS,
        "crosstabs": CROSS,
        "spearman": {"type": "object", "additionalProperties": {"type": "array", "items": PAIR}},
    },
    "required": ["study", "labels", "bugs", "facets", "rollup", "by_repository", "crosstabs", "spearman"],
}
