"""REST: bringing a sheet in. Upload, say how its columns are read, look at the dry run, start, watch, undo."""

from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.intake import actions, undoing
from annotator.intake.forms import mapping_text
from annotator.intake.mapping import from_document, read_mapping, to_yaml
from annotator.intake.models import Import
from annotator.intake.serializers import ImportShape, NewImport, NewMapping, OneImportShape
from annotator.studies.models import Role
from annotator.studies.rest import StudyList, StudyView
from annotator.web.errors import BadInput
from annotator.web.wake import wake

LEAN = ("file", "head", "created_ids")


class Imports(StudyList):
    """Sheets brought in, by number."""

    serializer_class = ImportShape
    parser_classes = (MultiPartParser,)
    order = ("number",)

    def rows(self) -> QuerySet[Import]:
        rows = Import.objects.filter(study=self.study(Role.LEAD))
        return rows.defer(*LEAN, "report", "mapping").select_related("created_by")

    @extend_schema(request={"multipart/form-data": NewImport}, responses={201: OneImportShape})
    def post(self, request: Request, slug: str) -> Response:
        """Upload a sheet. With a mapping file the dry run is done at once; nothing is stored before it is started."""
        study, given = self.study(Role.LEAD), self.given(NewImport)
        file = given["file"]
        if file.size > settings.UPLOAD_LIMIT:
            raise BadInput(f"The file has more than {settings.UPLOAD_LIMIT:,} bytes: split the sheet.")
        mapping = read_mapping(mapping_text(given["mapping"])) if "mapping" in given else None
        row = actions.upload(study=study, filename=file.name, data=file.read(), mapping=mapping, by=self.me)
        return Response(OneImportShape(row).data, status=status.HTTP_201_CREATED)


class ImportView(StudyView):
    def row(self) -> Import:
        rows = Import.objects.select_related("study", "created_by")
        return get_object_or_404(rows, study=self.study(Role.LEAD), number=self.kwargs["import_number"])

    def shown(self) -> Response:
        return Response(OneImportShape(self.row()).data)


class OneImport(ImportView):
    @extend_schema(responses=OneImportShape)
    def get(self, request: Request, slug: str, import_number: int) -> Response:
        """How far an import is, and what came of it."""
        return self.shown()

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, import_number: int) -> Response:
        """Drop an upload from which nothing was stored."""
        actions.discard(row=self.row(), by=self.me)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Mapping(ImportView):
    @extend_schema(responses={(200, "application/yaml"): OpenApiTypes.STR})
    def get(self, request: Request, slug: str, import_number: int) -> HttpResponse:
        """How the columns are read, as a file."""
        mapping: Any = self.row().mapping
        text = to_yaml(from_document(mapping)) if mapping else ""
        return HttpResponse(text, content_type="application/yaml; charset=utf-8")

    @extend_schema(request=NewMapping, responses=OneImportShape)
    def put(self, request: Request, slug: str, import_number: int) -> Response:
        """Say how the columns are read; the answer holds the report of the dry run."""
        row = self.row()
        actions.choose(row=row, mapping=read_mapping(self.given(NewMapping)["yaml"]), by=self.me)
        return self.shown()


class Start(ImportView):
    @extend_schema(request=None, responses={202: OneImportShape})
    def post(self, request: Request, slug: str, import_number: int) -> Response:
        """Hand it to a worker: all of it is stored, or nothing."""
        row = actions.start(row=self.row(), by=self.me)
        wake("annotator.intake.tasks.run", row.pk)
        return Response(OneImportShape(self.row()).data, status=status.HTTP_202_ACCEPTED)


class Undo(ImportView):
    @extend_schema(request=None, responses=OneImportShape)
    def post(self, request: Request, slug: str, import_number: int) -> Response:
        """Take back what it brought, while nothing was built on it."""
        undoing.undo(row=self.row(), by=self.me)
        return self.shown()
