"""What the code has, the docs name; the order of the stages is one everywhere."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from annotator.overview import frame

ROOT = Path(__file__).resolve().parents[2]
READS = re.compile(r"""(?:env\.\w+|environ\.get|environ\[)\(?["']([A-Z][A-Z_]+)["']""")
OUTSIDE = {
    "DJANGO_SETTINGS_MODULE",
    "MAKELEVEL",
    "PIP_INDEX_URL",
    "UV_INDEX_URL",
    "PATH",
    "HOME",
    "CUDA_VISIBLE_DEVICES",
}  # not ours to document


def settings_read() -> list[str]:
    files = [*(ROOT / "annotator").rglob("*.py"), *(ROOT / "ops").glob("*.py")]
    names = {name for file in files for name in READS.findall(file.read_text())}
    return sorted(names - OUTSIDE)


@pytest.mark.parametrize("name", settings_read())
def test_every_setting_is_documented(name):
    assert f"| `{name}` |" in (ROOT / "docs/settings.md").read_text()


def test_every_documented_setting_is_read():
    documented = re.findall(r"^\| `([A-Z_]+)` \|", (ROOT / "docs/settings.md").read_text(), re.MULTILINE)
    assert set(documented) - {"PORT", "PYTHON"} <= set(settings_read())


def commands() -> list[str]:
    files = (ROOT / "annotator").glob("*/management/commands/*.py")
    return sorted(file.stem for file in files if file.stem != "__init__")


def pages() -> str:
    return "\n".join(file.read_text() for file in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("command", commands())
def test_every_command_is_documented(command):
    assert re.search(rf"manage\.py {command}\b", pages()), f"no page shows: manage.py {command}"


def make_targets() -> list[str]:
    return re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("target", [target for target in make_targets() if target != "help"])
def test_every_make_command_is_documented(target):
    assert f"make {target}" in (ROOT / "CONTRIBUTING.md").read_text() + pages()


def test_the_docs_order_the_stages_as_the_settings_do():
    headings = re.findall(r"^## (?:\d+\.? )?(\w+)", (ROOT / "docs/pipeline.md").read_text(), re.MULTILINE)
    assert [heading.lower() for heading in headings if heading.lower() in settings.STAGES] == settings.STAGES


def test_the_navigation_orders_the_stages_as_the_settings_do():
    shown = [app for _, _, app in frame.STAGES if app in settings.STAGES]
    assert shown == [stage for stage in settings.STAGES if stage in shown]


def test_pages_lie_in_folders_named_for_their_stage():
    known = {
        *settings.STAGES,
        *settings.GROUND,
        "intake",
        "overview",
        "errors",
        "components",
        "account",
        "mfa",
        "allauth",
    }
    folders = {folder.name for folder in (ROOT / "frontend/templates").iterdir() if folder.is_dir()}
    assert folders - known == set()
