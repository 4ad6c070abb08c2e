"""REST: each table with all its numbers, and figures."""

from typing import Any

from django.http import Http404, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.analysis import actions
from annotator.analysis.asked import CHOICES, KINDS, read_asked
from annotator.analysis.figure_views import TASK
from annotator.analysis.formats import FORMATS
from annotator.analysis.kept import PICTURES, drawing_for, file_of, kept, listed
from annotator.analysis.models import Drawing
from annotator.analysis.numbers import numbers
from annotator.analysis.permitted import allowed, told_to
from annotator.analysis.serializers import SHEET
from annotator.studies.rest import StudyView
from annotator.web.errors import BadInput
from annotator.web.wake import wake

NAMES = ("by", "across", "labels", "other", "level", "period", "moment", "order")
PARAMETERS = [
    OpenApiParameter("by", str, description="a facet, or repository"),
    OpenApiParameter("across", str, description="another facet, or repository"),
    OpenApiParameter("labels", str, description="final, unanimous, or a rater's user name"),
    OpenApiParameter("other", str, description="slug of a study of yours to compare with"),
    *(OpenApiParameter(name, str, enum=list(CHOICES[name])) for name in ("level", "period", "moment", "order")),
    OpenApiParameter("whole", bool, description="also what other labels would change"),
]


class OneTable(StudyView):
    @extend_schema(parameters=PARAMETERS, responses={200: SHEET}, operation_id="studies_table_retrieve")
    def get(self, request: Request, slug: str, kind: str) -> Response:
        """One table: columns, rows, n, what was left out and why, tests. Shares are 0 to 1, nothing is rounded."""
        study = self.study()
        if kind not in KINDS:
            raise Http404("There is no such table.")
        asked = allowed(study, self.me, read_asked(kind, {name: self.asked(name) for name in NAMES}))
        sheet = numbers(study, asked, whole=self.asked("whole") in ("1", "true"))
        return Response(told_to(study, self.me, sheet).document())


class NewFigure(serializers.Serializer[Any]):
    kind = serializers.CharField(help_text=", ".join(KINDS))
    by = serializers.CharField(default="", allow_blank=True, help_text="a facet, or repository")
    across = serializers.CharField(default="", allow_blank=True, help_text="another facet, or repository")
    labels = serializers.CharField(default="", allow_blank=True, help_text="final, unanimous, or a user name")
    other = serializers.CharField(default="", allow_blank=True, help_text="slug of a study to compare with")
    published = serializers.DictField(default=dict, help_text="counts by category, of a study that is not here")
    published_as = serializers.CharField(default="", allow_blank=True, help_text="what that study is called")
    title = serializers.CharField(default="", allow_blank=True)
    level = serializers.CharField(default="", allow_blank=True, help_text=" or ".join(CHOICES["level"]))
    period = serializers.CharField(default="", allow_blank=True, help_text=" or ".join(CHOICES["period"]))
    moment = serializers.CharField(default="", allow_blank=True, help_text=" or ".join(CHOICES["moment"]))
    show = serializers.CharField(default="", allow_blank=True, help_text=" or ".join(CHOICES["show"]))
    shape = serializers.CharField(default="", allow_blank=True, help_text=" or ".join(CHOICES["shape"]))
    order = serializers.CharField(default="", allow_blank=True, help_text=" or ".join(CHOICES["order"]))
    colours = serializers.CharField(default="", allow_blank=True, help_text=" or ".join(CHOICES["colours"]))
    fill = serializers.CharField(default="", allow_blank=True, help_text=" or ".join(CHOICES["fill"]))


class FigureLine(serializers.Serializer[Drawing]):
    key = serializers.CharField(help_text="digest of what was asked: the figure's address")
    asked = serializers.DictField()
    state = serializers.CharField(help_text="waiting, drawn or failed")
    message = serializers.CharField()
    drawn_of = serializers.CharField(help_text="digest of the numbers that it shows; empty before it is drawn")
    drawn_at = serializers.DateTimeField(allow_null=True)


class FigureShape(FigureLine):
    is_stale = serializers.BooleanField(help_text="its numbers have changed since: it is being redrawn")
    numbers = serializers.DictField(allow_null=True, help_text="what it shows, as a table gives it")


def shape(drawing: Drawing) -> dict[str, Any]:
    return dict(FigureLine(drawing).data) | {"is_stale": kept(drawing).is_stale, "numbers": drawing.data}


class Figures(StudyView):
    @extend_schema(responses=FigureLine(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The study's figures, the newest first."""
        return Response([FigureLine(row).data for row in listed(self.study(), self.me)])

    @extend_schema(request=NewFigure, responses={202: FigureShape})
    def post(self, request: Request, slug: str) -> Response:
        """Ask for a figure: a worker draws it. Asked for again, it is the same one."""
        study = self.study()
        given = self.given(NewFigure)
        asked = allowed(study, self.me, read_asked(given["kind"], given))
        drawing = actions.ask(study=study, asked=asked, by=self.me)
        wake(TASK, drawing.pk)
        return Response(shape(drawing_for(study, self.me, drawing.key)), status=202)


class OneFigure(StudyView):
    @extend_schema(responses=FigureShape)
    def get(self, request: Request, slug: str, key: str) -> Response:
        """A figure's numbers and state; where they have changed since it was drawn, a worker is woken."""
        drawing = drawing_for(self.study(), self.me, key)
        actions.opened(drawing)
        told = shape(drawing)
        if told["is_stale"]:
            wake(TASK, drawing.pk)
        return Response(told)


class FigureFile(StudyView):
    @extend_schema(
        parameters=[OpenApiParameter("format_", str, OpenApiParameter.PATH, enum=[*PICTURES, *FORMATS])],
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, slug: str, key: str, format_: str) -> HttpResponse:
        """The picture or its table, as last drawn: the same bytes from the same data."""
        drawing = drawing_for(self.study(), self.me, key)
        if not drawing.drawn_of:
            raise Http404("This figure is not drawn yet.")
        try:
            type_, content = file_of(drawing, format_)
        except BadInput as problem:
            raise Http404(str(problem)) from None
        actions.opened(drawing)
        return HttpResponse(content, content_type=type_)
