"""A real cluster of one node: jobs of CPU and of a pretend GPU, the queue, cancelling, exit codes, a controller that
comes back.
"""

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from annotator.clients.sandboxes.job import How, Refused, Stream
from annotator.clients.sandboxes.slurm import Lost, Slurm
from tests.integration.environments.inside import refuse_told_places_in
from tests.integration.sandboxes.left import eventually, running
from tests.integration.sandboxes.running import job, python, run, told
from tests.services import slurm as clusters

ROOT = Path(__file__).resolve().parents[3]
pytestmark = [pytest.mark.once, pytest.mark.xdist_group("slurm")]


@pytest.fixture(scope="module")
def cluster():
    if os.geteuid() != 0 or not clusters.program():
        pytest.skip("needs Slurm and munge, and root to start them (apt install slurm-wlm munge)")
    with clusters.cluster() as one, pytest.MonkeyPatch.context() as patch:
        for name, value in one.environment.items():
            patch.setenv(name, value)
        yield one


@pytest.fixture
def sandbox(cluster, tmp_path):
    return Slurm(folder=tmp_path / "shared", gpu_files={"0": ["/dev/null"]})


def queue(cluster) -> list[dict]:
    jobs = json.loads(cluster.ask("squeue", "--json"))["jobs"]
    return [one for one in jobs if one["job_state"] in ("PENDING", "RUNNING")]


@pytest.mark.parametrize("said", ["", "echo no such cluster >&2; exit 1", "echo '{'"])
def test_without_a_cluster_there_is_nothing_to_sweep(tmp_path, monkeypatch, said):
    if said:
        (tmp_path / "squeue").write_text(f"#!/bin/sh\n{said}\n")
        (tmp_path / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    Slurm(folder=tmp_path).sweep()


def test_an_environment_tells_no_folder_of_the_machine(sandbox, tmp_path):
    refuse_told_places_in(sandbox, tmp_path)


def test_output_exit_code_and_use_come_back(sandbox):
    heard = []
    ended = python(
        sandbox, "import sys; print('out'); sys.stderr.write('err'); sys.exit(3)",
        heard=lambda stream, piece: heard.append((stream, piece)),
    )  # fmt: skip
    assert (ended.how, ended.exit_code, ended.stdout, ended.stderr) == (How.EXITED, 3, b"out\n", b"err")
    assert told(heard, Stream.OUT) == b"out\n"
    assert ended.cpu_seconds > 0 and list(sandbox.folder.iterdir()) == []


def test_slurms_own_books_hold_the_exit_code(sandbox, cluster):
    assert run(sandbox, "sh", "-c", "exit 7", name="seven").exit_code == 7
    assert eventually(
        lambda: (
            "JobName=concord-seven" in (said := cluster.ask("scontrol", "show", "job", "-o")) and "ExitCode=7:0" in said
        )
    )


def test_it_is_contained_there_as_well(sandbox, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://secret")
    ended = run(sandbox, "sh", "-c", "env; id -u; cat /etc/shadow; ls /tmp")
    assert b"secret" not in ended.stdout and b"SLURM" not in ended.stdout
    assert b"/etc/shadow: No such file" in ended.stderr
    assert ended.stdout.decode().split()[-2:] != ["0", "job"]


def test_memory_and_time_are_held(sandbox):
    assert python(sandbox, "x = b'x' * (300 << 20); print('held')", memory_mb=100).how is How.OUT_OF_MEMORY
    assert run(sandbox, "sleep", "30", seconds=1).how is How.TIMED_OUT


def test_pretend_gpu_is_handed_out_one_job_at_a_time(sandbox):
    script = "echo $CUDA_VISIBLE_DEVICES; date +%s.%N; sleep 1; date +%s.%N"
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(run, sandbox, "sh", "-c", script, gpus=1) for _ in range(2)]
    said = sorted(one.result().stdout.decode().split() for one in runs)
    assert [device for device, *_ in said] == ["0", "0"]
    (_, _, first_ended), (_, second_began, _) = sorted(said, key=lambda words: words[1])
    assert float(second_began) >= float(first_ended)


def test_more_gpus_than_there_are_is_refused(sandbox):
    with pytest.raises(Refused, match="sbatch"):
        run(sandbox, "true", gpus=2)


def test_what_does_not_fit_waits_in_the_queue(sandbox, cluster):
    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(run, sandbox, "sleep", "1.5", memory_mb=1800) for _ in range(3)]
        assert eventually(lambda: "PENDING" in [one["job_state"] for one in queue(cluster)])
        assert [one.result().exit_code for one in runs] == [0, 0, 0]


def test_cancelled_at_once_and_nothing_stays(sandbox, cluster):
    mark = f"7{time.time_ns() % 10**8}"
    ended = run(sandbox, "sh", "-c", f"setsid sleep {mark} & sleep {mark}", stopped=lambda: bool(running(mark)))
    assert ended.how is How.CANCELLED
    assert eventually(lambda: not running(mark)) and not queue(cluster)


def test_cancelled_while_it_waits(sandbox, cluster):
    stop = threading.Event()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(run, sandbox, "sleep", "4", memory_mb=3000)
        assert eventually(lambda: [one["job_state"] for one in queue(cluster)] == ["RUNNING"])
        second = pool.submit(run, sandbox, "sleep", "4", memory_mb=3000, stopped=stop.is_set)
        assert eventually(lambda: len(queue(cluster)) == 2)
        stop.set()
        assert second.result().how is How.CANCELLED
        assert first.result().exit_code == 0


def test_run_survives_a_restart_of_the_controller(sandbox, cluster):
    heard = []
    script = "echo before; sleep 4; echo after; exit 5"
    with ThreadPoolExecutor(1) as pool:
        one = pool.submit(run, sandbox, "sh", "-c", script, heard=lambda stream, piece: heard.append(piece))
        assert eventually(lambda: heard == [b"before\n"])
        cluster.stop_controller()
        time.sleep(1.5)
        cluster.start_controller()
        ended = one.result()
    assert (ended.exit_code, ended.stdout) == (5, b"before\nafter\n")


def test_cancelled_by_somebody_else_is_lost_and_not_a_result(sandbox, cluster):
    mark = f"7{time.time_ns() % 10**8}"
    with ThreadPoolExecutor(1) as pool:
        one = pool.submit(run, sandbox, "sleep", mark, seconds=30)
        assert eventually(lambda: running(mark))
        cluster.ask("scancel", str(queue(cluster)[0]["job_id"]))
        with pytest.raises(Lost, match="Slurm says CANCELLED"):
            one.result()
    assert not running(mark)


def test_what_a_killed_worker_left_is_cancelled(sandbox, cluster):
    mark = f"7{time.time_ns() % 10**8}"
    script = f"""
from pathlib import Path
from annotator.clients.sandboxes.job import Job
from annotator.clients.sandboxes.slurm import Slurm
job = Job(name="left", command=("sleep", "{mark}"))
Slurm(folder=Path({str(sandbox.folder)!r})).run(job, heard=print, stopped=lambda: False)
"""
    worker = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT)
    assert eventually(lambda: running(mark))
    worker.kill()
    worker.wait()
    sandbox.sweep()
    assert eventually(lambda: not running(mark))


def test_refused_without_a_controller(sandbox, cluster):
    cluster.stop_controller()
    try:
        with pytest.raises(Refused, match="controller does not answer"):
            sandbox.check(job())
    finally:
        cluster.start_controller()


def test_refused_without_its_commands(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Refused, match="sbatch is not here"):
        Slurm(folder=tmp_path).check(job())


def test_image_is_refused(tmp_path):
    with pytest.raises(Refused, match="container engine"):
        Slurm(folder=tmp_path).check(job(image="python:3.8"))
