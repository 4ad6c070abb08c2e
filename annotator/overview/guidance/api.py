"""REST: guidance beside one's own turn at a bug."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.codebook.models import Category
from annotator.labeling.api import TurnView
from annotator.overview.guidance import settled


class ExampleShape(serializers.Serializer[Any]):
    bug = serializers.IntegerField(source="number")
    reference = serializers.CharField()
    title = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]  # a field of that name
    why = serializers.CharField(help_text="what a rater wrote who gave it this label")


class GuidanceShape(serializers.Serializer[Any]):
    """Settled bugs of a category."""

    facet = serializers.CharField()
    category = serializers.CharField()
    category_uid = serializers.CharField()
    examples = ExampleShape(many=True)


class Guidance(TurnView):
    @extend_schema(responses=GuidanceShape(many=True))
    def get(self, request: Request, slug: str, number: int, bug: int) -> Response:
        """Settled bugs of each category, as examples: never this bug, nothing of open rounds, none where one labels again."""
        turn = self.mine()
        facets = settled.asked(turn.round)
        rows = Category.objects.filter(facet__in=facets, state=Category.State.ACTIVE, is_not_applicable=False)
        categories = list(rows.select_related("facet").order_by("facet__position", "position", "pk"))
        found = settled.examples(turn, categories)
        told = [
            {"facet": one.facet.key, "category": one.name, "category_uid": one.uid, "examples": found.get(one.pk, ())}
            for one in categories
        ]
        return Response(GuidanceShape(told, many=True).data)
