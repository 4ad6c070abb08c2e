"""Run a job that lies in a folder, on the node that Slurm chose: python -m annotator.clients.sandboxes.placed FOLDER."""

import os
import sys
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from annotator.clients.gpu import Gpus
from annotator.clients.sandboxes.bubblewrap import Bubblewrap
from annotator.clients.sandboxes.job import Refused, Stream
from annotator.clients.sandboxes.letters import REFUSED, SAID, read_job, write_ended


def main(place: Path) -> int:
    """The script's own exit code, so that Slurm's books hold it too."""
    job, gpu_files = read_job(place)
    gpus = Gpus(locks=Path(tempfile.gettempdir()) / "concord-gpus")

    def nodes(device: str) -> Iterable[Path]:
        return [Path(file) for file in gpu_files[device]] if device in gpu_files else gpus.nodes(device)

    given = [device for device in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if device]
    sandbox = Bubblewrap(nodes=nodes, gpu_used_mb=gpus.used_mb)
    with ExitStack() as stack:
        files = {stream: stack.enter_context((place / name).open("ab", buffering=0)) for stream, name in SAID.items()}

        def heard(stream: Stream, piece: bytes) -> None:
            files[stream].write(piece)

        try:
            if job.limits.gpus:
                job = replace(job, devices=tuple(gpus.named(device) for device in given[: job.limits.gpus]))
            ended = sandbox.run(job, heard=heard, stopped=lambda: False)
        except Refused as refused:
            (place / REFUSED).write_text(str(refused))
            return 1
    write_ended(place, ended)
    return 1 if ended.exit_code is None else ended.exit_code % 256


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
