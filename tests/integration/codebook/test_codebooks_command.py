"""manage.py codebooks"""

import json
from typing import Any

import pytest
from django.core.management import call_command

from annotator.codebook.presets import preset
from annotator.codebook.reading import read


def test_lists_the_presets_as_one_json_document(capsys: Any) -> None:
    call_command("codebooks", "--json")
    found = {book["slug"]: book for book in json.loads(capsys.readouterr().out)}
    main = found["dl-framework-bugs"]
    assert [facet["id"] for facet in main["facets"]] == ["root_cause", "symptom", "stage", "level"]
    assert "Dependent Module Issue" in main["facets"][0]["categories"]
    assert main["facets"][3]["categories"][-1] == "Environment-Dependent Processing"
    assert len(found) == 20


def test_lists_them_for_people(capsys: Any) -> None:
    call_command("codebooks")
    assert "silent-bugs: Silent bugs" in capsys.readouterr().out


@pytest.mark.parametrize("format_", ["yaml", "json", "csv"])
def test_writes_a_preset_which_makes_the_same_codebook(capsys: Any, format_: str) -> None:
    call_command("codebooks", "--preset", "silent-bugs", "--as", format_)
    assert read(capsys.readouterr().out) == preset("silent-bugs")


def test_reads_a_file_and_writes_it_otherwise(capsys: Any, tmp_path: Any) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("codebook,facet,category\nMine,cause,type\n")
    call_command("codebooks", "--file", str(file), "--as", "json", "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["title"], told["format"]) == ("Mine", "json")
    assert json.loads(told["content"])["facets"][0]["categories"] == [{"name": "type"}]


def test_writes_a_studys_codebook_as_it_stands(capsys: Any, study: Any) -> None:
    call_command("codebooks", "--study", study.slug, "--as", "csv")
    assert [facet.id for facet in read(capsys.readouterr().out).facets] == ["cause", "stage"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "arguments",
    [
        ("--study", "nobody"),
        ("--preset", "none"),
        ("--file", "/no/such"),
        ("--as", "xlsx"),
        ("--study", "a", "--file", "b"),
    ],
)
def test_bad_input_is_one_line(capsys: Any, arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as left:
        call_command("codebooks", *arguments)
    assert left.value.code == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
