"""REST: changes of the codebook with their previews, what takes them back, and what is labelled again."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.codebook import living
from annotator.codebook.models import Category, Change, Codebook
from annotator.labeling.api import roles_of, show_round
from annotator.labeling.serializers import OneRoundShape
from annotator.overview.changes import changing, relabelling, shapes
from annotator.overview.changes.listing import line_of, lines_of
from annotator.overview.changes.previewing import preview
from annotator.studies.models import Role
from annotator.studies.rest import StudyList, StudyView
from annotator.web.errors import BadInput

Act = Change.Act
CHANGES = Change.objects.select_related("codebook__study", "facet", "by", "undoes", "version")


class ChangeView(StudyView):
    """A view below the changes of a study's codebook."""

    def codebook(self, *roles: str) -> Codebook:
        found = Codebook.objects.filter(study=self.study(*roles)).first()
        if found is None:
            raise Http404("The study has no codebook yet.")
        return found

    def change(self, *roles: str) -> Change:
        return get_object_or_404(CHANGES, codebook=self.codebook(*roles), number=self.kwargs["number"])

    def shown(self, row: Change, *, code: int = status.HTTP_200_OK) -> Response:
        row = CHANGES.get(pk=row.pk)
        told = {
            "due": relabelling.due_to(row),
            "rounds": relabelling.rounds_due_to(row),
            "waits_for": changing.open_rounds(row.codebook.study),
        }
        return Response(shapes.OneCodebookChange(line_of(row), context=told).data, status=code)

    def asked_for(self, request: Request) -> tuple[shapes.NewCodebookChange, dict[str, Category]]:
        """The body, and the categories that it names by their ids."""
        codebook, filled = self.codebook(Role.LEAD), shapes.NewCodebookChange(data=request.data)
        filled.is_valid(raise_exception=True)
        given = filled.validated_data
        wanted = {*given["categories"], *([given["into"]] if given["into"] else [])}
        rows = Category.objects.filter(facet__codebook=codebook, uid__in=wanted, state=Category.State.ACTIVE)
        found = {row.uid: row for row in rows.select_related("facet__codebook__study", "parent")}
        if missing := sorted(wanted - found.keys()):
            raise BadInput(f"The codebook has no category “{missing[0]}” in use.")
        return filled, found


class Changes(ChangeView, StudyList):
    """The changes of the codebook, the latest first."""

    serializer_class = shapes.CodebookChange
    order = ("-number",)

    def rows(self) -> QuerySet[Any, Any]:
        return CHANGES.filter(codebook=self.codebook())

    def told(self, rows: list[Any]) -> list[Any]:
        return lines_of(rows)

    @extend_schema(request=shapes.NewCodebookChange, responses={201: shapes.OneCodebookChange})
    def post(self, request: Request, slug: str) -> Response:
        """Merge, split or redefine: at once where no round is open, else once the last one closes."""
        filled, found = self.asked_for(request)
        given = filled.validated_data
        rows = [found[uid] for uid in dict.fromkeys(given["categories"])]
        more: dict[str, Any] = {"reason": given["reason"], "seen": given["version"], "by": self.me}
        study = self.study(Role.LEAD)
        if given["act"] == Act.MERGE:
            done = changing.make(study, living.merge_categories, sources=rows, into=found[given["into"]], **more)
        elif given["act"] == Act.SPLIT:
            done = changing.make(study, living.split_category, category=rows[0], parts=filled.made_of(), **more)
        else:
            done = changing.make(study, living.redefine_category, category=rows[0], change=filled.wording(), **more)
        return self.shown(done, code=status.HTTP_201_CREATED)


class PreviewOfChange(ChangeView):
    @extend_schema(request=shapes.NewCodebookChange, responses=shapes.CodebookPreview)
    def post(self, request: Request, slug: str) -> Response:
        """What such a change would touch: answers of rounds that are over, labels, kappa. Nothing is stored."""
        filled, found = self.asked_for(request)
        given = filled.validated_data
        rows = [found[uid] for uid in given["categories"]]
        if len({row.facet_id for row in found.values()}) > 1:
            raise BadInput("Only categories of one facet can be merged.")
        touched = [uid for uid in given["categories"] if uid != given["into"]]
        shown = preview(rows[0].facet, act=given["act"], touched=touched, into=given["into"])
        return Response(shapes.CodebookPreview(shown).data)


class OneChange(ChangeView):
    @extend_schema(responses=shapes.OneCodebookChange)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """A change, what became of it, and what is labelled again after it."""
        return self.shown(self.change())


class Undo(ChangeView):
    @extend_schema(request=shapes.CodebookReason, responses={201: shapes.OneCodebookChange})
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Take a change back by one that does the opposite."""
        reason = self.given(shapes.CodebookReason)["reason"]
        done = changing.undo(change=self.change(Role.LEAD), by=self.me, reason=reason)
        return self.shown(done, code=status.HTTP_201_CREATED)


class Withdraw(ChangeView):
    @extend_schema(request=shapes.CodebookReason, responses=shapes.OneCodebookChange)
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Drop a change that still waits."""
        reason = self.given(shapes.CodebookReason)["reason"]
        return self.shown(living.withdraw_change(change=self.change(Role.LEAD), by=self.me, reason=reason))


class CarryOut(ChangeView):
    @extend_schema(request=None, responses=shapes.OneCodebookChange)
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Carry out a change that waited, now that no round is open."""
        return self.shown(changing.carry_out(change=self.change(Role.LEAD), by=self.me))


class Relabel(ChangeView):
    @extend_schema(request=None, responses={201: OneRoundShape})
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Open the relabel round of the bugs that a change touched, for the raters who had them."""
        opened = relabelling.open_relabel_round(change=self.change(Role.LEAD), by=self.me)
        shown = show_round(opened, viewer=self.me, roles=roles_of(self.study()))
        shown.status_code = status.HTTP_201_CREATED
        return shown
