"""Fills a database with a study under way, by the stages' own actions: python -m bench.seed BUGS RATERS.

Prints as JSON what the load generator needs: the round's address and each person's session.
"""

import datetime as dt
import json
import os
import sys
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bench.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402

from annotator.accounts.models import User  # noqa: E402
from annotator.accounts.sessions import SessionStore  # noqa: E402
from annotator.codebook.actions import create_codebook  # noqa: E402
from annotator.codebook.presets import MAIN, preset  # noqa: E402
from annotator.collection.actions import FileCopy, ItemCopy, keep_copies  # noqa: E402
from annotator.labeling.models import Round  # noqa: E402
from annotator.labeling.opening import open_round  # noqa: E402
from annotator.sampling.actions import add_bugs  # noqa: E402
from annotator.studies.models import Membership, Role, Study  # noqa: E402

SLUG = "bench"
CHUNK = 2000
OPENED = dt.datetime(2024, 5, 6, 7, 8, tzinfo=dt.UTC)
SENTENCE = "The kernel reads one row past the end when the stride is negative and the batch is empty. "
BODY = (SENTENCE * 24)[:2000]
PATCH = "@@ -1,9 +1,9 @@\n" + "".join(
    f" line {n}\n-    total = total + row[{n}]\n+    total += row[{n}]\n" for n in range(3)
)


def main(bugs: int, raters: int) -> dict[str, Any]:
    call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
    lead, people = welcome(raters)
    study = found(lead, people)
    take_up(study, bugs, lead)
    round_ = open_it(study, people, lead)
    settle_statistics()
    return {
        "round": f"/{SLUG}/rounds/{round_.number}/",
        "lead": session_of(lead),
        "raters": [session_of(rater) for rater in people],
    }


def welcome(raters: int) -> tuple[User, list[User]]:
    lead = User.objects.create_user("lead", password=None)
    return lead, [User.objects.create_user(f"rater-{number}", password=None) for number in range(raters)]


def found(lead: User, people: list[User]) -> Study:
    study = Study.objects.create(slug=SLUG, title="Benchmark", created_by=lead)
    Membership.objects.create(study=study, user=lead, role=Role.LEAD)
    for rater in people:
        Membership.objects.create(study=study, user=rater, role=Role.RATER)
    create_codebook(study=study, document=preset(MAIN), by=lead)
    return study


def take_up(study: Study, bugs: int, lead: User) -> None:
    for first in range(0, bugs, CHUNK):
        copies = [copy_of(number) for number in range(first, min(first + CHUNK, bugs))]
        items = keep_copies(study=study, copies=copies, by=lead)
        add_bugs(study=study, places=[(item, 1) for item in items], by=lead)


def copy_of(number: int) -> ItemCopy:
    return ItemCopy(
        repository="tessera/tessera",
        number=number,
        identity=f"git.example/tessera/tessera#{number}",
        url=f"https://git.example/tessera/tessera/pull/{number}",
        title=f"Fix the sum of a negative stride, case {number}",
        author="somebody",
        opened_at=OPENED,
        merged_at=OPENED,
        body=BODY,
        files=[FileCopy(path="tessera/kernels/sum.py", patch=PATCH, additions=3, deletions=3)],
    )


def open_it(study: Study, people: list[User], lead: User) -> Round:
    bugs = list(study.bugs.order_by("number"))
    design = Round.Design.FIXED if len(people) == 2 else Round.Design.ROTATING
    return open_round(study=study, name="Round 1", bugs=bugs, raters=people, by=lead, design=design, seed=1)


def settle_statistics() -> None:
    """What the server does by itself a minute later."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")


def session_of(user: User) -> str:
    store = SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store.save()
    return str(store.session_key)


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]))))
