import json

import pytest
from django.core.management import call_command

from tests.integration.agreement.votes import labelled, round_of

pytestmark = pytest.mark.django_db


def agreement(capsys, *arguments):
    call_command("agreement", *arguments, "--json")
    return json.loads(capsys.readouterr().out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as left:
        call_command("agreement", *arguments, "--json")
    out, err = capsys.readouterr()
    assert (left.value.code, out) == (2, "")
    (line,) = [line for line in err.splitlines() if line.strip()]
    return line


def test_the_list_is_strict_json_with_unrounded_numbers(capsys):
    labelled({"alice": "XXYYXY", "bob": "XYYYXX"}, name="Pilot")
    (entry,) = agreement(capsys, "votes")
    assert entry["kappa"] == 1 / 3
    assert (entry["round"], entry["facet"], entry["raters"]) == ("Pilot", "cause", ["alice", "bob"])


def test_a_round_is_chosen_by_number_or_name(capsys):
    first = labelled({"alice": "XY", "bob": "XY"}, name="Pilot")
    round_of(first.study, {"alice": "XY", "bob": "YX"}, by=first.opened_by, name="Main")
    assert [e["round"] for e in agreement(capsys, "votes")] == ["Pilot", "Main"]
    assert [e["round"] for e in agreement(capsys, "votes", "--round", "2")] == ["Main"]
    assert [e["round"] for e in agreement(capsys, "votes", "--round", "Pilot")] == ["Pilot"]


def test_a_facet_is_chosen_by_id_or_name(capsys):
    labelled({"alice": "XY", "bob": "XY"})
    assert agreement(capsys, "votes", "--facet", "cause") == agreement(capsys, "votes", "--facet", "Cause")


def test_pooled_takes_the_main_rounds_together(capsys):
    first = labelled({"alice": "XY", "bob": "XY"})
    round_of(first.study, {"alice": "XY", "bob": "YX"}, by=first.opened_by)
    (entry,) = agreement(capsys, "votes", "--pooled")
    assert (entry["round"], entry["n"]) == ("pooled", 4)


def test_a_study_without_a_closed_round_gives_an_empty_list(capsys):
    labelled({"alice": "XY", "bob": "XY"}, close=False)
    assert agreement(capsys, "votes") == agreement(capsys, "votes", "--pooled") == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "no study"),
        (["votes", "--round", "9"], "no round"),
        (["votes", "--facet", "colour"], "no facet"),
        (["votes", "--pooled", "--round", "1"], "leave out"),
    ],
)
def test_what_is_not_there_is_refused_in_one_line(capsys, arguments, said):
    labelled({"alice": "XY", "bob": "XY"})
    assert said in refused(capsys, *arguments)


def test_the_table_for_people_says_why_a_coefficient_is_missing(capsys):
    labelled({"alice": "XXXXX", "bob": "XXXXX"})
    call_command("agreement", "votes")
    out = capsys.readouterr().out
    assert "Only one category was used" in out
    assert "single_category" in out
