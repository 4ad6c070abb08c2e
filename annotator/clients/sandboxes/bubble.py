"""One start of bubblewrap: its command line, and the process that comes of it."""

import json
import os
import secrets
import selectors
import shutil
import signal
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from annotator.clients.sandboxes import groups, seccomp
from annotator.clients.sandboxes.job import Job, Refused

WORK = "/tmp/job"  # noqa: S108  # inside: a file system of its own, in memory
PATH = "/usr/local/bin:/usr/bin:/bin"
SYSTEM = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32")
CONFIGURATION = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "magic", "mime.types")
FIRST_USER, USERS = 1 << 30, 1 << 30  # numbers that no account has
SHARED_MB = 64  # of /dev/shm, where processes of a script share memory
TOOLS = {"bwrap": "bubblewrap", "setpriv": "util-linux", "prlimit": "util-linux", "env": "coreutils"}
OPEN_FILES = 1024
LINGER = 10.0  # seconds
MB = 1024 * 1024
FIRST_TO_GO = 500  # of 1000: where the whole machine is out of memory, scripts go before those who started them
ENTER = (
    f"echo {FIRST_TO_GO} > /proc/self/oom_score_adj; "
    + 'while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; exec "$@"'
)


@dataclass(kw_only=True)
class Start:
    """A sandbox that has been started."""

    process: "subprocess.Popen[bytes]"
    status: int  # where bubblewrap reports: a line when the first process is there, one when the command has ended
    first: int  # number of the first process inside, whose end is the end of all; 0 where it never came
    handle: int  # the same, and surely no other that took the number later
    told: bytes = b""

    def kill(self) -> None:
        """All of it at once: the kernel ends whatever its first process leaves."""
        if self.handle >= 0:
            with suppress(OSError):
                signal.pidfd_send_signal(self.handle, signal.SIGKILL)
        else:
            self.process.kill()

    def exit_code(self) -> int | None:
        """Of the command, once over: negative for the signal that ended it; none where it never began."""
        with suppress(OSError):
            while piece := os.read(self.status, 4096):
                self.told += piece
        for line in self.told.splitlines():
            if "exit-code" in (found := json.loads(line)):
                return unshelled(int(found["exit-code"]))
        return None

    def end(self) -> None:
        """Returns when nothing of it is left."""
        self.kill()
        if self.handle >= 0:
            with selectors.DefaultSelector() as waiting:  # bubblewrap itself is gone before what it held is
                waiting.register(self.handle, selectors.EVENT_READ)
                waiting.select(LINGER)

    def close(self) -> None:
        self.end()
        for descriptor in (self.status, self.handle):
            if descriptor >= 0:
                os.close(descriptor)


def unshelled(code: int) -> int:
    """bubblewrap tells of signals as shells do: by their number and 128."""
    number = code - 128
    return -number if number in signal.valid_signals() else code


@dataclass(kw_only=True)
class Bubble:
    """What one job becomes on the command line."""

    job: Job
    devices: Iterable[Path]
    group: groups.Group | None

    def start(self) -> Start:
        """Raises OSError where bubblewrap is not here."""
        descriptors: list[int] = []
        told, tell = os.pipe()
        try:
            command = self.command(descriptors, tell)
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={},  # what is here would be readable inside as /proc/1/environ
                cwd="/",
                pass_fds=[*descriptors, tell],
            )
        except BaseException:
            os.close(told)
            raise
        finally:
            for descriptor in (*descriptors, tell):
                os.close(descriptor)
        return _begun(process, told)

    def command(self, descriptors: list[int], status: int) -> list[str]:
        """The whole line. Adds what bubblewrap has to inherit to `descriptors`."""
        user = FIRST_USER + secrets.randbelow(USERS)
        line = [tool("bwrap"), "--json-status-fd", str(status), *_apart(user), *_host()]
        line += self._own_folders() + self._seen(user, descriptors) + ["--clearenv"]
        line += ["--seccomp", self._filter(descriptors), "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", WORK]
        return [*self._entering(), *line, "--", *self._bounded(user), *self._surroundings(), *self.job.command]

    def _entering(self) -> list[str]:
        """A step before, so that everything is inside the control group from its first moment."""
        return ["/bin/sh", "-c", ENTER, "sh", *(self.group.doors if self.group else []), "--"]

    def _own_folders(self) -> list[str]:
        """All that can be written to, together as large as the job may fill."""
        shared = min(SHARED_MB * MB, self.job.limits.disk_mb * MB // 4)
        rest = self.job.limits.disk_mb * MB - shared
        line = ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--size", str(shared), "--tmpfs", "/dev/shm"]  # noqa: S108
        line += ["--perms", "1777", "--size", str(rest), "--tmpfs", "/tmp", "--perms", "0777", "--dir", WORK]  # noqa: S108
        return line + [word for node in self.devices for word in ("--dev-bind", str(node), str(node))]

    def _seen(self, user: int, descriptors: list[int]) -> list[str]:
        line = []
        for place, folder in self.job.reads.items():
            line += _way(Path(place))
            line += ["--ro-bind", str(folder), place]
        for name, content in self.job.files.items():
            line += ["--perms", "0666", "--file", _held(content, descriptors), f"{WORK}/{name}"]
        account = f"sandbox:x:{user}:{user}::{WORK}:/bin/sh\n".encode()
        for path, content in {"passwd": account, "group": f"sandbox:x:{user}:\n".encode(), "hosts": HOSTS}.items():
            line += ["--perms", "0444", "--file", _held(content, descriptors), f"/etc/{path}"]
        return line

    def _surroundings(self) -> list[str]:
        """The script's own environment, given only once it is nobody: some variables make a program run other code."""
        variables = {"PATH": PATH, "HOME": WORK, **self.job.variables}
        if self.job.devices:
            variables |= {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": ",".join(self.job.devices)}
        return [tool("env"), "-i", *(f"{name}={value}" for name, value in variables.items())]

    def _filter(self, descriptors: list[int]) -> str:
        if not seccomp.is_known():
            raise Refused("the sandbox filters system calls on x86-64 and arm64 machines alone")
        return _held(seccomp.program(memory_is_counted=bool(self.group)), descriptors)

    def _bounded(self, user: int) -> list[str]:
        """Steps inside, before the command: limits that a process cannot raise again, then the user that it runs as."""
        limits = self.job.limits
        line = [tool("prlimit"), f"--nproc={limits.processes}", f"--nofile={OPEN_FILES}", "--core=0", "--memlock=65536"]
        if not self.group:
            line.append(f"--data={2 * limits.memory_mb * MB}")  # of each process, faster than any watcher
        if os.geteuid() != 0:
            return [*line, "--"]
        drop = ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--clear-groups"]
        return [*line, "--", tool("setpriv"), f"--reuid={user}", f"--regid={user}", *drop, "--"]


def tool(name: str) -> str:
    """Its full path, since a script may have one of the same name; of what runs inside, where it is seen inside.
    Raises Refused where it is not here.
    """
    path = shutil.which(name, path=None if name == "bwrap" else PATH)
    if not path:
        raise Refused(f"{name} is not here: install it (Debian, Ubuntu: apt install {TOOLS[name]})")
    return path


HOSTS = b"127.0.0.1 localhost sandbox\n::1 localhost\n"


def _apart(user: int) -> list[str]:
    """Namespaces of its own. Root needs no user namespace to make them, and inside becomes somebody else for good."""
    line = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup"]
    line += ["--die-with-parent", "--new-session", "--hostname", "sandbox", "--cap-drop", "ALL"]
    if os.geteuid() == 0:
        return [*line, *(word for name in ("SETUID", "SETGID", "SETPCAP") for word in ("--cap-add", f"CAP_{name}"))]
    return [*line, "--unshare-user", "--disable-userns", "--uid", str(user), "--gid", str(user)]


def _host() -> list[str]:
    """Programs and libraries of this machine."""
    line: list[str] = []
    for name in SYSTEM:
        path = Path("/", name)
        if path.is_symlink():
            line += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            line += ["--ro-bind", str(path), str(path)]
    line += ["--perms", "0755", "--dir", "/etc"]
    for name in CONFIGURATION:
        line += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return line


def _way(place: Path) -> list[str]:
    """The folders that lead there: empty, and open to whoever goes through."""
    between = [path for path in reversed(place.parents) if path.parts[1:] and path.parts[1] not in SYSTEM]
    return [word for path in between if str(path) != "/tmp" for word in ("--perms", "0755", "--dir", str(path))]  # noqa: S108


def _held(content: bytes, descriptors: list[int]) -> str:
    """Bytes that bubblewrap reads from a descriptor: its number."""
    descriptor = os.memfd_create("concord")
    descriptors.append(descriptor)
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(content)
        file.seek(0)
    return str(descriptor)


def _begun(process: "subprocess.Popen[bytes]", status: int) -> Start:
    """Wait until the first process inside is there, or bubblewrap has given up."""
    told = b""
    while b"\n" not in told and (piece := os.read(status, 4096)):
        told += piece
    first = int(json.loads(told.splitlines()[0]).get("child-pid", 0)) if told else 0
    handle = -1
    if first:
        with suppress(OSError):  # it has come and gone
            handle = os.pidfd_open(first)
    return Start(process=process, status=status, first=first, handle=handle, told=told)
