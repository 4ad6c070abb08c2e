"""A job, and how it ended, as files in a folder: between the one who asks and the node that runs it."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from annotator.clients.sandboxes.job import Ended, How, Job, Limits, Stream

JOB, ENDED, REFUSED = "job.json", "ended.json", "refused.txt"
SAID = {Stream.OUT: "said.out", Stream.ERR: "said.err"}


def write_job(place: Path, job: Job, *, gpu_files: Mapping[str, Sequence[str]]) -> None:
    document = asdict(job) | {
        "files": {name: base64.b64encode(content).decode() for name, content in job.files.items()},
        "reads": {place: str(folder) for place, folder in job.reads.items()},
        "gpu_files": {name: list(files) for name, files in gpu_files.items()},
    }
    _put(place / JOB, document)


def read_job(place: Path) -> tuple[Job, dict[str, list[str]]]:
    """The job, and the device files of GPUs by name."""
    told: dict[str, Any] = json.loads((place / JOB).read_text())
    gpu_files = told.pop("gpu_files")
    told["files"] = {name: base64.b64decode(content) for name, content in told["files"].items()}
    told["reads"] = {place: Path(folder) for place, folder in told["reads"].items()}
    told |= {"command": tuple(told["command"]), "devices": tuple(told["devices"]), "limits": Limits(**told["limits"])}
    return Job(**told), gpu_files


def write_ended(place: Path, ended: Ended) -> None:
    """Without its output, which lies beside it already."""
    document = {name: value for name, value in asdict(ended).items() if name not in ("stdout", "stderr")}
    _put(place / ENDED, document)


def read_ended(place: Path, *, out: bytes, err: bytes) -> Ended:
    told = json.loads((place / ENDED).read_text())
    return Ended(**{**told, "how": How(told["how"])}, stdout=out, stderr=err)


def _put(path: Path, document: dict[str, Any]) -> None:
    """Whole, or not there."""
    half = path.with_suffix(".half")
    half.write_text(json.dumps(document))
    half.replace(path)
