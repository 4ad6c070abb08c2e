"""Path rules: ordered, the first that fits a file wins; with evidence they suggest one value, several, or none."""

import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction

from annotator.codebook.models import PathRule
from annotator.codebook.path_rules import Rule, Rules, as_json, import_rules, read_rules, set_rules, suggest
from annotator.history.models import Event
from annotator.overview.rules.standing import report, ruled
from annotator.studies.models import Study
from annotator.web.errors import BadInput

ROOT = Path(__file__).resolve().parents[3]
SHARED = ROOT.parent / "shared"
pytestmark = pytest.mark.django_db


@pytest.fixture
def facet(study):
    return study.codebook.facets.select_related("codebook").get(key="cause")


@pytest.fixture
def uids(facet):
    return {row.name: row.uid for row in facet.categories.all()}


def test_the_first_rule_that_fits_a_file_wins():
    rules = [Rule("src/core/io/", "a"), Rule("src/core/", ""), Rule("src/", "b")]
    paths = ["src/core/io/file.c", "src/core/graph.c", "src/main.c", "docs/index.md"]
    said = suggest(paths, rules)
    assert said.kind == "several"
    assert {uid: [reason.path for reason in reasons] for uid, reasons in said.found.items()} == {
        "a": ["src/core/io/file.c"],
        "b": ["src/main.c"],
    }
    assert [(reason.path, reason.prefix) for reason in said.silent] == [("src/core/graph.c", "src/core/")]
    assert said.unmatched == ("docs/index.md",)


@pytest.mark.parametrize(
    ("paths", "kind"), [([], "none"), (["x"], "none"), (["a/1", "a/2"], "one"), (["a/1", "b/1"], "several")]
)
def test_one_value_several_or_none(paths, kind):
    assert suggest(paths, [Rule("a/", "A"), Rule("b/", "B"), Rule("c/", "")]).kind == kind


def test_what_most_files_lead_to_comes_first():
    assert list(suggest(["b/1", "a/1", "a/2"], [Rule("a/", "A"), Rule("b/", "B")]).found) == ["A", "B"]


def test_new_rules_take_the_place_of_the_old_which_stay(facet, uids, lee):
    set_rules(facet=facet, repository="lumen", rules=[Rule("a/", uids["type"])], by=lee)
    set_rules(
        facet=facet, repository="lumen", rules=[Rule("b/", ""), Rule("./a/", uids["api"])], by=lee, reason="Moved."
    )
    assert Rules(facet).by_repository == {"lumen": [Rule("b/", ""), Rule("a/", uids["api"])]}
    assert PathRule.objects.count() == 3
    assert PathRule.objects.exclude(retired_at=None).get().prefix == "a/"
    last = Event.objects.filter(verb="set path rules").latest("pk")
    assert (last.old, last.new, last.why) == ({"a/": "type"}, {"b/": "–", "a/": "api"}, "Moved.")
    set_rules(facet=facet, repository="lumen", rules=[Rule("b/", ""), Rule("a/", uids["api"])], by=lee)
    assert PathRule.objects.count() == 3


def test_two_rules_never_share_a_place(facet, uids, lee):
    set_rules(facet=facet, repository="", rules=[Rule("a/", uids["type"])], by=lee)
    with pytest.raises(IntegrityError), transaction.atomic():
        PathRule.objects.create(facet=facet, repository="", position=0, prefix="b/")


def test_a_repositorys_own_rules_come_before_those_for_any(facet, uids, lee):
    set_rules(facet=facet, repository="", rules=[Rule("a/", uids["type"])], by=lee)
    set_rules(facet=facet, repository="Lumen/Lumen", rules=[Rule("a/b/", uids["api"])], by=lee)
    assert [rule.prefix for rule in Rules(facet).of(["lumen", "lumen/lumen"])] == ["a/b/", "a/"]
    assert [rule.prefix for rule in Rules(facet).of(["axon"])] == ["a/"]


def test_a_rule_whose_category_was_retired_says_nothing(facet, uids, lee):
    set_rules(facet=facet, repository="", rules=[Rule("a/", uids["type"])], by=lee)
    facet.categories.filter(name="type").update(state="retired", hotkey="")
    assert suggest(["a/1"], Rules(facet).of([])).kind == "none"


@pytest.mark.parametrize(
    "rules",
    [
        [Rule("a/", "nobody")],
        [Rule(" ", "")],
        [Rule("/", "")],
        [Rule("a/", ""), Rule("a/", "")],
        [Rule("a" * 1_001, "")],
        [Rule("a\x00", "")],
        [Rule(f"{n}/", "") for n in range(2_001)],
    ],
)
def test_rules_that_make_no_sense_are_refused(facet, lee, rules):
    with pytest.raises(BadInput):
        set_rules(facet=facet, repository="", rules=rules, by=lee)
    assert not PathRule.objects.exists()


# --- files


def test_a_file_of_rules_comes_in_and_goes_out_the_same(facet, uids, lee):
    text = """
rules:
  Lumen:
    - {prefix: src/io/, level: API}
    - {prefix: src/, level: null, note: by hand}
"""
    rules = read_rules(text, facet)
    assert rules == {"Lumen": [Rule("src/io/", uids["api"]), Rule("src/", "", "by hand")]}
    assert import_rules(facet=facet, rules=rules, by=lee) == 2
    assert read_rules(as_json(facet), facet) == rules


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("rules: []", "each repository"),
        ("{", "rules file"),
        ("rules: {Lumen: {}}", "list"),
        ("rules: {Lumen: [{level: api}]}", "prefix"),
        ("rules: {Lumen: [{prefix: a/, level: nothing}]}", "no category"),
        ("rules: {Lumen: [{prefix: a/, colour: red}]}", "unknown key"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(facet, content, says):
    with pytest.raises(BadInput, match=says):
        read_rules(content, facet)


# --- the published study


@pytest.mark.skipif(
    not (SHARED / "data/chen2023/dataset_1000.csv").is_file(),
    reason="the published sheets (../shared) are not beside the repository",
)
def test_the_main_studys_rules_alone_are_right_on_317_of_845(lee):
    """The sheet lists the changed files of each bug; the rules are those that the authors released."""
    call_command("create_study", "main", "--title", "Main", "--codebook", "dl-framework-bugs")
    sheet, mapping = SHARED / "data/chen2023/dataset_1000.csv", ROOT / "docs/mappings/chen2023.yaml"
    call_command("import_sheet", "main", str(sheet), "--mapping", str(mapping))
    study = Study.objects.get(slug="main")
    level = study.codebook.facets.select_related("codebook").get(key="level")
    content = (SHARED / "studies/main_level_rules.json").read_bytes()
    import_rules(facet=level, rules=read_rules(content, level), by=lee)
    told = report(study, level)
    assert (told.n, told.right, told.among, told.wrong, told.undecided) == (845, 317, 43, 155, 330)
    assert told.share == pytest.approx(317 / (317 + 149))
    assert sum(told.cells.values()) == 466
    counted = {one.repository: one for one in ruled(study, level)}
    assert set(counted) == {"DL4J", "MXNet", "PyTorch", "TensorFlow", ""}
    assert (
        sum(line.files for line in counted["PyTorch"].lines) + counted["PyTorch"].unmatched == counted["PyTorch"].files
    )
    assert json.loads(as_json(level))["rules"].keys() == {"DL4J", "MXNet", "PyTorch", "TensorFlow"}
