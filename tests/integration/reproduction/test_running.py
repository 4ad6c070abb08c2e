"""A run from claim to result, in the sandbox and with a real environment: every ending has its own word."""

import subprocess
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from annotator.reproduction import hosts, leases, queries, tasks, waking, working
from annotator.reproduction.foreground import Kept
from annotator.reproduction.ledger import Unreachable, Work
from annotator.reproduction.matching import Can
from annotator.reproduction.models import Series
from annotator.reproduction.running import carry_out
from annotator.reproduction.working import perform
from tests.factories.reproduction import SHOWS, VERSION, document, here, make_series

UNEVEN = "import os\nprint('NaN' if int(os.environ['RECIPE_SEED']) % 2 else 'fine')\n"
GREEDY = "held = []\nwhile True:\n    held.append(bytearray(20_000_000))\n"
HANGS = "import os, time\nprint('begun', flush=True)\nif os.environ['SHOWS'] == 'yes':\n    time.sleep(600)\n"


def carried_out(series: Series):
    """Every run by this machine's worker, and what they say together."""
    for run in series.runs.all():
        perform(run.pk, here())
    (told,) = queries.series_told(Series.objects.filter(pk=series.pk))
    return told


def test_a_bug_that_shows_where_it_should_is_reproduced(study, bugs, ada):
    series = make_series(bugs[0], ada)
    told = carried_out(series)
    assert (told.verdict.verdict, told.is_over) == ("reproduced", True)
    run = series.runs.first()
    assert (run.outcome, run.exit_code, run.stdout, run.said) == (
        "bug", 0, "NaN\n", "“NaN” stands on standard output.",
    )  # fmt: skip
    assert run.locked.python == VERSION and run.locked.variables == {"SHOWS": "yes"}
    assert (run.seconds > 0, run.cpu_seconds >= 0, run.peak_mb > 1, len(run.input_digest)) == (True, True, True, 64)
    assert run.measures["runner"] == "local"
    assert [piece.text for piece in queries.log_after(run, -1)] == ["NaN\n"]
    assert perform(run.pk, here()) is False


def test_what_goes_in_is_named_by_a_digest(study, bugs, ada):
    one, other = make_series(bugs[0], ada), make_series(bugs[1], ada, name="The same otherwise named")
    carried_out(one)
    carried_out(other)
    digests = [list(series.runs.values_list("input_digest", flat=True)) for series in (one, other)]
    assert digests[0] == digests[1] and len(set(digests[0])) == 4


def test_a_bug_that_shows_now_and_then_is_flaky(study, bugs, ada):
    told = carried_out(make_series(bugs[0], ada, script=UNEVEN, repeats=4))
    assert (told.verdict.verdict, told.verdict.environments[0].rate) == ("flaky", 0.5)
    assert told.verdict.environments[0].interval == pytest.approx((0.15, 0.85), abs=0.001)


def test_a_fixed_version_that_fails_as_well_is_said_so(study, bugs, ada):
    told = carried_out(make_series(bugs[0], ada, script="print('NaN')", repeats=1))
    assert told.verdict.verdict == "fixed_also_fails"


def test_a_bug_that_does_not_show_is_not_reproduced(study, bugs, ada):
    assert carried_out(make_series(bugs[0], ada, script="print(1)", repeats=1)).verdict.verdict == "not_reproduced"


def test_a_missing_interpreter_is_no_verdict_on_the_bug(study, bugs, ada):
    told = carried_out(make_series(bugs[0], ada, fixed={"python": "3.4"}, repeats=1))
    run = told.runs[1]
    assert (told.verdict.verdict, run.outcome) == ("infrastructure", "no_interpreter")
    assert "no interpreter 3.4 here" in run.said and VERSION in run.said


def test_a_package_that_is_not_there_is_no_verdict_on_the_bug(study, bugs, ada, package_index):
    told = carried_out(make_series(bugs[0], ada, buggy={"requirements": ["concord-no-such-package==1"]}, repeats=1))
    assert (told.verdict.verdict, told.runs[0].outcome) == ("infrastructure", "not_installed")


def test_killed_for_memory_it_says_nothing_of_the_bug(study, bugs, ada):
    told = carried_out(make_series(bugs[0], ada, script=GREEDY, limits={"memory_mb": 128}, repeats=1))
    assert (told.verdict.verdict, told.runs[0].outcome) == ("infrastructure", "out_of_memory")
    wanted = {"oracle": {"out_of_memory": True}, "limits": {"memory_mb": 128}, "repeats": 1}
    assert carried_out(make_series(bugs[0], ada, script=GREEDY, **wanted)).verdict.verdict == "fixed_also_fails"


def test_a_hang_is_the_bug_only_where_the_oracle_asks_for_it(study, bugs, ada):
    told = carried_out(make_series(bugs[0], ada, script=HANGS, limits={"seconds": 1}, repeats=1))
    assert (told.verdict.verdict, told.runs[0].outcome) == ("infrastructure", "timed_out")
    wanted = {"oracle": {"timeout": True}, "limits": {"seconds": 1}, "repeats": 1}
    assert carried_out(make_series(bugs[0], ada, script=HANGS, **wanted)).verdict.verdict == "reproduced"


def test_more_output_than_it_may_write_is_no_verdict(study, bugs, ada):
    script = "while True:\n    print('NaN' * 1000)\n"
    told = carried_out(make_series(bugs[0], ada, script=script, limits={"output_kb": 64}, repeats=1))
    assert told.runs[0].outcome == "too_much" and len(told.series.runs.first().stdout) == 64 * 1024


def test_a_differential_names_who_deviates(study, bugs, ada):
    listed = [
        {"name": name, "python": VERSION, "variables": {"GIVES": gives}}
        for name, gives in [("a", "1"), ("b", "2"), ("c", "1")]
    ]
    described = {"kind": "differential", "environments": listed, "oracle": None, "compare": "metric", "metric": "sum"}
    series = make_series(bugs[0], ada, script="import os\nprint('sum', os.environ['GIVES'])", repeats=1, **described)
    told = carried_out(series)
    assert (told.verdict.verdict, told.verdict.votes.deviants) == ("reproduced", ("b",))


def test_without_a_sandbox_it_is_refused_and_never_run_bare(study, bugs, ada, tmp_path):
    bare = replace(here(), sandboxes={})
    run = make_series(bugs[0], ada, repeats=1).runs.first()
    assert perform(run.pk, bare)
    run.refresh_from_db()
    assert (run.outcome, run.stdout) == ("refused", "") and run.said.startswith("No sandbox:")


def test_what_wants_a_gpu_goes_on_waiting_where_there_is_none(study, bugs, ada):
    run = make_series(bugs[0], ada, limits={"gpus": 1}).runs.first()
    assert perform(run.pk, here()) is False
    run.refresh_from_db()
    assert (run.state, queries.waits_for(run)) == ("waiting", "Waiting for a GPU runner.")


def test_what_a_host_can_do_and_this_machine_cannot_is_left_to_it(study, bugs, ada, lee):
    run = make_series(bugs[0], ada, buggy={"python": "3.4"}).runs.first()
    host, _ = hosts.add_host(study=study, name="old", by=lee)
    leases.claim_next(host, Can(pythons=["3.4.10"], memory_mb=100, runners={"local": ""}))
    assert perform(run.pk, here()), "the host is too small"
    other = make_series(bugs[0], ada, buggy={"python": "3.4"}).runs.first()
    host.refresh_from_db()
    host.can = Can(pythons=["3.4.10"], memory_mb=9000, runners={"local": ""}).document()
    host.save()
    assert perform(other.pk, here()) is False


def test_a_worker_carries_out_one_run_at_a_time_and_wakes_the_next(study, bugs, ada, monkeypatch):
    first, second = make_series(bugs[0], ada, repeats=1).runs.all()
    with working._free:
        assert perform(first.pk, here()) is False
    monkeypatch.setattr(working, "here", here)
    woken = []
    monkeypatch.setattr(waking, "wake", lambda task, pk, queue: woken.append((pk, queue)))
    assert tasks.run(first.pk) and woken == [(second.pk, "reproduction")]
    assert tasks.run(second.pk) and len(woken) == 1


# --- without a database


def work(script: str = SHOWS, *, lease_seconds: float = 60.0, **more) -> Work:
    return Work(
        run="0" * 64, lease="x", attempt=1, recipe=document(**more), script=script, environment="buggy", repeat=1,
        seed=1, lease_seconds=lease_seconds,
    )  # fmt: skip


class Cancelling(Kept):
    """Says stop when the lease is renewed."""

    def renew(self, work: Work) -> bool:
        return False


def processes_with(mark: str) -> list[str]:
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if mark in line]


def test_cancelled_it_ends_at_once_and_leaves_no_process():
    script = "import subprocess, time\nsubprocess.Popen(['sleep', '612'])\ntime.sleep(612)\n"
    ledger, begun = Cancelling(), time.monotonic()
    assert carry_out(work(script, lease_seconds=4.0), ledger, here()) is False
    assert (ledger.ended, time.monotonic() - begun < 8) == (None, True)
    assert processes_with("sleep 612") == []


def test_a_machine_that_shuts_down_hands_the_run_back():
    stop, ledger = threading.Event(), Kept()
    threading.Timer(1.5, stop.set).start()
    assert carry_out(work("import time\ntime.sleep(60)"), ledger, here(), stop=stop)
    assert (ledger.ended.outcome, ledger.ended.may_pass) == ("lost", True)


class CutOff(Kept):
    """Answers only the third time."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def result(self, work, result):
        self.asked += 1
        if self.asked < 3:
            raise Unreachable("the line is dead")
        return super().result(work, result)


def test_a_result_is_handed_in_again_while_nobody_answers():
    ledger = CutOff()
    assert carry_out(work(), ledger, here())
    assert (ledger.asked, ledger.ended.outcome) == (3, "bug")


class Dead(Kept):
    def renew(self, work):
        raise Unreachable("the line is dead")

    def result(self, work, result):
        raise Unreachable("the line is dead")


def test_cut_off_for_longer_than_its_lease_it_gives_up():
    begun = time.monotonic()
    assert carry_out(work("import time\ntime.sleep(60)", lease_seconds=2.0), Dead(), here()) is False
    assert time.monotonic() - begun < 10


def test_a_runner_that_breaks_says_so():
    class Broken:
        name = "local"

        def check(self, job):
            return

        def run(self, job, *, heard, stopped):
            raise ZeroDivisionError

    ledger = Kept()
    carry_out(work(), ledger, replace(here(), sandboxes={"local": Broken()}))
    assert (ledger.ended.outcome, ledger.ended.may_pass) == ("fault", True)


def test_a_device_that_another_took_meanwhile_leaves_the_run_waiting(study, bugs, ada):
    run = make_series(bugs[0], ada, limits={"gpus": 1}).runs.first()
    gpus = SimpleNamespace(count=lambda: 1, free_mb=lambda: [9000], held=here().gpus.held, told=lambda names: [])
    assert perform(run.pk, replace(here(), gpus=gpus))
    run.refresh_from_db()
    assert (run.state, run.attempt, run.faults) == ("waiting", 1, [])
