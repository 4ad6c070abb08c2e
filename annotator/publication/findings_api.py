"""REST: findings."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.publication import findings as reading
from annotator.publication import stating
from annotator.publication.models import Finding
from annotator.publication.serializers import ChangedFinding, NewFinding, StatedFinding, Withdrawn
from annotator.studies.models import Role
from annotator.studies.rest import StudyView


class Findings(StudyView):
    @extend_schema(responses=StatedFinding(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Sentences with their numbers as the data are now, and whether they moved since the latest release."""
        return Response(StatedFinding(reading.told_to(self.study(), self.me), many=True).data)

    @extend_schema(request=NewFinding, responses={201: StatedFinding(many=True)})
    def post(self, request: Request, slug: str) -> Response:
        """State a finding. All of them come back."""
        study, given = self.study(Role.LEAD), self.given(NewFinding)
        stating.state(study=study, sentence=given.pop("sentence"), asked=given, by=self.me)
        return Response(StatedFinding(reading.told_to(study, self.me), many=True).data, status=201)


class OneFinding(StudyView):
    def held(self) -> Finding:
        wanted: dict[str, Any] = {"number": self.kwargs["number"], "is_current": True, "withdrawn_at": None}
        return get_object_or_404(Finding, study=self.study(Role.LEAD), **wanted)

    @extend_schema(request=ChangedFinding, responses=StatedFinding(many=True))
    def put(self, request: Request, slug: str, number: int) -> Response:
        """Change it, by a further version with a reason."""
        study = self.study(Role.LEAD)
        held, given = self.held(), self.given(ChangedFinding)
        stating.change(finding=held, sentence=given.pop("sentence"), why=given.pop("why"), asked=given, by=self.me)
        return Response(StatedFinding(reading.told_to(study, self.me), many=True).data)

    @extend_schema(request=Withdrawn, responses={204: None})
    def delete(self, request: Request, slug: str, number: int) -> Response:
        """Withdraw it: it is in no further release."""
        stating.withdraw(finding=self.held(), by=self.me, **self.given(Withdrawn))
        return Response(status=204)
