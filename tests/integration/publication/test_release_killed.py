"""A release whose process is killed in the middle publishes nothing, and the next is whole."""

import csv
import datetime as dt
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from django.utils import timezone

from annotator.publication.models import Release
from annotator.publication.options import Options
from annotator.publication.running import left_waiting, perform

ROOT = Path(__file__).resolve().parents[3]
BOOK = {"title": "Two", "facets": [{"id": "cause", "categories": [{"name": "type"}, {"name": "shape"}]}]}
MAPPING = {
    "row": "bug",
    "item": {"kind": "other", "key": "key", "title": "title"},
    "raters": {"alice": {"cause": "A"}, "bob": {"cause": "B"}},
}
BUGS = 4000


@pytest.fixture
def place(tmp_path):
    """A database of its own with a study in it: another process has to see it."""
    with (tmp_path / "sheet.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["key", "title", "A", "B"])
        writer.writerows([f"k{n}", "x" * 500, "type", "shape" if n % 7 == 0 else "type"] for n in range(BUGS))
    (tmp_path / "book.yaml").write_text(yaml.safe_dump(BOOK))
    (tmp_path / "map.yaml").write_text(yaml.safe_dump(MAPPING))
    manage(tmp_path, "migrate")
    manage(tmp_path, "create_study", "two", "--title", "Two", "--codebook", str(tmp_path / "book.yaml"))
    manage(tmp_path, "import_sheet", "two", str(tmp_path / "sheet.csv"), "--mapping", str(tmp_path / "map.yaml"))
    return tmp_path


def command(place, *arguments):
    environment = os.environ | {"CONCORD_VAR": str(place / "var"), "DATABASE_URL": f"sqlite:///{place / 'db.sqlite3'}"}
    environment.pop("MEDIA_ROOT", None)
    return [sys.executable, "manage.py", *arguments], {"cwd": ROOT, "env": environment}


def manage(place, *arguments):
    words, more = command(place, *arguments)
    return subprocess.run(words, check=True, capture_output=True, text=True, **more).stdout


def test_what_is_killed_publishes_nothing_and_the_next_is_whole(place):
    out = place / "out"
    work = place / "var/files/releases/work"
    words, more = command(place, "release", "two", "--out", str(out))
    process = subprocess.Popen(words, **more)
    until = time.monotonic() + 60
    while not list(work.glob("*/answers.csv")) and time.monotonic() < until:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it has to be killed while it writes, or this proves nothing"
    assert not out.exists()
    said = "from annotator.publication.models import Release; print(Release.objects.count())"
    assert manage(place, "shell", "--no-imports", "-c", said).strip() == "0"
    told = json.loads(manage(place, "release", "two", "--out", str(out), "--json"))
    assert told["version"] == 1
    ended = subprocess.run(
        [sys.executable, "-I", "-S", str(out / "check.py")], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr


def request_of(study, lee, **more):
    return Release.objects.create(study=study, options=Options().as_dict(), asked_by=lee, **more)


def test_what_a_dead_worker_left_is_made_by_another(labelled, lee):
    past = timezone.now() - dt.timedelta(minutes=5)
    row = request_of(labelled, lee, state="running", lease_owner="dead", lease_until=past)
    assert left_waiting() == [row.pk]
    assert perform(row.pk)
    row.refresh_from_db()
    assert (row.state, row.number, row.lease_owner, row.lease_until) == ("published", 1, "", None)
    assert left_waiting() == []


def test_what_a_worker_holds_is_left_to_it(labelled, lee):
    soon = timezone.now() + dt.timedelta(minutes=1)
    row = request_of(labelled, lee, state="running", lease_owner="other", lease_until=soon)
    assert left_waiting() == []
    assert not perform(row.pk)


def test_a_failure_is_told_and_the_next_request_goes_on(labelled, lee, monkeypatch):
    row = request_of(labelled, lee)
    monkeypatch.setattr("annotator.publication.releasing.checked", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        perform(row.pk)
    row.refresh_from_db()
    assert (row.state, row.number) == ("failed", None)
    assert "Nothing was published." in row.message
    monkeypatch.undo()
    again = request_of(labelled, lee)
    assert perform(again.pk)
    assert Release.objects.published().get().pk == again.pk
