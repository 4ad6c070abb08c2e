"""REST: the tables of a study as files."""

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.publication.exports import FORMATS, TABLES
from annotator.publication.formats import CSV
from annotator.publication.sending import mapping_response, table_response
from annotator.publication.serializers import ExportShape
from annotator.studies.rest import StudyView

PSEUDONYMS = OpenApiParameter("pseudonyms", bool, description="hide user names behind stable pseudonyms")
CODEBOOK = OpenApiParameter(
    "codebook", str, description="number of a version: categories under its names, labels as they were merged by then"
)
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
    @extend_schema(parameters=[PSEUDONYMS, CODEBOOK], responses=FILE)
    def get(self, request: Request, slug: str, table: str, format_: str) -> HttpResponseBase:
        """A table: answers, finals, history, bugs or side_by_side, as csv, jsonl or parquet. Open rounds are left out."""
        return table_response(request._request, self.study(), table=table, format_=format_)


class SafeTable(StudyView):
    @extend_schema(parameters=[PSEUDONYMS, CODEBOOK], responses={(200, "text/csv"): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str, table: str) -> HttpResponseBase:
        """The table as a CSV whose cells no spreadsheet runs."""
        return table_response(request._request, self.study(), table=table, format_=CSV, is_safe=True)


class Mapping(StudyView):
    @extend_schema(parameters=[PSEUDONYMS], responses={(200, "application/yaml"): OpenApiTypes.STR})
    def get(self, request: Request, slug: str) -> HttpResponse:
        """What an import reads the table side_by_side with."""
        return mapping_response(request._request, self.study())
