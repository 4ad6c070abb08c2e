"""Scripts that take what they can get: processes, memory, disk, output, time – and try to stay when the run is over."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from annotator.clients.sandboxes.job import How
from tests.integration.sandboxes.left import running
from tests.integration.sandboxes.running import PYTHON, python, run

pytestmark = pytest.mark.once


def test_fork_bomb(sandbox):
    script = """
import os, sys, time
made = 0
for _ in range(2000):
    try:
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        made += 1
    except OSError:
        break
print(made)
"""
    ended = python(sandbox, script, processes=40)
    assert ended.how is How.EXITED and 20 <= int(ended.stdout) < 42


def test_fork_bomb_of_a_shell(sandbox):
    before = len(list(Path("/proc").iterdir()))
    ended = run(sandbox, "sh", "-c", "echo go; b() { b | b & }; b; sleep 1; b; sleep 60", processes=40, seconds=2)
    assert ended.stdout == b"go\n" and ended.seconds < 10
    assert len(list(Path("/proc").iterdir())) < before + 60


def test_thread_bomb(sandbox):
    script = """
import threading, time
made = 0
for _ in range(2000):
    try:
        threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
        made += 1
    except RuntimeError:
        break
print(made, flush=True)
import os; os._exit(0)
"""
    ended = python(sandbox, script, processes=40, memory_mb=1024)
    assert ended.how is How.EXITED and 20 <= int(ended.stdout) < 42


@pytest.mark.parametrize(
    "fill",
    [
        "mmap.mmap(-1, 4 << 20).write(b'x' * (4 << 20))",
        "mmap.mmap(-1, 4 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).write(b'x' * (4 << 20))",
    ],
    ids=["shared", "private"],
)
def test_mapped_memory(sandbox, fill):
    script = f"import mmap\nkept = []\nfor _ in range(200):\n    m = {fill.partition('.write')[0]}\n    m.write(b'x' * (4 << 20))\n    kept.append(m)\nprint('all')"
    ended = python(sandbox, script, memory_mb=100)
    assert b"all" not in ended.stdout
    assert ended.how is How.OUT_OF_MEMORY or b"annot allocate" in ended.stderr


def test_memory_that_no_process_holds(sandbox):
    """Files in memory count for the run, or cannot be made."""
    script = """
import os
kept = [os.memfd_create(str(n)) for n in range(100)]
for file in kept:
    os.write(file, b'x' * (8 << 20))
print('all')
"""
    ended = python(sandbox, script, memory_mb=100)
    assert b"all" not in ended.stdout
    assert ended.how is How.OUT_OF_MEMORY or b"PermissionError" in ended.stderr


def test_many_small_files(sandbox):
    script = """
import os
made = 0
try:
    for n in range(30000):
        with open(f"/tmp/{n}", "wb") as file:
            file.write(b"x" * 4096)
        made += 1
except OSError as error:
    print(made, error.strerror)
"""
    ended = python(sandbox, script, disk_mb=40, memory_mb=512)
    made, said = ended.stdout.decode().split(" ", 1)
    assert int(made) * 4096 < 41 << 20 and "No space left" in said


def test_file_with_a_hole_takes_no_room(sandbox):
    ended = python(sandbox, "f = open('big', 'wb'); f.truncate(1 << 40); print('made')")
    assert ended.how is How.EXITED


def test_flood_of_both_outputs_at_once(sandbox):
    script = """
import os, threading
def flood(to):
    while True:
        os.write(to, b"x" * 65536)
threading.Thread(target=flood, args=(2,), daemon=True).start()
flood(1)
"""
    ended = python(sandbox, script, output_kb=256)
    assert ended.how is How.TOO_MUCH_OUTPUT and ended.seconds < 15
    assert max(len(ended.stdout), len(ended.stderr)) == 256 * 1024


def test_open_files_are_bounded(sandbox):
    script = "kept = []\ntry:\n    while True: kept.append(open('/dev/null'))\nexcept OSError: print(len(kept))"
    assert int(python(sandbox, script).stdout) <= 1024


def test_script_that_ignores_every_signal(sandbox):
    script = """
import signal
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except OSError:
        pass
print("deaf", flush=True)
while True:
    pass
"""
    ended = python(sandbox, script, seconds=2)
    assert (ended.how, ended.stdout) == (How.TIMED_OUT, b"deaf\n") and ended.seconds < 8


@pytest.mark.parametrize(
    "leave",
    [
        "os.fork() or (os.setsid(), os.fork() and os._exit(0), stay())",
        "os.fork() or (signal.signal(signal.SIGHUP, signal.SIG_IGN), stay())",
        "os.fork() or (os.setsid(), [os.close(fd) for fd in (0, 1, 2)], stay())",
        "subprocess.Popen(['nohup', 'sleep', MARK], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)",
        "subprocess.Popen(['setsid', '--fork', 'sleep', MARK])",
        "os.fork() or (libc.prctl(1, 0), libc.prctl(36, 1), stay())",
        "os.fork() or (signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals)), stay())",
    ],
    ids=["double fork", "deaf to hang-ups", "closed streams", "nohup", "setsid", "subreaper", "all signals blocked"],
)
def test_nothing_outlives_the_run(sandbox, leave):
    mark = f"7{time.time_ns() % 10**8}"
    script = f"""
import ctypes, os, signal, subprocess, time
libc, MARK = ctypes.CDLL(None), {mark!r}
def stay():
    os.execvp("sleep", ["sleep", MARK])
{leave}
time.sleep(0.3)
print(subprocess.run(["ps", "-e", "-o", "args"], capture_output=True, text=True).stdout.count("sleep " + MARK), flush=True)
os._exit(0)
"""
    ended = python(sandbox, script)
    assert (ended.how, ended.stdout) == (How.EXITED, b"1\n"), ended.stderr.decode()
    assert not running(mark)


def test_runs_of_one_name_at_once_do_not_meet(sandbox):
    script = "import os, time; open('/tmp/mine', 'x'); time.sleep(0.5); print(len(os.listdir('/tmp')))"
    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(python, sandbox, script, name="same") for _ in range(3)]
    assert [one.result().stdout for one in runs] == [b"2\n"] * 3


def test_files_named_like_our_own_tools_are_not_run(sandbox):
    """What a job brings along runs as the script, never in the steps that lead up to it."""
    evil = "#!/bin/sh\nid -u > /tmp/rose; exec /usr/bin/env -i sh -c 'echo rose'\n"
    names = ("sh", "env", "prlimit", "setpriv", "bwrap", "mkdir", "cp", "chmod")
    ended = run(
        sandbox, str(PYTHON), "-c", "import os; print(os.path.exists('/tmp/rose'))",
        files=dict.fromkeys(names, evil), variables={"PATH": "/tmp/job:/usr/bin:/bin", "ENV": "/tmp/job/sh"},
    )  # fmt: skip
    assert ended.stdout == b"False\n", ended.stderr.decode()


def test_variables_that_make_programs_run_other_code_work_for_the_script_alone(sandbox):
    ended = run(
        sandbox,
        "sh",
        "-c",
        "id -u",
        variables={"LD_PRELOAD": "/tmp/job/evil.so", "LD_LIBRARY_PATH": "/tmp/job"},
        files={"evil.so": "no library"},
    )
    assert ended.stderr.count(b"evil.so") <= 3  # said by the loader of the script's own programs
    assert int(ended.stdout) >= 1000
