"""A run's page with its log, the log as it grows, hosts, and what stands beside a bug's labels."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotator.overview.rounds.closing import close_round
from annotator.reproduction import hosts, leases, queries
from annotator.reproduction.ledger import Piece
from annotator.reproduction.matching import Can
from annotator.reproduction.models import Host, Run
from tests.factories import answer, make_round
from tests.factories.reproduction import claimed, end_all, ended, make_recipe, make_series
from tests.integration.reproduction.pages import as_, at, read

HTMX = {"HX-Request": "true"}
CAN = Can(pythons=["3.11.7"], memory_mb=64_000, gpus=1, gpu_free_mb=[80_000], runners={"local": "", "docker": "absent"})


@pytest.fixture
def running(bugs, ada):
    """A run that has written a line and a half."""
    run = make_series(bugs[0], ada, repeats=1).runs.first()
    work = claimed(run)
    leases.write(
        work, [Piece(sequence=0, text="first line\nsecond "), Piece(sequence=1, text="<b>oops", is_error=True)]
    )
    return Run.objects.get(pk=run.pk), work


# --- the log


def test_a_page_follows_a_run_and_takes_only_what_is_new(study, running, alice):
    run, work = running
    page = read(as_(alice), at(1) + f"?run={run.key}")
    follow = f"{at('runs', run.key, 'log')}?attempt=1&amp;after=1&amp;mid=1"
    assert f'hx-get="{follow}" hx-trigger="every 2s"' in page
    assert "second <b>&lt;b&gt;oops</b>" in page
    leases.write(work, [Piece(sequence=2, text=" end\nthird\n")])
    more = as_(alice).get(follow.replace("&amp;", "&"), headers=HTMX)
    body = more.content.decode()
    assert body.startswith(" end\n<i>")
    assert "third\n" in body
    assert "first" not in body
    assert "after=2&amp;mid=0" in body


def test_the_box_is_sent_whole_once_the_run_is_over_and_is_followed_no_more(study, running, alice):
    run, work = running
    leases.end(work, ended("bug", said="“NaN” stands on standard output."))
    answered = as_(alice).get(at("runs", run.key, "log") + "?attempt=1&after=1", headers=HTMX)
    assert (answered["HX-Retarget"], answered["HX-Reswap"]) == ("#log", "outerHTML")
    body = answered.content.decode()
    assert "the bug showed" in body
    assert "“NaN” stands on standard output." in body
    assert "hx-trigger" not in body


def test_another_attempt_begins_its_log_anew(study, running, alice):
    run, _ = running
    leases.lose(run.pk, at_once=True)
    waiting = as_(alice).get(at("runs", run.key, "log") + "?attempt=1&after=1", headers=HTMX)
    assert 'hx-trigger="every 3s"' in waiting.content.decode()
    assert "was not heard of again" in waiting.content.decode()
    claimed(Run.objects.get(pk=run.pk))
    fresh = as_(alice).get(at("runs", run.key, "log") + "?attempt=1&after=1", headers=HTMX)
    assert fresh["HX-Retarget"] == "#log"
    assert "attempt=2" in fresh.content.decode()
    assert "first line" not in fresh.content.decode()


def test_the_whole_log_is_shown_by_stream_and_searched(study, bugs, ada, alice):
    run = make_series(bugs[0], ada, repeats=1).runs.first()
    out = "".join(f"step {place}\n" for place in range(300)) + "loss NaN\n"
    leases.end(claimed(run), ended("bug", stdout=out, stderr="RuntimeWarning: NaN\n", installed={"numpy": "1.18.0"}))
    client, here = as_(alice), at("runs", run.key)
    page = client.get(here)
    assert page.context["total"] == 302
    assert "step 0\n" in page.content.decode()
    assert "numpy==1.18.0" in page.content.decode()
    assert client.get(here + "?stream=err").context["total"] == 1
    found = client.get(here + "?q=nan", headers=HTMX)
    assert [line.number for line, _ in found.context["found"]] == [301, 302]
    assert "loss <mark>NaN</mark>" in found.content.decode()
    assert found.templates[0].name == "reproduction/_found.html"
    assert "No line has it." in read(client, here + "?q=absent")
    assert client.get(here + "?q=nan&stream=out").context["total"] == 301
    file = client.get(f"{here}output.txt")
    assert file.content.decode() == out + "RuntimeWarning: NaN\n"
    assert file["Content-Disposition"].startswith("attachment")


def test_a_run_without_output_says_why_it_gave_none(study, bugs, ada):
    run = make_series(bugs[0], ada, repeats=1).runs.first()
    leases.end(claimed(run), ended("no_interpreter", said="There is no interpreter 3.4 here.", stdout="", used=None))
    page = read(as_(ada), at("runs", run.key))
    assert "There is no interpreter 3.4 here." in page
    assert "It wrote nothing." in page
    assert "no such interpreter" in page


# --- hosts


def test_a_host_is_added_its_key_shown_once_with_the_command(study, lee):
    page = read(as_(lee), at("hosts"))
    assert "No host." in page
    added = as_(lee).post(at("hosts"), {"name": "gpu-2", "days": "30"})
    secret = added.context["secret"]
    assert secret and secret in added.content.decode()
    assert "python manage.py run_host http://testserver/ --token-file" in added.content.decode()
    again = read(as_(lee), at("hosts"))
    assert secret not in again
    assert "not heard of yet" in again


def test_a_host_s_page_tells_what_it_can_and_has_run(study, bugs, ada, lee):
    host, _ = hosts.add_host(study=study, name="gpu-2", by=lee)
    series = make_series(bugs[0], ada, repeats=1)
    assert leases.claim_next(host, CAN)
    page = read(as_(lee), at("hosts"))
    assert "Python 3.11.7" in page
    assert "64,000 MB memory" in page
    assert "1 GPU, free: 80,000 MB" in page
    assert "docker: <span" in page
    assert "1 now" in page
    assert series.runs.get(state="running").host == host


def test_all_runs_of_a_host_are_void_with_the_reason_and_it_is_removed(study, bugs, ada, lee):
    host, _ = hosts.add_host(study=study, name="gpu-2", by=lee)
    series = make_series(bugs[0], ada, repeats=1)
    for run in series.runs.all():
        leases.end(claimed(run, host=host), ended(run.expects), host)
    assert as_(lee).post(at("hosts", "gpu-2", "void"), {"reason": ""}).status_code == 400
    assert as_(lee).post(at("hosts", "gpu-2", "void"), {"reason": "Its memory was faulty."}).status_code == 302
    page = read(as_(ada), at(1))
    assert "2 runs void" in page
    assert page.count("<span>void") == 2
    assert as_(lee).post(at("hosts", "gpu-2", "remove")).status_code == 302
    assert Host.objects.get().removed_at
    assert as_(lee).post(at("hosts", "gpu-2", "remove")).status_code == 404


def test_hosts_are_for_leads(study, ada, alice, lee):
    hosts.add_host(study=study, name="gpu-2", by=lee)
    for person in (ada, alice):
        assert as_(person).get(at("hosts")).status_code == 403
        assert as_(person).post(at("hosts"), {"name": "mine", "days": "3"}).status_code == 403
        assert as_(person).post(at("hosts", "gpu-2", "remove")).status_code == 403
    assert Host.objects.count() == 1
    page = as_(lee).post(at("hosts"), {"name": "gpu-2", "days": "3"})
    assert (page.status_code, "already" in page.content.decode()) == (422, True)


# --- beside a bug's labels


def test_the_evidence_of_a_bug_is_told_with_its_outputs(study, bugs, ada, alice):
    assert "There is no recipe for this bug." in read(as_(alice), at("bugs", 1))
    assert "Make it happen again" in read(as_(ada), at("bugs", 1))
    end_all(make_series(bugs[0], ada, repeats=1), buggy="bug", fixed="no_bug")
    fragment = as_(alice).get(at("bugs", 1), headers=HTMX)
    assert fragment.templates[0].name == "reproduction/_evidence.html"
    body = fragment.content.decode()
    assert "reproduced" in body
    assert "1 of 1 show the bug" in body
    assert "How the output of buggy ends" in body


def test_in_an_open_round_its_raters_read_the_same_words_whatever_there_is(study, bugs, ada, alice, bob, lee):
    round_ = make_round(study, bugs=bugs[:1], raters=[alice, bob], by=lee)
    before = read(as_(alice), at("bugs", 1))
    assert queries.NOT_YET in before
    end_all(make_series(bugs[0], ada, repeats=1), buggy="bug", fixed="no_bug")
    assert strip(read(as_(alice), at("bugs", 1))) == strip(before)
    assert "1 of 1 show the bug" in read(as_(ada), at("bugs", 1))
    for rater in (alice, bob):
        answer(round_, bugs[0], rater, {"cause": "type", "stage": "training"})
    close_round(round_=round_, by=lee)
    assert "1 of 1 show the bug" in read(as_(alice), at("bugs", 1))


def test_nothing_that_a_rater_of_an_open_round_reads_tells_that_there_is_a_recipe(study, bugs, ada, alice, bob, lee):
    make_round(study, bugs=bugs[:1], raters=[alice, bob], by=lee)
    addresses = [
        "/frameworks/",
        "/frameworks/bugs/",
        "/frameworks/bugs/1/",
        "/frameworks/history/",
        at(),
        at("bugs", 1),
    ]
    addresses += [at(1), at(1, "versions", 1), "/frameworks/rounds/1/bugs/1/", "/api/v1/studies/frameworks/recipes/"]
    client = as_(alice)

    def told() -> list[tuple[int, str, int]]:
        found = []
        for address in addresses:
            with CaptureQueriesContext(connection) as queries:
                page = client.get(address)
            found.append((page.status_code, strip(page.content.decode()), len(queries)))
        return found

    told()  # fills the caches
    before = told()
    end_all(make_series(bugs[0], ada, repeats=1), buggy="bug", fixed="no_bug")
    assert told() == before


def strip(page: str) -> str:
    """Without the tokens against forged requests, which differ each time."""
    return re.sub(r'(csrfmiddlewaretoken" value="|X-CSRFToken": ")\w+', r"\1", page)


def test_the_bug_s_page_and_adjudication_lead_to_it(study, bugs, ada, alice, bob, lee):
    make_recipe(bugs[0], ada)
    page = read(as_(ada), "/frameworks/bugs/1/")
    assert f'hx-get="{at("bugs", 1)}" hx-trigger="load"' in page
    round_ = make_round(study, bugs=bugs[:1], raters=[alice, bob], by=lee)
    answer(round_, bugs[0], alice, {"cause": "type", "stage": "training"})
    answer(round_, bugs[0], bob, {"cause": "api", "stage": "training"})
    close_round(round_=round_, by=lee)
    assert f'hx-get="{at("bugs", 1)}" hx-target="#again"' in read(as_(ada), "/frameworks/adjudication/bugs/1/")


def test_the_labelling_page_has_it_where_reproduction_comes_first_alone(study, bugs, ada, alice, bob, lee):
    make_round(study, bugs=bugs[:2], raters=[alice, bob], by=lee)
    here = "/frameworks/rounds/1/bugs/1/"
    assert at("bugs", 1) not in read(as_(alice), here)
    assert at("bugs", 1) not in read(as_(alice), f"{here}read/")
    study.protocol = {"reproduction_first": True}
    study.save()
    assert f'hx-get="{at("bugs", 1)}" hx-trigger="toggle once"' in read(as_(alice), here)
    assert at("bugs", 2) in read(as_(alice), "/frameworks/rounds/1/bugs/2/read/")
    make_recipe(bugs[0], ada)
    assert "It has not run yet." in read(as_(alice), at("bugs", 1))
