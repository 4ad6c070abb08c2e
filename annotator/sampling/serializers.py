"""Bugs as programs see them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotator.collection.models import Context
from annotator.collection.serializers import CommentShape, CommitShape, EditShape, FileShape, LinkShape
from annotator.sampling.models import Bug


class BugShape(serializers.Serializer[Bug]):
    number = serializers.IntegerField(help_text="names the bug in its study")
    ordinal = serializers.IntegerField(help_text="1 for the first bug of its item")
    kind = serializers.CharField(source="item.kind")
    repository = serializers.SerializerMethodField(help_text="what the study calls it; empty where there is none")
    item_number = serializers.IntegerField(source="item.number", allow_null=True)
    key = serializers.CharField(source="item.key")
    reference = serializers.CharField(source="item.reference", help_text="how a person names the item")
    url = serializers.CharField(source="item.url")
    title = serializers.CharField(source="item.title")
    state = serializers.CharField(source="item.state")
    author = serializers.CharField(source="item.author")
    left = serializers.CharField(source="left_reason", help_text="why it is no longer studied; empty: it is")

    def get_repository(self, bug: Bug) -> str:
        return bug.item.repository.label if bug.item.repository else ""


class WholeBugShape(BugShape):
    """The bug with everything that a rater can read."""

    body = serializers.SerializerMethodField()
    context = serializers.SerializerMethodField(  # type: ignore[assignment]  # Field has an attribute of this name
        help_text="columns that a sheet brought"
    )
    comments = CommentShape(source="item.comments", many=True)
    commits = CommitShape(source="item.commits", many=True)
    files = FileShape(source="item.files", many=True)
    links = LinkShape(source="item.links", many=True)
    edits = EditShape(source="item.edits", many=True)

    def get_body(self, bug: Bug) -> str:
        return bug.item.text.body if hasattr(bug.item, "text") else ""

    @extend_schema_field({"type": "object", "additionalProperties": True})
    def get_context(self, bug: Bug) -> dict[str, Any]:
        found = Context.objects.filter(item=bug.item, ordinal=bug.ordinal).first()
        return dict(found.values) if found else {}
