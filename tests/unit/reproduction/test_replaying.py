"""Every file of a replay folder is there, whatever the script is called."""

import json

import pytest

from annotator.reproduction.ledger import Used
from annotator.reproduction.recipes import from_document
from annotator.reproduction.replaying import folder

ENVIRONMENTS = [{"name": "buggy", "python": "3.11", "requirements": ["numpy==1.26.0"], "expect": "bug"}]


def packed(script):
    document = {"name": "x", "script": script, "environments": ENVIRONMENTS, "oracle": {"nan_in_output": True}}
    return folder(from_document(document), "print('mine')\n", {})


@pytest.mark.parametrize(
    "script",
    ["recipe.yaml", "replay.py", "Replay.py", "plan.json", "README.md", "dockerfile", "buggy.requirements.txt", "json.py", "re.py"],
)  # fmt: skip
def test_a_script_takes_no_other_files_place(script):
    files = packed(script)
    assert {"recipe.yaml", "replay.py", "plan.json", "README.md", "Dockerfile", "buggy.requirements.txt"} < {*files}
    (name,) = [path for path, content in files.items() if content == b"print('mine')\n"]
    assert name == f"script-{script}"
    assert json.loads(files["plan.json"])["script"] == name
    assert files["buggy.requirements.txt"] == b"numpy==1.26.0\n"


def test_a_script_keeps_its_name():
    assert packed("src/repro.py")["repro.py"] == b"print('mine')\n"


def test_images_are_stages_by_digest_and_those_of_no_registry_by_name():
    listed = [
        {"name": "old one", "image": "python:3.8", "variables": {"HOW": '"$HOME"'}, "expect": "bug"},
        {"name": "own", "image": "mine:1", "expect": "no_bug"},
    ]
    document = {"name": "x", "script": "r.py", "environments": listed, "oracle": {"nan_in_output": True}}
    pinned, number = f"python@sha256:{'a' * 64}", f"sha256:{'b' * 64}"
    files = folder(from_document(document), "", {"old one": Used(image=pinned), "own": Used(image=number)})
    stages = files["Dockerfile"].decode()
    assert f"FROM {pinned} AS in-old-one\n" in stages and 'HOW="\\"\\$HOME\\""\n' in stages
    assert f"# it ran in {number}, which no registry has\nFROM mine:1 AS in-own\n" in stages
    assert "uv" not in stages
    assert [one["image"] for one in json.loads(files["plan.json"])["environments"]] == [pinned, "mine:1"]
    assert not [name for name in files if name.endswith(".requirements.txt")]
    assert f"`{number}`" in files["README.md"].decode()
