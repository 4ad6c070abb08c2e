"""REST: final labels, and their counts."""

from typing import Any

from django.db.models import F, QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.adjudication.queries import final_labels
from annotator.analysis.labels import FINAL, verdict_is_plain
from annotator.analysis.permitted import refuse_rater_labels
from annotator.analysis.serializers import TABLES, FinalShape
from annotator.analysis.tables import tables
from annotator.codebook.models import Facet
from annotator.studies.rest import StudyList, StudyView, whole


@extend_schema_view(get=extend_schema(parameters=[OpenApiParameter("facet", str), OpenApiParameter("bug", int)]))
class Finals(StudyList):
    """The final labels, and where each comes from."""

    serializer_class = FinalShape
    order = ("bug_number", "facet_position", "facet_key", "slot")

    def rows(self) -> QuerySet[Any, Any]:
        study = self.study()
        labels = final_labels(study)
        if verdict_is_plain(study):
            labels = labels.exclude(facet__key=Facet.VERDICT)
        if facet := self.asked("facet"):
            labels = labels.filter(facet__key=facet)
        if (bug := whole(self.asked("bug"))) is not None:
            labels = labels.filter(bug__number=bug)
        return labels.values(
            "slot", "label_name", "label_uid", "source", "round__name", "round__number", "by__username",
            "participants", "recorded_by__username", "reason", "note", "cell", "at", "bug__ordinal", "bug__item__number",
            "bug__item__repository__label",
            bug_number=F("bug__number"), facet_key=F("facet__key"), facet_position=F("facet__position"),
        )  # fmt: skip


class Tables(StudyView):
    @extend_schema(
        parameters=[
            OpenApiParameter("labels", str, description="final, unanimous, or a rater's user name"),
            OpenApiParameter("by", str, description="a facet, or repository"),
            OpenApiParameter("across", str, description="another facet, or repository"),
        ],
        responses={200: TABLES},
    )
    def get(self, request: Request, slug: str) -> Response:
        """Counts of labels: by facet, by repository, facet across facet, and how alike repositories are."""
        choice = self.asked("labels") or FINAL
        study = self.study()
        refuse_rater_labels(study, self.me, choice)
        return Response(tables(study, choice=choice, by=self.asked("by"), across=self.asked("across")))
