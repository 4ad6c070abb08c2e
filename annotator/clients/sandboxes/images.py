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


def is_pinned(image: str, *, of: str) -> bool:
    """One image for good, and of the repository that `of` names: some engines spell `python` out as docker.io/library/python."""
    name, _, digest = image.partition("@")
    if is_own_number(image):
        return True
    one, other = f"/{repository(name)}", f"/{repository(of)}"
    return bool(DIGEST.fullmatch(digest)) and (one.endswith(other) or other.endswith(one))
