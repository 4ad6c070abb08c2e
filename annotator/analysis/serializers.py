"""Final labels and their counts as programs see them."""

from typing import Any

from rest_framework import serializers


class FinalShape(serializers.Serializer[Any]):
    """Named as the columns of the table of final labels."""

    bug = serializers.IntegerField(source="bug_number")
    repository = serializers.SerializerMethodField(help_text="what the study calls it; empty where there is none")
    number = serializers.IntegerField(source="bug__item__number", allow_null=True)
    ordinal = serializers.IntegerField(source="bug__ordinal")
    facet = serializers.CharField(source="facet_key")
    slot = serializers.IntegerField()
    category = serializers.CharField(source="label_name", help_text="what the label counts as today")
    category_uid = serializers.CharField(source="label_uid")
    source = serializers.CharField()  # type: ignore[assignment]  # Field has an attribute of this name
    round = serializers.SerializerMethodField(help_text="name; empty where a sheet gave the label alone")
    round_number = serializers.IntegerField(source="round__number", allow_null=True)
    decided_by = serializers.SerializerMethodField(help_text="user name of the adjudicator; empty where there is none")
    participants = serializers.ListField(child=serializers.CharField())
    recorded_by = serializers.SerializerMethodField(help_text="who wrote down what the participants said; else empty")
    reason = serializers.CharField()
    note = serializers.CharField()
    cell = serializers.CharField(help_text="as it stood in the imported sheet")
    decided_at = serializers.DateTimeField(source="at")

    def get_repository(self, row: dict[str, Any]) -> str:
        return row["bug__item__repository__label"] or ""

    def get_round(self, row: dict[str, Any]) -> str:
        return row["round__name"] or ""

    def get_decided_by(self, row: dict[str, Any]) -> str:
        return row["by__username"] or ""

    def get_recorded_by(self, row: dict[str, Any]) -> str:
        return row["recorded_by__username"] or ""


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
SHEET = {
    "type": "object",
    "description": "A table: rows in order, by the columns. Shares are 0 to 1; null where a number is undefined.",
    "properties": {
        "kind": {"type": "string"},
        "title": {"type": "string"},
        "labels": {"type": "string"},
        "n": {"type": "integer", "description": "bugs that it counts"},
        "unit": {"type": "string"},
        "left_out": COUNTS,
        "is_many": {"type": "boolean"},
        "columns": {
            "type": "array",
            "items": {"type": "object", "additionalProperties": {"type": "string"}},
        },
        "rows": {"type": "array", "items": {"type": "array", "items": {}}},
        "tests": {"type": "array", "items": {"type": "object", "additionalProperties": True}},
        "turns": {"type": "array", "items": {"type": "object", "additionalProperties": True}},
        "notes": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["kind", "title", "labels", "n", "unit", "left_out", "columns", "rows", "tests", "turns", "notes"],
}
