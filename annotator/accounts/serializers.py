"""What the REST interface tells of oneself."""

from typing import Any

from rest_framework import serializers

from annotator.accounts.actions import LONGEST_DAYS, SCOPES
from annotator.accounts.models import Token, User


class UserSerializer(serializers.ModelSerializer[User]):
    class Meta:
        model = User
        fields = ["username", "display_name"]
        read_only_fields = ["username"]


class TokenSerializer(serializers.ModelSerializer[Token]):
    key = serializers.CharField(source="hint", help_text="how it begins")

    class Meta:
        model = Token
        fields = ["key", "name", "scopes", "created_at", "expires_at"]


class TokenInput(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=100)
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=SCOPES), min_length=1)
    days = serializers.IntegerField(min_value=1, max_value=LONGEST_DAYS)


class SecretSerializer(serializers.Serializer[Any]):
    secret = serializers.CharField(help_text="shown this once")
