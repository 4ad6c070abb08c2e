"""The list of recipes and a recipe's page: what each shows to whom, and what is done there."""

import pytest

from annotator.collection.models import Item
from annotator.reproduction import actions, leases, recipes
from annotator.reproduction.models import Recipe, Run, Series
from tests.factories import RepositoryFactory, make_round
from tests.factories.reproduction import claimed, end_all, ended, make_recipe, make_series, recipe
from tests.integration.reproduction.pages import as_, at, read

HTMX = {"HX-Request": "true"}


@pytest.fixture
def series(bugs, ada) -> Series:
    """Two buggy and two fixed runs, all as expected."""
    made = make_series(bugs[0], ada, repeats=2)
    end_all(made, buggy="bug", fixed="no_bug")
    return made


# --- the list


def test_an_empty_list_says_what_to_do_next(study, lee, alice):
    assert "Make it happen again" in read(as_(lee), at())
    assert "Leads and adjudicators write them" in read(as_(alice), at())


def test_the_list_tells_verdict_and_progress(study, bugs, series, ada, alice):
    half = make_series(bugs[1], ada, name="Half done")
    page = read(as_(alice), at())
    assert "reproduced" in page
    assert "buggy 2 of 2" in page
    assert "0 of 4 through" in page
    assert 'hx-trigger="every 5s"' in page
    end_all(half, buggy="no_bug", fixed="no_bug")
    page = read(as_(alice), at())
    assert "not reproduced" in page
    assert "hx-trigger" not in page.partition('id="recipes"')[2].partition(">")[0]


def test_the_list_is_narrowed_by_verdict_repository_words_and_mine(study, bugs, series, ada, lee):
    corvid = RepositoryFactory(study=study, label="corvid/corvid")
    bugs[1].item.repository = corvid
    bugs[1].item.save()
    make_recipe(bugs[1], lee, name="Leak in the cache")
    client = as_(lee)

    def names(query):
        page = client.get(at() + query)
        return [line.recipe.name for line in page.context["page"].lines]

    assert names("") == ["Leak in the cache", "NaN in the sum"]
    assert names("?verdict=reproduced") == ["NaN in the sum"]
    assert names("?verdict=never_run") == ["Leak in the cache"]
    assert names("?repository=corvid/corvid") == ["Leak in the cache"]
    assert names("?mine=1") == ["Leak in the cache"]
    assert names("?q=cache") == ["Leak in the cache"]
    assert names("?q=R-1") == ["NaN in the sum"]
    assert names(f"?q=%23{bugs[1].item.number}") == ["Leak in the cache"]
    assert "No recipe matches" in read(client, at() + "?q=nothing")
    page = read(client, at() + "?verdict=reproduced&mine=1")
    assert 'value="reproduced" selected' in page
    assert 'value="1" checked' in page


def test_a_long_list_is_paged_by_number_and_keeps_its_filters(study, bugs, ada, monkeypatch):
    monkeypatch.setattr("annotator.reproduction.listing.PAGE", 2)
    for _ in range(5):
        make_recipe(bugs[0], ada)
    client = as_(ada)
    page = client.get(at() + "?verdict=never_run")
    assert [line.recipe.number for line in page.context["page"].lines] == [5, 4]
    assert page.context["next_url"] == "?verdict=never_run&before=4"
    later = client.get(at() + page.context["next_url"])
    assert [line.recipe.number for line in later.context["page"].lines] == [3, 2]


def test_what_waits_for_a_gpu_runner_is_said_and_nothing_has_failed(study, bugs, ada, lee):
    make_series(bugs[0], ada, repeats=1, limits={"gpus": 1})
    page = read(as_(lee), at())
    assert "2 runs wait for a GPU runner." in page
    assert "waiting for a GPU runner" in read(as_(lee), at(1))
    assert "2 runs wait for a GPU runner." in read(as_(lee), at("hosts"))


# --- a recipe


def test_a_recipe_shows_its_verdict_matrix_environments_and_outputs(study, series, alice):
    page = read(as_(alice), at(1))
    assert "The bug shows in 2 of 2 buggy runs and in none of 2 fixed ones." in page
    assert "2 of 2 show the bug" in page
    assert "0 of 2 show the bug" in page
    assert "SHOWS=yes" in page
    assert "ran on 3.11.7" in page
    assert "Standard output matches NaN" in page
    assert "30 s, 512 MB" in page
    assert "Run again…" not in page


def test_a_cell_leads_to_its_run_and_the_address_chooses_it(study, series, alice):
    run = series.runs.get(environment="fixed", repeat=2)
    page = read(as_(alice), at(1))
    assert f"?run={run.key}#log" in page
    chosen = as_(alice).get(at(1, "versions", 1, "series", 1) + f"?run={run.key}")
    assert chosen.context["run"] == run
    assert as_(alice).get(at(1)).context["run"].environment == "buggy"


def test_a_run_that_is_not_as_expected_is_marked(study, bugs, ada):
    end_all(make_series(bugs[0], ada, repeats=1), buggy="bug", fixed="bug")
    page = read(as_(ada), at(1))
    assert "the fixed version fails too" in page
    assert page.count("not as expected") == 1


def test_two_outputs_stand_against_each_other(study, bugs, ada):
    made = make_series(bugs[0], ada, repeats=1)
    buggy, fixed = made.runs.all()
    leases.end(claimed(buggy), ended("bug", stdout="step 1\nloss NaN\n"))
    leases.end(claimed(fixed), ended("no_bug", stdout="step 1\nloss 0.5\n"))
    page = read(as_(ada), at(1))
    assert "buggy, seed 1</span> against" in page
    assert 'loss <span class="w">NaN</span>' in page
    assert "The two wrote the same." in read(as_(ada), at(1) + f"?left={buggy.key}&right={fixed.key}&stream=err")


def test_a_differential_shows_each_value_the_majority_and_who_deviates(study, bugs, ada):
    names = ("1.9", "1.10", "1.11")
    listed = [{"name": name, "python": "3.11"} for name in names]
    document = {"name": "Over releases", "kind": "differential", "script": "repro.py", "compare": "json", "repeats": 1}
    row = actions.create_recipe(
        bug=bugs[0], recipe=recipes.from_document(document | {"environments": listed}), script="print()", by=ada
    )
    for run, value in zip(actions.ask(recipe=row, by=ada).runs.all(), (0.5, 0.5, 0.0), strict=True):
        observed = {"observed": {"value": {"sum": value, "size": 8}}}
        leases.end(claimed(run), ended("observed", measures=observed))
    page = as_(ada).get(at(1))
    lines = {line.name: (line.majority, line.deviants) for line in page.context["over"].lines}
    assert lines == {"sum": ("0.5, 2 of 3", ("1.11",)), "size": ("8, 3 of 3", ())}
    assert "the majority is the reference" in page.content.decode()
    assert page.content.decode().count(", deviates</span>") == 1


def test_while_runs_go_on_the_matrix_alone_is_fetched_and_at_the_end_the_page(study, bugs, ada):
    made = make_series(bugs[0], ada, repeats=1)
    client, here = as_(ada), at(1, "versions", 1, "series", 1)
    assert 'hx-trigger="every 3s"' in read(client, at(1))
    fragment = client.get(here, headers=HTMX)
    assert fragment.templates[0].name == "reproduction/_matrix.html"
    assert "HX-Refresh" not in fragment
    end_all(made, buggy="bug", fixed="no_bug")
    assert client.get(here, headers=HTMX)["HX-Refresh"] == "true"
    assert 'hx-trigger="every 3s"' not in read(client, at(1))


# --- acts


def test_a_writer_runs_it_again_and_others_may_not(study, series, ada, alice, charlie):
    assert as_(alice).post(at(1, "run")).status_code == 403
    assert as_(charlie).post(at(1, "run")).status_code == 404
    page = as_(ada).post(at(1, "run"), {"runner": "local"})
    assert page["Location"] == at(1)
    again = Series.objects.get(number=2)
    assert (again.runner, again.runs.count(), again.asked_by) == ("local", 4, ada)
    assert "0 of 4 through" in read(as_(ada), at(1))
    assert as_(ada).post(at(1, "run"), {"runner": "bare"}).status_code == 400


def test_faults_are_retried_with_their_seeds_and_stand_behind_the_new_run(study, bugs, ada):
    made = make_series(bugs[0], ada, repeats=2)
    end_all(made, buggy="bug", fixed="fault")
    page = read(as_(ada), at(1))
    assert "Retry 2 faults" in page
    assert "2 not counted" in page
    here = at(1, "versions", 1, "series", 1)
    assert as_(ada).post(f"{here}retry/")["Location"] == here
    end_all(made, fixed="no_bug")
    page = read(as_(ada), at(1))
    assert page.count("before: the runner failed") == 2
    assert "0 of 2 show the bug" in page
    assert as_(ada).post(f"{here}retry/").status_code == 409


def test_a_series_and_a_run_are_cancelled_at_once(study, bugs, ada, alice):
    made = make_series(bugs[0], ada, repeats=2)
    first = made.runs.first()
    claimed(first)
    run_url = at("runs", first.key)
    assert as_(alice).post(f"{run_url}cancel/").status_code == 403
    assert as_(ada).post(f"{run_url}cancel/")["Location"] == run_url
    assert Run.objects.get(pk=first.pk).state == "cancelled"
    assert as_(ada).post(f"{run_url}cancel/").status_code == 409
    assert as_(ada).post(at(1, "versions", 1, "series", 1, "cancel")).status_code == 302
    assert {run.state for run in made.runs.all()} == {"cancelled"}
    assert "Cancel the runs" not in read(as_(ada), at(1))


# --- who sees it


def test_strangers_find_nothing(study, series, charlie):
    client, run = as_(charlie), series.runs.first()
    asked = (at(), at(1), at("new"), at("hosts"), at("bugs", 1), at("runs", run.key), at(1, "edit"), at(1, "script"))
    for address in (*asked, f"{at(1)}recipe.yaml", f"{at(1)}replay.zip", at(1, "versions", 1)):
        assert client.get(address).status_code == 404, address
    for address in (at("new"), at("hosts"), at(1, "edit"), at("hosts", "box", "void"), at("hosts", "box", "remove")):
        assert client.post(address).status_code == 404, address


def test_in_an_open_round_its_raters_find_neither_recipe_nor_run(study, bugs, series, alice, bob, lee, ada):
    make_round(study, bugs=bugs[:2], raters=[alice, bob], by=lee)
    run = series.runs.first()
    gone = [
        at(1),
        at(1, "versions", 1),
        at(1, "versions", 1, "series", 1),
        at("runs", run.key),
        at("runs", run.key, "log"),
    ]
    for address in (*gone, f"{at(1)}recipe.yaml", f"{at(1)}replay.zip", f"{at('runs', run.key)}output.txt"):
        assert as_(alice).get(address).status_code == 404, address
        assert as_(ada).get(address).status_code == 200, address
    assert "No recipe is shown." in read(as_(alice), at())


def test_files_of_a_recipe_are_taken_along(study, series, alice):
    client = as_(alice)
    file = client.get(f"{at(1)}recipe.yaml")
    assert file["Content-Disposition"] == 'attachment; filename="R-1-v1.yaml"'
    assert "stdout_matches: NaN" in file.content.decode()
    assert client.get(at(1, "script")).content.decode() == Recipe.objects.get().script
    assert client.get(f"{at(1)}replay.zip").content[:2] == b"PK"
    assert client.get(f"{at(1)}recipe.yaml?version=9").status_code == 404


def test_a_title_that_is_markup_is_shown_as_text(study, bugs, ada):
    Item.objects.filter(pk=bugs[0].item_id).update(title="<script>alert(1)</script>")
    make_recipe(bugs[0], ada, name="<b>bold</b>")
    for address in (at(), at(1), at("new") + "?bug=1", at("bugs", 1)):
        page = read(as_(ada), address)
        assert "<b>bold" not in page
        assert "<script>alert" not in page


def test_runs_of_an_older_version_stand_beside_what_that_version_asked_for(study, bugs, series, ada, alice):
    end_all(series, buggy="bug", fixed="no_bug")
    changed = recipe(oracle={"exception": "ValueError"}, limits={"seconds": 7})
    actions.change_recipe(row=series.recipe, recipe=changed, script="raise ValueError\n", why="It raises now.", by=ada)
    page = read(as_(alice), at(series.recipe.number))
    assert "These runs are of" in page
    assert "It raises ValueError" not in page
    assert "30 s, 512 MB" in page
