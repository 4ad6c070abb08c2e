"""REST: the bugs of a study."""

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.sampling.models import Bug
from annotator.sampling.serializers import BugShape, WholeBugShape
from annotator.studies.rest import StudyList, StudyView


@extend_schema_view(
    get=extend_schema(
        parameters=[
            OpenApiParameter("q", str, description="words in the title"),
            OpenApiParameter("repository", str, description="what the study calls it"),
        ]
    )
)
class Bugs(StudyList):
    """Bugs by number."""

    serializer_class = BugShape
    order = ("number",)

    def rows(self) -> QuerySet[Bug]:
        bugs = Bug.objects.filter(study=self.study()).select_related("item__repository")
        if words := self.asked("q"):
            bugs = bugs.filter(item__title__icontains=words)
        if label := self.asked("repository"):
            bugs = bugs.filter(item__repository__label=label)
        return bugs


class OneBug(StudyView):
    @extend_schema(responses=WholeBugShape)
    def get(self, request: Request, slug: str, bug: int) -> Response:
        """A bug with its text, discussion, commits, diff, links and later edits."""
        bugs = Bug.objects.select_related("item__repository", "item__text")
        whole = bugs.prefetch_related(
            "item__comments", "item__commits", "item__files__patch", "item__links__target", "item__edits"
        )
        return Response(WholeBugShape(get_object_or_404(whole, study=self.study(), number=bug)).data)
