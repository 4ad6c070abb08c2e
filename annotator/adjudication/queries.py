"""The one definition of final labels."""

from typing import Any

from django.db import connection
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from annotator.adjudication.models import Resolution
from annotator.codebook.models import Category, Version
from annotator.labeling.models import Answer, Round
from annotator.sampling.models import Bug
from annotator.studies.models import Membership, Study
from annotator.web.errors import BadInput

FINAL, UNANIMOUS = "final", "unanimous"
FINAL_KINDS = (Round.Kind.MAIN, Round.Kind.RELABEL)


def final_labels(
    study: Study, labels: str = FINAL, *, as_of: Version | None = None, names: bool = True
) -> QuerySet[Any]:
    """Rows with `bug`, `facet`, `slot` and `label_id`, `label_uid`, `label_name`: labels of the bugs that are studied.

    What left as a duplicate or was withdrawn is not among them; what is not a bug has its verdict.

    `labels` is "final" (what is settled), "unanimous" (on what the raters agreed blind), or a rater's user name
    (that rater's own answers in rounds that are no longer open). A facet with several answers has several rows.
    The label is what counts today: of a merged category the one that took its place. Where a category was split, or
    changed its meaning, labels given before are left out until the bug is labelled again. As of an earlier version of
    the codebook, the label is the category that was given, and what changed later leaves nothing out.
    Whoever counts by `label_id` alone asks for none of the `names`: a million rows then need no look at a category.
    Ready for GROUP BY: `.values("facet", "label_id").annotate(n=Count("id"))`.
    """
    rows = _labels(study, labels).exclude(_is_gone(study))
    return of_today(rows, study, names=names) if as_of is None else of_version(rows, as_of)


def _is_gone(study: Study) -> Q:
    """PostgreSQL takes NOT IN for half of all rows and plans for them; SQLite looks up what EXISTS names row by row."""
    gone = Bug.objects.filter(
        study=study, left_at__isnull=False, left_reason__in=Bug.FOR_GOOD
    )  # by the index of the few
    return Q(bug__in=gone) if connection.vendor == "sqlite" else Q(Exists(gone.filter(pk=OuterRef("bug"))))


def _labels(study: Study, labels: str) -> QuerySet[Any]:
    if labels == FINAL:
        return Resolution.objects.filter(study=study, is_current=True, is_stale=False, category__isnull=False)
    # by number, since an index is read in order where there is one; 0 is none
    rounds = list(final_rounds(study).values_list("pk", flat=True)) or [0]
    if labels == UNANIMOUS:
        settled = Resolution.objects.filter(round__in=rounds, source=Resolution.Source.UNANIMOUS)
        return _without_later(settled, rounds)
    given = Answer.objects.current().filter(round__in=rounds, rater__username=labels)
    if not (Membership.objects.filter(study=study, user__username=labels).exists() or given.exists()):
        raise BadInput(f"Labels are “final”, “unanimous” or the user name of a rater; “{labels}” is none of them.")
    return _without_later(given, rounds, same_rater=True)


def of_today(rows: QuerySet[Any], study: Study, *, names: bool = True) -> QuerySet[Any]:
    """Labels or answers with what they count as today, without those that no longer say what their category means."""
    categories = Category.objects.filter(facet__codebook__study=study)
    if not categories.filter(Q(state=Category.State.MERGED) | Q(relabel_until__isnull=False)).exists():
        return as_given(rows) if names else rows.annotate(label_id=F("category_id"))
    rows = rows.filter(still_meant()).annotate(
        label_id=Coalesce("category__merged_into", "category"),
        label_uid=Coalesce("category__merged_into__uid", "category__uid"),
        label_name=Coalesce("category__merged_into__name", "category__name"),
    )
    if not categories.filter(state=Category.State.MERGED, facet__is_many=True).exists():
        return rows
    twin = {"bug": OuterRef("bug"), "facet": OuterRef("facet"), "label_id": OuterRef("label_id")}
    return rows.exclude(Exists(rows.filter(**twin, slot__lt=OuterRef("slot"))))  # two of a bug's labels became one


def of_version(rows: QuerySet[Any], version: Version) -> QuerySet[Any]:
    """Labels as given, without those that their category had outgrown by then."""
    return as_given(rows.filter(still_meant(version)))


def as_given(rows: QuerySet[Any]) -> QuerySet[Any]:
    return rows.annotate(label_id=F("category_id"), label_uid=F("category__uid"), label_name=F("category__name"))  # type: ignore[no-any-return]  # of any model


def still_meant(as_of: Version | None = None) -> Q:
    """The label was not given in a span that its category, or what took its place, has outgrown by now, or by then."""
    return _outside_span("category", as_of) & _outside_span("category__merged_into", as_of)


def _outside_span(path: str, as_of: Version | None) -> Q:
    until, since = f"{path}__relabel_until", f"{path}__relabel_from"
    outside = Q(**{until: None}) | Q(**{f"{until}__lt": F("at")}) | Q(**{f"{since}__gt": F("at")})
    return outside if as_of is None else outside | Q(**{f"{until}__gt": as_of.published_at})


def final_rounds(study: Study | int) -> QuerySet[Round]:
    """The rounds whose answers can become final labels: main and relabel, none that is open."""
    return Round.objects.with_agreement().filter(study=study, kind__in=FINAL_KINDS)


def _without_later(rows: QuerySet[Any], rounds: list[int], *, same_rater: bool = False) -> QuerySet[Any]:
    """Leave out what a later round of the bug has replaced."""
    if len(rounds) < 2:
        return rows
    later = Answer.objects.current().filter(
        bug=OuterRef("bug"), round__in=rounds, round__number__gt=OuterRef("round__number")
    )
    if same_rater:
        later = later.filter(rater=OuterRef("rater"))
    return rows.exclude(Exists(later))
