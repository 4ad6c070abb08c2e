"""Runs for workers that are killed, in a database of their own.

python -m tests.services.storm_runs begin REPEATS SECONDS: makes a series of two environments, and wakes the workers.
python -m tests.services.storm_runs state: prints what became of each run, and when its attempts were heard.
"""

import json
import sys
from typing import Any

import django

django.setup()

from django.core.management import call_command  # noqa: E402

from annotator.accounts.models import User  # noqa: E402
from annotator.reproduction import waking  # noqa: E402
from annotator.reproduction.models import Run  # noqa: E402
from annotator.studies.models import Study  # noqa: E402
from tests.factories import make_bugs  # noqa: E402
from tests.factories.reproduction import make_series  # noqa: E402

SCRIPT = """
import time
for second in range({seconds}):
    print("second", second, flush=True)
    time.sleep(1)
print("NaN")
"""


def begin(repeats: str, seconds: str) -> int:
    call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
    lead = User.objects.create_user("lead", password=None)
    study = Study.objects.create(slug="storm", title="Storm", created_by=lead)
    (bug,) = make_bugs(study, 1)
    series = make_series(bug, lead, script=SCRIPT.format(seconds=int(seconds)), repeats=int(repeats))
    waking.wake_series(series)
    return series.runs.count()


def state() -> list[dict[str, Any]]:
    return [
        {
            "state": run.state,
            "outcome": run.outcome,
            "attempt": run.attempt,
            "faults": [fault["outcome"] for fault in run.faults],
            "heard": [[piece.attempt, piece.at.timestamp(), piece.text] for piece in run.log.all()],
            "stdout": run.stdout,
        }
        for run in Run.objects.order_by("pk")
    ]


if __name__ == "__main__":
    print(json.dumps({"begin": begin, "state": state}[sys.argv[1]](*sys.argv[2:])))
