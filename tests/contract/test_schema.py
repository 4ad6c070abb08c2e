"""The schema of the REST interface is valid, complete, and free of the database's keys."""

import pytest
from django.urls import URLResolver, get_resolver
from openapi_spec_validator import validate

from tests.contract.interface import schema


def test_schema_is_valid_openapi():
    validate(schema())


def test_schema_is_made_without_a_warning(capsys):
    from django.core.management import call_command

    call_command("spectacular", "--fail-on-warn", "--validate")
    assert "warning" not in capsys.readouterr().err.lower()


def addresses(resolver, before=""):
    for entry in resolver.url_patterns:
        path = before + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from addresses(entry, path)
        else:
            yield path


def test_every_address_of_the_interface_is_in_the_schema():
    known = {path.replace("{", "<").replace("}", ">") for path in schema()["paths"]}
    served = {path for path in addresses(get_resolver()) if path.startswith("api/v1/")}
    assert len(served) > 40
    for path in served - {"api/v1/schema/", "api/v1/docs/"}:
        plain = "/" + "".join(part.split(":")[-1] if part.startswith("<") else part for part in split(path))
        assert plain in known, path


def split(path):
    """`a/<int:b>/c` as `a/`, `<`, `b>`, `/c`, with the converter taken off."""
    import re

    return [re.sub(r"<(?:\w+:)?(\w+)>", r"<\1>", part) for part in [path]]


def fields(node, name=""):
    if isinstance(node, dict):
        for key, value in node.get("properties", {}).items():
            yield f"{name}.{key}", value
            yield from fields(value, f"{name}.{key}")
        for key in ("items", "allOf", "additionalProperties"):
            for part in node.get(key) if isinstance(node.get(key), list) else [node.get(key)]:
                yield from fields(part, name)


def test_no_field_is_a_key_of_the_database():
    for name, shape in schema()["components"]["schemas"].items():
        for path, field in fields(shape, name):
            last = path.rsplit(".", 1)[-1]
            assert last not in ("pk",) and not last.endswith("_id"), path
            assert last != "id" or field.get("type") == "string", path


@pytest.mark.parametrize("path", ["/api/v1/schema/", "/api/v1/docs/"])
def test_schema_and_docs_are_open_to_all(client, db, path):
    assert client.get(path).status_code == 200


def test_docs_hold_no_script_or_style_in_the_page(client, db):
    import re

    page = client.get("/api/v1/docs/").content.decode()
    assert "<style" not in page and "style=" not in page
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", page))
    assert not re.findall(r"""(?:src|href)=["'](?:https?:)?//""", page)
