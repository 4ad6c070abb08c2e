"""YAML of a recipe, read so that `3.10` stays 3.10 and `no` stays a word, and written again."""

from typing import Any

import yaml

from annotator.web.errors import BadInput
from annotator.web.plainyaml import Base, load

WHAT = "The recipe"


class Words(Base):
    """Every plain value is the text that was written, empty ones are None; a key given twice is refused."""


def text_of(loader: Words, node: yaml.ScalarNode) -> str | None:
    if not node.style and node.value in ("", "~", "null"):
        return None
    return str(node.value)


def list_of(loader: Words, node: yaml.SequenceNode) -> list[Any]:
    return [loader.construct_object(child, deep=True) for child in node.value]


def mapping_of(loader: Words, node: yaml.MappingNode) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key, line = loader.construct_object(key_node, deep=True), key_node.start_mark.line + 1
        if not isinstance(key, str):
            raise BadInput(f"Line {line} of the recipe has a key that is not a word.")
        if key in found:
            raise BadInput(f"Line {line} of the recipe gives “{key[:60]}” a second time: keep one.")
        found[key] = loader.construct_object(value_node, deep=True)
    return found


def refuse_tag(loader: Words, node: yaml.Node) -> None:
    raise BadInput(f"Line {node.start_mark.line + 1} of the recipe has the tag {node.tag[:60]}: write plain YAML.")


Words.yaml_implicit_resolvers = {}
Words.yaml_constructors = {
    "tag:yaml.org,2002:str": text_of,
    "tag:yaml.org,2002:seq": list_of,
    "tag:yaml.org,2002:map": mapping_of,
    None: refuse_tag,
}


def plain(text: str | bytes) -> Any:
    """Mappings, lists, texts and None; BadInput says what is wrong and where."""
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        return load(text, loader=Words, what=WHAT)
    except UnicodeDecodeError:
        raise BadInput("The recipe is not UTF-8 text: save it as UTF-8.") from None
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        said = getattr(problem, "problem", None) or "it cannot be read"
        raise BadInput(f"The recipe is no YAML{where}: {' '.join(str(said).split())[:200]}.") from None
    except (RecursionError, ValueError, OverflowError):
        raise BadInput("The recipe cannot be read: it is nested too deeply or holds an impossible character.") from None


class Quoting(yaml.SafeDumper):
    """Writes text that looks like a number, a date or a truth value in quotes, and nothing by reference."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def written(document: Any) -> str:
    """The document as YAML, keys in the order given."""
    return yaml.dump(document, Dumper=Quoting, sort_keys=False, allow_unicode=True, width=120, default_flow_style=False)
