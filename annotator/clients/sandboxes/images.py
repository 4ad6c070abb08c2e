"""Names of container images, and what they were when they were looked up."""

import re

DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def repository(image: str) -> str:
    """Without tag and digest: `ghcr.io:443/a/b:1@sha256:…` is of `ghcr.io:443/a/b`."""
    name = image.partition("@")[0]
    last = name.rpartition("/")[2].partition(":")[0]
    return name[: len(name) - len(name.rpartition("/")[2])] + last


def is_own_number(image: str) -> bool:
    """An image that no registry gave: its number means something on the machine that has it alone."""
    return bool(DIGEST.fullmatch(image))


def in_full(image: str) -> str:
    """The repository with its registry, as engines spell out what names none: `python` is docker.io/library/python."""
    name = repository(image)
    first, _, rest = name.partition("/")
    if rest and (first == "localhost" or "." in first or ":" in first):
        return name
    return f"docker.io/{name}" if rest else f"docker.io/library/{name}"


def is_pinned(image: str, *, of: str) -> bool:
    """One image for good, and of the repository that `of` names."""
    if is_own_number(image):
        return True
    name, _, digest = image.partition("@")
    return bool(DIGEST.fullmatch(digest)) and in_full(name) == in_full(of)
