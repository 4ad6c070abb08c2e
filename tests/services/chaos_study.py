"""The studies of a harvest under kill -9, in a database of their own.

python -m tests.services.chaos_study begin SLUG…: makes them, prints the key by which their lead asks.
python -m tests.services.chaos_study state SLUG: prints the digest of what a study holds, and how much of each.
"""

import json
import sys
from typing import Any

import django

django.setup()

from django.core.management import call_command  # noqa: E402

from annotator.accounts.actions import make_token  # noqa: E402
from annotator.accounts.models import User  # noqa: E402
from annotator.studies.models import Membership, Role, Study  # noqa: E402
from tests.services.collected import digest_of, state_of  # noqa: E402


def begin(*slugs: str) -> dict[str, Any]:
    call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
    lead = User.objects.create_user("lead", password=None)
    for slug in slugs:
        study = Study.objects.create(slug=slug, title=slug, created_by=lead)
        Membership.objects.create(study=study, user=lead, role=Role.LEAD)
    return {"key": make_token(user=lead, name="chaos", scopes=["read", "write"], days=1)[1]}


def state(slug: str) -> dict[str, Any]:
    study = Study.objects.get(slug=slug)
    return {"digest": digest_of(study), "counts": {name: len(rows) for name, rows in state_of(study).items()}}


if __name__ == "__main__":
    print(json.dumps({"begin": begin, "state": state}[sys.argv[1]](*sys.argv[2:])))
