"""Any table of a study of a million bugs: two raters, four facets. Prints as JSON the seconds of each.

python -m bench.analysis [BUGS]: rows are written straight into the tables, as no study is ever brought in, since labels
and not their way in are measured here. A database that holds them already is measured as it is.
"""

import json
import os
import sys
import time
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bench.settings")
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.utils import timezone  # noqa: E402

from annotator.accounts.models import User  # noqa: E402
from annotator.analysis.asked import read_asked  # noqa: E402
from annotator.analysis.numbers import numbers  # noqa: E402
from annotator.codebook.actions import create_codebook  # noqa: E402
from annotator.codebook.presets import MAIN, preset  # noqa: E402
from annotator.collection.models import Repository  # noqa: E402
from annotator.labeling.models import Round  # noqa: E402
from annotator.overview import guards  # noqa: E402
from annotator.studies.models import Membership, Role, Study  # noqa: E402
from bench.seed import settle_statistics  # noqa: E402

SLUG = "large"
BUGS, REPOSITORIES, TIMES = 1_000_000, 4, 3
FACETS = ("root_cause", "symptom", "stage", "level")
TABLES: dict[str, tuple[str, dict[str, str]]] = {
    "distribution": ("distribution", {"by": "root_cause"}),
    "distribution at the top level": ("distribution", {"by": "root_cause", "level": "top"}),
    "unanimous labels": ("distribution", {"by": "root_cause", "labels": "unanimous"}),
    "one rater's labels": ("distribution", {"by": "root_cause", "labels": "alice"}),
    "facet across facet": ("cross", {"by": "root_cause", "across": "symptom"}),
    "facet across repository": ("cross", {"by": "root_cause", "across": "repository"}),
    "likeness of repositories": ("correlation", {"by": "root_cause"}),
    "trend": ("trend", {"by": "symptom"}),
    "time per bug": ("time", {"by": "stage"}),
}


def main(bugs: int) -> dict[str, Any]:
    call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
    started = time.perf_counter()
    study = Study.objects.filter(slug=SLUG).first() or seed(bugs)
    told: dict[str, Any] = {"seed_s": time.perf_counter() - started}
    settle_statistics()
    for name, (kind, options) in TABLES.items():
        told[name] = min(timed(study, kind, options) for _ in range(TIMES))
    return told


def timed(study: Study, kind: str, options: dict[str, str]) -> float:
    started = time.perf_counter()
    sheet = numbers(study, read_asked(kind, options))
    assert sheet.n, kind
    return time.perf_counter() - started


def seed(bugs: int) -> Study:
    lead = User.objects.create_user("lead", password=None)
    raters = [User.objects.create_user(name, password=None) for name in ("alice", "bob")]
    study = Study.objects.create(slug=SLUG, title="A large study", created_by=lead)
    for rater in raters:
        Membership.objects.create(study=study, user=rater, role=Role.RATER)
    create_codebook(study=study, document=preset(MAIN), by=lead)
    places = [Repository.objects.create(study=study, label=f"repository-{n}").pk for n in range(REPOSITORIES)]
    round_ = Round.objects.create(
        study=study, number=1, name="Main", kind=Round.Kind.MAIN, state=Round.State.IMPORTED, opened_by=lead
    )
    guards.remove(connection.alias)
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL session_replication_role = replica")  # no look at each row's foreign keys
        for statement in statements(study, round_, [rater.pk for rater in raters], places, bugs):
            cursor.execute(statement)
    guards.install(connection.alias)
    return study


def statements(study: Study, round_: Round, raters: list[int], places: list[int], bugs: int) -> list[str]:
    """Numbers stand in for chance: every category of a facet comes up, and a tenth of the second rater's differ."""
    now = f"'{timezone.now():%Y-%m-%d %H:%M:%S}+00:00'"
    yes, no = ("TRUE", "FALSE") if connection.vendor == "postgresql" else ("1", "0")
    n = f"n (i) AS (SELECT generate_series(1, {bugs}))"
    if connection.vendor != "postgresql":
        n = f"RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {bugs})"
    month = "printf('%04d-%02d-03 00:00:00', 2015 + i % 8, 1 + i % 12)"
    if connection.vendor == "postgresql":
        month = "make_timestamptz(2015 + i % 8, 1 + i % 12, 3, 0, 0, 0, 'UTC')"
    found = [
        f"""INSERT INTO collection_item (id, study_id, kind, repository_id, number, key, identity, url, title, state,
        author, labels, merged_at) WITH {n} SELECT i, {study.pk}, 'other', {places[0]} + i % {len(places)}, i, '',
        'bug-' || i, '', '', '', '', '[]', {month} FROM n""",
        f"""INSERT INTO sampling_bug (id, study_id, item_id, ordinal, number, left_reason, left_note)
        WITH {n} SELECT i, {study.pk}, i, 1, i, '', '' FROM n""",
    ]
    for place, rater in enumerate(raters):
        found.append(
            f"""INSERT INTO labeling_assignment (id, round_id, bug_id, rater_id, position, state, submitted_at, revision,
            submission_key, confidence, note, active_seconds, not_a_bug_reason, skip_reason, skip_note)
            WITH {n} SELECT {place * bugs} + i, {round_.pk}, i, {rater}, i, 'submitted', {now}, 1, '', '', '',
            30 + i % 300, '', '', '' FROM n"""
        )
    for facet in study.codebook.facets.filter(key__in=FACETS):
        ids = list(facet.categories.order_by("pk").values_list("pk", flat=True))
        low, many, step = ids[0], len(ids), 7 + facet.pk
        assert ids == list(range(low, low + many))
        label = f"{low} + (i / 3 * {step} + i % 11) % {many}"
        second = f"{low} + (i / 3 * {step} + i % 11 + CASE WHEN i % 10 = 0 THEN 1 ELSE 0 END) % {many}"
        for place, (rater, given) in enumerate(zip(raters, (label, second), strict=True)):
            found.append(
                f"""INSERT INTO labeling_answer (assignment_id, round_id, bug_id, rater_id, facet_id, category_id, slot,
                revision, is_current, is_assisted, version, cell, at) WITH {n} SELECT {place * bugs} + i, {round_.pk}, i,
                {rater}, {facet.pk}, {given}, 0, 1, {yes}, {no}, 1, '', {now} FROM n"""
            )
        found.append(
            f"""INSERT INTO adjudication_resolution (study_id, bug_id, facet_id, slot, category_id, round_id, source,
            reason, note, participants, cell, at, is_current, is_stale) WITH {n} SELECT {study.pk}, i, {facet.pk}, 0,
            {label}, {round_.pk}, CASE WHEN i % 10 = 0 THEN 'majority' ELSE 'unanimous' END, '', '', '[]', '', {now},
            {yes}, {no} FROM n"""
        )
    return found


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]) if len(sys.argv) > 1 else BUGS)))
