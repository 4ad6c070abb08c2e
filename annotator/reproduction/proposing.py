"""A recipe begun from a bug's pull request: versions where its copy or a linked issue names them, and what none does."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annotator.collection.models import ChangedFile, Item, Link
from annotator.reproduction import recipes
from annotator.sampling.models import Bug

DISTRIBUTIONS = {  # where the package is called otherwise than its repository
    "pytorch/pytorch": "torch",
    "pytorch/vision": "torchvision",
    "apache/incubator-mxnet": "mxnet",
    "apache/mxnet": "mxnet",
    "apache/tvm": "apache-tvm",
    "google/jax": "jax",
    "jax-ml/jax": "jax",
    "paddlepaddle/paddle": "paddlepaddle",
}
NUMBER = r"(?P<version>\d+\.\d+(?:\.\d+)?)"
AFTER = r"(?:\s*(?:/python)?\s*(?:version)?\s*(?:is|:|==|=|@|-|/)?\s*v?)"
PYTHON = re.compile(rf"\bpython{AFTER}(?P<version>[23]\.\d{{1,2}})\b", re.IGNORECASE)
NOTES = re.compile(  # a file of release notes that is called by its version: doc/source/whatsnew/v1.3.2.rst
    r"(?:^|/)[\w.-]{0,40}(?:whats_?new|release|change|history|news)[\w.-]{0,40}/(?:[\w-]{1,40}/)?"
    r"v?(?P<version>\d+\.\d+(?:\.\d+)?)(?:[-_.][a-z]{1,20})?\.(?:rst|md|txt)",
    re.IGNORECASE,
)
MOST_FILES = 500
SCRIPT = "repro.py"
USUAL_PYTHON = "3.11"


@dataclass(frozen=True, kw_only=True)
class Proposal:
    yaml: str
    unknown: list[str]


def propose(bug: Bug) -> Proposal:
    """What can be known of the versions is filled in; `unknown` says what is to be filled in by hand."""
    item = bug.item
    repository = f"{item.repository.owner}/{item.repository.name}" if item.repository and item.repository.owner else ""
    distribution = distribution_of(repository or str(item.repository or ""))
    texts = list(_texts(item))
    buggy, python = version_in(texts, distribution), first(PYTHON, texts)
    fixed = released_after(item, distribution, buggy)
    document = {
        "name": (item.title or item.reference)[:200].strip() or f"bug {bug.number}",
        "script": SCRIPT,
        "environments": [
            _environment("buggy", python, _buggy(distribution, buggy, fixed), "bug"),
            _environment("fixed", python, _pinned(distribution, fixed), "no_bug"),
        ],
        "oracle": {"stdout_matches": "write here what the bug looks like"},
    }
    if repository and item.number:
        document["bug"] = {"repository": repository, "number": item.number}
    document["name"] = " ".join(str(document["name"]).split())
    unknown = list(_unknown(distribution, buggy=buggy, fixed=fixed, python=python, item=item))
    return Proposal(yaml=recipes.from_document(document).yaml(), unknown=unknown)


def _environment(name: str, python: str, requirement: str, expect: str) -> dict[str, object]:
    requirements = [requirement] if requirement else []
    return {"name": name, "python": python or USUAL_PYTHON, "requirements": requirements, "expect": expect}


def _pinned(distribution: str, version: str) -> str:
    return f"{distribution}=={version}" if distribution and version else distribution


def _buggy(distribution: str, buggy: str, fixed: str) -> str:
    """The version that is named; else the newest before the fix."""
    return f"{distribution}<{fixed}" if distribution and fixed and not buggy else _pinned(distribution, buggy)


def distribution_of(repository: str) -> str:
    """What is installed to have this repository's code; a guess from its name."""
    lower = repository.lower()
    name = DISTRIBUTIONS.get(lower) or lower.rpartition("/")[2]
    return name if re.fullmatch(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?", name) else ""


def _texts(item: Item) -> Iterator[str]:
    """The issues first that the pull request closes: who reported the bug had the buggy version."""
    closing = Link.objects.filter(item=item, source__in=["closing", "keyword"], target__isnull=False)
    issues = [link.target for link in closing.select_related("target__text").order_by("pk") if link.target]
    for one in [*issues, item]:
        yield " ".join([one.title, *map(str, one.labels)])
        if hasattr(one, "text"):
            yield one.text.body[:100_000]


def version_in(texts: Sequence[str], distribution: str) -> str:
    if not distribution:
        return ""
    short = {"tensorflow": "tensorflow|tf", "torch": "torch|pytorch", "scikit-learn": "scikit-learn|sklearn"}
    names = short.get(distribution, re.escape(distribution))
    return first(re.compile(rf"(?<![\w-])(?:{names}){AFTER}{NUMBER}(?![\w.]*\d)", re.IGNORECASE), texts)


def first(pattern: "re.Pattern[str]", texts: Sequence[str]) -> str:
    return next((found["version"] for text in texts if (found := pattern.search(text))), "")


def released_after(item: Item, distribution: str, buggy: str) -> str:
    """The version that the pull request's own labels or title give beside the buggy one, as in `backport 1.19.0`; else
    that of the release notes which it writes. A copy holds neither milestone nor merge commit.
    """
    told = " ".join([item.title, *map(str, item.labels)])
    found = re.findall(r"(?<![\w.])v?(\d+\.\d+(?:\.\d+)?)(?![\w.]*\d)", told)
    return next((version for version in [*found, *_noted(item)] if version != buggy), "")


def _noted(item: Item) -> list[str]:
    paths = ChangedFile.objects.filter(item=item).order_by("position").values_list("path", flat=True)[:MOST_FILES]
    return [found["version"] for path in paths if (found := NOTES.search(path[:400]))]


def _unknown(distribution: str, *, buggy: str, fixed: str, python: str, item: Item) -> Iterator[str]:
    if not distribution:
        yield "Which package to install: the item names no repository of one."
    elif not buggy:
        instead = f" The newest before {fixed} stands in for it." if fixed else ""
        yield (
            f"A version of {distribution} that has the bug: none is named in the item or in an issue that it closes.{instead}"
        )
    if distribution and not fixed:
        merged = f", merged on {item.merged_at:%Y-%m-%d}" if item.merged_at else ""
        yield f"The first version of {distribution} with the fix{merged}: without one the newest is installed."
    if not python:
        yield f"The Python that these versions ran on: {USUAL_PYTHON} stands in for it."
    yield "What the bug looks like (oracle), and the script that shows it."
