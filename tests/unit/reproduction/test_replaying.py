"""Every file of a replay folder is there, whatever the script is called."""

import json

import pytest

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
