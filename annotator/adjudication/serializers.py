"""What the REST interface of adjudication takes and gives. People and labels go by name and uid, never by key."""

from typing import Any

from rest_framework import serializers

from annotator.adjudication.item import words
from annotator.adjudication.models import AuditPick, Dispute, Resolution, Stand
from annotator.adjudication.positions import Side, in_order
from annotator.codebook.models import Category


class LabelSerializer(serializers.Serializer[Category]):
    uid = serializers.CharField()
    name = serializers.CharField()


class DisputeSerializer(serializers.ModelSerializer[Dispute]):
    bug = serializers.IntegerField(source="bug.number")
    facet = serializers.CharField(source="facet.key")
    round = serializers.IntegerField(source="round.number")

    class Meta:
        model = Dispute
        fields = ["bug", "facet", "round", "is_open", "is_sure", "distance"]


class SideSerializer(serializers.Serializer[Any]):
    side = serializers.CharField(source="letter")
    rater = serializers.SerializerMethodField(help_text="null where the protocol hides names")
    categories = LabelSerializer(many=True, source="label")
    second_look = LabelSerializer(many=True, source="second")
    stand = serializers.SerializerMethodField(help_text="keep, accept or propose; null before a move")
    stands_by = serializers.SerializerMethodField()
    confidence = serializers.CharField()
    note = serializers.CharField()
    not_a_bug = serializers.CharField(source="reason")
    pins = serializers.SerializerMethodField()

    def get_rater(self, side: Side) -> str | None:
        return side.rater.username if side.name else None

    def get_stand(self, side: Side) -> str | None:
        return side.stand.move if side.stand else None

    def get_stands_by(self, side: Side) -> str | None:
        return words(in_order(side.stand.categories.all())) if side.stand else None

    def get_pins(self, side: Side) -> list[dict[str, str]]:
        return [{"place": pin.place, "quote": pin.quote} for pin in side.pins]


class ResolutionSerializer(serializers.ModelSerializer[Resolution]):
    bug = serializers.IntegerField(source="bug.number")
    facet = serializers.CharField(source="facet.key")
    category = LabelSerializer(allow_null=True)
    round = serializers.IntegerField(source="round.number", allow_null=True, default=None)
    by = serializers.CharField(source="by.username", allow_null=True, default=None)
    participants = serializers.ListField(child=serializers.CharField(), help_text="who decided it together")
    recorded_by = serializers.CharField(
        source="recorded_by.username",
        allow_null=True,
        default=None,
        help_text="who wrote down what the other participants said; null where each said it alone",
    )

    class Meta:
        model = Resolution
        fields = [
            "bug", "facet", "category", "source", "round", "by", "participants", "recorded_by", "reason", "note", "at",
            "is_current", "is_stale",
        ]  # fmt: skip


class ItemSerializer(serializers.Serializer[Any]):
    """One facet of a bug: its sides and how it stands."""

    bug = serializers.IntegerField(source="bug.number")
    facet = serializers.CharField(source="facet.key")
    round = serializers.IntegerField(source="positions.round.number")
    is_open = serializers.BooleanField()
    sides = SideSerializer(many=True)
    settled = ResolutionSerializer(many=True)


class DecisionInput(serializers.Serializer[Any]):
    """Either a label, or not a bug, or left open."""

    categories = serializers.ListField(child=serializers.CharField(), default=list, help_text="uids of categories")
    not_a_bug = serializers.BooleanField(default=False)
    left_open = serializers.BooleanField(default=False)
    reason = serializers.CharField(default="", allow_blank=True, help_text=", ".join(Resolution.Reason.values))
    note = serializers.CharField(default="", allow_blank=True)


class ChangeInput(serializers.Serializer[Any]):
    categories = serializers.ListField(child=serializers.CharField())
    reason = serializers.CharField()
    note = serializers.CharField(default="", allow_blank=True)
    seen_at = serializers.CharField(help_text="`at` of the decision that is changed, as it was given")


class StandInput(serializers.Serializer[Any]):
    move = serializers.ChoiceField(choices=Stand.Move.choices)
    categories = serializers.ListField(child=serializers.CharField(), default=list)
    why = serializers.CharField(default="", allow_blank=True)


class JointInput(serializers.Serializer[Any]):
    """The label that two members or more decided together."""

    categories = serializers.ListField(child=serializers.CharField(), help_text="uids of categories")
    participants = serializers.ListField(child=serializers.CharField(), help_text="user names of members")
    note = serializers.CharField(default="", allow_blank=True)
    seen_at = serializers.CharField(
        default="", allow_blank=True, help_text="`at` of the label that is replaced; empty where there is none"
    )


class WaitingSerializer(serializers.Serializer[Any]):
    facet = serializers.CharField(source="facet.key")
    bugs = serializers.ListField(child=serializers.IntegerField(), source="numbers")


class RemarkSerializer(serializers.Serializer[Any]):
    author = serializers.CharField(read_only=True)
    text = serializers.CharField()
    facet = serializers.CharField(default="", allow_blank=True)
    is_question = serializers.BooleanField(default=False)


class ReopenInput(serializers.Serializer[Any]):
    side = serializers.CharField(help_text="the side whose rater looks again")
    reason = serializers.CharField()


class AcceptInput(serializers.Serializer[Any]):
    share = serializers.FloatField(min_value=0, max_value=1)
    seed = serializers.IntegerField(min_value=0, max_value=10**15)


class PickSerializer(serializers.ModelSerializer[AuditPick]):
    bug = serializers.IntegerField(source="bug.number")
    round = serializers.IntegerField(source="acceptance.round.number")
    seed = serializers.IntegerField(source="acceptance.seed")
    share = serializers.FloatField(source="acceptance.share")

    class Meta:
        model = AuditPick
        fields = ["bug", "round", "seed", "share", "outcome"]


class PickInput(serializers.Serializer[Any]):
    """Confirmed, or a facet whose label is changed."""

    confirmed = serializers.BooleanField(default=False)
    facet = serializers.CharField(default="", allow_blank=True)
    categories = serializers.ListField(child=serializers.CharField(), default=list)
    reason = serializers.CharField(default="", allow_blank=True)
    note = serializers.CharField(default="", allow_blank=True)
    seen_at = serializers.CharField(default="", allow_blank=True)


class MeetingSerializer(serializers.Serializer[Any]):
    participants = serializers.ListField(child=serializers.CharField())
    started_at = serializers.DateTimeField(read_only=True)
    ended_at = serializers.DateTimeField(read_only=True, allow_null=True)
    notes = serializers.CharField(read_only=True)


class TogetherInput(serializers.Serializer[Any]):
    categories = serializers.ListField(child=serializers.CharField(), default=list)
    not_a_bug = serializers.BooleanField(default=False)
    left_open = serializers.BooleanField(default=False)
    confirmed = serializers.BooleanField(default=False, help_text="every rater of the bug confirms it")
    note = serializers.CharField(default="", allow_blank=True)


class EndInput(serializers.Serializer[Any]):
    notes = serializers.CharField(default="", allow_blank=True)


class CountSerializer(serializers.Serializer[Any]):
    settled = serializers.IntegerField()
