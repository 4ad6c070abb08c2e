"""No download that people open in a spreadsheet runs what somebody wrote into a name or a cell."""

import csv
import io

import pytest

from annotator.codebook.models import Category, Facet
from annotator.intake import actions
from annotator.intake.mapping import from_document
from annotator.labeling.models import Round
from annotator.overview.rounds.closing import close_round
from tests.factories import answer, make_round

RUN = '=HYPERLINK("http://evil.example")'
STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


@pytest.fixture
def named_as_formulas(study, bugs, alice, bob, lee):
    Facet.objects.filter(key="cause").update(name="@cause")
    Category.objects.filter(name="type").update(name=RUN)
    round_ = make_round(study, bugs=bugs[:1], raters=[alice, bob], by=lee, name="-1+1")
    for rater in (alice, bob):
        answer(round_, bugs[0], rater, {"cause": RUN, "stage": "training"})
    return close_round(round_=round_, by=lee)


def cells(response) -> list[str]:
    assert response.status_code == 200
    body = b"".join(response) if response.streaming else response.content
    rows = list(csv.reader(io.StringIO(body.decode(), newline="")))
    assert len(rows) > 1
    return [cell for row in rows for cell in row]


def running(found: list[str]) -> list[str]:
    return [cell for cell in found if cell.startswith(STARTS) and not cell.lstrip("-").replace(".", "", 1).isdecimal()]


@pytest.mark.parametrize("address", ["analysis/table.csv", "agreement/{number}/table.csv"])
def test_tables_of_counts_and_agreement_run_nothing(client, study, named_as_formulas, lee, address):
    client.force_login(lee)
    found = cells(client.get(f"/{study.slug}/{address.format(number=named_as_formulas.number)}"))
    assert running(found) == []
    assert {f"'{RUN}", "'-1+1"} & set(found)
    assert Round.objects.get().name == "-1+1"


def test_problems_of_a_sheet_run_nothing(client, study, lee):
    mapping = from_document({"item": {"key": "id"}, "raters": {"alice": {"cause": RUN}}})
    data = f'id,"{RUN.replace(chr(34), chr(34) * 2)}"\nx,never heard of\n'.encode()
    row = actions.upload(study=study, filename="s.csv", data=data, mapping=mapping, by=lee)
    client.force_login(lee)
    found = cells(client.get(f"/{study.slug}/import/{row.number}/problems.csv"))
    assert running(found) == []
