"""Starting a study, by command and in the browser."""

import json
from pathlib import Path

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client

from annotator.accounts.models import User
from annotator.codebook.models import Codebook
from annotator.studies.models import Membership, Study
from annotator.web.errors import BadInput

OWN = "title: Own\nfacets: [{id: severity, categories: [low, high]}]"
pytestmark = pytest.mark.django_db


def rows() -> dict[str, int]:
    return {model._meta.label: model._base_manager.count() for model in apps.get_models()}


def test_command_makes_study_codebook_and_people(capsys):
    people = ["--member", "alice:rater", "--member", "alice:lead", "--member", "bob:rater"]
    call_command("create_study", "dl", "--title", "DL bugs", "--codebook", "dl-framework-bugs", *people, "--json")
    said = json.loads(capsys.readouterr().out)
    assert said["slug"] == "dl"
    assert said["members"] == [
        {"name": "alice", "role": "rater"},
        {"name": "alice", "role": "lead"},
        {"name": "bob", "role": "rater"},
    ]
    study = Study.objects.get(slug="dl")
    assert Codebook.objects.get(study=study).facets.count() == 5
    assert not User.objects.get(username="alice").has_usable_password()


def test_command_takes_a_file_even_json(tmp_path: Path, capsys):
    path = tmp_path / "own.yaml"
    path.write_text('{"title": "Own", "facets": [{"id": "bfc", "categories": [{"name": "true"}, {"name": "false"}]}]}')
    call_command("create_study", "own", "--title", "Own", "--codebook", str(path), "--json")
    assert json.loads(capsys.readouterr().out)["codebook"]["version"] == 1


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["taken", "--title", "T", "--codebook", "silent-bugs"], "is taken"),
        (["api", "--title", "T", "--codebook", "silent-bugs"], "is taken"),
        (["Bad_slug", "--title", "T", "--codebook", "silent-bugs"], "small letters"),
        (["new-one", "--title", " ", "--codebook", "silent-bugs"], "needs a title"),
        (["new-one", "--title", "x" * 201, "--codebook", "silent-bugs"], "at most 200"),
        (["new-one", "--title", "T", "--codebook", "no-such-preset"], "neither a file"),
        (["new-one", "--title", "T", "--codebook", "/"], "neither a file"),
        (["new-one", "--title", "T", "--codebook", "{file}"], "no facets"),
        (["new-one", "--title", "T", "--codebook", "silent-bugs", "--member", "alice:boss"], "a role among"),
        (["new-one", "--title", "T", "--codebook", "silent-bugs", "--member", "alice"], "NAME:ROLE"),
        (["new-one", "--title", "T", "--codebook", "silent-bugs", "--member", "日本:rater"], "gives no user name"),
        (["new-one", "--codebook", "silent-bugs"], "--title"),
        (["new-one", "--title", "T"], "--codebook"),
    ],
)
def test_bad_input_is_one_line_exit_2_and_no_row(tmp_path: Path, capsys, arguments, wanted):
    Study.objects.create(slug="taken", title="T")
    empty = tmp_path / "empty.yaml"
    empty.write_text("title: T")
    before = rows()
    with pytest.raises(SystemExit) as end:
        call_command("create_study", *(a.format(file=empty) for a in arguments), "--json")
    out, err = capsys.readouterr()
    assert end.value.code == 2
    assert len(err.strip().splitlines()) == 1
    assert wanted in err
    assert out == ""
    assert rows() == before


# --- in the browser


@pytest.fixture
def newcomer(charlie) -> Client:
    client = Client()
    client.force_login(charlie)
    return client


def test_the_empty_state_leads_to_a_new_study(newcomer):
    assert b"No study yet." in newcomer.get("/").content
    page = newcomer.get("/new/").content.decode()
    assert "Toward understanding deep learning framework bugs" in page
    assert "Tensor Shape Misalignment" in page


def test_who_starts_a_study_leads_it(newcomer, charlie):
    answer = newcomer.post("/new/", {"title": "Bugs in Häuser", "codebook": "dl-framework-bugs"})
    assert answer.status_code == 302
    study = Study.objects.get()
    assert (study.slug, study.created_by) == ("bugs-in-hauser", charlie)
    assert Membership.objects.get(study=study, user=charlie).role == "lead"
    assert b"Bugs in H\xc3\xa4user" in newcomer.get("/").content


def test_a_file_of_ones_own_is_taken(newcomer):
    file = SimpleUploadedFile("own.yaml", OWN.encode())
    newcomer.post("/new/", {"title": "T", "codebook": "dl-framework-bugs", "file": file})
    assert Codebook.objects.get().title == "Own"


def test_two_studies_of_one_title_get_two_short_names(newcomer):
    for _ in range(3):
        newcomer.post("/new/", {"title": "Twice", "codebook": "silent-bugs"})
    assert set(Study.objects.values_list("slug", flat=True)) == {"twice", "twice-2", "twice-3"}


@pytest.mark.parametrize(
    ("filled", "wanted"),
    [
        ({"title": "", "codebook": "silent-bugs"}, "required"),
        ({"title": "T", "codebook": "no-such"}, "Choose a codebook"),
        ({"title": "T", "codebook": "file"}, "Choose the codebook file"),
        ({"title": "T", "slug": "A B", "codebook": "silent-bugs"}, "small letters"),
        ({"title": "T", "slug": "accounts", "codebook": "silent-bugs"}, "is taken"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_stored(newcomer, filled, wanted):
    answer = newcomer.post("/new/", filled)
    assert answer.status_code == 400
    assert wanted in answer.content.decode()
    assert not Study.objects.exists()


def test_a_broken_file_is_said_and_nothing_stored(newcomer):
    file = SimpleUploadedFile("own.yaml", b"title: [")
    answer = newcomer.post("/new/", {"title": "T", "codebook": "file", "file": file})
    assert "not valid YAML" in answer.content.decode()
    assert not Study.objects.exists()


def test_a_new_study_needs_signing_in(client):
    assert client.get("/new/").url == "/accounts/login/?next=/new/"


def test_an_unexpected_role_in_an_action_stores_nothing():
    from annotator.codebook.presets import preset
    from annotator.overview.actions import create_study

    before = rows()
    with pytest.raises(BadInput, match="boss"):
        create_study(slug="s", title="T", document=preset("silent-bugs"), by=None, members=[("alice", "boss")])
    assert rows() == before
