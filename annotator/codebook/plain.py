"""A codebook file as text to the plain lists, mappings and texts in it."""

import json
from typing import Any

import yaml

from annotator.web.errors import BadInput
from annotator.web.plainyaml import Base, load

MAX_BYTES = 500_000


def plain_values(content: str | bytes) -> Any:
    """The lists, mappings and texts in a YAML or JSON file."""
    return parsed(decoded(content))


def decoded(content: str | bytes) -> str:
    if len(content) > MAX_BYTES:
        raise BadInput(f"A codebook file may have at most {MAX_BYTES // 1000} kB; shorten it.")
    if isinstance(content, str):
        return content
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput("The codebook file is not UTF-8 text: save it as UTF-8.") from None


def parsed(text: str) -> Any:
    try:
        return _json(text) if text.lstrip().startswith("{") else _yaml(text)
    except RecursionError:
        raise BadInput("The codebook file is nested too deeply: it needs a title and a list of facets.") from None


def _json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_no_twin_keys, parse_int=str, parse_float=str)
    except json.JSONDecodeError:
        return _yaml(text)


def _no_twin_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise BadInput(f"The key “{short(key)}” stands twice in one place of the codebook file: keep one.")
        found[key] = value
    return found


class _Loader(Base):
    """Every plain value stays the text that was written (a category may be called `no` or `007`), but for null."""

    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag == "tag:yaml.org,2002:null"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    yaml_constructors = {
        tag: build
        for tag, build in yaml.SafeLoader.yaml_constructors.items()
        if tag is None or tag.rpartition(":")[2] in {"null", "str", "seq", "map"}
    }

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:  # PyYAML's signature
        if not isinstance(node, yaml.MappingNode):
            return super().construct_mapping(node, deep)
        pairs = [(self.construct_object(key, deep=True), key) for key, _ in node.value]
        seen: set[str] = set()
        for key, where in pairs:
            if not isinstance(key, str):
                raise BadInput(f"Line {where.start_mark.line + 1} of the codebook file has a key that is not a word.")
            if key in seen:
                raise BadInput(
                    f"The key “{short(key)}” stands twice, again in line {where.start_mark.line + 1}: keep one."
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def _yaml(text: str) -> Any:
    try:
        return load(text, loader=_Loader, what="The codebook file")
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
        raise BadInput(f"The codebook file is not valid YAML{where}: {short(str(problem))}.") from None


def short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:57]}…"
