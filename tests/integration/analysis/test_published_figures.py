"""Published tables and figures as the analysis gives them: every cell that the released data can give.

The sheets and the printed tables lie in ../shared beside the repository; where they are not there, this says so.
"""

import re

import pytest
from scipy.stats import spearmanr

from annotator.adjudication.models import Resolution
from annotator.analysis.asked import read_asked
from annotator.analysis.grids import grid_of
from annotator.analysis.numbers import numbers
from annotator.analysis.specs import spec_of
from annotator.codebook.models import Category
from annotator.codebook.presets import preset
from annotator.intake.actions import import_file
from annotator.intake.mapping import from_document
from annotator.intake.sheets import read_grid, read_sheet
from annotator.intake.yamltext import read_yaml
from annotator.overview.actions import create_study
from annotator.studies.models import Study
from tests.factories import make_bugs, member
from tests.integration.analysis.test_published import (
    CHEN,
    FRAMEWORKS,
    ROOT,
    SHARED,
    SHEN,
    SUB_CAUSES,
    TABLE_2,
    TABLE_4,
    TABLE_5,
    cells,
    mapping_of,
    printed,
)

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not SHARED.is_dir(), reason="the published sheets are not beside the repository (../shared)"),
]
SUB_LEVELS = {
    "API: deployment": "Model-Deployment API",
    "API: preprocessing": "Data-Processing API",
    "API: training": "Model-Building API",
    "API: utility": "Utility API",
    "environment": "Environment-Dependent Processing",
    "general utility implementation": "General Utility",
    "graph: construction": "Graph Construction",
    "graph: execution": "Graph Execution",
    "graph: transformation": "Graph Transformation",
}
LEVELS = {"operation implementation": "Operation Implementation"} | SUB_LEVELS
SHORT = {"TF": "TensorFlow", "PT": "PyTorch", "MX": "MXNet", "DL4J": "DL4J"}


def imported(slug, book, sheet, mapping):
    study = create_study(slug=slug, title=slug, document=preset(book), by=None)
    data = sheet.read_bytes()
    read = read_sheet(read_grid(data, filename=sheet.name))
    report = import_file(study=study, filename=sheet.name, data=data, sheet=read, mapping=mapping, by=None)
    assert report["errors"] == []
    return study


@pytest.fixture
def chen(db):
    """By sub-cause and sub-level: their parents come out by adding up."""
    document = read_yaml((ROOT / "docs/mappings/chen2023.yaml").read_bytes())
    document["final"] |= {"root_cause": "root_cause-sub", "level": "component-sub"}
    document["clean"]["aliases"] |= {"root_cause": SUB_CAUSES, "level": SUB_LEVELS}
    return imported("chen", "dl-framework-bugs", CHEN, from_document(document))


class Asking:
    def __init__(self, study):
        self.study = study

    def sheet(self, kind, **options):
        return numbers(self.study, read_asked(kind, options))

    def counts(self, by, across, **options):
        return self.values("bugs", by, across, **options)

    def values(self, column, by, across, **options):
        records = self.sheet("cross", by=by, across=across, **options).records()
        return {(r["row"], r["column"]): r[column] for r in records if r["bugs"]}

    def share(self, kind, name, **options):
        return next(r["share"] for r in self.sheet(kind, **options).records() if r["category"] == name)

    def rho(self, by, **options):
        sheet = self.sheet("correlation", by=by, **options)
        return {frozenset((r["a"], r["b"])): round(r["rho"], 2) for r in sheet.records()}

    def drawn(self, kind, **options):
        """What the picture's marks hold."""
        asked = read_asked(kind, options)
        return spec_of(numbers(self.study, asked), asked)


def without_zeros(counts):
    return {key: n for key, n in counts.items() if n}


def pairs(table):
    return [frozenset(SHORT[side] for side in pair.split("-")) for pair in table["pairs"]]


def test_main_study_comes_out_cell_by_cell(chen):
    """Figures 3, 5 and 6, tables 2 to 5, and the findings that rest on them; figure 6b as the data have it."""
    ask = Asking(chen)
    top = {"level": "top"}
    figure_3 = cells(printed("main", "fig3_root_cause_by_framework"))
    assert ask.counts("root_cause", "repository", **top) == without_zeros(figure_3)
    misuse = {(b, a): n for (a, b), n in cells(printed("main", "table2_api_misuse"), columns=TABLE_2).items()}
    by_sub_cause = ask.counts("root_cause", "repository")
    assert {key: by_sub_cause.get(key, 0) for key in misuse} == misuse
    figure_5 = cells(printed("main", "fig5_symptom_percent"))
    shares = ask.values("column_share", "symptom", "repository", **top)
    assert {key: round(100 * share, 1) for key, share in shares.items()} == without_zeros(figure_5)
    assert ask.counts("symptom", "stage", **top) == without_zeros(cells(printed("main", "table3_symptom_by_stage")))
    table_4 = cells(printed("main", "table4_root_sub_by_symptom"), rows=TABLE_4)
    assert ask.counts("root_cause", "symptom") == without_zeros(table_4)
    table_5 = without_zeros(cells(printed("main", "table5_level_by_root"), columns=TABLE_5))
    by_cause = ask.counts("level", "root_cause", **top)
    assert {key: n for key, n in by_cause.items() if key[1] != "Misconfiguration"} == table_5
    for table, facet, options, names in (
        ("level_by_framework_recomputed", "level", top, {}),
        ("level_sub_by_framework_recomputed", "level", {}, LEVELS),
        ("stage_by_framework_recomputed", "stage", {}, {}),
    ):
        expected = without_zeros(cells(printed("main", table), rows=names))
        assert ask.counts(facet, "repository", **options) == expected

    figure_6 = printed("main", "fig6_spearman")
    recomputed = figure_6["recomputed_from_dataset"]
    for facet, key in (("symptom", "symptom"), ("root_cause", "root_cause"), ("level", "component")):
        assert ask.rho(facet, **top) == {
            pair: round(rho, 2) for pair, rho in zip(pairs(figure_6), recomputed[key], strict=True)
        }
    assert ask.rho("symptom", **top) == dict(zip(pairs(figure_6), figure_6["symptom"], strict=True))
    assert ask.rho("level", **top) == dict(zip(pairs(figure_6), figure_6["component"], strict=True))
    assert figure_6["root_cause_printed"] == figure_6["symptom"], "the slip: 6b repeats 6a"
    assert ask.rho("root_cause", **top) != dict(zip(pairs(figure_6), figure_6["root_cause_printed"], strict=True))

    findings(ask, printed("main", "scalars"))
    pictures(ask, figure_3, figure_5, recomputed["root_cause"], pairs(figure_6))


def findings(ask, said):
    """Percentages of the text, to the decimals that it prints."""
    top = {"level": "top"}
    by_symptom = ask.values("column_share", "root_cause", "symptom", **top)
    assert round(100 * by_symptom["Misconfiguration", "Build Failure"], 2) == said["BF by Misconf %"]
    assert round(100 * by_symptom["Environment Incompatibility", "Build Failure"], 1) == said["BF by EI %"]
    slow = [by_symptom[name, "Poor Performance"] for name in ("Incorrect Algorithm Implementation", "API Misuse")]
    assert round(100 * sum(slow), 2) == said["PP by IAI or AM %"]
    assert (
        round(100 * ask.share("distribution", "Operation Implementation", by="level"), 2)
        == said["Operation share % of 845"]
    )
    assert round(100 * ask.share("distribution", "Training", by="stage"), 1) == said["Training %"]
    in_training = ask.values("column_share", "symptom", "stage", **top)["Incorrect Functionality", "Training"]
    assert round(100 * in_training, 2) == said["IF share in Training %"]
    tensors = {
        place: n for (name, place), n in ask.counts("root_cause", "repository").items() if name == "Tensor type issue"
    }
    assert [tensors[place] for place in FRAMEWORKS] == said["tensor type per fw"]
    assert sum(tensors.values()) == said["tensor type bugs"]
    wrong = ask.share("distribution", "Wrong exception message", by="root_cause")
    handled = ask.share("distribution", "Incorrect Exception Handling", by="root_cause", level="top")
    assert round(100 * wrong / handled, 2) == said["wrong message share of IEH %"]


def pictures(ask, figure_3, figure_5, rho, order):
    """The marks hold the printed numbers, and what a mark cannot hold is in the table below it."""
    bars = ask.drawn("cross", by="root_cause", across="repository", level="top")["layer"][0]["data"]["values"]
    assert {(bar["row"], bar["column"]): bar["end"] - bar["start"] for bar in bars} == without_zeros(figure_3)
    parts = ask.drawn("cross", by="symptom", across="repository", level="top", show="columns", shape="bars")
    drawn = {(part["row"], part["column"]): part["says"] for part in parts["layer"][0]["data"]["values"]}
    assert drawn == {key: f"{share:.1f}" for key, share in without_zeros(figure_5).items()}
    heat = ask.drawn("correlation", by="root_cause", level="top")["data"]["values"]
    assert {frozenset((cell["a"], cell["b"])): cell["says"] for cell in heat} == {
        pair: f"{value:.2f}" for pair, value in zip(order, rho, strict=True)
    }


def test_compiler_study_comes_out_cell_by_cell_with_three_matrices(db):
    ask = Asking(imported("shen", "dl-compiler-bugs-shen", SHEN, mapping_of("shen2021.yaml")))
    projects = ("TVM", "Glow", "nGraph")
    for table, facet in (("root_causes", "root_cause"), ("symptoms", "symptom"), ("stages", "stage")):
        expected = cells(printed("dl_compiler_Shen", table))
        assert ask.counts(facet, "repository") == without_zeros(expected)
        names = {row for row, _ in expected}
        series = {place: [expected[row, place] for row in sorted(names)] for place in projects}
        found = ask.rho(facet)
        assert len(found) == 3
        for pair, rho in found.items():
            a, b = pair
            assert rho == round(spearmanr(series[a], series[b]).statistic, 2)
    for pair, rho in printed("dl_compiler_Shen", "spearman_root").items():
        assert ask.rho("root_cause")[frozenset(pair.split("-"))] == rho
    assert set(ask.rho("symptom").values()) == {printed("dl_compiler_Shen", "spearman_symptom")}
    assert ask.sheet("distribution", by="root_cause").n == 603
    assert ask.sheet("distribution", by="stage").n == 541


def study_of(slug, book, source):
    """A study made from a published table: as many bugs in each cell."""
    study = create_study(slug=slug, title=slug, document=preset(book), by=None)
    table = printed(source, "root_cause_by_symptom")
    categories = {
        (facet, name.casefold()): (pk, facet_id)
        for pk, name, facet, facet_id in Category.objects.filter(facet__codebook__study=study).values_list(
            "pk", "name", "facet__key", "facet_id"
        )
    }
    alias = {"referenced type error": "referenced types error"}
    labelled = [
        (
            categories["root_cause", alias.get(cause.casefold(), cause.casefold())],
            categories["symptom", symptom.casefold()],
        )
        for cause, row in table.items()
        if cause != "cols"
        for symptom, n in zip(table["cols"], row, strict=True)
        for _ in range(n)
    ]
    Resolution.objects.bulk_create(
        Resolution(study=study, bug=bug, facet_id=facet, category_id=category, source="imported")
        for bug, labels in zip(make_bugs(study, len(labelled)), labelled, strict=True)
        for category, facet in labels
    )
    return study


def test_replication_stands_beside_its_original_on_the_page(client, lee):
    """Jia et al. 2020 on TensorFlow and its replication on PyTorch: shares, ranks, and how they differ."""
    tensorflow = study_of("tensorflow", "tensorflow-bugs-jia", "jia_tensorflow")
    pytorch = study_of("pytorch", "pytorch-bugs", "pytorch_replication")
    for study in (tensorflow, pytorch):
        member(study, lee, "lead")
    said = printed("jia_tensorflow", "root_cause_percent_published") | printed(
        "jia_tensorflow", "symptom_percent_published"
    )
    said = {name.casefold(): percent for name, percent in said.items()}
    theirs = printed("pytorch_replication", "root_cause_by_symptom")
    symptoms = dict(
        zip(
            theirs["cols"],
            map(sum, zip(*[r for name, r in theirs.items() if name != "cols"], strict=True)),
            strict=True,
        )
    )
    causes = {name: sum(row) for name, row in theirs.items() if name != "cols"}
    for facet, counts in (("root_cause", causes), ("symptom", symptoms)):
        asked = read_asked("comparison", {"by": facet, "other": "pytorch"})
        sheet = numbers(tensorflow, asked)
        assert (sheet.n, len(sheet.rows)) == (202, len(counts))
        for row in sheet.records():
            assert round(100 * row["share"], 2) == pytest.approx(said[row["category"].casefold()], abs=0.011)
            assert row["other_bugs"] == counts[row["category"]]
            assert row["other_share"] == counts[row["category"]] / 194
            assert row["difference"] == row["share"] - row["other_share"]
            assert row["other_rank"] == 1 + sum(n > row["other_bugs"] for n in counts.values())
            assert row["rank_difference"] == row["other_rank"] - row["rank"]
        client.force_login(lee)
        page = client.get(f"/tensorflow/analysis/tables/comparison/?by={facet}&other=pytorch").content.decode()
        shown = [re.sub(r"<[^>]+>", " ", line).split() for line in re.findall(r"<tr><th scope=\"row\">.*?</tr>", page)]
        assert shown == [" ".join(row).split() for row in grid_of(sheet, asked).rows]
    assert Study.objects.count() == 2


def test_published_lift_comes_out(db):
    """Lift of Jia et al., figure 3: what they call correlated."""
    ask = Asking(study_of("tensorflow", "tensorflow-bugs-jia", "jia_tensorflow"))
    found = ask.values("lift", "root_cause", "symptom")
    for pair, lift in {
        ("Configuration error", "Build failure"): 4.21,
        ("Referenced types error", "Build failure"): 3.37,
        ("Algorithm", "Functional error"): 2.81,
    }.items():
        assert round(found[pair], 2) == lift
