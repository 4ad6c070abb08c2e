"""What the REST interface of studies takes and gives. People go by user name."""

from typing import Any

from rest_framework import serializers

from annotator.studies.models import Deviation, Invitation, Role, Study
from annotator.studies.protocol import DECIDED_BY, GateCoefficient, GateMethod, Protocol
from annotator.studies.queries import key_of


class StudySerializer(serializers.ModelSerializer[Study]):
    roles = serializers.SerializerMethodField()

    class Meta:
        model = Study
        fields = ["slug", "title", "question", "created_at", "roles"]

    def get_roles(self, study: Study) -> list[str]:
        return sorted(getattr(study, "my_roles", ()))


class StudyInput(serializers.Serializer[Any]):
    title = serializers.CharField(max_length=200, required=False)
    question = serializers.CharField(max_length=10_000, required=False, allow_blank=True)


class MemberSerializer(serializers.Serializer[Any]):
    username = serializers.CharField(source="user.username")
    display_name = serializers.CharField(source="user.display_name")
    roles = serializers.ListField(child=serializers.CharField())
    experience = serializers.CharField()
    tie = serializers.CharField()
    since = serializers.DateTimeField()


class MemberInput(serializers.Serializer[Any]):
    roles = serializers.ListField(child=serializers.ChoiceField(choices=Role.choices), help_text="none: leaves")
    experience = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    tie = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")


class InvitationSerializer(serializers.ModelSerializer[Invitation]):
    key = serializers.SerializerMethodField(help_text="names the invitation, does not open it")
    created_by = serializers.CharField(source="created_by.username")

    class Meta:
        model = Invitation
        fields = ["key", "roles", "note", "created_by", "created_at", "expires_at"]

    def get_key(self, invitation: Invitation) -> str:
        return key_of(invitation)


class InvitationInput(serializers.Serializer[Any]):
    roles = serializers.ListField(child=serializers.ChoiceField(choices=Role.choices), min_length=1)
    note = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")


class LinkSerializer(serializers.Serializer[Any]):
    link = serializers.CharField(help_text="shown this once")


class JoinInput(serializers.Serializer[Any]):
    token = serializers.CharField(max_length=200, help_text="the last part of the invitation's link")


class ProtocolSerializer(serializers.Serializer[Any]):
    decided_by = serializers.ChoiceField(choices=list(DECIDED_BY.items()))
    by_majority = serializers.BooleanField()
    hide_names = serializers.BooleanField()
    suggest_in_blind = serializers.BooleanField(required=False, default=False)
    reproduction_first = serializers.BooleanField(required=False, default=False)
    gate_coefficient = serializers.ChoiceField(choices=GateCoefficient.choices, allow_blank=True)
    gate_method = serializers.ChoiceField(choices=GateMethod.choices)
    gate_bound = serializers.FloatField(min_value=0, max_value=1)
    gate_min_n = serializers.IntegerField(min_value=1, max_value=100_000)
    notes = serializers.CharField(max_length=10_000, allow_blank=True)


class ProtocolInput(ProtocolSerializer):
    """A whole protocol, and why it changes."""

    reason = serializers.CharField(max_length=10_000, allow_blank=True)

    def protocol(self) -> Protocol:
        return Protocol(**{name: value for name, value in self.validated_data.items() if name != "reason"})


class DeviationSerializer(serializers.ModelSerializer[Deviation]):
    by = serializers.CharField(source="by.username")

    class Meta:
        model = Deviation
        fields = ["at", "by", "old", "new", "reason"]
