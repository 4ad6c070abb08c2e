"""REST: codes that raters proposed, and what came of them."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.labeling import proposals
from annotator.labeling.api import RoundView
from annotator.labeling.models import Proposal, Round
from annotator.overview.coding.codes import ACTS, Verdict, proposal_in, settle_code
from annotator.studies.models import Role


class NearShape(serializers.Serializer[Any]):
    id = serializers.CharField()
    name = serializers.CharField()
    why = serializers.CharField(help_text="same, spelling or words")
    nearness = serializers.FloatField(help_text="0 to 1")


class ProposalShape(serializers.Serializer[Any]):
    """A code that a rater proposed in a round that is no longer open."""

    id = serializers.CharField(source="category.uid")
    facet = serializers.CharField(source="category.facet.key")
    name = serializers.CharField(source="category.name")
    definition = serializers.CharField(source="category.definition")
    example = serializers.CharField()
    bug = serializers.IntegerField(source="assignment.bug.number")
    rater = serializers.CharField(source="assignment.rater.username")
    at = serializers.DateTimeField()
    state = serializers.CharField(help_text="new, accepted, merged or refused")
    reason = serializers.CharField()
    settled_by = serializers.CharField(source="settled_by.username", allow_null=True, default=None)
    settled_at = serializers.DateTimeField(allow_null=True)
    merged_into = serializers.CharField(source="category.merged_into.uid", allow_null=True, default=None)
    answers = serializers.SerializerMethodField(help_text="of those that wait: how often it was answered")
    near = serializers.SerializerMethodField(help_text="of those that wait: what is nearly called the same")

    def get_answers(self, proposal: Proposal) -> int | None:
        waiting = self.context["waiting"].get(proposal.pk)
        return waiting.answers if waiting else None

    def get_near(self, proposal: Proposal) -> list[dict[str, Any]]:
        waiting = self.context["waiting"].get(proposal.pk)
        near = waiting.near if waiting else ()
        return [
            {"id": category.uid, "name": category.name, "why": pair.why, "nearness": pair.nearness}
            for category, pair in near
        ]


class VerdictShape(serializers.Serializer[Any]):
    """Accept a code (under another name, below a category), merge it into another, or refuse it with a reason."""

    id = serializers.CharField(max_length=12)
    act = serializers.ChoiceField(ACTS)
    name = serializers.CharField(max_length=600, required=False, allow_blank=True, default="")
    parent = serializers.CharField(max_length=12, required=False, allow_blank=True, default="")  # type: ignore[assignment]  # a field of that name
    into = serializers.CharField(max_length=12, required=False, allow_blank=True, default="")
    reason = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")


class ProposedCodes(RoundView):
    @extend_schema(responses=ProposalShape(many=True))
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Codes that raters proposed, once the round is no longer open."""
        return shown(self.round())

    @extend_schema(request=VerdictShape, responses=ProposalShape(many=True))
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Settle one of them."""
        round_, given = self.round(Role.LEAD), self.given(VerdictShape)
        proposal = proposal_in(round_.study, round_, given.pop("id"))
        if proposal is None:
            raise Http404("There is no such proposal.")
        settle_code(proposal=proposal, verdict=Verdict(**given), by=self.me)
        return shown(round_)


def shown(round_: Round) -> Response:
    rows = list(proposals.of_study(round_.study, round_=round_))
    waiting = {each.proposal.pk: each for each in proposals.waiting(round_.study, round_=round_)}
    return Response(ProposalShape(rows, many=True, context={"waiting": waiting}).data)
