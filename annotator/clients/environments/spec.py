"""What is asked for, what it was locked to, and what is ready to be used."""

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement

from annotator.clients.environments.interpreters import Interpreter

PLACE, PYTHON = "/environment", "/python"  # where sandboxes show them, whatever the folders are called on this machine


class Unready(Exception):
    """An environment that cannot be had, in a sentence that says what to do about it."""


class NoInterpreter(Unready):
    """This machine has no such Python."""


class NotInstalled(Unready):
    """Its packages cannot be had, or not built into an environment."""

    def __init__(self, said: str, *, may_pass: bool = False, unbuilt: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(said)
        self.may_pass = may_pass  # a network that failed, not a package that isn't there
        self.unbuilt = unbuilt  # (name, version) of packages that nobody published a wheel of


@dataclass(frozen=True, kw_only=True)
class Spec:
    """An environment as a recipe asks for it."""

    python: str = ""  # "3.8", "3.8.18" or a full path; none: the one that the platform runs on
    requirements: tuple[str, ...] = ()  # names with versions, as in "numpy<1.24"
    image: str = ""  # instead of both
    variables: Mapping[str, str] = field(default_factory=dict)
    setup: tuple[str, ...] = ()  # shell commands, run once when it is built, in a sandbox


@dataclass(frozen=True, kw_only=True)
class Lock:
    """The same down to exact versions."""

    spec: Spec
    interpreter: Interpreter | None = None  # none with an image
    text: str = ""  # requirements with versions and hashes, as pip and uv read them
    image: str = ""  # the one that was asked for, by its digest

    @property
    def python(self) -> str:
        """The version found, as 3.8.18."""
        return self.interpreter.version if self.interpreter else ""

    @property
    def digest(self) -> str:
        """Of all that makes it what it is, wherever its parts lie. 64 hexadecimal digits."""
        return _digest(self.content | {"variables": dict(self.spec.variables)})

    @property
    def place(self) -> str:
        """Of all that its folder on this machine depends on."""
        return _digest(self.content | {"at": str(self.interpreter.path) if self.interpreter else "", "shown": PLACE})

    @property
    def content(self) -> dict[str, Any]:
        system = f"{platform.system()} {platform.machine()}"
        locked = self.text.strip().splitlines()
        setup = list(self.spec.setup)
        return {
            "python": self.python,
            "locked": locked,
            "image": self.image or self.spec.image,
            "setup": setup,
            "system": system,
        }


@dataclass(frozen=True, kw_only=True)
class Environment:
    """One that is ready."""

    lock: Lock
    python: str  # what starts its Python inside a sandbox
    reads: Mapping[str, Path] = field(default_factory=dict)  # folders that the sandbox has to show, by where
    paths: Mapping[str, str] = field(default_factory=dict)  # variables without which its Python does not find its parts
    installed: Mapping[str, str] = field(default_factory=dict)  # {distribution: version}, as found; unknown in an image

    @property
    def image(self) -> str:
        return self.lock.image or self.lock.spec.image

    @property
    def variables(self) -> Mapping[str, str]:
        return {**self.paths, **self.lock.spec.variables}


def read_requirement(text: str) -> str:
    """A name with versions, and nothing that would be fetched from elsewhere or read as an option."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        reason = str(error).splitlines()[0]
        raise NotInstalled(f"{text[:100]!r} is no requirement such as numpy==1.19.0: {reason}") from None
    if requirement.url:
        raise NotInstalled(f"{text[:100]!r} names an address: packages come from the package index alone, as wheels")
    return str(requirement)


def _digest(document: dict[str, Any]) -> str:
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
