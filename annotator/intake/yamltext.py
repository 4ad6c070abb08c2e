"""YAML read for a mapping: every plain scalar is text, so that `yes`, `007` and `TRUE` stay what was written."""

from typing import Any

import yaml

from annotator.web.errors import BadInput
from annotator.web.plainyaml import Base, load

NULLS = ("", "~", "null", "Null", "NULL")


class TextLoader(Base):
    """Scalars as text, plain nulls as None; a key given twice and tags are refused, references before."""


def construct_text(loader: TextLoader, node: yaml.ScalarNode) -> str | None:
    if not node.style and node.value in NULLS:
        return None
    return whole(str(node.value))


def whole(text: str) -> str:
    """Join surrogate pairs, which JSON may write as two escapes."""
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise BadInput("The mapping holds half a character (a lone surrogate).") from None


def construct_list(loader: TextLoader, node: yaml.SequenceNode) -> list[Any]:
    return [loader.construct_object(child, deep=True) for child in node.value]


def construct_dict(loader: TextLoader, node: yaml.MappingNode) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str | None):
            raise BadInput(f"Line {key_node.start_mark.line + 1} of the mapping has a key that is no text.")
        key = "" if key is None else key
        if key in out:
            raise BadInput(f"Line {key_node.start_mark.line + 1} of the mapping gives “{key}” a second time.")
        out[key] = loader.construct_object(value_node, deep=True)
    return out


def refuse_tag(loader: TextLoader, node: yaml.Node) -> None:
    raise BadInput(f"Line {node.start_mark.line + 1} of the mapping has the tag {node.tag}: write plain YAML.")


TextLoader.yaml_implicit_resolvers = {}  # nothing plain is a number, a date or a truth value
TextLoader.yaml_constructors = {
    "tag:yaml.org,2002:str": construct_text,
    "tag:yaml.org,2002:seq": construct_list,
    "tag:yaml.org,2002:map": construct_dict,
    None: refuse_tag,
}


def read_yaml(text: str | bytes) -> Any:
    """Dicts, lists, text and None; or one sentence on what is wrong and where."""
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        return load(text, loader=TextLoader, what="The mapping")
    except yaml.YAMLError as problem:
        raise BadInput(f"The mapping is no YAML: {said(problem)}.") from None
    except UnicodeDecodeError:
        raise BadInput("The mapping is not UTF-8 text.") from None
    except (RecursionError, ValueError, OverflowError):
        raise BadInput(
            "The mapping cannot be read: it is nested too deeply or holds an impossible character."
        ) from None


def said(problem: yaml.YAMLError) -> str:
    mark = getattr(problem, "problem_mark", None)
    what = getattr(problem, "problem", None) or " ".join(str(problem).split())
    return f"{what} in line {mark.line + 1}" if mark else what
