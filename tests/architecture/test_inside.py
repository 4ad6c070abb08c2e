"""Inside a stage: the contract names the usual modules, and these rules hold for all others, whatever they are called."""

from functools import cache
from typing import Any

import grimp
import pytest
from django.conf import settings

STAGES = [f"annotator.{name}" for name in (*settings.GROUND, *settings.STAGES, "intake", "overview")]
ADDRESSES = {"urls", "api_urls"}


@cache
def graph() -> Any:
    return grimp.build_graph("annotator", cache_dir=None)


def named(module: str) -> list[str]:
    """In the stages that have such a module."""
    return [f"{stage}.{module}" for stage in STAGES if f"{stage}.{module}" in graph().modules]


def modules(stage: str) -> set[str]:
    return {module for module in graph().modules if module == stage or module.startswith(f"{stage}.")}


def is_address(module: str) -> bool:
    return module.rpartition(".")[2] in ADDRESSES


def pages() -> set[str]:
    """What addresses lead to: views and the REST interface, under any name."""
    leading = [module for module in graph().modules if is_address(module)]
    found = {target for module in leading for target in graph().find_modules_directly_imported_by(module)}
    return {module for module in found if module.startswith(tuple(STAGES))}


def test_pages_are_known_to_addresses_and_to_one_another_alone():
    shown = pages()
    assert len(shown) > 20
    broken = [
        f"{importer} imports {page}"
        for page in shown
        for importer in graph().find_modules_that_directly_import(page)
        if importer not in shown and not is_address(importer)
    ]
    assert broken == []


@pytest.mark.parametrize("stage", STAGES)
def test_nothing_imports_an_address(stage):
    broken = [
        f"{importer} imports {module}"
        for module in modules(stage)
        if is_address(module)
        for importer in graph().find_modules_that_directly_import(module)
    ]
    assert broken == []


@pytest.mark.parametrize("name", named("models"))
def test_models_stand_on_nothing_of_their_own_stage(name):
    """`models` is a module, or a package of modules that know one another alone."""
    others = {module for module in modules(name.removesuffix(".models")) if module not in modules(name)}
    reached = {found for module in modules(name) for found in graph().find_modules_directly_imported_by(module)}
    assert reached & others == set()


@pytest.mark.parametrize("name", named("queries"))
def test_reads_do_not_know_the_writes(name):
    """Whatever `queries` leads to inside its stage, it is no action, form or task."""
    stage = name.removesuffix(".queries")
    reached = graph().find_upstream_modules(name) & modules(stage)
    assert {module.rpartition(".")[2] for module in reached} & {"actions", "forms", "tasks"} == set()
