"""What this machine can do, for people and for whoever hands out work: a document of JSON's own types."""

import os
import platform
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from annotator.clients.environments import interpreters
from annotator.clients.gpu import Gpus
from annotator.clients.sandboxes import groups
from annotator.clients.sandboxes.job import Job, Limits, Refused, Sandbox

MB = 1024 * 1024
TRIAL = Job(name="trial", command=("true",), limits=Limits(memory_mb=64))


def machine(*, sandboxes: Mapping[str, Sandbox], gpus: Gpus) -> dict[str, Any]:
    """Interpreters, cores, memory in MB, GPUs, and which sandboxes work here, with the reason where one does not."""
    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "interpreters": [{"version": one.version, "path": str(one.path)} for one in interpreters.found()],
        "cores": len(os.sched_getaffinity(0)),
        "memory_mb": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // MB,
        "gpus": [asdict(device) for device in gpus.devices()],
        "sandboxes": {name: reason_against(sandbox) for name, sandbox in sandboxes.items()},
        "bounds": bounds(),
    }


def reason_against(sandbox: Sandbox) -> str:
    """Empty where it works."""
    try:
        sandbox.check(TRIAL)
    except Refused as refused:
        return str(refused) or "it does not work here"
    return ""


def bounds() -> str:
    """How bubblewrap's runs are held to their memory here."""
    found = groups.places()
    return f"control groups, version {found.version}" if found else "watched from outside, every twentieth of a second"
