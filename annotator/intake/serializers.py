"""Imports as programs see them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotator.intake.models import Import

REMARK = {
    "type": "object",
    "properties": {
        "row": {"type": ["integer", "null"]},
        "column": {"type": "string"},
        "code": {"type": "string"},
        "text": {"type": "string"},
    },
    "required": ["row", "column", "code", "text"],
}
REPORT = {
    "type": ["object", "null"],
    "description": "What the import_sheet command prints; null before a mapping was given.",
    "properties": {
        **{
            name: {"type": "integer"}
            for name in ("rows", "items_created", "bugs_created", "bugs_matched", "answers", "finals")
        },
        "warnings": {"type": "array", "items": REMARK},
        "errors": {"type": "array", "items": REMARK},
    },
    "additionalProperties": True,
}


class ImportShape(serializers.Serializer[Import]):
    number = serializers.IntegerField(help_text="names the import in its study")
    filename = serializers.CharField()
    sha256 = serializers.CharField()
    state = serializers.CharField(help_text="uploaded, waiting, running, done, failed or undone")
    rows_done = serializers.IntegerField()
    rows_total = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    created_by = serializers.SerializerMethodField()
    finished_at = serializers.DateTimeField(allow_null=True)

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_created_by(self, row: Import) -> str | None:
        return row.created_by.username if row.created_by else None


class OneImportShape(ImportShape):
    mapping = serializers.SerializerMethodField()
    report = serializers.SerializerMethodField()

    @extend_schema_field({"type": "object", "additionalProperties": True})
    def get_mapping(self, row: Import) -> Any:
        return row.mapping or {}

    @extend_schema_field(REPORT)
    def get_report(self, row: Import) -> Any:
        return row.report


class NewImport(serializers.Serializer[Any]):
    """A sheet, and where it is known how its columns are read."""

    file = serializers.FileField()
    mapping = serializers.FileField(required=False)


class NewMapping(serializers.Serializer[Any]):
    yaml = serializers.CharField(trim_whitespace=False, help_text="a mapping file as text")
