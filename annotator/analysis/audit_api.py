"""REST: label audits, and rulings on what they doubt."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.analysis import doubts
from annotator.analysis.models import LabelAudit, Suspect
from annotator.codebook.models import Facet
from annotator.studies.models import Role
from annotator.studies.rest import StudyList, StudyView
from annotator.web.wake import wake

TASK = "annotator.analysis.tasks.audit"
READERS = (Role.ADJUDICATOR, Role.LEAD)


class AuditShape(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    facet = serializers.CharField(source="facet.key")
    state = serializers.CharField()
    message = serializers.CharField()
    seed = serializers.IntegerField()
    bugs = serializers.IntegerField(help_text="learnt from")
    measures = serializers.DictField(child=serializers.JSONField())
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class NewAudit(serializers.Serializer[Any]):
    facet = serializers.CharField()
    seed = serializers.IntegerField(required=False, min_value=0, max_value=2**31)


class SuspectShape(serializers.Serializer[Any]):
    rank = serializers.IntegerField()
    bug = serializers.IntegerField(source="bug.number")
    reason = serializers.CharField()
    twin = serializers.IntegerField(source="twin.number", default=None, allow_null=True)
    label = serializers.CharField(source="label.name")  # type: ignore[assignment]  # a field of that name
    likely = serializers.CharField(source="likely.name", default=None, allow_null=True)
    probability = serializers.FloatField(allow_null=True)
    likely_probability = serializers.FloatField(allow_null=True)
    words = serializers.ListField(child=serializers.CharField())
    ruling = serializers.CharField(help_text="right, wrong, or empty")
    note = serializers.CharField()


class Ruling(serializers.Serializer[Any]):
    ruling = serializers.ChoiceField(choices=["right", "wrong"])
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=5_000)


class Audits(StudyList):
    """Label audits by number."""

    serializer_class = AuditShape
    order = ("number",)

    def rows(self) -> QuerySet[LabelAudit]:
        return LabelAudit.objects.filter(study=self.study(*READERS)).select_related("facet")

    @extend_schema(request=NewAudit, responses={202: AuditShape})
    def post(self, request: Request, slug: str) -> Response:
        """Ask for one of a facet: a worker carries it out, once nobody labels or decides on it any more."""
        study, given = self.study(*READERS), self.given(NewAudit)
        facet = get_object_or_404(Facet, codebook__study=study, key=given["facet"])
        audit = doubts.ask_audit(study=study, facet=facet, by=self.me, seed=given.get("seed"))
        wake(TASK, audit.pk)
        return Response(AuditShape(audit).data, status=202)


class Suspects(StudyList):
    """What an audit doubts, the least likely first."""

    serializer_class = SuspectShape
    order = ("rank",)

    def rows(self) -> QuerySet[Suspect]:
        audit = get_object_or_404(LabelAudit, study=self.study(*READERS), number=self.kwargs["number"])
        mine = doubts.shown_to(self.me, Suspect.objects.filter(audit=audit))
        return mine.select_related("bug", "twin", "label", "likely")


class OneSuspect(StudyView):
    @extend_schema(request=Ruling, responses=SuspectShape)
    def put(self, request: Request, slug: str, number: int, rank: int) -> Response:
        """Rule on it: the label is right, or wrong with a note. It changes no label."""
        rows = doubts.shown_to(self.me, Suspect.objects.all()).select_related("bug", "twin", "label", "likely")
        study = self.study(Role.ADJUDICATOR)
        suspect = get_object_or_404(rows, audit__study=study, audit__number=number, rank=rank)
        doubts.rule(suspect=suspect, by=self.me, **self.given(Ruling))
        return Response(SuspectShape(rows.get(pk=suspect.pk)).data)
