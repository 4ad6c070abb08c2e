"""A recipe begun from a pull request: what the copy tells is filled in, what it doesn't is said."""

import pytest

from annotator.collection.models import ChangedFile, Item, ItemText, Link, Repository
from annotator.reproduction import recipes
from annotator.reproduction.proposing import distribution_of, propose


@pytest.fixture
def bug(study, bugs):
    bug = bugs[0]
    row = Repository.objects.create(study=study, label="numpy/numpy", owner="numpy", name="numpy", host="github.com")
    Item.objects.filter(pk=bug.item_id).update(repository=row, number=14924, title="BUG: fix dirichlet for small alpha")
    bug.refresh_from_db()
    return bug


def of(bug):
    told = propose(bug)
    return recipes.read(told.yaml), told.unknown


def test_the_issue_that_is_closed_names_the_buggy_version(study, bugs, bug):
    issue = bugs[1].item
    ItemText.objects.create(item=issue, body="NaN rows.\nNumPy version: 1.18.0\nPython 3.8.5 on Linux")
    Link.objects.create(
        item=bug.item, host="github.com", owner="numpy", name="numpy", number=5851, source="closing", target=issue
    )
    recipe, unknown = of(bug)
    buggy, fixed = recipe.environments
    assert (buggy.python, buggy.requirements, fixed.requirements) == ("3.8", ("numpy==1.18.0",), ("numpy",))
    assert (recipe.repository, recipe.number, recipe.name) == ("numpy/numpy", 14924, bug.item.title)
    assert [line.split(" ")[0] for line in unknown] == ["The", "What"]


def test_a_label_names_the_version_with_the_fix(bug):
    Item.objects.filter(pk=bug.item_id).update(labels=["backport 1.19.0"])
    bug.item.refresh_from_db()
    recipe, unknown = of(bug)
    assert recipe.environments[1].requirements == ("numpy==1.19.0",)
    assert any("A version of numpy that has the bug" in line for line in unknown)
    assert recipe.environments[0].requirements == ("numpy<1.19.0",)


@pytest.mark.parametrize(
    ("path", "version"),
    [
        ("doc/source/whatsnew/v1.3.2.rst", "1.3.2"),
        ("doc/whats_new/v0.24.rst", "0.24"),
        ("doc/source/release/1.19.0-notes.rst", "1.19.0"),
        ("docs/releases/2.4.md", "2.4"),
        ("RELEASE.md", ""),
        ("numpy/core/v1.2.rst", ""),
        ("doc/release/upcoming_changes/14924.change.rst", ""),
    ],
)
def test_release_notes_that_it_writes_name_the_version_with_the_fix(bug, path, version):
    ChangedFile.objects.create(item=bug.item, position=1, path="numpy/random/mtrand.pyx")
    ChangedFile.objects.create(item=bug.item, position=2, path=path)
    recipe, unknown = of(bug)
    buggy, fixed = recipe.environments
    if not version:
        assert (buggy.requirements, fixed.requirements) == (("numpy",), ("numpy",))
        return
    assert (buggy.requirements, fixed.requirements) == ((f"numpy<{version}",), (f"numpy=={version}",))
    assert any(f"The newest before {version} stands in for it." in line for line in unknown)
    assert not any("with the fix" in line for line in unknown)


def test_a_version_that_somebody_names_comes_before_release_notes(bug):
    Item.objects.filter(pk=bug.item_id).update(labels=["backport 1.18.5"])
    bug.item.refresh_from_db()
    ChangedFile.objects.create(item=bug.item, position=1, path="doc/release/1.19.0-notes.rst")
    assert of(bug)[0].environments[1].requirements == ("numpy==1.18.5",)


def test_without_anything_known_it_is_still_a_recipe(bugs):
    Item.objects.filter(pk=bugs[2].item_id).update(title="", number=None, key="commit abc")
    bugs[2].refresh_from_db()
    recipe, unknown = of(bugs[2])
    assert recipe.environments[0].requirements == () and "names no repository" in unknown[0]


@pytest.mark.parametrize(
    ("repository", "distribution"),
    [
        ("pytorch/pytorch", "torch"),
        ("keras-team/keras", "keras"),
        ("scikit-learn/scikit-learn", "scikit-learn"),
        ("a/b c", ""),
        ("", ""),
    ],
)
def test_what_is_installed_for_a_repository(repository, distribution):
    assert distribution_of(repository) == distribution
