"""REST: what became of candidates, and settling what the votes left open."""

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.screening import after, results
from annotator.screening import serializers as shapes
from annotator.screening.api import ScreeningView
from annotator.screening.models import Candidate, Screening
from annotator.studies.models import Role
from annotator.studies.rest import StudyView, whole


class PageOfLines(serializers.Serializer[results.Lines]):
    next = serializers.CharField(allow_null=True, help_text="address of the next page")
    results = shapes.CandidateLine(many=True)


@extend_schema_view(
    get=extend_schema(
        parameters=[
            OpenApiParameter("what", str, enum=list(results.WHAT)),
            OpenApiParameter("reason", str, description="one of the counts' reasons"),
            OpenApiParameter("screening", int),
            OpenApiParameter("after", str),
        ]
    )
)
class Candidates(StudyView):
    @extend_schema(responses=PageOfLines)
    def get(self, request: Request, slug: str) -> Response:
        """The candidates behind a count, fifty at once."""
        study, what = self.study(), self.asked("what") or "candidates"
        if what not in results.WHAT:
            raise Http404("There is no such count.")
        number = whole(self.asked("screening"))
        screening = Screening.objects.filter(study=study, number=number).first() if number is not None else None
        if number is not None and screening is None:
            raise Http404("There is no such screening.")
        found = results.listed(study, what, reason=self.asked("reason"), screening=screening, after=self.asked("after"))
        lines = shapes.CandidateLine(found.lines, many=True).data
        return Response({"next": self.page_after(found.next_after), "results": lines})

    def page_after(self, after: str) -> str | None:
        if not after:
            return None
        query = self.request.query_params.copy()
        query["after"] = after
        return self.request.build_absolute_uri(f"?{query.urlencode()}")


class CandidateView(ScreeningView):
    def candidate(self, *roles: str) -> Candidate:
        found = self.screening(*roles).candidates.select_related("screening", "item")
        held = found.filter(position=self.kwargs["candidate"]).first()
        if held is None:
            raise Http404("There is no such candidate.")
        return held

    def shown(self) -> Response:
        line = results.line_of(self.screening(), self.kwargs["candidate"])
        if line is None:
            raise Http404("There is no such candidate.")
        earlier = [] if line.candidate.screening.is_open else results.earlier_outcomes(line.candidate)
        return Response(shapes.WholeCandidate(line, context={"earlier": earlier}).data)


class OneCandidate(CandidateView):
    @extend_schema(responses=shapes.WholeCandidate)
    def get(self, request: Request, slug: str, number: int, candidate: int) -> Response:
        """A candidate, with all votes and decisions once its screening is closed."""
        return self.shown()


class VoteAgain(CandidateView):
    @extend_schema(request=shapes.NewVote, responses=shapes.WholeCandidate)
    def post(self, request: Request, slug: str, number: int, candidate: int) -> Response:
        """A reviewer's second look after the close; when all its reviewers agree it is decided."""
        after.vote_again(candidate=self.candidate(), by=self.me, **self.given(shapes.NewVote))
        return self.shown()


class Decision(CandidateView):
    @extend_schema(request=shapes.NewDecision, responses=shapes.WholeCandidate)
    def post(self, request: Request, slug: str, number: int, candidate: int) -> Response:
        """Write down what was decided on a candidate that the votes left open."""
        after.decide(candidate=self.candidate(Role.LEAD), by=self.me, **self.given(shapes.NewDecision))
        return self.shown()


class Reopen(CandidateView):
    @extend_schema(request=shapes.WithReason, responses=shapes.WholeCandidate)
    def post(self, request: Request, slug: str, number: int, candidate: int) -> Response:
        """Take a decision back, with a reason."""
        after.reopen(candidate=self.candidate(Role.LEAD), by=self.me, **self.given(shapes.WithReason))
        return self.shown()


class Drop(CandidateView):
    @extend_schema(request=shapes.Dropping, responses=shapes.WholeCandidate)
    def post(self, request: Request, slug: str, number: int, candidate: int) -> Response:
        """What was in leaves, counted apart."""
        after.drop(candidate=self.candidate(Role.LEAD), by=self.me, **self.given(shapes.Dropping))
        return self.shown()
