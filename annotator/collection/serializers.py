"""What was collected, as programs see it."""

from typing import Any

from rest_framework import serializers

from annotator.collection.models import ChangedFile


class CommentShape(serializers.Serializer[Any]):
    kind = serializers.CharField()
    author = serializers.CharField(help_text="empty: the account was deleted")
    at = serializers.DateTimeField(allow_null=True)
    body = serializers.CharField()
    path = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)


class CommitShape(serializers.Serializer[Any]):
    sha = serializers.CharField()
    message = serializers.CharField()
    author = serializers.CharField()
    at = serializers.DateTimeField(allow_null=True)


class FileShape(serializers.Serializer[ChangedFile]):
    path = serializers.CharField()
    old_path = serializers.CharField()
    status = serializers.CharField()
    additions = serializers.IntegerField()
    deletions = serializers.IntegerField()
    patch = serializers.SerializerMethodField(help_text="a unified diff without its head; empty where there is none")

    def get_patch(self, file: ChangedFile) -> str:
        return file.patch.text if hasattr(file, "patch") else ""
