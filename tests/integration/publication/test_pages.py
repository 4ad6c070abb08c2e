"""The page of exports, its files, the command, and who gets in."""

import json
import re

import pytest
from django.core.management import call_command

from annotator.overview.rounds.closing import close_round
from annotator.publication.exports import TABLES
from tests.factories import answer

PAGE = "/frameworks/publication/"


@pytest.fixture
def closed(main_round, bugs, alice, bob, lee):
    for bug in bugs:
        for rater in (alice, bob):
            answer(main_round, bug, rater, {"cause": "type", "stage": "training"})
    close_round(round_=main_round, by=lee)
    return main_round


def body(response):
    return b"".join(response.streaming_content) if response.streaming else response.content


def test_every_link_of_the_page_is_a_file_of_that_name(client, closed, alice):
    client.force_login(alice)
    for query in ("", "?pseudonyms=1"):
        links = re.findall(
            r'href="(/frameworks/publication/[^"]+)" download', client.get(PAGE + query).content.decode()
        )
        assert len(links) == 4 * len(TABLES) + 1
        for link in links:
            response = client.get(link)
            assert response.status_code == 200
            assert response.headers["Content-Disposition"].startswith('attachment; filename="frameworks-')
            assert len(body(response)) > 10
            assert ("pseudonyms" in response.headers["Content-Disposition"]) == (bool(query) and "mapping" not in link)


def test_the_page_names_rounds_that_are_left_out(client, main_round, alice):
    client.force_login(alice)
    assert "blind until it closes: Round 1" in client.get(PAGE).content.decode()


def test_without_bugs_the_page_leads_to_an_import(client, study, lee):
    client.force_login(lee)
    text = client.get(PAGE).content.decode()
    assert "There is nothing to export yet." in text
    assert "/frameworks/import/" in text


@pytest.mark.parametrize("path", ["", "answers.csv", "answers-spreadsheet-safe.csv", "side_by_side.mapping.yaml"])
def test_a_stranger_finds_nothing(client, closed, charlie, path):
    client.force_login(charlie)
    assert client.get(PAGE + path).status_code == 404
    client.logout()
    assert client.get(PAGE + path).status_code == 302


@pytest.mark.parametrize("path", ["secrets.csv", "answers.xls", "answers-spreadsheet-safe.jsonl"])
def test_there_are_no_other_files(client, closed, alice, path):
    client.force_login(alice)
    assert client.get(PAGE + path).status_code == 404


def test_command_writes_the_file_that_the_page_hands_out(client, closed, alice, tmp_path, capsys):
    client.force_login(alice)
    for name in TABLES:
        out = tmp_path / f"{name}.csv"
        call_command("export", "frameworks", name, "--out", str(out), "--json")
        assert json.loads(capsys.readouterr().out)["bytes"] == out.stat().st_size
        assert out.read_bytes() == body(client.get(f"{PAGE}{name}.csv"))
    call_command("export", "frameworks", "mapping", "--out", str(tmp_path / "map.yaml"))
    assert (tmp_path / "map.yaml").read_bytes() == body(client.get(f"{PAGE}side_by_side.mapping.yaml"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere", "answers", "--out", "{out}"], "no study"),
        (["frameworks", "secrets", "--out", "{out}"], "no table"),
        (["frameworks", "answers", "--format", "xls", "--out", "{out}"], "no format"),
        (["frameworks", "answers", "--format", "jsonl", "--spreadsheet-safe", "--out", "{out}"], "Only CSV"),
        (["frameworks", "answers", "--out", "{out}/not/there"], "cannot be written"),
        (["frameworks", "answers"], "--out"),
    ],
)
def test_command_refuses_in_one_line_and_writes_nothing(closed, tmp_path, capsys, arguments, said):
    with pytest.raises(SystemExit) as exit_:
        call_command("export", *(word.format(out=tmp_path / "x.csv") for word in arguments))
    out, err = capsys.readouterr()
    assert exit_.value.code == 2
    assert out == ""
    assert len(err.strip().splitlines()) == 1
    assert said in err
    assert list(tmp_path.iterdir()) == []


def test_each_page_of_publication_leads_to_the_others(client, labelled, alice):
    client.force_login(alice)
    places = ("", "releases/", "findings/", "methods/")
    for here in places:
        page = client.get(f"/tensors/publication/{here}").content.decode()
        assert f'href="/tensors/publication/{here}" aria-current="page"' in page
        assert all(f'href="/tensors/publication/{there}"' in page for there in places)
