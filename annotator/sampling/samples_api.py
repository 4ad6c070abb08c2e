"""REST: samples, how they are drawn and taken up, and bugs that leave."""

from dataclasses import replace
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.sampling import actions, listing, queries
from annotator.sampling import samples_serializers as shapes
from annotator.sampling.again import draw_again
from annotator.sampling.models import Bug, Drawn, Sample, TopUp
from annotator.sampling.planning import preview, size_for
from annotator.sampling.rules import Rule
from annotator.studies.models import Role, Study
from annotator.studies.rest import StudyList, StudyView


def rule_of(study: Study, given: dict[str, Any]) -> Rule:
    """As it was sent; the number from the confidence level, where one is given."""
    sent, level = given["rule"], given.pop("confidence")
    if level is None:
        return Rule.of(sent)
    rule = Rule.of({**sent, "count": 1})
    return replace(rule, count=size_for(study, rule, confidence=level, margin=given["margin"]))


class OneSampleView(StudyView):
    def sample(self, *roles: str) -> Sample:
        rows = Sample.objects.select_related("study", "drawn_by")
        return get_object_or_404(rows, study=self.study(*roles), number=self.kwargs["number"])

    def shown(self, sample: Sample) -> Response:
        return Response(shapes.WholeSampleShape(sample, context={"parts": queries.parts(sample)}).data)


class Samples(StudyList):
    """Samples by number."""

    serializer_class = shapes.SampleShape
    order = ("number",)

    def rows(self) -> QuerySet[Sample]:
        return listing.samples(self.study())

    @extend_schema(request=shapes.NewSample, responses={201: shapes.SampleShape})
    def post(self, request: Request, slug: str) -> Response:
        """Draw a sample: the whole pool in order. Nothing is taken up yet."""
        study, given = self.study(Role.LEAD), self.given(shapes.NewSample)
        drawn = actions.draw_sample(
            study=study,
            name=given["name"],
            rule=rule_of(study, given),
            seed=given["seed"],
            override_reason=given["reason"],
            by=self.me,
        )
        return Response(shapes.SampleShape(drawn).data, status=201)


class Preview(StudyView):
    @extend_schema(request=shapes.WantedSample, responses=shapes.PreviewShape)
    def post(self, request: Request, slug: str) -> Response:
        """What a draw would give. Nothing is stored."""
        study, given = self.study(Role.LEAD), self.given(shapes.WantedSample)
        return Response(shapes.PreviewShape(preview(study, rule_of(study, given), given["seed"])).data)


class OneSample(OneSampleView):
    @extend_schema(responses=shapes.WholeSampleShape)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """A sample with its strata in numbers."""
        return self.shown(self.sample())


@extend_schema_view(
    get=extend_schema(
        parameters=[
            OpenApiParameter("state", str, enum=[value for value, _ in listing.STATES if value]),
            OpenApiParameter("stratum", str),
        ]
    )
)
class Places(StudyList):
    """The places of a sample's list, in order, with the bugs that were taken up from them."""

    serializer_class = shapes.PlaceShape
    order = ("position",)

    def rows(self) -> QuerySet[Drawn]:
        sample = get_object_or_404(Sample, study=self.study(), number=self.kwargs["number"])
        return listing.narrowed(sample, listing.Filters(self.asked("stratum"), self.asked("state")))

    def told(self, rows: list[Any]) -> list[Any]:
        return listing.rows(rows)


class TopUps(StudyList):
    """Replacements in a sample, as they were made."""

    serializer_class = shapes.TopUpShape
    order = ("at", "left__number")

    def rows(self) -> QuerySet[TopUp]:
        sample = get_object_or_404(Sample, study=self.study(), number=self.kwargs["number"])
        return TopUp.objects.filter(sample=sample).select_related("left", "came", "by")

    @extend_schema(request=None, responses={201: shapes.TopUpsMade})
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Put the next of the reserve in the place of each bug that left, so far as the quota wants it."""
        study = self.study(Role.LEAD)
        sample = get_object_or_404(Sample.objects.select_related("study"), study=study, number=number)
        made = actions.top_up(sample=sample, by=self.me)
        return Response(shapes.TopUpsMade({"top_ups": made}).data, status=201)


class TakeUp(OneSampleView):
    @extend_schema(request=shapes.TakeUpInput, responses=shapes.TakenUp)
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Make bugs of the next places, until each stratum has as many as are wanted of it."""
        sample = self.sample(Role.LEAD)
        bugs = actions.take_up(sample=sample, by=self.me, **self.given(shapes.TakeUpInput))
        return Response({"bugs": [bug.number for bug in bugs]})


class Again(OneSampleView):
    @extend_schema(responses=shapes.AgainShape)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Draw again, store nothing, and say whether the same bugs come out."""
        return Response(shapes.AgainShape(draw_again(self.sample())).data)


class Leave(StudyView):
    @extend_schema(request=shapes.LeaveInput, responses=shapes.LeftShape)
    def post(self, request: Request, slug: str, bug: int) -> Response:
        """Take a bug out of the study's. Its answers and labels stay on record."""
        found = get_object_or_404(Bug, study=self.study(Role.LEAD), number=bug)
        (gone,) = actions.leave(bugs=[found], by=self.me, **self.given(shapes.LeaveInput))
        return Response(shapes.LeftShape(gone).data)


class ComeBack(StudyView):
    @extend_schema(request=shapes.ComeBackInput, responses=shapes.LeftShape)
    def post(self, request: Request, slug: str, bug: int) -> Response:
        """A bug that left by mistake is one again, unless another has taken its place."""
        found = get_object_or_404(Bug, study=self.study(Role.LEAD), number=bug)
        return Response(
            shapes.LeftShape(actions.come_back(bug=found, by=self.me, **self.given(shapes.ComeBackInput))).data
        )
