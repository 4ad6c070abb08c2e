"""The lease: claimed once, renewed by its owner alone, ended once, taken back when nobody renews it."""

import datetime as dt

import pytest
import time_machine
from django.utils import timezone

from annotator.reproduction import actions, hosts, leases, queries
from annotator.reproduction.ledger import Piece
from annotator.reproduction.matching import Can
from annotator.reproduction.models import Environment, Host, Log, Run, Series
from annotator.web.errors import BadInput, Refused
from tests.factories.reproduction import VERSION, claimed, end_all, ended, make_series

CAN = Can(pythons=[VERSION], memory_mb=8000, runners={"local": ""})


@pytest.fixture
def series(study, bugs, ada) -> Series:
    return make_series(bugs[0], ada)


@pytest.fixture
def run(series) -> Run:
    return series.runs.first()


def later(seconds: float = 61):
    return time_machine.travel(timezone.now() + dt.timedelta(seconds=seconds), tick=False)


def test_a_claim_gives_all_that_is_needed_and_a_second_one_nothing(run):
    work = claimed(run)
    assert (work.run, work.attempt, work.environment, work.repeat, work.seed) == (run.key, 1, "buggy", 1, 1)
    assert leases.claim(run.pk) is None
    run.refresh_from_db()
    assert (run.state, run.lease_owner, run.attempt) == ("running", work.lease, 1)


def test_a_result_is_taken_once_and_from_the_owner_alone(run):
    work = claimed(run)
    assert not leases.end(work.of(work.document() | {"lease": "somebody else"}), ended("no_bug"))
    assert leases.end(work, ended("bug", seconds=2.5, peak_mb=30.0, installed={"numpy": "1.18.0"}))
    assert not leases.end(work, ended("no_bug"))
    run.refresh_from_db()
    assert (run.state, run.outcome, run.seconds, run.installed) == ("ended", "bug", 2.5, {"numpy": "1.18.0"})
    assert (run.lease_owner, run.locked.python) == ("", "3.11.7")


def test_a_lease_that_ran_out_leads_to_exactly_one_new_attempt(run):
    first = claimed(run)
    assert leases.expire() == []
    with later():
        assert [one.pk for one in leases.expire()] == [run.pk]
        assert leases.expire() == []
        second = claimed(run)
    assert (second.attempt, second.lease == first.lease) == (2, False)
    assert not leases.renew(first) and not leases.end(first, ended("no_bug"))
    assert leases.end(second, ended("bug"))
    run.refresh_from_db()
    assert (run.outcome, [fault["outcome"] for fault in run.faults]) == ("bug", ["lost"])


def test_a_lease_that_is_renewed_does_not_run_out(run):
    work = claimed(run)
    with later(50):
        assert leases.renew(work)
    with later(100):
        assert leases.expire() == []


def test_what_is_lost_again_and_again_ends_as_lost(run):
    moment = timezone.now()
    for _ in range(10):
        claimed(run)
        moment += dt.timedelta(seconds=200)
        with time_machine.travel(moment, tick=False):
            leases.expire()
            run.refresh_from_db()
    assert (run.state, run.outcome, len(run.faults)) == ("ended", "lost", 9)
    assert not Run.objects.counted().filter(pk=run.pk).exists()


def test_a_fault_of_the_moment_is_tried_again_before_the_run_ends(run):
    passing = ended("not_installed", said="The index did not answer.", may_pass=True)
    assert leases.end(claimed(run), passing)
    run.refresh_from_db()
    assert (run.state, run.faults[0]["said"]) == ("waiting", "The index did not answer.")
    assert not leases.is_due(run)
    with later(25):
        assert leases.is_due(run)
    assert queries.waits_for(run) == "Attempt 2 follows: The index did not answer."
    assert leases.end(claimed(run), passing) and leases.end(claimed(run), passing)
    run.refresh_from_db()
    assert (run.state, run.outcome, len(run.faults)) == ("ended", "not_installed", 2)


def test_a_package_that_does_not_exist_is_not_tried_again(run):
    leases.end(claimed(run), ended("not_installed", may_pass=False))
    run.refresh_from_db()
    assert (run.state, run.attempt) == ("ended", 1)


def test_cancelled_it_is_over_at_once_and_no_result_counts(series, run, ada):
    work = claimed(run)
    assert actions.cancel_series(series=series, by=ada) == 4
    assert not leases.renew(work) and not leases.end(work, ended())
    assert set(series.runs.values_list("state", flat=True)) == {"cancelled"}
    with pytest.raises(Refused, match="over"):
        actions.cancel_series(series=series, by=ada)


def test_pieces_of_the_log_are_stored_once_and_read_from_where_one_was(run):
    work = claimed(run)
    pieces = [Piece(sequence=n, text=f"line {n}\n", is_error=n == 1) for n in range(3)]
    assert leases.write(work, pieces[:2]) and leases.write(work, pieces)
    run.refresh_from_db()
    assert [one.text for one in queries.log_after(run, -1)] == ["line 0\n", "line 1\n", "line 2\n"]
    assert [one.sequence for one in queries.log_after(run, 1)] == [2]
    leases.end(work, ended())
    assert not leases.write(work, [Piece(sequence=9, text="late")])
    assert Log.objects.count() == 3


def test_a_log_ends_where_the_recipe_bounds_output_and_says_so(study, bugs, ada):
    run = make_series(bugs[0], ada, limits={"output_kb": 1}).runs.first()
    work = claimed(run)
    for sequence in range(4):
        for _ in range(2):  # what comes twice is counted once
            assert leases.write(work, [Piece(sequence=sequence, text="é" * 1000)])
    assert leases.write(work, [Piece(sequence=number, text="more") for number in range(4, 9)])
    texts = [one.text for one in run.log.order_by("sequence")]
    assert texts == ["é" * 1000, "é" * 1000, "é" * 48 + "\n… cut after 2,048 characters\n"]


def test_a_full_log_is_not_cut_where_nothing_more_comes(study, bugs, ada):
    run = make_series(bugs[0], ada, limits={"output_kb": 1}).runs.first()
    work = claimed(run)
    leases.write(work, [Piece(sequence=0, text="x" * 2048)])
    assert run.log.get().text == "x" * 2048
    leases.write(work, [Piece(sequence=1, text="y")])
    assert run.log.last().text == "\n… cut after 2,048 characters\n"


def test_all_runs_of_a_recipe_are_locked_as_its_first(series):
    first, second = series.runs.filter(environment="buggy")
    locked = "numpy==1.18.0 --hash=sha256:00"
    work = claimed(first)
    assert work.locked == ""
    used = ended().used.__class__(python="3.8.18", locked=locked)
    leases.end(work, ended(used=used))
    again = claimed(second)
    assert (again.locked, again.python) == (locked, "3.8.18")
    leases.end(again, ended(used=used))
    assert Environment.objects.count() == 1


def test_faults_are_tried_again_in_further_places_with_the_same_seed(series, ada):
    end_all(series, buggy="bug", fixed="fault")
    made = actions.retry_faults(series=series, by=ada)
    assert [(one.environment, one.repeat, one.seed) for one in made] == [("fixed", 3, 1), ("fixed", 4, 2)]
    with pytest.raises(Refused, match="No run"):
        actions.retry_faults(series=series, by=ada)
    end_all(series, fixed="no_bug")
    (told,) = queries.series_told(Series.objects.filter(pk=series.pk))
    assert (told.verdict.verdict, told.faults, told.is_over) == ("reproduced", 2, True)


# --- hosts


def test_a_host_takes_the_oldest_run_that_it_can(study, bugs, ada, lee):
    gpu = make_series(bugs[0], ada, limits={"gpus": 1})
    cpu = make_series(bugs[1], ada)
    host, _ = hosts.add_host(study=study, name="box-1", by=lee)
    work = leases.claim_next(host, CAN)
    run = Run.objects.get(key=work.run)
    assert (run.series, run.host) == (cpu, host)
    with_gpu = Can(pythons=[VERSION], memory_mb=8000, runners={"local": ""}, gpus=1, gpu_free_mb=[40_000])
    assert Run.objects.get(key=leases.claim_next(host, with_gpu).run).series == gpu
    host.refresh_from_db()
    assert (host.can["gpus"], queries.is_present(host)) == (1, True)


@pytest.mark.parametrize(
    "can",
    [
        Can(pythons=["3.4.10"], memory_mb=8000, runners={"local": ""}),
        Can(pythons=[VERSION], memory_mb=256, runners={"local": ""}),
        Can(pythons=[VERSION], memory_mb=8000, runners={"local": "no user namespaces"}),
        Can(),
    ],
)
def test_a_host_that_cannot_gets_nothing(study, series, lee, can):
    host, _ = hosts.add_host(study=study, name="box-1", by=lee)
    assert leases.claim_next(host, can) is None


def test_a_host_gets_what_has_room_beside_what_it_has_in_hand(study, series, lee):
    host = hosts.add_host(study=study, name="box-1", by=lee)[0]
    can = {"pythons": [VERSION], "memory_mb": 1000, "runners": {"local": ""}}  # a run may use 512
    assert leases.claim_next(host, Can(**can, memory_held_mb=489)) is None
    assert leases.claim_next(host, Can(**can, memory_held_mb=488))


def test_another_studys_runs_are_not_there_for_a_host(series, lee):
    from tests.factories import StudyFactory

    host, _ = hosts.add_host(study=StudyFactory(slug="other"), name="box-1", by=lee)
    assert leases.claim_next(host, CAN) is None


def test_a_removed_hosts_run_is_for_others_and_its_key_ends(study, series, lee):
    host, _ = hosts.add_host(study=study, name="box-1", by=lee)
    work = leases.claim_next(host, CAN)
    hosts.remove_host(host=host, by=lee)
    run = Run.objects.get(key=work.run)
    assert (run.state, run.faults[0]["host"], leases.end(work, ended(), host)) == ("waiting", "box-1", False)
    host.refresh_from_db()
    assert host.removed_at and host.token.revoked_at
    with pytest.raises(Refused):
        hosts.remove_host(host=host, by=lee)
    assert hosts.add_host(study=study, name="box-1", by=lee)[0].pk != host.pk


def test_void_runs_stay_and_count_no_more(study, series, lee, ada):
    host, _ = hosts.add_host(study=study, name="box-1", by=lee)
    for _ in range(2):
        leases.end(leases.claim_next(host, CAN), ended("bug"), host)
    end_all(series, fixed="no_bug")
    assert queries.told(series, list(series.runs.all())).verdict.verdict == "reproduced"
    with pytest.raises(BadInput, match="Say why"):
        hosts.void_runs(host=host, why=" ", by=lee)
    assert hosts.void_runs(host=host, why="Its memory was broken.", by=lee) == 2
    told = queries.told(series, list(series.runs.all()))
    assert (told.verdict.verdict, told.faults) == ("infrastructure", 2)
    assert len(actions.retry_faults(series=series, by=ada)) == 2


@pytest.mark.parametrize("name", ["", "Box 1", "-x", "x" * 70, "a/b"])
def test_a_hosts_name_is_a_slug(study, lee, name):
    with pytest.raises(BadInput, match="host's name"):
        hosts.add_host(study=study, name=name, by=lee)
    assert not Host.objects.exists()


def test_two_hosts_of_one_name_are_refused(study, lee):
    hosts.add_host(study=study, name="box-1", by=lee)
    with pytest.raises(BadInput, match="already"):
        hosts.add_host(study=study, name="box-1", by=lee)


def test_a_sweep_wakes_what_waits_and_of_gpu_runs_one(study, bugs, ada):
    make_series(bugs[0], ada)
    make_series(bugs[1], ada, limits={"gpus": 1})
    assert leases.left_waiting() == []
    with later(25):
        assert sorted(run.queue for run in leases.left_waiting()) == ["gpu", *["reproduction"] * 4]
