"""REST: comparisons of a study's items, and the pairs that they found."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.collection import near_duplicates
from annotator.collection.models import Comparison, NearDuplicate
from annotator.collection.near_duplicates_views import TASK
from annotator.studies.models import Role
from annotator.studies.rest import StudyList, StudyView
from annotator.web.wake import wake


class ComparisonShape(serializers.Serializer[Comparison]):
    number = serializers.IntegerField()
    threshold = serializers.FloatField(help_text="cosine similarity from which two items are shown")
    state = serializers.CharField(help_text="waiting, running, done or failed")
    message = serializers.CharField()
    items = serializers.IntegerField(help_text="compared")
    created_by = serializers.CharField(source="created_by.username", allow_null=True, default=None)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class NewComparison(serializers.Serializer[Any]):
    threshold = serializers.FloatField(
        default=near_duplicates.USUAL, min_value=near_duplicates.LEAST, max_value=near_duplicates.MOST
    )


class PairShape(serializers.Serializer[NearDuplicate]):
    first = serializers.CharField(source="first.identity")
    second = serializers.CharField(source="second.identity")
    similarity = serializers.FloatField()
    words = serializers.ListField(child=serializers.CharField(), help_text="that both hold, the most telling first")


class Comparisons(StudyList):
    """Searches for near-duplicates, by number."""

    serializer_class = ComparisonShape
    order = ("number",)

    def rows(self) -> QuerySet[Comparison]:
        return Comparison.objects.filter(study=self.study()).select_related("created_by")

    @extend_schema(request=NewComparison, responses={202: ComparisonShape})
    def post(self, request: Request, slug: str) -> Response:
        """Look for near-duplicates among the study's items: a worker compares them."""
        study = self.study(Role.LEAD)
        asked = near_duplicates.ask(study=study, by=self.me, **self.given(NewComparison))
        wake(TASK, asked.pk)
        return Response(ComparisonShape(asked).data, status=status.HTTP_202_ACCEPTED)


class OneComparison(StudyView):
    @extend_schema(responses=ComparisonShape)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """How far a comparison is."""
        return Response(ComparisonShape(get_object_or_404(Comparison, study=self.study(), number=number)).data)


class Pairs(StudyList):
    """Items that read nearly alike; so many pairs that what belongs together is together. Nothing is merged."""

    serializer_class = PairShape
    order = ("first__identity", "second__identity")

    def rows(self) -> QuerySet[NearDuplicate]:
        comparison = get_object_or_404(Comparison, study=self.study(), number=self.kwargs["number"])
        return NearDuplicate.objects.filter(comparison=comparison).select_related("first", "second")
