"""REST: the methods from the record, and the checklist."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.publication.checklist import checklist
from annotator.publication.methods import parts_of
from annotator.publication.names import shown_to
from annotator.publication.serializers import MethodsShape
from annotator.studies.rest import StudyView


class Methods(StudyView):
    @extend_schema(responses=MethodsShape)
    def get(self, request: Request, slug: str) -> Response:
        """How the study was done, in sentences from its record, with what is missing; and what reviewers ask for."""
        study = self.study()
        parts = parts_of(study, shown_to(study, self.me))
        told = {"parts": [part.document() for part in parts], "checklist": checklist(parts)}
        return Response(MethodsShape(told).data)
