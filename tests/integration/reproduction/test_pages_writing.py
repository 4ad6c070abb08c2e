"""Recipes written and changed: as a form, as YAML, from files. What is wrong is said where it stands."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotator.reproduction.models import Recipe
from tests.factories import make_round, member
from tests.factories.reproduction import SHOWS, make_recipe, recipe
from tests.integration.reproduction.pages import as_, at, form, read

NEW = at("new") + "?bug=1"


def stored() -> Recipe:
    return Recipe.objects.current().get()


def errors(page, place: str = "") -> str:
    """Of the field: what is said beside it."""
    assert page.status_code == 422
    assert not Recipe.objects.filter(version__gt=1).exists()
    shown = page.context["form"]
    row, _, key = place.rpartition(".")
    return " ".join((shown.rows.forms[int(row)].errors if row else shown.errors).get(key or "__all__", []))


# --- a new one


def test_a_bug_is_chosen_by_its_number(study, bugs, ada):
    assert "Number of the bug" in read(as_(ada), at("new"))
    assert as_(ada).get(at("new") + "?bug=99").status_code == 404


def test_the_form_begins_with_what_the_pull_request_tells(study, bugs, ada):
    page = as_(ada).get(NEW)
    assert page.context["form"]["name"].value() == bugs[0].item.title
    assert [row["name"].value() for row in page.context["form"].rows] == ["buggy", "fixed"]
    assert page.context["form"]["stdout_matches"].value() == ""
    assert "To be filled in" in page.content.decode()


def test_the_form_is_stored_as_a_recipe_of_the_bug(study, bugs, ada):
    page = as_(ada).post(NEW, form())
    assert page["Location"] == at(1)
    assert (stored().bug, stored().created_by, stored().script) == (bugs[0], ada, SHOWS)
    assert stored().document == recipe(limits={}).document() | {"limits": stored().document["limits"]}
    assert stored().document["limits"]["seconds"] == 30.0
    assert stored().document["environments"][1] == {
        "name": "fixed", "python": "3.11", "variables": {"SHOWS": "no"}, "expect": "no_bug",
    }  # fmt: skip


def test_every_part_of_an_oracle_can_be_given_in_the_form(study, bugs, ada):
    sent = form(
        stderr_matches="Warning", exit_code="1", exception="ValueError", nan_in_output="on", metric_name="loss",
        metric_above="0.5", timeout="on", out_of_memory="on", infinity_in_output="on",
    )  # fmt: skip
    as_(ada).post(NEW, sent)
    assert stored().document["oracle"] == {
        "stdout_matches": "NaN", "stderr_matches": "Warning", "exit_code": 1, "exception": "ValueError",
        "timeout": True, "out_of_memory": True, "nan_in_output": True, "infinity_in_output": True,
        "metric": {"name": "loss", "above": 0.5},
    }  # fmt: skip


def test_a_differential_takes_what_is_compared_and_no_expectation(study, bugs, ada):
    rows = [{"name": name, "python": "3.11", "requirements": f"numpy=={name}\n"} for name in ("1.24", "1.25", "1.26")]
    as_(ada).post(NEW, form(*rows, kind="differential", compare="metric", metric="loss", tolerance="0.01"))
    document = stored().document
    assert (document["kind"], document["compare"], document["metric"], document["tolerance"]) == (
        "differential", "metric", "loss", 0.01,
    )  # fmt: skip
    assert document["environments"][2] == {"name": "1.26", "python": "3.11", "requirements": ["numpy==1.26"]}
    assert "oracle" not in document


def test_a_row_is_added_without_script_and_what_was_typed_stays(study, bugs, ada):
    page = as_(ada).post(NEW, form(act="add", name="Half typed"))
    assert (page.status_code, len(page.context["form"].rows.forms)) == (200, 3)
    assert page.context["form"]["name"].value() == "Half typed"
    assert page.context["form"].rows.forms[0]["variables"].value() == "SHOWS=yes"
    assert not Recipe.objects.exists()


def test_an_empty_row_is_left_out(study, bugs, ada):
    filled = [{"name": "buggy", "python": "3.11"}, {}, {"name": "fixed", "python": "3.11", "expect": "no_bug"}]
    as_(ada).post(NEW, form(*filled))
    assert [one["name"] for one in stored().document["environments"]] == ["buggy", "fixed"]


@pytest.mark.parametrize(
    ("place", "said", "changes"),
    [
        ("name", "is missing", {"name": ""}),
        ("repeats", "no whole number", {"repeats": "many"}),
        ("seconds", "no number", {"seconds": "soon"}),
        ("gpus", "from 0 to 1", {"gpus": "4"}),
        ("stdout_matches", "no regular expression", {"stdout_matches": "("}),
        ("stdout_matches", "say what the bug looks like", {"stdout_matches": ""}),
        ("exit_code", "no whole number", {"exit_code": "one"}),
        ("metric_above", "the bound", {"metric_name": "loss"}),
        ("script_text", "empty", {"script_text": " "}),
        ("script_name", "own folder", {"script_name": "../up.py"}),
        ("1.python", "a version such as 3.8", {"e-1-python": "latest"}),
        ("1.requirements", "name a distribution", {"e-1-requirements": "--index-url evil"}),
        ("0.variables", "NAME=value", {"e-0-variables": "SHOWS"}),
        ("0.name", "letters", {"e-0-name": "<b>"}),
        ("0.image", "no image", {"e-0-image": "a b"}),
        ("", "two are named", {"e-1-name": "buggy"}),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(study, bugs, ada, place, said, changes):
    page = as_(ada).post(NEW, form(**changes))
    assert said in errors(page, place)
    assert not Recipe.objects.exists()
    assert "Not stored" in page.content.decode() or not place


def test_all_that_is_wrong_is_said_at_once_and_what_was_typed_is_kept(study, bugs, ada):
    wrong = {
        "name": ("", "is missing"),
        "repeats": ("many", "no whole number"),
        "seed": ("-1", "no whole number"),
        "seconds": ("soon", "no number"),
        "memory_mb": ("lots", "no whole number"),
        "stdout_matches": ("(", "no regular expression"),
        "exit_code": ("one", "no whole number"),
        "metric_above": ("high", "no number"),
        "script_name": ("../up.py", "own folder"),
        "script_text": (" ", "empty"),
        "0.name": ("<b>", "letters"),
        "0.image": ("a b", "no image"),
        "0.variables": ("SHOWS", "NAME=value"),
        "1.python": ("latest", "a version such as 3.8"),
        "1.requirements": ("--index-url evil", "name a distribution"),
    }
    typed = {f"e-{place.replace('.', '-')}" if "." in place else place: text for place, (text, _) in wrong.items()}
    page = as_(ada).post(NEW, form(metric_name="loss", **typed))
    for place, (text, said) in wrong.items():
        assert said in errors(page, place), place
        row, _, key = place.rpartition(".")
        shown = page.context["form"].rows.forms[int(row)] if row else page.context["form"]
        assert shown[key].value() == text
        assert said in page.content.decode()
    assert not Recipe.objects.exists()


def test_all_that_is_wrong_with_a_change_is_said_at_once(study, bugs, ada):
    row = make_recipe(bugs[0], ada)
    sent = form(version=str(row.version), why=" ", script_text="", **{"e-0-python": "/usr/bin/python3", "gpus": "9"})
    page = as_(ada).post(f"{at(1)}edit/", sent)
    assert "Say why" in errors(page, "why")
    assert "empty" in errors(page, "script_text") and "from 0 to 1" in errors(page, "gpus")
    page = as_(ada).post(f"{at(1)}edit/", sent | {"why": "Because.", "script_text": SHOWS, "gpus": "0"})
    assert "a path is one machine" in errors(page, "0.python")


# --- YAML and files


def test_the_form_turns_into_yaml_and_back(study, bugs, ada):
    client = as_(ada)
    page = client.post(NEW, form(act="yaml"))
    text = page.context["form"]["yaml"].value()
    assert "stdout_matches: NaN" in text
    back = client.post(NEW, {"act": "form", "yaml": text.replace("repeats: 2", "repeats: 5"), "script_text": SHOWS})
    shown = back.context["form"]
    assert (shown["repeats"].value(), shown["script_text"].value()) == ("5", SHOWS)
    assert [row["variables"].value() for row in shown.rows] == ["SHOWS=yes", "SHOWS=no"]
    assert not Recipe.objects.exists()


def test_pasted_yaml_is_stored_and_what_is_wrong_in_it_named(study, bugs, ada):
    client, text = as_(ada), recipe().yaml()
    page = client.post(NEW, {"yaml": text.replace("oracle:", "orakel:"), "script_text": SHOWS})
    assert "there is no key “orakel”" in errors(page, "yaml")
    assert client.post(NEW, {"yaml": text, "script_text": SHOWS})["Location"] == at(1)
    assert stored().document == recipe().document()


def test_files_are_taken_and_shown_again_where_they_are_wrong(study, bugs, ada):
    def files(text: str) -> dict[str, object]:
        return {
            "yaml": "",
            "yaml_file": SimpleUploadedFile("recipe.yaml", text.encode()),
            "script_file": SimpleUploadedFile("repro.py", SHOWS.encode()),
        }

    page = as_(ada).post(NEW, files("name: x"))
    assert "environments" in errors(page, "yaml")
    assert page.context["form"]["yaml"].value() == "name: x"
    assert page.context["form"]["script_text"].value() == SHOWS
    assert as_(ada).post(NEW, files(recipe().yaml()))["Location"] == at(1)
    binary = SimpleUploadedFile("recipe.yaml", b"\xff\xfe\x00")
    assert as_(ada).post(NEW, {"yaml": "", "yaml_file": binary}).status_code == 400


# --- changing


def test_a_change_is_a_further_version_with_its_reason(study, bugs, ada, alice):
    make_recipe(bugs[0], ada)
    page = as_(ada).get(at(1, "edit"))
    assert page.context["form"].rows.forms[0]["variables"].value() == "SHOWS=yes"
    sent = form(repeats="5", version="1", why="Two were too few.")
    assert as_(ada).post(at(1, "edit"), sent)["Location"] == at(1)
    assert (stored().version, stored().why, stored().document["repeats"]) == (2, "Two were too few.", 5)
    shown = read(as_(alice), at(1, "versions", 2))
    assert "Two were too few." in shown
    assert '<span class="w">5</span>' in shown or "repeats: <" in shown
    assert "Two were too few." in read(as_(alice), at(1))


def test_a_change_needs_a_reason_and_a_difference(study, bugs, ada):
    make_recipe(bugs[0], ada)
    page = as_(ada).post(at(1, "edit"), form(repeats="5", version="1"))
    assert "Say why" in errors(page, "why")
    page = as_(ada).post(at(1, "edit"), form(version="1", why="No reason."))
    assert "Nothing in it differs" in errors(page)


def test_who_began_with_an_earlier_version_is_told(study, bugs, ada):
    make_recipe(bugs[0], ada)
    as_(ada).post(at(1, "edit"), form(repeats="5", version="1", why="More."))
    page = as_(ada).post(at(1, "edit"), form(repeats="7", version="1", why="Even more."))
    assert page.status_code == 409
    assert "look at version 2 first" in page.content.decode()
    assert stored().version == 2


# --- who


def test_raters_and_readers_write_nothing(study, bugs, ada, alice):
    make_recipe(bugs[0], ada)
    for address in (NEW, at(1, "edit")):
        assert as_(alice).get(address).status_code == 403
        assert as_(alice).post(address, form()).status_code == 403
    assert Recipe.objects.count() == 1


def test_a_lead_who_rates_the_bug_leaves_its_recipe_to_others(study, bugs, lee, alice):
    member(study, lee, "rater")
    make_round(study, bugs=bugs[:2], raters=[alice, lee], by=lee)
    assert as_(lee).get(NEW).status_code == 409
    assert as_(lee).post(NEW, form()).status_code == 409
    assert not Recipe.objects.exists()
