"""Several at the same instant, each on a connection of its own: one claim, one result, one number."""

import pytest

from annotator.reproduction import actions, hosts, leases
from annotator.reproduction.ledger import Piece, Work
from annotator.reproduction.models import Environment, Log, Recipe, Run
from annotator.web.errors import BadInput, Refused
from tests.factories.reproduction import SHOWS, VERSION, claimed, ended, make_recipe, make_series, recipe
from tests.together import at_once, while_it_lasts

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]
CAN = leases.Can(pythons=[VERSION], memory_mb=8000, runners={"local": ""})


def of_kind(results, kind):
    return [one for one in results if isinstance(one, kind)]


def test_of_many_workers_one_gets_the_run(study, bugs, ada):
    run = make_series(bugs[0], ada).runs.first()
    assert len(of_kind(at_once(*[lambda: leases.claim(run.pk)] * 8), Work)) == 1
    run.refresh_from_db()
    assert run.attempt == 1


def test_hosts_that_ask_at_once_get_different_runs(study, bugs, ada, lee):
    make_series(bugs[0], ada)
    added = [hosts.add_host(study=study, name=f"box-{n}", by=lee)[0] for n in range(4)]
    got = at_once(*(lambda host=host: leases.claim_next(host, CAN) for host in added))
    assert len({work.run for work in of_kind(got, Work)}) == 4


def test_of_many_results_one_counts(study, bugs, ada):
    work = claimed(make_series(bugs[0], ada).runs.first())
    results = at_once(*(lambda word=word: leases.end(work, ended(word)) for word in ["bug", "no_bug"] * 4))
    assert results.count(True) == 1 and results.count(False) == 7


def test_a_result_and_a_cancel_at_once_are_one_of_both(study, bugs, ada):
    series = make_series(bugs[0], ada, repeats=1)
    work = claimed(series.runs.first())
    taken, cancelled = while_it_lasts(
        lambda: leases.end(work, ended("bug")), lambda: actions.cancel_run(run=series.runs.first(), by=ada)
    )
    assert taken is True and isinstance(cancelled, Refused)
    assert series.runs.first().outcome == "bug"


def test_a_result_and_a_sweep_at_once_are_one_of_both(study, bugs, ada):
    run = make_series(bugs[0], ada).runs.first()
    work = claimed(run)
    Run.objects.filter(pk=run.pk).update(lease_until="2020-01-01T00:00:00Z")
    at_once(lambda: leases.end(work, ended("bug")), leases.expire, leases.expire)
    run.refresh_from_db()
    assert (run.state, len(run.faults)) in (("ended", 0), ("waiting", 1))


def test_two_series_asked_for_at_once_have_numbers_of_their_own(study, bugs, ada):
    row = make_recipe(bugs[0], ada)
    made = at_once(*[lambda: actions.ask(recipe=row, by=ada)] * 4)
    assert sorted(one.number for one in made) == [1, 2, 3, 4]


def test_recipes_written_at_once_have_numbers_of_their_own(study, bugs, ada):
    made = at_once(*[lambda: make_recipe(bugs[0], ada)] * 4)
    assert sorted(one.number for one in made) == [1, 2, 3, 4]


def test_of_two_changes_at_once_one_is_told_of_the_other(study, bugs, ada):
    row = make_recipe(bugs[0], ada)

    def change(repeats):
        return actions.change_recipe(row=row, recipe=recipe(repeats=repeats), script=SHOWS, why="More.", by=ada)

    results = at_once(lambda: change(4), lambda: change(5))
    assert (len(of_kind(results, Recipe)), len(of_kind(results, Refused))) == (1, 1)


def test_faults_are_tried_again_once(study, bugs, ada):
    series = make_series(bugs[0], ada, repeats=1)
    for run in series.runs.all():
        leases.end(claimed(run), ended("fault"))
    results = at_once(*[lambda: actions.retry_faults(series=series, by=ada)] * 4)
    assert (len(of_kind(results, list)), len(of_kind(results, Refused)), series.runs.count()) == (1, 3, 4)


def test_a_host_is_added_once_under_its_name(study, lee):
    results = at_once(*[lambda: hosts.add_host(study=study, name="box-1", by=lee)] * 4)
    assert len(of_kind(results, BadInput)) == 3


def test_pieces_and_environments_that_come_twice_are_stored_once(study, bugs, ada):
    runs = list(make_series(bugs[0], ada).runs.all())
    works = [claimed(run) for run in runs]
    at_once(*[lambda: leases.write(works[0], [Piece(sequence=0, text="x")])] * 4)
    at_once(*(lambda work=work: leases.end(work, ended("bug")) for work in works))
    assert (Log.objects.count(), Environment.objects.count()) == (1, 1)
    assert set(Run.objects.values_list("state", flat=True)) == {"ended"}
