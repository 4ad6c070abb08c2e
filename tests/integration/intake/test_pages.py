"""The import in the browser: upload, choose columns, check, confirm, undo."""

import csv
import io
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotator.accounts.models import User
from annotator.adjudication.models import Resolution
from annotator.agreement.models import Snapshot
from annotator.codebook.models import Category
from annotator.collection.models import Context, Item, Repository
from annotator.intake import running
from annotator.intake.models import Import
from annotator.labeling.models import Answer, Assignment, Round, RoundBug
from annotator.sampling.models import Bug
from annotator.screening.models import Candidate, Outcome, Screening, Vote
from annotator.studies.models import Membership, Study
from tests.factories import make_round
from tests.integration.intake.conftest import as_csv, bring

SHEET = [
    ["project", "pr", "title", "cause", "alice cause", "bob cause", "gist"],
    ["Tessera", "12", "Fix NaN", "type", "type", "Type ", "g1"],
    ["Tessera", "13", "Fix shape", "shape", "shape", "api", "g2"],
]


@pytest.fixture
def lead(client: Client, lee: User) -> Client:
    client.force_login(lee)
    return client


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Which tasks were sent once the transaction was over; nothing is sent to a broker."""
    sent: list[tuple[Any, ...]] = []
    monkeypatch.setattr("annotator.web.wake.send", lambda task, arguments, queue: sent.append((task, *arguments)))
    return sent


def at(study: Study, name: str, number: int | None = None) -> str:
    return reverse(f"intake:{name}", args=[study.slug] if number is None else [study.slug, number])


def send(client: Client, study: Study, rows: Any = SHEET, name: str = "bugs.csv") -> Any:
    data = rows if isinstance(rows, bytes) else as_csv(rows)
    return client.post(at(study, "upload"), {"file": SimpleUploadedFile(name, data)})


def fields(response: Any) -> dict[str, str]:
    """What the page's form would send as it stands."""
    context = response.context
    chosen = {f"c{place}": one.meaning for place, _, _, one in context["lines"]}
    whose = {f"w{place}": one.whose for place, _, _, one in context["lines"]}
    header = {"sheet": context["sheet"].name, "header_rows": str(context["header_rows"])}
    options = {key: value for key, value in context["options"].items() if key not in header}
    return {**chosen, **whose, **header, **options}


def choose(client: Client, study: Study, **changes: str) -> Any:
    page = client.get(at(study, "columns", 1))
    return client.post(at(study, "columns", 1), fields(page) | changes)


def test_columns_are_guessed_from_names_and_cells(lead: Client, study: Study) -> None:
    assert send(lead, study).headers["Location"] == at(study, "columns", 1)
    page = lead.get(at(study, "columns", 1))
    guessed = {label: (one.meaning, one.whose) for _, label, _, one in page.context["lines"]}
    assert guessed == {
        "project": ("item.repository", ""),
        "pr": ("item.number", ""),
        "title": ("item.title", ""),
        "cause": ("final:cause", ""),
        "alice cause": ("rater:cause", "alice"),
        "bob cause": ("rater:cause", "bob"),
        "gist": ("context", ""),
    }
    assert [look.bug for look in page.context["looks"]] == ["Tessera#12", "Tessera#13"]
    assert "cause, bob: type" in [label.lower() for label in page.context["looks"][0].labels]


def test_from_upload_to_agreement(
    lead: Client, study: Study, woken: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    send(lead, study)
    assert choose(lead, study).headers["Location"] == at(study, "check", 1)
    page = lead.get(at(study, "check", 1))
    assert dict(page.context["counts"])["Answers of raters"] == 4
    assert not Bug.objects.exists()
    with django_capture_on_commit_callbacks(execute=True):
        lead.post(at(study, "start", 1))
    row = Import.objects.get()
    assert (row.state, woken) == ("waiting", [("annotator.intake.tasks.run", row.pk)])
    assert "A worker takes it up" in lead.get(at(study, "show", 1)).content.decode()
    assert running.perform(row.pk) is True
    assert lead.get(at(study, "progress", 1)).headers["HX-Refresh"] == "true"
    result = lead.get(at(study, "show", 1))
    assert "It is in." in result.content.decode()
    assert (Bug.objects.count(), Answer.objects.count(), Snapshot.objects.count()) == (2, 4, 1)
    assert Resolution.objects.filter(source="imported", is_current=True).count() == 2


def test_delivered_twice_it_is_stored_once(lead: Client, study: Study, woken: list[Any]) -> None:
    send(lead, study)
    choose(lead, study)
    lead.post(at(study, "start", 1))
    row = Import.objects.get()
    assert [running.perform(row.pk), running.perform(row.pk)] == [True, False]
    assert (Bug.objects.count(), Answer.objects.count()) == (2, 4)


def test_lost_worker_is_followed_by_another_and_a_living_one_is_not(
    lead: Client, study: Study, woken: list[Any]
) -> None:
    import datetime as dt

    from django.utils import timezone

    send(lead, study)
    choose(lead, study)
    lead.post(at(study, "start", 1))
    row = Import.objects.get()
    assert running.claim(row.pk)
    assert (running.claim(row.pk), running.left_waiting()) == (None, [])
    Import.objects.update(lease_until=timezone.now() - dt.timedelta(seconds=1))
    assert running.left_waiting() == [row.pk]
    assert running.perform(row.pk) is True
    assert Import.objects.get().state == "done"


def test_broker_that_is_down_is_logged_and_the_sweep_finds_the_row(
    lead: Client,
    study: Study,
    django_capture_on_commit_callbacks: Any,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from annotator.intake.tasks import sweep

    def down() -> None:
        raise ConnectionError("the broker is down")

    monkeypatch.setattr("annotator.web.wake.sender", down)
    send(lead, study)
    choose(lead, study)
    with django_capture_on_commit_callbacks(execute=True):
        assert lead.post(at(study, "start", 1)).status_code == 302
    assert "no worker was woken for annotator.intake.tasks.run" in caplog.text
    assert Import.objects.get().state == "waiting"
    assert sweep() == 1


def test_errors_stand_in_the_way_and_are_listed(lead: Client, study: Study, woken: list[Any]) -> None:
    rows = [*SHEET, ["Tessera", "x", "no number", "Crush", "", "", ""]]
    send(lead, study, rows)
    choose(lead, study)
    page = lead.get(at(study, "check", 1))
    assert [remark["row"] for _, remark in page.context["page"]["rows"]] == [4]
    refused = lead.post(at(study, "start", 1))
    assert refused.status_code == 409
    listed = list(csv.reader(io.StringIO(b"".join(lead.get(at(study, "problems", 1))).decode())))
    assert listed[0] == ["kind", "row", "column", "code", "text"]
    assert listed[1][:4] == ["error", "4", "pr", "bad_number"]
    assert not Bug.objects.exists()


def test_unknown_labels_are_given_a_meaning_on_the_page(lead: Client, study: Study) -> None:
    rows = [["id", "cause"], ["a", "Typ"], ["b", "Typ"], ["c", "Odd"], ["d", "type"], ["e", "shape"], ["f", "api"]]
    send(lead, study, rows)
    choose(lead, study, c1="final:cause")
    (facet, labels, count) = lead.get(at(study, "check", 1)).context["unknown"][0]
    assert (facet.key, labels, count) == ("cause", ["Typ", "Odd"], 2)
    sent = {"facet": ["cause", "cause"], "label": labels, "meaning": ["type", ""], "rest": "add"}
    lead.post(at(study, "check", 1), sent)
    row = Import.objects.get()
    assert row.report is not None
    assert (row.report["errors"], row.report["finals"]) == ([], 6)
    assert row.mapping["clean"]["aliases"] == {"cause": {"Typ": "type"}}
    assert [new["name"] for new in row.report["new_categories"]] == ["Odd"]
    kept = lead.post(at(study, "columns", 1), fields(lead.get(at(study, "columns", 1))))
    assert kept.status_code == 302
    assert Import.objects.get().mapping["clean"]["aliases"] == {"cause": {"Typ": "type"}}


def test_answers_without_a_name_are_asked_for_one(lead: Client, study: Study) -> None:
    send(lead, study)
    page = choose(lead, study, w4="")
    assert page.status_code == 400
    assert "Say whose answers the column “alice cause” holds." in page.content.decode()


def test_preview_reads_the_first_rows_as_chosen(lead: Client, study: Study) -> None:
    send(lead, study)
    sent = fields(lead.get(at(study, "columns", 1))) | {"c3": "final:stage"}
    page = lead.post(at(study, "preview", 1), sent)
    assert "is no category of Stage" in page.content.decode()
    broken = lead.post(at(study, "preview", 1), sent | {"c1": ""})
    assert "must name a column for key, url or number" in broken.content.decode()


def test_mapping_goes_out_as_yaml_and_comes_in_again(lead: Client, study: Study) -> None:
    send(lead, study)
    choose(lead, study)
    text = lead.get(at(study, "mapping_file", 1)).content
    send(lead, study)
    taken = lead.post(at(study, "take_mapping", 2), {"mapping": SimpleUploadedFile("m.yaml", text)})
    assert taken.headers["Location"] == at(study, "check", 2)
    assert Import.objects.get(number=2).mapping == Import.objects.get(number=1).mapping
    refused = lead.post(at(study, "take_mapping", 2), {"mapping": SimpleUploadedFile("m.yaml", b"rows: x")})
    assert (refused.status_code, "unknown key “rows”" in refused.content.decode()) == (400, True)


def test_workbook_offers_its_sheets_and_header_rows(lead: Client, study: Study) -> None:
    from openpyxl import Workbook

    book = Workbook()
    first = book.active
    assert first is not None
    first.append(["pivot"])
    second = book.create_sheet("labels")
    for row in (["", "Rater 1", ""], ["id", "cause", "note"], ["x", "type", "n"], ["y", "api", ""]):
        second.append(row)
    out = io.BytesIO()
    book.save(out)
    send(lead, study, out.getvalue(), "book.xlsx")
    page = lead.get(at(study, "columns", 1) + "?sheet=labels")
    assert (page.context["sheets"], page.context["header_rows"]) == (["Sheet", "labels"], 2)
    assert [label for _, label, _, _ in page.context["lines"]] == ["id", "Rater 1 / cause", "Rater 1 / note"]
    done = lead.post(at(study, "columns", 1), fields(page))
    assert done.status_code == 302
    assert Import.objects.get().mapping["raters"] == {"rater-1": {"cause": "#2", "note": "#3"}}


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("bugs.csv", b"", "0 bytes"),
        ("bugs.xlsx", b"PK\x03\x04 broken", "damaged or no XLSX"),
        ("bugs.xls", b"\xd0\xcf\x11\xe0", "old Excel file"),
    ],
)
def test_file_that_cannot_be_read_is_refused_where_it_was_chosen(
    lead: Client, study: Study, name: str, data: bytes, said: str
) -> None:
    page = send(lead, study, data, name)
    assert page.status_code == 400
    assert said in page.content.decode()
    assert not Import.objects.exists()


def test_file_above_the_limit_is_refused(lead: Client, study: Study, settings: Any) -> None:
    settings.UPLOAD_LIMIT = 10
    page = send(lead, study)
    assert (page.status_code, "split the sheet" in page.content.decode()) == (400, True)


def test_upload_is_dropped_without_a_trace_but_in_history(lead: Client, study: Study) -> None:
    send(lead, study)
    lead.post(at(study, "discard", 1))
    assert not Import.objects.exists()


@pytest.mark.parametrize(("name", "status"), [("alice", 403), ("ada", 403), ("charlie", 404)])
def test_only_leads_import(client: Client, study: Study, lee: User, charlie: User, name: str, status: int) -> None:
    client.force_login(lee)
    send(client, study)
    client.force_login(User.objects.get(username=name))
    for page in ("columns", "check", "show", "progress", "problems", "mapping_file"):
        assert client.get(at(study, page, 1)).status_code == status
    for act in ("preview", "take_mapping", "start", "undo", "discard"):
        assert client.post(at(study, act, 1)).status_code == status
    assert client.get(at(study, "upload")).status_code == status


# --- undo

BROUGHT = (
    Bug, Item, Repository, Context, Round, RoundBug, Assignment, Answer, Resolution, Snapshot,
    Screening, Candidate, Vote, Outcome,
)  # fmt: skip


def everything() -> dict[str, int]:
    models = (*BROUGHT, Category, Membership, User)
    return {model.__name__: model._default_manager.count() for model in models}


def test_undo_takes_everything_back(lead: Client, study: Study) -> None:
    before = everything()
    raters = {"alice": {"cause": "a"}, "Dana": {"cause": "b"}}
    mapping = {
        "item": {"repository": "r", "number": "n"},
        "raters": raters,
        "final": {"cause": "f"},
        "votes": {"bob": {"include": "v"}},
        "context": {"More": "m"},
        "clean": {"unknown": "add"},
    }
    header = ["r", "n", "a", "b", "f", "v", "m"]
    report = bring(
        study, [header, ["T", "1", "type", "odd", "type", "TRUE", "x"], ["T", "1", "api", "", "", "", ""]], mapping
    )
    assert report["errors"] == []
    assert lead.post(at(study, "undo", 1)).status_code == 302
    assert everything() == before
    assert Import.objects.get().state == "undone"
    assert bring(study, [header, ["T", "1", "type", "odd", "type", "TRUE", "x"]], mapping)["bugs_created"] == 1


def test_undo_of_a_second_sheet_leaves_the_first(lead: Client, study: Study) -> None:
    mapping: dict[str, Any] = {"item": {"key": "id"}, "raters": {"alice": {"cause": "c"}}}
    bring(study, [["id", "c"], ["x", "type"], ["y", "api"]], mapping)
    first = everything()
    entries = Snapshot.objects.get(is_current=True).entries
    bring(study, [["id", "c"], ["x", "type"], ["z", "api"]], mapping | {"raters": {"bob": {"cause": "c"}}})
    assert Bug.objects.count() == 3
    lead.post(at(study, "undo", 2))
    now = everything()
    assert {name: now[name] for name in ("Bug", "Item", "Assignment", "Answer", "RoundBug", "Resolution")} == {
        name: first[name] for name in ("Bug", "Item", "Assignment", "Answer", "RoundBug", "Resolution")
    }
    assert Snapshot.objects.get(is_current=True).entries == entries
    assert set(RoundBug.objects.values_list("overlap", "taken")) == {(1, 1)}


def test_undo_is_refused_once_something_stands_on_it(
    lead: Client, study: Study, alice: User, bob: User, lee: User
) -> None:
    bring(study, [["id"], ["x"], ["y"]], {"item": {"key": "id"}})
    make_round(study, bugs=list(Bug.objects.all()), raters=[alice, bob], by=lee)
    before = everything()
    page = lead.post(at(study, "undo", 1))
    assert page.status_code == 409
    assert "cannot be undone: a bug that it brought is in use by now" in page.content.decode()
    assert (everything(), Import.objects.get().state) == (before, "done")


def test_first_sheet_cannot_go_while_the_second_stands_on_its_bugs(lead: Client, study: Study) -> None:
    mapping: dict[str, Any] = {"item": {"key": "id"}, "raters": {"alice": {"cause": "c"}}}
    bring(study, [["id", "c"], ["x", "type"]], mapping)
    bring(study, [["id", "c"], ["x", "type"]], mapping | {"raters": {"bob": {"cause": "c"}}})
    assert lead.post(at(study, "undo", 1)).status_code == 409
    assert lead.post(at(study, "undo", 2)).status_code == 302
    assert lead.post(at(study, "undo", 1)).status_code == 302
    assert not Bug.objects.exists()
