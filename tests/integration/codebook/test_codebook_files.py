"""The codebook as a file, in and out, on its page and over REST."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from annotator.codebook.queries import as_document
from annotator.codebook.reading import read


@pytest.mark.parametrize("format_", ["yaml", "json", "csv"])
def test_each_download_makes_the_same_codebook(client, study, alice, charlie, format_):
    address = f"/{study.slug}/codebook/codebook.{format_}"
    client.force_login(alice)
    answer = client.get(address)
    assert f"frameworks-codebook.{format_}" in answer["Content-Disposition"]
    assert read(answer.content) == as_document(study.codebook).without_builtins()
    then = client.get(f"{address}?version=1")
    assert f"frameworks-codebook-v1.{format_}" in then["Content-Disposition"]
    client.force_login(charlie)
    assert client.get(address).status_code == 404


def test_a_csv_takes_the_codebooks_place(client, study, lee):
    client.force_login(lee)
    file = SimpleUploadedFile("mine.csv", "codebook,facet,category\nMine,cause,type\n,cause,new\n".encode("utf-8-sig"))
    assert client.post(f"/{study.slug}/codebook/file/", {"file": file}).status_code == 302
    study.codebook.refresh_from_db()
    assert study.codebook.title == "Mine"
    assert [category.name for category in as_document(study.codebook).facet("cause").active] == ["type", "new"]


@pytest.mark.parametrize("format_", ["yaml", "json", "csv"])
def test_over_rest_it_goes_out_and_comes_in(study, lee, alice, format_):
    api = APIClient()
    api.force_authenticate(lee)
    address = "/api/v1/studies/frameworks/codebook/file/"
    told = api.get(address, {"as": format_}).json()
    assert told["name"] == f"frameworks-codebook.{format_}"
    changed = told["content"].replace("shape", "form")
    assert api.put(address, {"content": changed}, format="json").status_code == 200
    names = [category.name for category in as_document(study.codebook).facet("cause").active]
    assert names == ["type", "form", "api"]
    assert api.get(address, {"as": "xlsx"}).status_code == 400
    assert api.put(address, {"content": "title: x"}, format="json").status_code == 400
    api.force_authenticate(alice)
    assert api.put(address, {"content": changed}, format="json").status_code == 403
