"""What the REST interface of the codebook takes and gives."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotator.codebook.changes import CategoryChange, FacetChange
from annotator.codebook.differing import Difference
from annotator.codebook.models import Facet, Version
from annotator.codebook.plain import MAX_BYTES
from annotator.codebook.reading import NAME


class CategorySerializer(serializers.Serializer[Any]):
    """As in a codebook file; what is left out is empty."""

    name = serializers.CharField()
    id = serializers.CharField()
    parent = serializers.CharField(required=False)  # type: ignore[assignment]  # a field of that name
    order = serializers.FloatField(required=False)
    definition = serializers.CharField(required=False)
    include = serializers.CharField(required=False)
    exclude = serializers.CharField(required=False)
    examples = serializers.ListField(child=serializers.CharField(), required=False)
    hotkey = serializers.CharField(required=False)
    aka = serializers.ListField(child=serializers.CharField(), required=False)
    unverified = serializers.BooleanField(required=False)
    not_applicable = serializers.BooleanField(required=False)
    code = serializers.BooleanField(required=False)
    retired = serializers.BooleanField(required=False)
    merged_into = serializers.CharField(required=False, help_text="id of the category that took its place")
    split_from = serializers.CharField(required=False, help_text="id of the category that it is a part of")
    redefined_in = serializers.IntegerField(required=False, help_text="version that last changed its meaning")


class FacetSerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    name = serializers.CharField()
    definition = serializers.CharField(required=False)
    kind = serializers.ChoiceField(choices=Facet.Kind.choices, required=False)
    answers = serializers.ChoiceField(choices=["one", "many"], required=False)
    decided = serializers.ChoiceField(choices=Facet.Decided.choices, required=False)
    optional = serializers.BooleanField(required=False)
    takes_codes = serializers.BooleanField(required=False)
    hotkey = serializers.CharField(required=False)
    categories = CategorySerializer(many=True)


class CodebookSerializer(serializers.Serializer[Any]):
    title = serializers.CharField()
    version = serializers.IntegerField()
    digest = serializers.CharField()
    in_use = serializers.BooleanField()
    facets = FacetSerializer(many=True)


class CodebookFileShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    content = serializers.CharField()


class CodebookFileInput(serializers.Serializer[Any]):
    content = serializers.CharField(trim_whitespace=False, max_length=MAX_BYTES, help_text="YAML, JSON or CSV")


class PresetSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    title = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]  # a field of that name
    facets = serializers.ListField(child=serializers.DictField())


class VersionSerializer(serializers.ModelSerializer[Version]):
    published_by = serializers.CharField(source="published_by.username", allow_null=True, default=None)

    class Meta:
        model = Version
        fields = ["number", "digest", "published_at", "published_by", "reason"]


class WordsSerializer(serializers.Serializer[Any]):
    what = serializers.CharField()
    was = serializers.CharField()
    now = serializers.CharField()


class DifferenceSerializer(serializers.Serializer[Any]):
    """One thing in which two versions differ, in words."""

    kind = serializers.CharField(
        help_text="added, renamed, clarified, redefined, moved, merged, split, retired, restored, deleted or facet"
    )
    facet = serializers.CharField(help_text="id; empty where it is the codebook itself")
    category = serializers.CharField(source="uid", help_text="id; empty where it is a facet")
    says = serializers.CharField()
    words = serializers.SerializerMethodField(help_text="wordings as they were and as they are")

    @extend_schema_field(WordsSerializer(many=True))
    def get_words(self, found: Difference) -> list[dict[str, str]]:
        return [{"what": what, "was": was, "now": now} for what, was, now in found.words]


class OneVersionSerializer(VersionSerializer):
    """A version with the codebook as it was then, and what changed since an earlier one."""

    since = serializers.SerializerMethodField()
    differences = serializers.SerializerMethodField()
    title = serializers.SerializerMethodField()
    facets = serializers.SerializerMethodField()

    class Meta(VersionSerializer.Meta):
        fields = [*VersionSerializer.Meta.fields, "since", "differences", "title", "facets"]

    @extend_schema_field({"type": ["integer", "null"]})
    def get_since(self, version: Version) -> int | None:
        found: int | None = self.context["since"]
        return found

    @extend_schema_field(DifferenceSerializer(many=True))
    def get_differences(self, version: Version) -> Any:
        return DifferenceSerializer(self.context["differences"], many=True).data

    def get_title(self, version: Version) -> str:
        return str(version.document["title"])

    @extend_schema_field(FacetSerializer(many=True))
    def get_facets(self, version: Version) -> Any:
        return version.document["facets"]


class CategoryInput(serializers.Serializer[Any]):
    """What is to be different; what is left out stays."""

    name = serializers.CharField(max_length=NAME, required=False, trim_whitespace=False)
    parent = serializers.CharField(max_length=12, required=False, allow_blank=True)  # type: ignore[assignment]  # a field of that name: id, or empty for the top level
    order = serializers.FloatField(required=False, source="rank")
    definition = serializers.CharField(max_length=10_000, required=False, allow_blank=True)
    include = serializers.CharField(max_length=10_000, required=False, allow_blank=True)
    exclude = serializers.CharField(max_length=10_000, required=False, allow_blank=True)
    examples = serializers.ListField(child=serializers.CharField(max_length=10_000), required=False, max_length=50)
    aka = serializers.ListField(child=serializers.CharField(max_length=NAME), required=False, max_length=50)
    hotkey = serializers.CharField(max_length=1, required=False, allow_blank=True)
    unverified = serializers.BooleanField(required=False, source="is_unverified")
    code = serializers.BooleanField(required=False, source="is_code")
    reason = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")
    version = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        help_text="the one that was read: 409 where the category changed since",
    )

    def change(self) -> CategoryChange:
        given = {name: value for name, value in self.validated_data.items() if name not in {"reason", "version"}}
        return CategoryChange(**given)


class NewCategoryInput(CategoryInput):
    name = serializers.CharField(max_length=NAME, trim_whitespace=False)


class FacetInput(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=120, required=False)
    definition = serializers.CharField(max_length=10_000, required=False, allow_blank=True)
    hotkey = serializers.CharField(max_length=1, required=False, allow_blank=True)
    kind = serializers.ChoiceField(choices=Facet.Kind.choices, required=False)
    answers = serializers.ChoiceField(choices=["one", "many"], required=False)
    decided = serializers.ChoiceField(choices=Facet.Decided.choices, required=False)
    optional = serializers.BooleanField(required=False, source="is_optional")
    takes_codes = serializers.BooleanField(required=False)

    def change(self) -> FacetChange:
        given = {name: value for name, value in self.validated_data.items() if name not in {"id", "answers"}}
        answers = self.validated_data.get("answers")
        return FacetChange(**given, is_many=None if answers is None else answers == "many")


class NewFacetInput(FacetInput):
    id = serializers.CharField(max_length=60)


class ReasonInput(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")
