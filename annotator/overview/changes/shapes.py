"""Changes of the codebook as programs see and ask for them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotator.agreement.mapped import Figure
from annotator.codebook.changes import CategoryChange
from annotator.codebook.living import LONGEST, MOST_PARTS, MOST_SOURCES
from annotator.codebook.models import Change
from annotator.codebook.reading import NAME
from annotator.overview.changes.listing import IN_FORCE, WAITING, WITHDRAWN, Line
from annotator.overview.changes.previewing import RoundEffect

ACTS = [Change.Act.MERGE, Change.Act.SPLIT, Change.Act.REDEFINE]
TEXT, UID = 10_000, 12


class CodebookChange(serializers.Serializer[Line]):
    """One change; it is taken back by another that does the opposite."""

    number = serializers.IntegerField(source="change.number")
    act = serializers.CharField(source="change.act", help_text=", ".join(Change.Act.values))
    says = serializers.CharField()
    facet = serializers.SerializerMethodField(help_text="id; empty where the facet is gone")
    categories = serializers.ListField(child=serializers.CharField(), source="change.categories", help_text="ids")
    reason = serializers.CharField(source="change.reason")
    by = serializers.SerializerMethodField(help_text="user name; empty where an import did it")
    at = serializers.DateTimeField(source="change.at")
    state = serializers.CharField(help_text=f"{WAITING}, {IN_FORCE} or {WITHDRAWN}")
    version = serializers.SerializerMethodField(help_text="of the codebook, that it led to")
    undoes = serializers.SerializerMethodField(help_text="number of the change that it takes back")
    undone_by = serializers.IntegerField(allow_null=True)

    def get_facet(self, line: Line) -> str:
        return line.change.facet.key if line.change.facet else ""

    def get_by(self, line: Line) -> str:
        return line.change.by.username if line.change.by else ""

    def get_version(self, line: Line) -> int | None:
        return line.change.version.number if line.change.version else None

    def get_undoes(self, line: Line) -> int | None:
        return line.change.undoes.number if line.change.undoes else None


class OneCodebookChange(CodebookChange):
    """With the bugs that wait to be labelled again after it, and the rounds in which that is done."""

    due_bugs = serializers.SerializerMethodField()
    without_raters = serializers.SerializerMethodField(help_text="bugs whose raters rate in the study no more")
    relabel_rounds = serializers.SerializerMethodField(help_text="numbers")
    waits_for = serializers.SerializerMethodField(help_text="names of open rounds")

    def get_due_bugs(self, line: Line) -> int:
        return int(self.context["due"].bugs)

    def get_without_raters(self, line: Line) -> int:
        return int(self.context["due"].without_raters)

    @extend_schema_field(serializers.ListField(child=serializers.IntegerField()))
    def get_relabel_rounds(self, line: Line) -> list[int]:
        return [one.number for one in self.context["rounds"]]

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_waits_for(self, line: Line) -> list[str]:
        return [one.name for one in self.context["waits_for"]] if line.is_waiting else []


class CodebookPart(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=NAME)
    definition = serializers.CharField(max_length=TEXT, required=False, allow_blank=True, default="")
    include = serializers.CharField(max_length=TEXT, required=False, allow_blank=True, default="")
    exclude = serializers.CharField(max_length=TEXT, required=False, allow_blank=True, default="")


class NewCodebookChange(serializers.Serializer[Any]):
    """merge takes `categories` and `into`; split one of `categories` and `parts`; redefine one and what it says now."""

    act = serializers.ChoiceField([(act.value, act.label) for act in ACTS])
    categories = serializers.ListField(
        child=serializers.CharField(max_length=UID), allow_empty=False, max_length=MOST_SOURCES
    )
    into = serializers.CharField(max_length=UID, required=False, default="")
    parts = CodebookPart(many=True, required=False, default=list)
    definition = serializers.CharField(max_length=TEXT, required=False, allow_blank=True)
    include = serializers.CharField(max_length=TEXT, required=False, allow_blank=True)
    exclude = serializers.CharField(max_length=TEXT, required=False, allow_blank=True)
    reason = serializers.CharField(max_length=LONGEST, required=False, allow_blank=True, default="")
    version = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        help_text="the one that was read: 409 where one of the categories changed since",
    )

    def validate_parts(self, parts: list[Any]) -> list[Any]:
        if len(parts) > MOST_PARTS:
            raise serializers.ValidationError(f"At most {MOST_PARTS} parts.")
        return parts

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        act, several = given["act"], len(set(given["categories"])) > 1
        if act == Change.Act.MERGE and not given["into"]:
            raise serializers.ValidationError({"into": "Say which category takes their place."})
        if act != Change.Act.MERGE and several:
            raise serializers.ValidationError({"categories": "One category at a time is split or redefined."})
        return given

    def wording(self) -> CategoryChange:
        names = ("definition", "include", "exclude")
        return CategoryChange(**{name: self.validated_data[name] for name in names if name in self.validated_data})

    def made_of(self) -> list[CategoryChange]:
        return [CategoryChange(**part) for part in self.validated_data["parts"]]


class CodebookReason(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=LONGEST, required=False, allow_blank=True, default="")


class CodebookFigure(serializers.Serializer[Figure]):
    raters = serializers.ListField(child=serializers.CharField(), help_text="empty: all pairs")
    coefficient = serializers.CharField()
    n = serializers.IntegerField(source="as_answered.n")
    as_answered = serializers.FloatField(source="as_answered.value", allow_null=True)
    as_mapped = serializers.FloatField(source="as_mapped.value", allow_null=True)


class CodebookRoundEffect(serializers.Serializer[RoundEffect]):
    round = serializers.CharField(source="round.name")
    number = serializers.IntegerField(source="round.number")
    answers = serializers.IntegerField()
    kappas = CodebookFigure(many=True, source="figures")


class CodebookPreview(serializers.Serializer[Any]):
    """What a change would touch. Nothing of open rounds is counted."""

    says = serializers.CharField(source="sentence")
    answers = serializers.IntegerField()
    rounds = CodebookRoundEffect(many=True)
    labels = serializers.IntegerField(help_text="final labels")
    disputes = serializers.IntegerField(help_text="between categories that become one; they stay open")
    due_bugs = serializers.IntegerField(source="due.bugs", help_text="to be labelled again")
    without_raters = serializers.IntegerField(source="due.without_raters")
    waits_for = serializers.SerializerMethodField(help_text="names of open rounds")

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_waits_for(self, shown: Any) -> list[str]:
        return [one.name for one in shown.waits_for]
