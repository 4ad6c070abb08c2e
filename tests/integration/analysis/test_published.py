"""Two published studies, imported from their authors' sheets: every printed number comes out.

The sheets and the printed tables lie in ../shared beside the repository; where they are not there, this says so.
"""

import csv
import json
from pathlib import Path

import pytest

from annotator.analysis.tables import tables
from annotator.codebook.presets import preset
from annotator.intake.actions import import_file
from annotator.intake.mapping import from_document, read_mapping
from annotator.intake.sheets import read_grid, read_sheet
from annotator.intake.yamltext import read_yaml
from annotator.overview.actions import create_study

ROOT = Path(__file__).resolve().parents[3]
SHARED = ROOT.parent / "shared"
CHEN = SHARED / "data/chen2023/dataset_1000.csv"
SHEN = SHARED / "data/shen2021/dataset_603.csv"
PRINTED = SHARED / "studies/published_tables.json"
MARGINALS = SHARED / "data/published_marginals_expected.json"
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not SHARED.is_dir(), reason="the published sheets are not beside the repository (../shared)"),
]

FRAMEWORKS = ("TensorFlow", "PyTorch", "MXNet", "DL4J")
# as the sheet calls a category: as the codebook does
SUB_CAUSES = {
    "incorrect DL-related algorithm implementation": "Incorrect DL-specific algorithm implementation",
    "incorrect DL-unrelated algorithm implementation": "Incorrect DL-irrelevant algorithm implementation",
    "tensor type confusion": "Tensor type issue",
    "conventional type confusion": "Traditional data type issue",
    "API misuse: condition": "Condition missing/redundancy",
    "API misuse: M/R": "API missing/redundancy",
    "API misuse: wrong API receiver": "Wrong API: receiver",
    "API misuse: wrong API name": "Wrong API: name",
    "API misuse: wrong API args": "Wrong API: args",
    "incorrect exception handling: missing": "Missing exception",
    "incorrect exception handling: spurious": "Spurious exception",
    "incorrect exception handling: wrong": "Wrong exception message",
    "API incompatibility internal": "Internal incompatibility",
    "API incompatibility external": "External incompatibility",
    "concurrency": "Concurrency Issue",
}
# rows of table 4, columns of table 2 and of table 5
TABLE_4 = {
    "IAI DL-related": "Incorrect DL-specific algorithm implementation",
    "IAI DL-unrelated": "Incorrect DL-irrelevant algorithm implementation",
    "TI tensor": "Tensor type issue",
    "TI conventional": "Traditional data type issue",
    "AM condition": "Condition missing/redundancy",
    "AM API M/R": "API missing/redundancy",
    "AM args": "Wrong API: args",
    "AM name": "Wrong API: name",
    "AM receiver": "Wrong API: receiver",
    "IEH missing": "Missing exception",
    "IEH spurious": "Spurious exception",
    "IEH wrong": "Wrong exception message",
    "AI external": "External incompatibility",
    "AI internal": "Internal incompatibility",
}
TABLE_2 = {
    "Condition M/R": "Condition missing/redundancy",
    "API M/R": "API missing/redundancy",
    "Receiver": "Wrong API: receiver",
    "Name": "Wrong API: name",
    "Args": "Wrong API: args",
}
TABLE_5 = {
    "IAI": "Incorrect Algorithm Implementation",
    "TI": "Type Issue",
    "TSM": "Tensor Shape Misalignment",
    "AM": "API Misuse",
    "EI": "Environment Incompatibility",
    "IEH": "Incorrect Exception Handling",
    "IA": "Incorrect Assignment",
    "NI": "Numerical Issue",
    "AI": "API Incompatibility",
    "CI": "Concurrency Issue",
    "DMI": "Dependent Module Issue",
}
NOT_CELLS = {"cols", "Total", "Wrong API sum", "_note"}


def imported(slug, book, sheet, mapping):
    study = create_study(slug=slug, title=slug, document=preset(book), by=None)
    data = sheet.read_bytes()
    grid = read_grid(data, filename=sheet.name)
    report = import_file(study=study, filename=sheet.name, data=data, sheet=read_sheet(grid), mapping=mapping, by=None)
    assert report["errors"] == []
    return tables(study), report


def mapping_of(name):
    return read_mapping((ROOT / "docs/mappings" / name).read_bytes())


def changed(name, facet, column, aliases):
    """The mapping with another column for one facet."""
    document = read_yaml((ROOT / "docs/mappings" / name).read_bytes())
    document["final"] = document["final"] | {facet: column}
    document["clean"]["aliases"] = document["clean"].get("aliases", {}) | {facet: aliases}
    return from_document(document)


def printed(study, table):
    return json.loads(PRINTED.read_text())[study][table]


def cells(table, rows=None, columns=None):
    """{(row, column): number} of a printed table, under the codebook's names."""
    rows, columns = rows or {}, columns or {}
    return {
        (rows.get(row, row), columns.get(column, column)): n
        for row, numbers in table.items()
        if row not in NOT_CELLS
        for column, n in zip(table["cols"], numbers, strict=True)
        if column not in NOT_CELLS
    }


def flat(table):
    return {(a, b): n for a, row in table.items() for b, n in row.items()}


def without_zeros(counts):
    return {key: n for key, n in counts.items() if n}


def expected_marginals(file, column):
    found = [
        e["expected"] for e in json.loads(MARGINALS.read_text()) if e["file"].endswith(file) and e["column"] == column
    ]
    assert len(found) == 1
    return found[0]


def folded(counts, aliases=None):
    renamed = {(aliases or {}).get(name, name): n for name, n in counts.items()}
    return {name.casefold(): n for name, n in renamed.items()}


@pytest.fixture
def chen(db):
    return imported("chen", "dl-framework-bugs", CHEN, mapping_of("chen2023.yaml"))


def test_main_study_gives_every_printed_count(chen):
    read, report = chen
    assert (report["bugs_created"], report["items_created"]) == (1000, 943)
    assert [warning["code"] for warning in report["warnings"]].count("duplicate_row") == 5
    assert without_zeros(cells(printed("main", "fig3_root_cause_by_framework"))) == flat(
        read["by_repository"]["root_cause"]
    )
    by_stage = cells(printed("main", "table3_symptom_by_stage"))
    assert without_zeros(by_stage) == flat(read["crosstabs"]["symptom × stage"])
    by_root = without_zeros(cells(printed("main", "table5_level_by_root"), columns=TABLE_5))
    counted = {
        key: n for key, n in flat(read["crosstabs"]["level × root_cause"]).items() if key[1] != "Misconfiguration"
    }
    assert by_root == counted
    for table, facet in (("level_by_framework_recomputed", "level"), ("stage_by_framework_recomputed", "stage")):
        assert without_zeros(cells(printed("main", table))) == flat(read["by_repository"][facet])
    assert flat(read["crosstabs"]["stage × symptom"]) == {(b, a): n for (a, b), n in without_zeros(by_stage).items()}


def test_main_study_gives_every_printed_share_and_marginal(chen):
    read, _ = chen
    counts = read["by_repository"]["symptom"]
    of = {place: sum(row.get(place, 0) for row in counts.values()) for place in FRAMEWORKS}
    assert of == expected_marginals("dataset_1000.csv", "project")
    for (symptom, place), share in cells(printed("main", "fig5_symptom_percent")).items():
        assert round(100 * counts[symptom].get(place, 0) / of[place], 1) == share
    aliases = mapping_of("chen2023.yaml").clean.aliases
    for column, facet in (
        ("symptom", "symptom"),
        ("root_cause", "root_cause"),
        ("stage", "stage"),
        ("component", "level"),
    ):
        spelt = {key.casefold(): value for key, value in aliases.get(facet, {}).items()}
        expected = {
            spelt.get(name.casefold(), name): n for name, n in expected_marginals("dataset_1000.csv", column).items()
        }
        assert folded(read["facets"][facet]) == folded(expected)


def test_main_study_gives_the_correlations_that_its_data_give(chen):
    """Those of the root causes are printed wrongly in the paper; the recomputed ones count."""
    read, _ = chen
    names = {"TF": "TensorFlow", "PT": "PyTorch", "MX": "MXNet", "DL4J": "DL4J"}
    pairs = [frozenset(names[side] for side in pair.split("-")) for pair in printed("main", "fig6_spearman")["pairs"]]
    recomputed = printed("main", "fig6_spearman")["recomputed_from_dataset"]
    for facet, key in (("symptom", "symptom"), ("root_cause", "root_cause"), ("level", "component")):
        found = {frozenset((pair["a"], pair["b"])): pair for pair in read["spearman"][facet]}
        assert len(found) == 6
        for pair, rho in zip(pairs, recomputed[key], strict=True):
            assert found[pair]["rho"] == pytest.approx(rho, abs=6e-5)
            assert found[pair]["n"] == len(read["facets"][facet])


def test_main_study_by_sub_cause(db):
    mapping = changed("chen2023.yaml", "root_cause", "root_cause-sub", SUB_CAUSES)
    read, _ = imported("chen-sub", "dl-framework-bugs", CHEN, mapping)
    by_symptom = without_zeros(cells(printed("main", "table4_root_sub_by_symptom"), rows=TABLE_4))
    assert by_symptom == flat(read["crosstabs"]["root_cause × symptom"])
    misuse = cells(printed("main", "table2_api_misuse"), columns=TABLE_2)
    found = flat(read["by_repository"]["root_cause"])
    assert {(place, name): found.get((name, place), 0) for place, name in misuse} == misuse
    expected = {
        SUB_CAUSES.get(name, name): n for name, n in expected_marginals("dataset_1000.csv", "root_cause-sub").items()
    }
    spelt = {name.casefold(): alias for name, alias in SUB_CAUSES.items()}
    for name, n in expected.items():
        assert read["facets"]["root_cause"][spelt.get(name.casefold(), name)] == n
    totals = cells(printed("main", "table2_api_misuse"))
    assert read["rollup"]["root_cause"]["API Misuse"] == sum(totals.values()) == 118
    assert "API Misuse" not in read["facets"]["root_cause"]


def test_compiler_study_gives_every_printed_count_and_correlation(db):
    read, report = imported("shen", "dl-compiler-bugs-shen", SHEN, mapping_of("shen2021.yaml"))
    assert report["bugs_created"] == 603
    for table, facet in (("root_causes", "root_cause"), ("symptoms", "symptom"), ("stages", "stage")):
        assert without_zeros(cells(printed("dl_compiler_Shen", table))) == flat(read["by_repository"][facet])
    assert read["facets"]["symptom"] == expected_marginals("dataset_603.csv", "symptoms")
    for name, n in expected_marginals("dataset_603.csv", "root causes").items():
        assert read["facets"]["root_cause"][name] == n
    found = {f"{pair['a']}-{pair['b']}": pair["rho"] for pair in read["spearman"]["root_cause"]}
    for pair, rho in printed("dl_compiler_Shen", "spearman_root").items():
        a, b = pair.split("-")
        assert round(found.get(f"{a}-{b}", found.get(f"{b}-{a}")), 2) == rho
    assert {round(pair["rho"], 2) for pair in read["spearman"]["symptom"]} == {
        printed("dl_compiler_Shen", "spearman_symptom")
    }


def test_compiler_study_by_sub_cause(db):
    with SHEN.open(encoding="utf-8-sig", newline="") as file:
        spelt = {row["sub_causes"] for row in csv.DictReader(file)} - {""}
    aliases = {name: "Wrong API" for name in spelt if name.startswith("Wrong API")}
    aliases |= {"Conventional Type Problem": "Conventional data type problem"}
    mapping = changed("shen2021.yaml", "root_cause", "sub_causes", aliases)
    read, _ = imported("shen-sub", "dl-compiler-bugs-shen", SHEN, mapping)
    counts = folded(read["facets"]["root_cause"])
    expected = expected_marginals("dataset_603.csv", "sub_causes")
    assert counts["tensor type problem"] == expected["Tensor Type Problem"]
    assert counts["conventional data type problem"] == expected["Conventional Type Problem"]
