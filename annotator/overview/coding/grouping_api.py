"""REST: the board of open coding, and what a code stands on."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.adjudication.grouped import settle_grouped
from annotator.codebook import coding
from annotator.codebook.memos import write_memo
from annotator.codebook.models import Category, Change, Facet
from annotator.overview.coding import grouping
from annotator.overview.coding.grouping_views import facet_in, shown_to
from annotator.studies.models import Role
from annotator.studies.rest import StudyView
from annotator.web.errors import BadInput

PLACE, OUT, CATEGORY, NEW, CODES = "place", "take_out", "make_category", "new_category", "take_as_codes"
MERGE, SETTLE, UNDO = "merge", "settle", "undo"
ACTS = (PLACE, OUT, CATEGORY, NEW, CODES, MERGE, SETTLE, UNDO)


class LikeShape(serializers.Serializer[Any]):
    id = serializers.CharField(source="uid")
    name = serializers.CharField()
    why = serializers.CharField(help_text="same, spelling or words")
    nearness = serializers.FloatField(help_text="0 to 1")
    category = serializers.CharField(source="group", help_text="id of the category that it stands in; empty: it waits")


class CodeOnBoard(serializers.Serializer[Any]):
    id = serializers.CharField(source="uid")
    name = serializers.CharField()
    definition = serializers.CharField()
    answers = serializers.IntegerField(help_text="of rounds that are no longer open")


class WaitingCode(CodeOnBoard):
    near = LikeShape(many=True)


class CategoryOnBoard(CodeOnBoard):
    codes = CodeOnBoard(many=True)


class BoardShape(serializers.Serializer[Any]):
    """Open coding of a facet: the codes that wait, and the categories with those placed in them."""

    facet = serializers.CharField(source="facet.key")
    placed = serializers.IntegerField()
    total = serializers.IntegerField()
    codes = WaitingCode(many=True)
    categories = CategoryOnBoard(source="groups", many=True)


class StepShape(serializers.Serializer[Any]):
    """A step: place codes `under` a category, take them out, make a category of one, a new one, merge, take the last back, or
    settle the disputes that end with the grouping."""

    act = serializers.ChoiceField(ACTS)
    codes = serializers.ListField(child=serializers.CharField(max_length=12), required=False, default=list)
    under = serializers.CharField(max_length=12, required=False, allow_blank=True, default="")
    name = serializers.CharField(max_length=600, required=False, allow_blank=True, default="")
    definition = serializers.CharField(max_length=10_000, required=False, allow_blank=True, default="")
    reason = serializers.CharField(max_length=2_000, required=False, allow_blank=True, default="")


class BoardView(StudyView):
    def facet(self, *roles: str) -> Facet:
        return facet_in(self.study(*roles), self.kwargs["facet"])


class Board(BoardView):
    @extend_schema(parameters=[OpenApiParameter("order", enum=list(grouping.ORDERS))], responses=BoardShape)
    def get(self, request: Request, slug: str, facet: str) -> Response:
        """Open coding of a facet: codes that wait, with what is nearly called the same, and categories."""
        return shown(self.facet(), order=self.asked("order"))

    @extend_schema(request=StepShape, responses=BoardShape)
    def post(self, request: Request, slug: str, facet: str) -> Response:
        """Place codes in categories, one step at a time, or take one's last step back."""
        row, given = self.facet(Role.LEAD), self.given(StepShape)
        step(row, given, by=self.me)
        return shown(row)


def shown(facet: Facet, *, order: str = "") -> Response:
    return Response(BoardShape(grouping.board(facet, order=order or grouping.ALIKE)).data)


def step(facet: Facet, given: dict[str, Any], *, by: Any) -> Category | Change | str:
    act, codes, reason = given["act"], given["codes"], given["reason"]
    if act == PLACE:
        return coding.place(facet=facet, codes=codes, under=given["under"], by=by, reason=reason)
    if act == OUT:
        return coding.take_out(facet=facet, codes=codes, by=by, reason=reason)
    if act == CATEGORY:
        if len(codes) != 1:
            raise BadInput("Name the one code that becomes a category.")
        return coding.make_category(facet=facet, code=codes[0], by=by, reason=reason)
    if act == NEW:
        if not given["name"].strip():
            raise BadInput("Give the new category a name.")
        new = {"name": given["name"], "definition": given["definition"], "codes": codes, "reason": reason}
        return coding.new_category(facet=facet, by=by, **new)
    if act == CODES:
        return coding.take_as_codes(facet=facet, by=by)
    if act == SETTLE:
        return str(settle_grouped(study=facet.codebook.study, facet=facet, by=by))
    if act == MERGE:
        return grouping.merge(facet, sources=codes, into=given["under"], by=by, reason=reason)
    return grouping.undo(facet, by=by)


class WordsShape(serializers.Serializer[Any]):
    rater = serializers.CharField()
    categories = serializers.ListField(source="names", child=serializers.CharField())
    stands_in = serializers.ListField(source="groups", child=serializers.CharField())
    note = serializers.CharField()


class StandingShape(serializers.Serializer[Any]):
    bug = serializers.IntegerField(source="bug.number")
    reference = serializers.CharField(source="bug.item.reference")
    round = serializers.CharField()
    said = WordsShape(many=True)
    final = serializers.CharField()


class MemoShape(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=10_000)
    by = serializers.CharField(source="by.username", read_only=True)
    at = serializers.DateTimeField(read_only=True)


class DetailShape(serializers.Serializer[Any]):
    """What a code or category stands on: its bugs, each rater's words beside each other, and memos."""

    id = serializers.CharField(source="category.uid")
    name = serializers.CharField(source="category.name")
    bugs = StandingShape(many=True)
    total = serializers.IntegerField(help_text="bugs in all; at most 200 are listed")
    memos = MemoShape(many=True)


class CodeDetail(BoardView):
    @extend_schema(responses=DetailShape)
    def get(self, request: Request, slug: str, facet: str, uid: str) -> Response:
        """What a code stands on: its bugs of closed rounds, with each rater's words, and memos."""
        return self.told(self.category(self.facet()))

    @extend_schema(request=MemoShape, responses={201: DetailShape})
    def post(self, request: Request, slug: str, facet: str, uid: str) -> Response:
        """Write a memo on the code."""
        category, given = self.category(self.facet(Role.LEAD)), self.given(MemoShape)
        write_memo(codebook=category.facet.codebook, category=category, text=given["text"], by=self.me)
        answer = self.told(category)
        answer.status_code = status.HTTP_201_CREATED
        return answer

    def category(self, facet: Facet) -> Category:
        rows = Category.objects.exclude(state=Category.State.PROPOSED).select_related("facet__codebook", "parent")
        return get_object_or_404(rows, facet=facet, uid=self.kwargs["uid"])

    def told(self, category: Category) -> Response:
        return Response(DetailShape(shown_to(self.me, self.study(), grouping.detail(category))).data)
