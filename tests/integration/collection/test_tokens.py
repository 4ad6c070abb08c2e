"""A study's tokens: stored sealed, sent to their own host alone, shown nowhere."""

import datetime as dt
import io
import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from annotator import settings as settings_module
from annotator.collection import access, sealing, tokens
from annotator.collection.models import Budget, Fault, GitHubToken, Harvest, Item
from annotator.history.models import Event
from annotator.web import wake
from annotator.web.errors import BadInput
from tests.integration.collection.conftest import query
from tests.services.github_server import Fault as Struck
from tests.services.github_server import GitHubServer, World
from tests.services.github_server.limits import Limits
from tests.services.github_server.server import TOKEN
from tests.services.github_server.world import repository

PAGE = "/frameworks/harvests/tokens/"
NEW = "/frameworks/harvests/new/"
ONE = "/frameworks/harvests/1/"
OTHER = "ghp_of_another_person"


@pytest.fixture
def enterprise(settings: Any) -> Iterator[GitHubServer]:
    """A second host, which the administrator allows."""
    world = World.of(repository(name="inner/tool", number=900_000_007, pull_requests=4))
    with GitHubServer(world, tokens=("ghe_inner",), prefix="/api/v3") as server:
        settings.GITHUB_HOSTS = {"ghe.example.org": server.url}
        yield server


def store(client: Client, token: str = TOKEN, **more: Any) -> Any:
    return client.post(PAGE, {"name": "Lee’s", "token": token, "host": "github.com"} | more)


def test_a_stored_token_is_shown_by_its_name_alone(lead, study, github):
    assert store(lead).status_code == 302
    page = lead.get(PAGE)
    assert "Lee’s" in page.content.decode() and TOKEN not in page.content.decode()
    row = GitHubToken.objects.get()
    assert TOKEN not in row.sealed and TOKEN not in repr(row) and TOKEN not in str(vars(row))
    assert sealing.unseal(row.sealed, study_id=study.pk, host="github.com") == TOKEN
    told = Event.objects.get(verb="stored a token")
    assert (told.label, told.new, told.actor_name) == ("Lee’s", {"host": "github.com"}, "lee")
    assert github.log == []


def test_what_is_sealed_opens_for_its_study_and_host_alone(study):
    sealed = sealing.seal(TOKEN, study_id=study.pk, host="github.com")
    for study_id, host in [(study.pk + 1, "github.com"), (study.pk, "ghe.example.org")]:
        with pytest.raises(sealing.Unreadable):
            sealing.unseal(sealed, study_id=study_id, host=host)


def test_a_former_secret_still_opens_while_it_is_named(lead, study, github, settings, carried_out):
    store(lead)
    former, settings.SECRET_KEY = settings.SECRET_KEY, "another-secret-of-the-server"
    lead.force_login(GitHubToken.objects.get().added_by)
    lead.post(NEW, query())
    failed = carried_out()
    assert (failed.state, "can no longer be read" in failed.message) == ("failed", True)
    settings.SECRET_KEY_FALLBACKS = [former]
    lead.force_login(GitHubToken.objects.get().added_by)
    lead.post(ONE + "turn/", {"act": "resume"})
    assert carried_out().state == "done"


def test_removing_a_token_wipes_it(lead, study, github, token):
    key = re.search(rf"{PAGE}(\w+)/remove/", lead.get(PAGE).content.decode())[1]
    assert lead.post(f"{PAGE}{key}/remove/").status_code == 302
    row = GitHubToken.objects.get()
    assert (row.sealed, row.removed_at is not None) == ("", True)
    assert lead.post(f"{PAGE}{key}/remove/").status_code == 404
    assert store(lead).status_code == 302  # the same may come back
    assert Event.objects.filter(verb="removed a token", label="Lee’s").count() == 1


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"token": "ghp_with a_space"}, "one word of printable letters"),
        ({"token": "ghp_\N{SNOWMAN}"}, "one word of printable letters"),
        ({"token": "x" * 501}, "at most 500 characters"),
        ({"name": " "}, "This field is required"),
        ({"name": "ghp_looksliketoken"}, "The name looks like a token"),
        ({"host": "evil.example"}, "is no host that this server may ask"),
    ],
)
def test_what_cannot_be_stored_is_said_without_repeating_it(lead, study, github, sent, said):
    answer = store(lead, **{"token": "ghp_secret_secret"} | sent)
    assert (answer.status_code, GitHubToken.objects.count()) == (400, 0)
    assert said in answer.content.decode()
    assert "ghp_secret_secret" not in answer.content.decode()
    assert sent.get("token", "ghp_secret_secret") not in answer.content.decode()


def test_neither_a_name_nor_a_token_is_there_twice(lead, study, github, token):
    assert "There is a token called" in store(lead, token=OTHER).content.decode()
    assert "stored already, as" in store(lead, name="Another name").content.decode()
    assert GitHubToken.objects.count() == 1


# --- which token goes where


def test_the_studys_own_tokens_come_before_the_servers(lead, study, github, token, monkeypatch, carried_out):
    monkeypatch.setenv("GITHUB_TOKENS", OTHER)
    lead.post(NEW, query())
    assert carried_out().state == "done"
    assert {entry.token for entry in github.log} == {TOKEN}
    assert GitHubToken.objects.get().used_at is not None


def test_without_own_tokens_the_servers_are_used_and_named_by_their_place(
    lead, study, github, monkeypatch, carried_out
):
    monkeypatch.setenv("GITHUB_TOKENS", TOKEN)
    lead.post(NEW, query())
    assert carried_out().state == "done"
    assert "token 1 of the server" in lead.get(ONE).content.decode()


def test_a_token_goes_to_the_host_it_was_stored_for_and_to_no_other(
    lead, study, github, token, enterprise, carried_out
):
    assert store(lead, token="ghe_inner", name="Inner", host="ghe.example.org").status_code == 302
    lead.post(NEW, query(repositories="inner/tool", host="ghe.example.org"))
    done = carried_out()
    assert (done.state, done.host) == ("done", "ghe.example.org")
    assert {entry.token for entry in enterprise.log} == {"ghe_inner"}
    assert github.log == []
    assert set(Item.objects.filter(study=study).values_list("identity", flat=True)) == {
        f"ghe.example.org/inner/tool#{number}" for number in range(1, 5)
    }
    lead.post(NEW, query())
    assert carried_out(2).state == "done"
    assert {entry.token for entry in github.log} == {TOKEN}
    assert github.wrong == enterprise.wrong == []


def test_a_host_without_a_token_of_its_own_is_not_asked(lead, study, github, token, enterprise, carried_out):
    lead.post(NEW, query(repositories="inner/tool", host="ghe.example.org"))
    failed = carried_out()
    assert failed.message == "There is no GitHub token for ghe.example.org: a lead of the study stores one."
    assert (github.log, enterprise.log) == ([], [])


def test_a_list_names_its_host(lead, study, github, token, enterprise, carried_out):
    store(lead, token="ghe_inner", name="Inner", host="ghe.example.org")
    lead.post(NEW, query(repositories="", urls="https://ghe.example.org/inner/tool/pull/2"))
    assert (carried_out().host, Item.objects.get(study=study).number) == ("ghe.example.org", 2)
    mixed = "https://ghe.example.org/inner/tool/pull/2\nhttps://github.com/frame/wood/pull/1"
    answer = lead.post(NEW, query(repositories="", urls=mixed))
    assert "start a harvest for each host" in answer.content.decode()


def test_a_host_that_is_no_longer_allowed_is_not_asked(lead, study, github, enterprise, settings, carried_out):
    store(lead, token="ghe_inner", name="Inner", host="ghe.example.org")
    lead.post(NEW, query(repositories="inner/tool", host="ghe.example.org"))
    settings.GITHUB_HOSTS = {}
    assert "is no host that this server may ask" in carried_out().message
    assert enterprise.log == []


# --- refused


def test_a_revoked_token_is_one_clear_message_and_marked(lead, study, github, token, carried_out, caplog):
    github.faults.add(Struck("revoked", on="files", skip=5))
    lead.post(NEW, query())
    failed = carried_out()
    assert (failed.state, Item.objects.filter(fetched_at__isnull=False).count()) == ("failed", 5)
    assert "refused the token: it is wrong, expired or revoked. Store a new one." in failed.message
    assert "refused since" in lead.get(PAGE).content.decode()
    assert "GitHub refused a token" in lead.get(ONE).content.decode()
    sent = len(github.log)
    lead.post(ONE + "turn/", {"act": "resume"})
    assert "refused every token" in carried_out().message
    assert len(github.log) == sent  # it is sent no more
    github.tokens[OTHER] = Limits(github.clock)
    assert store(lead, token=OTHER, name="Another").status_code == 302
    lead.post(ONE + "turn/", {"act": "resume"})
    assert (carried_out().state, github.repeated()) == ("done", [])
    assert TOKEN not in caplog.text


def test_of_two_tokens_the_good_one_goes_on(lead, study, github, token, carried_out):
    store(lead, token="ghp_expired", name="Old")
    GitHubToken.objects.filter(name="Old").update(added_at=timezone.now() - dt.timedelta(days=1))  # asked first
    lead.post(NEW, query())
    assert carried_out().state == "done"
    assert set(GitHubToken.objects.filter(refused_at__isnull=False).values_list("name", flat=True)) == {"Old"}
    assert Fault.objects.get(kind="token").place == "Old"
    assert len([entry for entry in github.log if entry.token == "ghp_expired"]) == 1


def test_counting_with_a_refused_token_marks_it(lead, study, github):
    store(lead, token="ghp_expired")
    lead.post(NEW, query(act="count"))
    assert GitHubToken.objects.get().refused_at is not None


# --- nowhere in clear


def everything_stored() -> Iterator[str]:
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            for row in cursor.fetchall():
                yield f"{table}: {row!r}"


def test_a_token_is_nowhere_in_clear(
    lead, study, github, settings, carried_out, caplog, capsys, django_capture_on_commit_callbacks, tmp_path
):
    """After a run with faults: tables, events, logs, pages, REST, exports, and what was sent to the broker."""
    settings.CELERY_BROKER_URL = "memory://"
    wake.sender.cache_clear()
    github.faults.add(Struck("reset"), Struck("errors", on="graphql"), Struck("revoked", on="files", skip=20))
    with caplog.at_level(logging.DEBUG), django_capture_on_commit_callbacks(execute=True):
        store(lead)
        lead.post(NEW, query(act="count"))
        lead.post(NEW, query())
        assert carried_out().state == "failed"
        told = [lead.get(path) for path in (PAGE, ONE, NEW, "/frameworks/history/", "/frameworks/harvests/")]
        told += [lead.get(f"/api/v1/studies/frameworks/{path}/") for path in ("github-tokens", "harvests", "events")]
        told += [lead.get("/api/v1/studies/frameworks/harvests/1/")]
        assert {answer.status_code for answer in told} == {200}
        assert not [answer.request["PATH_INFO"] for answer in told if TOKEN.encode() in answer.content]
        for table in ("answers", "finals", "history", "bugs"):
            sent = lead.get(f"/frameworks/exports/{table}.csv")
            assert TOKEN.encode() not in b"".join(sent.streaming_content if sent.streaming else [sent.content])
    stored = list(everything_stored())
    assert len(stored) > 100
    assert [row for row in stored if TOKEN in row] == []
    assert TOKEN not in caplog.text + "".join(capsys.readouterr())
    with wake.sender().connection_for_write() as broker:
        message = broker.default_channel.basic_get("mining", no_ack=True)
        assert json.loads(message.body)[0] == [Harvest.objects.get().pk]
        assert TOKEN not in repr(message.properties) + repr(message.headers)
    wake.sender.cache_clear()
    file = io.StringIO()
    call_command("dumpdata", "collection", "history", stdout=file)
    assert TOKEN not in file.getvalue()
    for thing in (access.access_for, GitHubToken.objects.get(), Budget.objects.first()):
        assert TOKEN not in repr(thing)


def test_an_error_in_the_middle_tells_nothing_of_it(lead, study, github, monkeypatch, caplog):
    def broken(*_args: Any, **_more: Any) -> str:
        raise RuntimeError("the sealing failed")

    monkeypatch.setattr(tokens, "seal", broken)
    lead.raise_request_exception = False
    with caplog.at_level(logging.DEBUG):
        answers = [
            store(lead, token="ghp_in_the_middle"),
            lead.post(
                "/api/v1/studies/frameworks/github-tokens/",
                {"name": "x", "token": "ghp_in_the_middle"},
                content_type="application/json",
            ),
        ]
    assert [answer.status_code for answer in answers] == [500, 500]
    assert not [answer for answer in answers if b"ghp_in_the_middle" in answer.content]
    assert "ghp_in_the_middle" not in caplog.text


def test_access_shows_no_token(study, github, token):
    found = access.access_for(study, "github.com")
    assert repr(found) == f"Access({github.url}, 1 tokens)"
    assert TOKEN not in repr(found.keys()) + repr(found.github())


# --- the administrator's word


def test_hosts_are_read_from_the_environment(monkeypatch):
    given = "ghe.example.org=https://ghe.example.org/api/v3/, here=http://127.0.0.1:8099/api/v3"
    monkeypatch.setenv("GITHUB_HOSTS", given)
    assert settings_module.read_github_hosts() == {
        "ghe.example.org": "https://ghe.example.org/api/v3",
        "here": "http://127.0.0.1:8099/api/v3",
    }
    monkeypatch.delenv("GITHUB_HOSTS")
    assert settings_module.read_github_hosts() == {}


@pytest.mark.parametrize(
    "entry",
    [
        "ghe.example.org",
        "ghe.example.org=http://ghe.example.org/api/v3",
        "github.com=https://elsewhere.example",
        "GHE Example=https://ghe.example.org",
        "ghe.example.org=https://lee:word@ghe.example.org",
        "ghe.example.org=ftp://ghe.example.org",
        "ghe.example.org=https://[::1",
        "=https://ghe.example.org",
    ],
)
def test_a_host_that_a_token_must_not_go_to_stops_the_server(monkeypatch, entry):
    monkeypatch.setenv("GITHUB_HOSTS", entry)
    with pytest.raises(ImproperlyConfigured, match="is not NAME=ADDRESS"):
        settings_module.read_github_hosts()


def test_plain_http_goes_to_this_machine_alone(monkeypatch):
    monkeypatch.setenv("GITHUB_TOKENS", TOKEN)
    monkeypatch.setenv("GITHUB_API_URL", "http://github.example/api/v3")
    with pytest.raises(BadInput, match="no address that a token may go to"):
        access.access_from_environment()


def test_strangers_and_raters_store_nothing(study, github, client, alice, charlie):
    for person, status in ((alice, 403), (charlie, 404)):
        client.force_login(person)
        assert store(client).status_code == client.get(PAGE).status_code == status
        assert client.post(f"{PAGE}{'0' * 12}/remove/").status_code == status
    assert GitHubToken.objects.count() == 0


def test_every_table_was_looked_into(study):
    """The dump sees a token where one is stored in clear."""
    Event.objects.create(verb="x", kind="x", label=f"a slip: {TOKEN}")
    assert [row for row in everything_stored() if TOKEN in row] != []
    assert len(apps.get_models()) > 30
