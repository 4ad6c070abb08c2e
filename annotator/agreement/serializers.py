"""Agreement as programs see it."""

from typing import Any

from rest_framework import serializers

ENTRY = {
    "type": "object",
    "description": "One round, facet and pair of raters, or all raters; every key as the agreement command prints it.",
    "properties": {
        "round": {"type": "string"},
        "facet": {"type": "string"},
        "raters": {"type": "array", "items": {"type": "string"}},
        "n": {"type": "integer"},
        "excluded": {"type": "integer"},
        "kappa": {"type": ["number", "null"]},
        "reason": {"type": ["string", "null"]},
    },
    "required": ["round", "facet", "raters", "n", "reason"],
    "additionalProperties": True,
}
ENTRIES = {"type": "array", "items": ENTRY}


class Reason(serializers.Serializer[Any]):
    reason = serializers.CharField(trim_whitespace=False)
