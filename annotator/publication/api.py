"""REST: the tables of a study as files."""

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.publication import side_by_side, views
from annotator.publication.exports import FORMATS, TABLES
from annotator.publication.formats import CSV
from annotator.publication.pseudonyms import pseudonyms_of
from annotator.publication.serializers import ExportShape
from annotator.studies.rest import StudyView

PSEUDONYMS = OpenApiParameter("pseudonyms", bool, description="hide user names behind stable pseudonyms")
FILE = {
    (200, content): OpenApiTypes.BINARY
    for content in ("text/csv", "application/jsonl", "application/vnd.apache.parquet")
}


class Exports(StudyView):
    @extend_schema(responses=ExportShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The tables that can be had, and their addresses."""
        study = self.study()

        def address(table: str, format_: str) -> str:
            return request.build_absolute_uri(reverse("publication-api:table", args=[study.slug, table, format_]))

        rows = [
            {"table": table, "format": format_, "url": address(table, format_)}
            for table in TABLES
            for format_ in FORMATS
        ]
        return Response(ExportShape(rows, many=True).data)


class Table(StudyView):
    @extend_schema(parameters=[PSEUDONYMS], responses=FILE)
    def get(self, request: Request, slug: str, table: str, format_: str) -> HttpResponseBase:
        """A table: answers, finals, history, bugs or side_by_side, as csv, jsonl or parquet. Open rounds are left out."""
        pseudonyms = views.wants_pseudonyms(request._request)
        return views.file_of(self.study(), table, format_, pseudonyms=pseudonyms)


class SafeTable(StudyView):
    @extend_schema(parameters=[PSEUDONYMS], responses={(200, "text/csv"): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str, table: str) -> HttpResponseBase:
        """The table as a CSV whose cells no spreadsheet runs."""
        pseudonyms = views.wants_pseudonyms(request._request)
        return views.file_of(self.study(), table, CSV, pseudonyms=pseudonyms, is_safe=True)


class Mapping(StudyView):
    @extend_schema(parameters=[PSEUDONYMS], responses={(200, "application/yaml"): OpenApiTypes.STR})
    def get(self, request: Request, slug: str) -> HttpResponse:
        """What an import reads the table side_by_side with."""
        study = self.study()
        hide = pseudonyms_of(study) if views.wants_pseudonyms(request._request) else None
        return HttpResponse(side_by_side.mapping(study, hide=hide), content_type="application/yaml")
