"""Two bugs of the demo that can be made to happen: recipes whose scripts need nothing but Python.

The frameworks are made up, so the scripts show the faults in miniature; which version a run has stands in a variable.
Where scripts can be contained the worker tries the first recipe once it is there: no result is made up.
"""

import shutil
import sys
from typing import Any

from annotator.accounts.models import User
from annotator.reproduction import recipes
from annotator.reproduction.actions import ask, create_recipe
from annotator.sampling.models import Bug

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
HALF = 18544
RESTORED = 18589
HALF_SUM = '''"""Sums the gradient of gamma over 4,096 rows of ones: in half precision, or since the fix in single precision."""

import os
import struct

kind = "e" if os.getenv("TESSERA") == "1.11" else "f"


def rounded(value):
    return struct.unpack(kind, struct.pack(kind, value))[0]


total = 0.0
for row in range(1, 4097):
    total = rounded(total + 1.0)
    if row % 1024 == 0:
        print("rows", row, "gradient", total)
'''
SCHEDULE = '''"""Saves a model after 1,000 of 2,000 steps, loads it, and prints the rate that training goes on with."""

import json
import math
import os

saved = json.dumps({"iterations": 1000, "hyper": 0.1, "schedule": {"start": 0.1, "steps": 2000}})
model = json.loads(saved)
schedule = model["schedule"]
rate = schedule["start"] * (1 + math.cos(math.pi * model["iterations"] / schedule["steps"])) / 2
optimizer = {"rate": model["hyper"]}
if os.getenv("TESSERA") != "1.11":
    optimizer["rate"] = rate
print("current_rate", round(optimizer["rate"], 6))
'''


def write_recipes(bugs: dict[int, Bug], *, by: User) -> None:
    """`bugs` by the number of their pull request."""
    half = _document("Gradients of LayerNorm summed in half precision", {"metric": {"name": "gradient", "below": 4096}})
    rate = _document("Learning rate starts anew after loading", {"metric": {"name": "current_rate", "above": 0.06}})
    first = create_recipe(bug=bugs[HALF], recipe=recipes.from_document(half), script=HALF_SUM, by=by)
    create_recipe(bug=bugs[RESTORED], recipe=recipes.from_document(rate), script=SCHEDULE, by=by)
    if shutil.which("bwrap"):
        ask(recipe=first, by=by)


def _document(name: str, oracle: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "script": "repro.py",
        "environments": [
            {"name": "buggy, 1.11", "python": PYTHON, "variables": {"TESSERA": "1.11"}, "expect": "bug"},
            {"name": "fixed, 1.12", "python": PYTHON, "variables": {"TESSERA": "1.12"}, "expect": "no_bug"},
        ],
        "oracle": oracle,
        "limits": {"seconds": 30, "memory_mb": 256},
    }
