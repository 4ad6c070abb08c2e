"""Which label of a bug is meant, as one SELECT that counts read from."""

from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Q

from annotator.accounts.models import User
from annotator.adjudication.models import Resolution
from annotator.adjudication.queries import FINAL, UNANIMOUS, final_labels, final_rounds
from annotator.codebook.models import Category, Facet
from annotator.labeling.models import Answer
from annotator.studies.models import Study

__all__ = ["FINAL", "UNANIMOUS", "Labels", "labels_of", "raters_with_labels", "verdict_is_plain"]


COLUMNS = "bug_id, facet_id, category_id"


@dataclass(frozen=True)
class Labels:
    """A SELECT of bug_id, facet_id, category_id, each combination once; `choice` is how a person names it."""

    study: Study
    choice: str
    sql: str
    params: tuple[Any, ...]

    def ask(self, sql: str, *params: Any) -> list[tuple[Any, ...]]:
        """Rows of a SELECT that reads from `labels`."""
        with connection.cursor() as cursor:
            cursor.execute(f"WITH labels ({COLUMNS}) AS ({self.sql}) {sql}", [*self.params, *params])
            return cursor.fetchall()  # type: ignore[no-any-return]  # the driver is untyped


def labels_of(study: Study, choice: str = FINAL) -> Labels:
    """The labels called `final`, `unanimous`, or by a rater's user name."""
    rows = final_labels(study, choice, names=False).order_by().values("bug_id", "facet_id", "label_id").distinct()
    sql, params = rows.query.sql_with_params()
    return Labels(study, choice, sql, tuple(params))


def raters_with_labels(study: Study) -> list[str]:
    """User names of those whose labels can be asked for."""
    raters = Answer.objects.current().filter(round__in=final_rounds(study)).values("rater")
    return list(User.objects.filter(pk__in=raters).order_by("username").values_list("username", flat=True))


def verdict_is_plain(study: Study) -> bool:
    """Nobody called a bug none: the verdict says nothing then, and tables and lists leave it out."""
    denied = Q(facet__key=Facet.VERDICT, category__name=Category.NOT_A_BUG)
    settled = Resolution.objects.current().filter(denied, study=study)
    return not settled.exists() and not Answer.objects.current().filter(denied, round__in=final_rounds(study)).exists()
