"""The same SQL alone: what a request sends to the database, recorded once and sent again without the application.

python -m bench.floors save SESSION ROUND_PATH: prints the median milliseconds of one save-and-next as bare SQL.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bench.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.test import Client  # noqa: E402

Statement = tuple[str, Any, bool]
TURNS = 60


@contextmanager
def recorded() -> Iterator[list[Statement]]:
    """Every statement that the block sends."""
    sent: list[Statement] = []

    def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        sent.append((sql, params, many))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield sent


def sent_by(act: Callable[[], None]) -> list[Statement]:
    """What an act sends; its effects are taken back, so that sending it again has something to do."""
    with transaction.atomic(), recorded() as sent:
        act()
        transaction.set_rollback(True)
    return sent


def send(statements: Sequence[Statement]) -> float:
    """Seconds to send them on a bare connection, each outermost savepoint as a transaction."""
    driver = connection.cursor().cursor
    depth = 0
    started = time.perf_counter()
    for sql, params, many in statements:
        word = sql.split(None, 1)[0].upper()
        depth -= word == "RELEASE"
        if word in ("SAVEPOINT", "RELEASE"):
            if depth == 0:
                driver.execute("BEGIN" if word == "SAVEPOINT" else "COMMIT")
        elif many:
            driver.executemany(sql, params)
        else:
            driver.execute(sql, params)
            if driver.description:
                driver.fetchall()
        depth += word == "SAVEPOINT"
    return time.perf_counter() - started


def save_and_next(session: str, round_path: str) -> float:
    """Median milliseconds of the SQL of one save-and-next."""
    from annotator.codebook.choices import choices_of
    from annotator.labeling.models import Assignment
    from annotator.studies.models import Study

    study = Study.objects.get(slug=round_path.split("/")[1])
    chosen = {f"f-{key}": next(iter(facet.categories)) for key, facet in choices_of(study.codebook).facets.items()}
    client = Client(headers={"hx-request": "true"})
    client.cookies[settings.SESSION_COOKIE_NAME] = session
    user = int(client.session["_auth_user_id"])
    turns = Assignment.objects.filter(rater=user, round__study=study, state="todo").order_by("-position")
    form = {"act": "submit", "revision": "0", "confidence": "sure", "note": "seen in the diff"} | chosen
    taken = []
    for number in turns.values_list("bug__number", flat=True)[:TURNS]:
        taken.append(send(sent_by(lambda number=number: save(client, f"{round_path}bugs/{number}/", form))))  # type: ignore[misc]
    return median(taken) * 1000


def save(client: Client, path: str, form: dict[str, str]) -> None:
    answer = client.post(path, form)
    if answer.status_code != 200:
        raise RuntimeError(f"{path}: {answer.status_code} {answer.content[:300]!r}")


if __name__ == "__main__":
    settings.ALLOWED_HOSTS = ["testserver"]
    print(json.dumps({"save": save_and_next}[sys.argv[1]](*sys.argv[2:])))
