"""A sheet comes in, and goes again, by programs alone."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotator.intake.models import Import
from annotator.intake.running import perform
from tests.contract.interface import Interface, problems, schema

SHEET = b"repo,pr,Cause A,Cause B\nlumen/lumen,1,type,shape\nlumen/lumen,2,api,api\n"
MAPPING = """
item: {repository: repo, number: pr}
raters: {alice: {cause: Cause A}, bob: {cause: Cause B}}
clean: {unknown: error}
"""
IMPORTS = "studies/frameworks/imports/"


def upload(asking, **files):
    sent = {name: SimpleUploadedFile(f"{name}.csv", content) for name, content in files.items()}
    response = asking.client.post(f"/api/v1/{IMPORTS}", sent)
    told = json.loads(response.content)
    asking.hold("post", f"/api/v1/{IMPORTS}", response, told)
    return response.status_code, told


@pytest.fixture
def lead(study, lee):
    return Interface(lee)


def test_a_sheet_is_uploaded_checked_started_and_undone(lead):
    status, row = upload(lead, file=SHEET, mapping=MAPPING.encode())
    assert status == 201
    assert (row["state"], row["report"]["bugs_created"], row["report"]["answers"]) == ("uploaded", 2, 4)
    assert lead.get("studies/frameworks/bugs/")["results"] == []
    lead.post(f"{IMPORTS}1/start/", status=202)
    perform(Import.objects.get(number=1).pk)  # the worker's part
    assert lead.get(f"{IMPORTS}1/")["state"] == "done"
    assert len(lead.get("studies/frameworks/answers/")["results"]) == 4
    assert lead.get(f"{IMPORTS}1/mapping/").startswith(b"row: bug")
    assert lead.post(f"{IMPORTS}1/undo/")["state"] == "undone"
    assert lead.get("studies/frameworks/bugs/")["results"] == []
    assert [row["number"] for row in lead.get(IMPORTS)["results"]] == [1]


def test_errors_of_the_sheet_are_listed_and_stand_in_the_way(lead):
    status, row = upload(lead, file=SHEET.replace(b"shape", b"colour"))
    assert status == 201
    assert row["report"] is None
    told = lead.put(f"{IMPORTS}1/mapping/", {"yaml": MAPPING})
    assert [error["row"] for error in told["report"]["errors"]] == [2]
    assert "errors stand in the way" in lead.post(f"{IMPORTS}1/start/", status=409)["detail"]
    assert lead.ask("delete", f"{IMPORTS}1/", status=204) == b""
    assert lead.get(IMPORTS)["results"] == []


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"file": b""}, "empty"),
        ({}, "file"),
        ({"file": b"PK\x03\x04broken"}, ""),
        ({"file": SHEET, "mapping": b"item: {"}, ""),
    ],
)
def test_what_cannot_be_read_is_a_problem_and_leaves_no_row(lead, files, said):
    status, told = upload(lead, **files)
    assert status == 400
    assert said in json.dumps(told)
    assert problems(schema()["components"]["schemas"]["Problem"], told) == []
    assert not Import.objects.exists()


def test_who_does_not_lead_imports_nothing(study, alice):
    status, _ = upload(Interface(alice), file=SHEET)
    assert status == 403
