"""Asking the REST interface, each answer held against its own schema."""

import json
import re
from functools import cache
from typing import Any

from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.settings import spectacular_settings
from jsonschema import Draft202012Validator

FORMATS = Draft202012Validator.FORMAT_CHECKER


@cache
def schema() -> dict[str, Any]:
    """As a reader of /api/v1/schema/ gets it, without what only Python knows."""
    generator = spectacular_settings.DEFAULT_GENERATOR_CLASS or SchemaGenerator
    return json.loads(json.dumps(generator().get_schema(request=None, public=True), default=str))


@cache
def patterns() -> list[tuple[re.Pattern[str], str]]:
    """Addresses of the schema, those with fewer blanks first."""
    paths = sorted(schema()["paths"], key=lambda path: path.count("{"))
    return [(re.compile(re.sub(r"\\\{[^/.]+?\\\}", "[^/]+?", re.escape(path)) + r"\Z"), path) for path in paths]


def operation(method: str, path: str) -> dict[str, Any]:
    for pattern, template in patterns():
        if pattern.match(path) and method in schema()["paths"][template]:
            return schema()["paths"][template][method]
    raise AssertionError(f"the schema has no {method} {path}")


def problems(fragment: dict[str, Any], body: Any) -> list[str]:
    whole = fragment | {"components": schema()["components"]}
    found = Draft202012Validator(whole, format_checker=FORMATS).iter_errors(body)
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}" for error in found]


class Interface:
    """A person's client; `ask` fails where an answer is not as the schema says."""

    def __init__(self, user: Any = None) -> None:
        self.client = Client()
        self.seen: set[tuple[str, str]] = set()
        if user is not None:
            self.client.force_login(user)

    def ask(self, method: str, path: str, body: Any = None, *, status: int | None = None, **more: Any) -> Any:
        """The body of the answer; bytes where it is no JSON."""
        url = path if path.startswith("/") else f"/api/v1/{path}"
        data = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
        response = getattr(self.client, method)(url, **data, **more)
        told = read(response)
        self.hold(method, url.split("?")[0], response, told)
        if status is not None:
            assert response.status_code == status, (method, path, told)
        return told

    def hold(self, method: str, path: str, response: Any, told: Any) -> None:
        promised = operation(method, path)["responses"]
        answer = promised.get(str(response.status_code))
        if answer is None:
            assert response.status_code >= 400, f"{method} {path} gave {response.status_code}, which is not promised"
            answer = promised["default"]
        content = answer.get("content", {})
        if response.status_code == 204:
            assert told == b""
            return
        kind = response.headers["Content-Type"].split(";")[0]
        assert kind in content, f"{method} {path}: {kind} is not promised"
        if kind.endswith("json"):
            found = problems(content[kind]["schema"], told)
            assert not found, f"{method} {path}: {found} in {str(told)[:500]}"

    def get(self, path: str, **more: Any) -> Any:
        return self.ask("get", path, status=200, **more)

    def post(self, path: str, body: Any = None, *, status: int = 200) -> Any:
        return self.ask("post", path, {} if body is None else body, status=status)

    def put(self, path: str, body: Any, *, status: int = 200) -> Any:
        return self.ask("put", path, body, status=status)


def read(response: Any) -> Any:
    content = b"".join(response.streaming_content) if response.streaming else response.content
    kind = response.headers.get("Content-Type", "").split(";")[0]
    return json.loads(content) if kind in ("application/json", "application/problem+json") else content
