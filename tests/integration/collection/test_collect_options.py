"""What the command can ask for beside repositories, words and labels."""

import json

import pytest
from django.core.management import call_command

from annotator.collection.models import Harvest, Item
from tests.services.github_server.server import TOKEN


@pytest.fixture
def collect(study, github, monkeypatch, capsys):
    """`collect("--repo", …)` gives the printed document, or the one line of a refusal."""
    monkeypatch.setenv("GITHUB_TOKENS", TOKEN)

    def run(*arguments):
        try:
            call_command("collect", study.slug, *arguments, "--json")
        except SystemExit as ended:
            told = capsys.readouterr()
            is_refusal = (ended.code, told.out, len(told.err.strip().splitlines())) == (2, "", 1)
            return told.err if is_refusal else None
        return json.loads(capsys.readouterr().out)

    return run


def test_what_was_opened_or_changed_in_a_period_by_state_and_author(collect, github, work):
    pulls = {number: thing for number, thing in work.things.items() if thing.kind == "pull_request"}
    first = min(thing.created for thing in pulls.values()).date().isoformat()
    result = collect("--repo", "frame/wood", "--created", f"{first}..2021-12-31", "--author", "alice", "bob")
    wanted = {number for number, thing in pulls.items() if thing.author in ("alice", "bob")}
    assert result["found"] == len(wanted)
    assert set(Item.objects.values_list("number", flat=True)) == wanted
    assert collect("--repo", "frame/wood", "--updated", "2021-01-01..2021-12-31", "--state", "open")["found"] == 0
    assert collect("--repo", "frame/wood", "--updated", "2021-01-01..2021-12-31", "--state", "merged")["found"] == 30
    assert github.wrong == []


def test_a_list_of_addresses_and_the_same_list_again(collect, github, work):
    urls = ["https://github.com/frame/wood/pull/3", "https://github.com/frame/wood/issues/35", "lost/place#1"]
    result = collect("--url", *urls)
    assert (result["found"], result["fetched"], result["complete"]) == (3, 2, False)
    assert result["unavailable"] == [{"repository": "lost/place", "number": 1, "reason": 404}]
    assert collect("--url", *urls)["fetched"] == 2
    assert (Harvest.objects.count(), github.wrong) == (1, [])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Name at least one repository"),
        (["--repo", "frame/wood", "--url", "frame/wood#1"], "Give --url or --repo, not both"),
        (["--url", "frame/wood#1", "--merged", "2021-01-01..2021-12-31"], "Give --url or --merged, not both"),
        (["--url", "https://ghe.example/a/b/pull/1"], "but GITHUB_API_URL leads to github.com"),
        (["--url", "frame/wood"], "is no address of a pull request or issue"),
        (["--repo", "frame/wood", "--author", "a b"], "is no user name of GitHub"),
        (["--repo", "frame/wood", "--state", "shut"], "invalid choice"),
        (
            ["--repo", "frame/wood", "--created", "2021-01-01..2021-12-31", "--updated", "2021-01-01..2021-12-31"],
            "Give --created or --updated, not both",
        ),
    ],
)
def test_what_cannot_be_asked_is_one_line(collect, github, arguments, said):
    assert said in collect(*arguments)
    assert (Harvest.objects.count(), github.log) == (0, [])
