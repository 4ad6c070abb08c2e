"""REST: notes on how to tell categories apart."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.codebook import tell_apart
from annotator.codebook.models import Category, Facet, TellApart
from annotator.studies.models import Role
from annotator.studies.rest import StudyView
from annotator.web.errors import BadInput


class NoteShape(serializers.Serializer[Any]):
    """How to tell two categories of a facet apart."""

    first = serializers.CharField(source="first.uid")
    second = serializers.CharField(source="second.uid")
    names = serializers.SerializerMethodField()
    text = serializers.CharField()
    by = serializers.CharField(source="by.username", allow_null=True, default=None)
    at = serializers.DateTimeField()

    def get_names(self, note: TellApart) -> list[str]:
        return [note.first.name, note.second.name]


class NoteInput(serializers.Serializer[Any]):
    """Two categories by their ids; an empty text withdraws their note."""

    first = serializers.CharField(max_length=12)
    second = serializers.CharField(max_length=12)
    text = serializers.CharField(max_length=10_000, allow_blank=True)


class Notes(StudyView):
    @extend_schema(responses=NoteShape(many=True))
    def get(self, request: Request, slug: str, facet: str) -> Response:
        """Notes on how to tell categories of a facet apart."""
        return told(self.facet())

    @extend_schema(request=NoteInput, responses=NoteShape(many=True))
    def put(self, request: Request, slug: str, facet: str) -> Response:
        """Write the note of a pair, or withdraw it by an empty text."""
        row, given = self.facet(Role.LEAD), self.given(NoteInput)
        first, second = self.category(row, given["first"]), self.category(row, given["second"])
        if given["text"].strip():
            tell_apart.write_note(first=first, second=second, text=given["text"], by=self.me)
        elif note := tell_apart.current(first, second):
            tell_apart.withdraw_note(note=note, by=self.me)
        return told(row)

    def facet(self, *roles: str) -> Facet:
        rows = Facet.objects.select_related("codebook").filter(retired_at=None)
        return get_object_or_404(rows, codebook__study=self.study(*roles), key=self.kwargs["facet"])

    def category(self, facet: Facet, uid: str) -> Category:
        rows = Category.objects.filter(facet=facet, state=Category.State.ACTIVE).select_related("facet__codebook")
        found = rows.filter(uid=uid).first()
        if found is None:
            raise BadInput(f"{facet.name} has no category “{uid}” in use.")
        return found


def told(facet: Facet) -> Response:
    rows = TellApart.objects.in_use().filter(first__facet=facet).select_related("by")
    return Response(NoteShape(rows, many=True).data)
