"""Which label of a bug is meant: the final one, the unanimous one, or one rater's. One SELECT each."""

from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import OuterRef, Q, QuerySet, Subquery

from annotator.accounts.models import User
from annotator.adjudication.models import Resolution
from annotator.labeling.models import Answer, Round
from annotator.studies.models import Study
from annotator.web.errors import BadInput

FINAL, UNANIMOUS = "final", "unanimous"
COLUMNS = ("bug_id", "facet_id", "category_id")

UNANIMOUS_SQL = """
WITH given AS ({given}), agreed AS (
    SELECT bug_id, facet_id FROM given GROUP BY bug_id, facet_id
    HAVING COUNT(DISTINCT rater_id) >= 2 AND COUNT(*) = COUNT(DISTINCT rater_id) * COUNT(DISTINCT category_id)
)
SELECT DISTINCT given.bug_id, given.facet_id, given.category_id
FROM given JOIN agreed ON agreed.bug_id = given.bug_id AND agreed.facet_id = given.facet_id
"""


@dataclass(frozen=True)
class Labels:
    """A SELECT of bug_id, facet_id, category_id; `choice` is how a person names it."""

    study: Study
    choice: str
    sql: str
    params: tuple[Any, ...]

    def ask(self, sql: str, *params: Any) -> list[tuple[Any, ...]]:
        """Rows of a SELECT that reads from `labels`."""
        with connection.cursor() as cursor:
            cursor.execute(f"WITH labels AS ({self.sql}) {sql}", [*self.params, *params])  # both are ours
            return cursor.fetchall()  # type: ignore[no-any-return]  # the driver is untyped


def labels_of(study: Study, choice: str = FINAL) -> Labels:
    """The labels called `final`, `unanimous`, or by a rater's user name."""
    if choice == FINAL:
        rows = Resolution.objects.current().filter(study=study, category__isnull=False)
        return Labels(study, choice, *compiled(rows, *COLUMNS))
    if choice == UNANIMOUS:
        given, params = compiled(blind_answers(study), "bug_id", "facet_id", "category_id", "rater_id")
        return Labels(study, choice, UNANIMOUS_SQL.format(given=given), params)
    rater = User.objects.filter(username=choice).first()
    answers = blind_answers(study, rater=rater) if rater else Answer.objects.none()
    if rater is None or not answers.exists():
        raise BadInput(f"“{choice}” has no labels here. Ask for final, unanimous, or a rater of a closed round.")
    return Labels(study, choice, *compiled(answers, *COLUMNS))


def raters_with_labels(study: Study) -> list[str]:
    """User names of whose labels can be asked for."""
    raters = Answer.objects.current().filter(round__in=counted_rounds(study)).values("rater")
    return list(User.objects.filter(pk__in=raters).order_by("username").values_list("username", flat=True))


def counted_rounds(study: Study) -> QuerySet[Round]:
    """Rounds whose labels can become final: closed main and relabel rounds, and imported ones."""
    counted = Q(kind__in=[Round.Kind.MAIN, Round.Kind.RELABEL]) | Q(state=Round.State.IMPORTED)
    return Round.objects.with_agreement().filter(counted, study=study)


def blind_answers(study: Study, *, rater: User | None = None) -> QuerySet[Answer]:
    """Current answers of each bug's latest counted round, of one rater or of all."""
    rounds = list(counted_rounds(study).values_list("pk", flat=True))
    answers = Answer.objects.current().filter(round__in=rounds)
    if rater:
        answers = answers.filter(rater=rater)
    if len(rounds) < 2:
        return answers
    later = answers.filter(bug=OuterRef("bug")).order_by("-round__number").values("round")[:1]
    return answers.filter(round=Subquery(later))


def compiled(rows: QuerySet[Any], *columns: str) -> tuple[str, tuple[Any, ...]]:
    sql, params = rows.order_by().values(*columns).query.sql_with_params()
    return sql, tuple(params)
