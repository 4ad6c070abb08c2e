"""The shipped taxonomies carry the names that the studies published."""

import json
from pathlib import Path

import pytest

from annotator.codebook import presets
from annotator.codebook.reading import read
from annotator.web.errors import BadInput

PUBLISHED = Path(__file__).parents[4] / "shared/studies/taxonomies.json"
STUDY = {
    "dl-framework-bugs": "toward_understanding_dl_framework_bugs_TOSEM2023",
    "silent-bugs": "silent_bugs_keras_tensorflow_EMSE2023",
    "tensorflow-bugs-jia": "bugs_inside_tensorflow_Jia_DASFAA2020_JSS2021",
    "dl-compiler-bugs-shen": "dl_compiler_bugs_Shen_FSE2021",
    "performance-problems-cao": "performance_problems_Cao_FSE2022",
    "injected-bugs": "injected_bugs_SANER2022",
    "pytorch-bugs": "bugs_inside_pytorch_replication_ICSME2023",
    "dl-compiler-bugs-du": "common_dl_compiler_bugs_Du_ISSRE2021",
    "tensorflow-program-bugs": "tensorflow_program_bugs_Zhang_ISSTA2018",
    "performance-bugs-makkouk": "performance_bugs_in_dl_frameworks_Makkouk_ICSME2022",
    "numerical-bugs": "numerical_bugs_Wang_ASE2022",
    "deepstability": "deepstability_ICSE2022",
    "numerical-bugs-grist": "grist_FSE2021",
    "numerical-bugs-debar": "debar_FSE2020",
    "ml-system-bugs": "ml_system_bugs_Thung_ISSRE2012",
    "gdefects4dl": "gdefects4dl_ICSE2022",
    "performance-accuracy-reports": "perf_accuracy_reports_Long_EASE2022",
    "dl-job-failures": "dl_job_failures_Zhang_ICSE2020",
    "multi-language-bugs": "multi_language_dlf_bugs_Li_ICPC2023",
    "coverage-robustness": "coverage_robustness_Dong_ICECCS2020",
}
RENAMED = {"impact": "impact_level", "warning": "verdict"}  # where a facet's id could not be the published one
UNSURE = ("MEMORY", "NOT FOUND", "abstract only")


def test_the_main_study_comes_first() -> None:
    assert presets.slugs()[0] == "dl-framework-bugs"
    assert set(presets.slugs()) == set(STUDY)


def test_the_main_study_asks_four_questions_in_order() -> None:
    main = presets.preset("dl-framework-bugs")
    assert "Toward understanding" in main.title
    assert "deep learning framework bugs" in main.title
    assert [f.id for f in main.facets] == ["root_cause", "symptom", "stage", "level"]
    assert [f.optional for f in main.facets] == [False, False, False, True]
    assert [f.hotkey for f in main.facets] == ["R", "S", "T", "L"]


@pytest.mark.parametrize("slug", STUDY)
def test_names_parents_and_other_names_are_the_published_ones(slug: str) -> None:
    if not PUBLISHED.exists():
        pytest.skip("needs the published taxonomies in ../shared/studies, which are not part of the project")
    published = json.loads(PUBLISHED.read_text("utf-8"))[STUDY[slug]]
    for facet in presets.preset(slug).facets:
        wanted = published[RENAMED.get(facet.id, facet.id)]
        assert [(c.name, c.parent) for c in facet.categories] == [(w["name"], w.get("parent", "")) for w in wanted]
        assert all(set(w.get("aka", ())) <= set(c.aka) for c, w in zip(facet.categories, wanted, strict=True))
        assert not {c.definition for c in facet.categories if c.definition} & {w["definition"] for w in wanted}


@pytest.mark.parametrize("slug", STUDY)
def test_a_preset_survives_being_written_and_read(slug: str) -> None:
    assert read(presets.preset(slug).as_yaml()) == presets.preset(slug)


def test_every_category_of_the_main_study_is_defined() -> None:
    assert all(c.definition for f in presets.preset("dl-framework-bugs").facets for c in f.categories)


def test_impact_and_severity_are_the_only_scales() -> None:
    scales = [f for slug in STUDY for f in presets.preset(slug).facets if f.kind == "ordinal"]
    assert sorted(f.id for f in scales) == ["impact", "severity"]
    for scale in scales:
        assert [c.order for c in scale.categories] == list(range(1, len(scale.categories) + 1))


def test_every_published_study_has_a_preset() -> None:
    if not PUBLISHED.exists():
        pytest.skip("needs the published taxonomies in ../shared/studies, which are not part of the project")
    assert set(json.loads(PUBLISHED.read_text("utf-8"))) == set(STUDY.values())


def test_what_is_from_memory_is_marked_unverified() -> None:
    if not PUBLISHED.exists():
        pytest.skip("needs the published taxonomies in ../shared/studies, which are not part of the project")
    published = json.loads(PUBLISHED.read_text("utf-8"))
    for slug, study in STUDY.items():
        for facet in presets.preset(slug).facets:
            for ours, theirs in zip(facet.categories, published[study][RENAMED.get(facet.id, facet.id)], strict=True):
                is_unsure = any(word in theirs.get("note", "") for word in UNSURE) or theirs.get("confirmed") is False
                assert ours.unverified or not is_unsure, (slug, ours.name)


def test_causes_that_are_not_known_take_codes() -> None:
    causes = presets.preset("numerical-bugs").facet("root_cause")
    assert causes is not None
    assert (causes.takes_codes, causes.categories) == (True, ())


def test_several_components_can_be_answered() -> None:
    component = presets.preset("silent-bugs").facet("component")
    assert component is not None
    assert component.answers == "many"


def test_definitions_from_memory_say_so() -> None:
    cause = presets.preset("tensorflow-bugs-jia").facet("root_cause")
    assert cause is not None
    assert all(c.unverified for c in cause.categories)


def test_an_unknown_preset_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match="dl-framework-bugs"):
        presets.preset("no-such")
