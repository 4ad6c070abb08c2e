"""Calls and answers checked against GitHub's OpenAPI description."""

import copy
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.services.github_server.contract import openapi

# Not in the description, but where GitHub's own redirects lead: the repository's paths, by its number.
BY_ID = re.compile(r"^/repositories/(\d+)(/.*)?$")

REFUSALS = (301, 401, 403, 404, 410, 429, 451)  # anywhere, whether an operation names them or not


@dataclass(frozen=True)
class Operation:
    template: str
    names: Mapping[str, str]  # of the path
    described: Mapping[str, Any]

    def parameter(self, name: str) -> Any:
        listed = (resolved(entry) for entry in self.described.get("parameters", ()))
        return next((entry for entry in listed if entry["name"] == name and entry["in"] == "query"), None)

    def answer_schema(self, status: int) -> Any:
        described = resolved(self.described["responses"].get(str(status), {}))
        return described.get("content", {}).get("application/json", {}).get("schema")


def resolved(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in entry:
        found: Any = openapi()
        for name in entry["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        entry = found
    return entry


@functools.cache
def templates() -> list[tuple[re.Pattern[str], str]]:
    found = [
        (re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(path)) + "$"), path)
        for path in openapi()["paths"]
    ]
    return sorted(found, key=lambda entry: entry[1].count("{"))


def operation(method: str, path: str) -> Operation | None:
    if by_id := BY_ID.match(path):
        path = f"/repos/by-id/{by_id[1]}{by_id[2] or ''}"
    for pattern, template in templates():
        if (found := pattern.match(path)) and method.lower() in openapi()["paths"][template]:
            return Operation(template, found.groupdict(), openapi()["paths"][template][method.lower()])
    return None


def wrong_with_call(called: Operation, query: Mapping[str, str]) -> list[str]:
    wrong = [f"{name} is no query parameter of {called.template}" for name in query if not called.parameter(name)]
    for name, value in query.items():
        if (described := called.parameter(name)) and (why := _wrong_value(name, value, described["schema"])):
            wrong.append(why)
    return wrong


def _wrong_value(name: str, value: str, schema: Mapping[str, Any]) -> str:
    schema = resolved(schema)
    if schema.get("type") == "integer" and not value.isdigit():
        return f"{name}={value} is no number"
    if name == "per_page" and not 1 <= int(value) <= 100:
        return f"per_page={value} is not between 1 and 100"
    if "enum" in schema and value not in schema["enum"]:
        return f"{name}={value} is none of {schema['enum']}"
    return ""


def wrong_with_answer(called: Operation, status: int, body: Any) -> list[str]:
    from openapi_schema_validator import OAS30Validator

    schema = called.answer_schema(status)
    if schema is None and status in REFUSALS:
        schema = {"$ref": "#/components/schemas/basic-error"}
    if schema is None:
        return [] if str(status) in called.described["responses"] else [f"{called.template} never answers {status}"]
    validator = OAS30Validator({**schema, "components": openapi()["components"]})
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(body)]


def filled(name: str, /, **values: Any) -> dict[str, Any]:
    """An object of the named schema: these values, and something allowed in each other required property."""
    return copy.deepcopy(_plain(name)) | values


@functools.cache
def _plain(name: str) -> dict[str, Any]:
    return _example({"$ref": f"#/components/schemas/{name}"})


PLAIN: dict[str, Any] = {"integer": 0, "number": 0, "boolean": False, "array": [], "string": ""}
FORMATS = {"uri": "https://example.org/", "date-time": "2020-01-01T00:00:00Z"}


def _example(schema: Mapping[str, Any]) -> Any:
    schema = resolved(schema)
    if schema.get("nullable"):
        return None
    for choice in ("allOf", "oneOf", "anyOf"):
        if choice in schema and "properties" not in schema:
            return _example(schema[choice][0])
    if "enum" in schema:
        return schema["enum"][0]
    if "properties" in schema or schema.get("type") == "object":
        return {name: _example(schema["properties"][name]) for name in schema.get("required", ())}
    if schema.get("type") == "string":
        return FORMATS.get(schema.get("format", ""), "")
    return PLAIN.get(schema.get("type", ""))
