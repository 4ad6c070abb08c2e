"""A Slurm cluster of one node on loopback, in a temporary folder, with one pretend GPU: /dev/null."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

UP_WITHIN = 30.0
CONFIGURATION = """
ClusterName=concord
SlurmctldHost={name}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
SlurmctldPort={controller_port}
SlurmdPort={node_port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
ReturnToService=2
MpiDefault=none
GresTypes=gpu
SlurmdParameters=config_overrides
NodeName={name} NodeAddr=127.0.0.1 CPUs=2 RealMemory=4000 Gres=gpu:1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def program() -> str | None:
    return shutil.which("slurmctld") and shutil.which("slurmd") and shutil.which("munged")


@dataclass
class Cluster:
    folder: Path
    running: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def start(self, part: str, *command: str) -> None:
        with (self.folder / f"{part}.out").open("w") as log:
            environment = os.environ | self.environment
            self.running[part] = subprocess.Popen(command, stdout=log, stderr=log, env=environment)

    def start_controller(self) -> None:
        self.start("slurmctld", "slurmctld", "-D")
        self.wait(lambda: "UP" in self.ask("scontrol", "ping"), "slurmctld")

    def stop_controller(self) -> None:
        """As for an update: it saves its state. Killed, it would forget the last jobs and start them again."""
        self.running["slurmctld"].terminate()
        self.running["slurmctld"].wait(30)

    def ask(self, *command: str) -> str:
        return subprocess.run(
            command, check=False, capture_output=True, text=True, env=os.environ | self.environment, timeout=30
        ).stdout

    def wait(self, holds: Callable[[], bool], part: str) -> None:
        end = time.monotonic() + UP_WITHIN
        while not holds():
            if time.monotonic() > end or self.running[part].poll() is not None:
                raise RuntimeError(f"{part} did not start: {self.said(part)}")
            time.sleep(0.1)

    def said(self, part: str) -> str:
        files = [self.folder / f"{part}.out", self.folder / f"{part}.log"]
        return "\n".join(file.read_text()[-2000:] for file in files if file.exists())

    def stop(self) -> None:
        for process in reversed(self.running.values()):
            process.terminate()
        for process in reversed(self.running.values()):
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def cluster() -> Iterator[Cluster]:
    """Needs root, as a node runs jobs as whoever asked for them."""
    folder = Path(tempfile.mkdtemp(prefix="concord-slurm-", dir="/tmp"))
    folder.chmod(0o755)
    one = Cluster(folder)
    try:
        configure(folder)
        key = folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        one.start(
            "munged", "munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.sock",
            f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log", f"--seed-file={folder}/munge.seed",
        )  # fmt: skip
        one.wait((folder / "munge.sock").exists, "munged")
        one.start_controller()
        one.start("slurmd", "slurmd", "-D")
        one.wait(lambda: "idle" in one.ask("sinfo", "--noheader", "--format=%t"), "slurmd")
        yield one
    finally:
        one.stop()
        shutil.rmtree(folder, ignore_errors=True)


def configure(folder: Path) -> None:
    name = socket.gethostname().partition(".")[0]
    ports = {"controller_port": free_port(), "node_port": free_port()}
    (folder / "slurm.conf").write_text(CONFIGURATION.format(name=name, folder=folder, **ports))
    (folder / "gres.conf").write_text(f"NodeName={name} Name=gpu File=/dev/null\n")
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    (folder / "state").mkdir()
    (folder / "spool").mkdir()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]
