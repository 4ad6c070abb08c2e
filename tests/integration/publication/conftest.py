"""Studies that can be released, and the release of one as files in a folder."""

import json
import subprocess
import sys

import pytest
from django.core.management import call_command

from annotator.accounts.models import User
from annotator.adjudication import actions as adjudication
from annotator.codebook.models import Category, Facet
from annotator.overview.rounds.closing import close_round
from annotator.studies.models import Study
from tests.factories import (
    RepositoryFactory,
    StudyFactory,
    UserFactory,
    answer,
    make_bugs,
    make_codebook,
    make_round,
    member,
)

FACETS = {"cause": ["type", "shape", "api"], "part": ["core|cuda", "docs", "build"], "impact": ["low", "high", "fatal"]}


@pytest.fixture
def labelled(alice: User, bob: User, ada: User, lee: User) -> Study:
    """Twelve bugs, three raters: a facet of many answers, an ordinal one, a bug that is none, an odd note, decisions."""
    study = StudyFactory(slug="tensors", title="Bugs in tensor code")
    carol = member(study, UserFactory(username="carol"), "rater")
    for person, role in ((alice, "rater"), (bob, "rater"), (lee, "lead"), (ada, "adjudicator")):
        member(study, person, role)
    make_codebook(study, FACETS, many=["part"], ordinal=["impact"])
    bugs = make_bugs(study, 12)
    place = RepositoryFactory(study=study, label="tessera/tessera")
    for bug in bugs[:8]:
        bug.item.repository = place
        bug.item.author = "octo-cat"
        bug.item.save()
    round_ = make_round(study, bugs=bugs, raters=[alice, bob, carol], by=lee, name="Main round", overlap=3)
    for at, bug in enumerate(bugs[:11]):
        for shift, rater in enumerate((alice, bob, carol)):
            if at == 3 and rater != carol:
                answer(round_, bug, rater, {}, not_a_bug="duplicate")
                continue
            given = {
                "cause": FACETS["cause"][(at + shift * (at % 4 == 0)) % 3],
                "part": FACETS["part"][: 1 + (at + shift) % 2],
                "impact": FACETS["impact"][(at // 2 + shift * (at % 5 == 0)) % 3],
            }
            answer(round_, bug, rater, given, note='a "note",\r\nin two lines', confidence="sure")
    close_round(round_=round_, by=lee)
    cause = Facet.objects.get(codebook__study=study, key="cause")
    adjudication.adjudicate(
        bug=bugs[0], facet=cause, categories=[Category.objects.get(facet=cause, name="api")], reason="slip", by=ada
    )
    return study


@pytest.fixture
def released(labelled, tmp_path, capsys):
    """Publish, hand out, and tell what the command printed: `released(folder name, *options)`."""

    def publish(name="first", *options):
        folder = tmp_path / name
        capsys.readouterr()
        call_command("release", labelled.slug, "--out", str(folder), "--json", *options)
        return folder, json.loads(capsys.readouterr().out)

    return publish


@pytest.fixture
def check():
    """Run the script that a release ships, with the standard library alone: its end and what it said."""

    def run(folder):
        ended = subprocess.run(
            [sys.executable, "-I", "-S", str(folder / "check.py")], cwd="/", capture_output=True, text=True, check=False
        )
        return ended.returncode, ended.stdout + ended.stderr

    return run
