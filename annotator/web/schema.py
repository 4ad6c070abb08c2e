"""What every operation of the REST interface shares in its schema: its stage, and the body of errors."""

from typing import Any

from drf_spectacular.openapi import AutoSchema

PROBLEM = {
    "type": "object",
    "description": "An error (RFC 9457): what happened and what to do.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {
            "type": "object",
            "description": "Field by field, where fields are wrong.",
            "additionalProperties": True,
        },
    },
    "required": ["type", "title", "status", "detail"],
}
RESPONSE = {
    "description": "The request was not carried out, and nothing was stored.",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}


def add_problems(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Hook of drf-spectacular: each operation may answer with a problem document."""
    result["components"].setdefault("schemas", {})["Problem"] = PROBLEM
    for operations in result["paths"].values():
        for operation in operations.values():
            if isinstance(operation, dict) and "responses" in operation:
                operation["responses"].setdefault("default", RESPONSE)
    return result


class OfStage(AutoSchema):
    """An operation stands under the stage whose code answers it."""

    def get_tags(self) -> list[str]:
        return [type(self.view).__module__.split(".")[1]]
