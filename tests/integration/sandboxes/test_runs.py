"""What a run gives back, in whichever sandbox."""

import signal
import time

import pytest

from annotator.clients.sandboxes.job import How, Stream
from tests.integration.sandboxes.left import running
from tests.integration.sandboxes.running import python, run, told

pytestmark = pytest.mark.once


def test_output_exit_code_and_use_are_told(sandbox):
    ended = python(sandbox, "import sys; x = b'x' * (50 << 20); print(6 * 7); sys.stderr.write('oh'); sys.exit(3)")
    assert (ended.how, ended.exit_code, ended.stdout, ended.stderr) == (How.EXITED, 3, b"42\n", b"oh")
    assert 0 < ended.seconds < 20


def test_processor_time_and_memory_are_measured(sandbox):
    script = (
        "import time\nx = b'x' * (80 << 20)\nend = time.process_time() + 0.4\nwhile time.process_time() < end: pass"
    )
    ended = python(sandbox, script)
    assert 0.3 < ended.cpu_seconds < 3
    assert 75 < ended.peak_mb < 140


def test_signal_is_a_negative_exit_code(sandbox):
    assert python(sandbox, "import os; os.kill(os.getpid(), 11)").exit_code == -signal.SIGSEGV


def test_output_is_heard_while_it_runs(sandbox):
    heard = []
    script = "import time\nprint('first', flush=True)\ntime.sleep(1)\nprint('second')"
    ended = python(sandbox, script, heard=lambda stream, piece: heard.append((stream, piece, time.monotonic())))
    first, second = heard[0], heard[-1]
    assert first[1] == b"first\n" and second[2] - first[2] > 0.8
    assert told([piece[:2] for piece in heard], Stream.OUT) == ended.stdout == b"first\nsecond\n"


def test_environment_is_what_the_job_names(sandbox, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://secret")
    ended = run(sandbox, "env", variables={"LANG": "C.UTF-8", "ODD": "a b\n'c\""})
    lines = ended.stdout.decode()
    assert "LANG=C.UTF-8\n" in lines and "ODD=a b\n'c\"\n" in lines
    assert "secret" not in lines
    assert {line.partition("=")[0] for line in lines.splitlines() if "=" in line} <= {
        "LANG",
        "ODD",
        "PATH",
        "HOME",
        "PWD",
    }


def test_files_of_the_job_are_in_an_otherwise_empty_folder_that_can_be_written_to(sandbox):
    ended = run(
        sandbox, "sh", "-c", "ls -A; echo more >> a.txt; cat a.txt; rm b.bin", files={"a.txt": "one\n", "b.bin": ""}
    )
    assert (ended.stdout, ended.stderr, ended.exit_code) == (b"a.txt\nb.bin\none\nmore\n", b"", 0)


def test_folder_that_the_job_names_is_read_and_not_written(sandbox, tmp_path):
    (tmp_path / "seen.txt").write_text("seen")
    tmp_path.chmod(0o777)
    reads = {"/place/of/it": tmp_path}
    ended = run(sandbox, "sh", "-c", "cat /place/of/it/seen.txt; echo x > /place/of/it/new", reads=reads)
    assert ended.stdout == b"seen"
    assert b"Read-only" in ended.stderr
    assert not (tmp_path / "new").exists()


def test_too_long_a_run_ends_with_all_it_started(sandbox):
    mark = f"7{time.time_ns() % 10**8}"
    ended = run(sandbox, "sh", "-c", f"(setsid sleep {mark} &) ; nohup sleep {mark} & echo up; sleep {mark}", seconds=1)
    assert (ended.how, ended.exit_code, ended.stdout) == (How.TIMED_OUT, None, b"up\n")
    assert not running(mark)


def test_what_it_left_behind_ends_with_it(sandbox):
    mark = f"7{time.time_ns() % 10**8}"
    ended = run(sandbox, "sh", "-c", f"setsid sleep {mark} >/dev/null 2>&1 & sleep 0.2; ps -e | grep -c sleep")
    assert (ended.how, ended.stdout) == (How.EXITED, b"1\n")
    assert not running(mark)


def test_cancelled_at_once(sandbox):
    started = time.monotonic()
    ended = run(sandbox, "sleep", "20", stopped=lambda: time.monotonic() > started + 0.5)
    assert (ended.how, ended.exit_code) == (How.CANCELLED, None)
    assert ended.seconds < 2


def test_memory_of_one_process_is_bounded(sandbox):
    script = "x = []\nfor _ in range(300): x.append(b'x' * (4 << 20))\nprint('got it all')"
    ended = python(sandbox, script, memory_mb=100)
    assert ended.how is How.OUT_OF_MEMORY and ended.stdout == b""
    assert 100 <= ended.peak_mb < 400


def test_memory_of_many_processes_is_bounded_together(sandbox):
    script = """
import os, time
for _ in range(10):
    if not os.fork():
        x = b'x' * (30 << 20)
        time.sleep(5)
        os._exit(0)
time.sleep(5)
print('all held')
"""
    ended = python(sandbox, script, memory_mb=120)
    assert ended.how is How.OUT_OF_MEMORY and b"all held" not in ended.stdout


def test_too_much_output_ends_it(sandbox):
    heard = []
    ended = run(sandbox, "yes", output_kb=64, heard=lambda stream, piece: heard.append((stream, piece)))
    assert (ended.how, len(ended.stdout)) == (How.TOO_MUCH_OUTPUT, 64 * 1024)
    assert told(heard, Stream.OUT) == ended.stdout


def test_too_much_output_in_one_last_breath(sandbox):
    ended = python(sandbox, "import os; os.write(2, b'x' * 40000)", output_kb=32)
    assert (ended.how, len(ended.stderr)) == (How.TOO_MUCH_OUTPUT, 32 * 1024)


def test_disk_is_bounded(sandbox):
    ended = run(
        sandbox,
        "sh",
        "-c",
        "for f in /tmp/a b /dev/shm/c; do head -c 90M /dev/zero > $f; done; du -cm /tmp /dev/shm | tail -1",
        disk_mb=40,
    )
    assert ended.stderr.count(b"No space left") == 3
    assert int(ended.stdout.split()[0]) <= 41


def test_command_that_is_not_there_is_an_exit_code(sandbox):
    ended = run(sandbox, "no-such-command")
    assert (ended.how, ended.exit_code) == (How.EXITED, 127) and b"no-such-command" in ended.stderr


def test_listener_that_fails_ends_the_run(sandbox):
    mark = f"7{time.time_ns() % 10**8}"

    def fail(*_):
        raise ValueError("the database is gone")

    with pytest.raises(ValueError, match="database is gone"):
        run(sandbox, "sh", "-c", f"echo hello; sleep {mark}", heard=fail)
    assert not running(mark)
