"""REST: releases, what they hold, and their files."""

from django.db.models import QuerySet
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotAuthenticated, NotFound
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.accounts.authentication import HasScope
from annotator.publication import actions, compared, release_page
from annotator.publication.models import Release
from annotator.publication.options import changed, usual
from annotator.publication.reading import is_public, release_for
from annotator.publication.sent import archive_response, file_response
from annotator.publication.serializers import (
    BeingCompared,
    ChangesShape,
    ComparedShape,
    NewRelease,
    OneReleaseShape,
    Public,
    ReleaseShape,
    RequestShape,
)
from annotator.studies.models import Role
from annotator.studies.rest import StudyList, StudyView
from annotator.web.wake import wake

KINDS = ("text/csv", "application/jsonl", "application/vnd.apache.parquet", "application/octet-stream")
TASK = "annotator.publication.tasks.release"


class Releases(StudyList):
    """Those that were published, by number."""

    serializer_class = ReleaseShape
    order = ("number",)

    def rows(self) -> QuerySet[Release]:
        return Release.objects.published().filter(study=self.study())

    @extend_schema(request=NewRelease, responses={202: RequestShape})
    def post(self, request: Request, slug: str) -> Response:
        """Ask for the next: a worker writes it. What is left out is as in the last one."""
        study, given = self.study(Role.LEAD), self.given(NewRelease)
        notes = given.pop("notes")
        row = actions.ask(study=study, options=changed(usual(study), given), notes=notes, by=self.me)
        wake(TASK, row.pk)
        return Response(RequestShape(row).data, status=202)


class Asked(StudyView):
    @extend_schema(responses=RequestShape)
    def get(self, request: Request, slug: str) -> Response:
        """What became of the latest request: its state, how far it is, and its number once it is published."""
        row = Release.objects.filter(study=self.study()).order_by("-pk").first()
        if row is None:
            raise NotFound("No release was asked for yet.")
        return Response(RequestShape(row).data)


class ReleaseView(StudyView):
    """Of one release, which anyone may read where it is public."""

    permission_classes = (AllowAny, HasScope)

    def release(self) -> Release:
        return self.numbered(self.kwargs["number"])

    def numbered(self, number: int) -> Release:
        slug: str = self.kwargs["slug"]
        if not self.request.user.is_authenticated and not is_public(slug, number):
            raise NotAuthenticated
        return release_for(self.request.user, slug, number)


class OneRelease(ReleaseView):
    @extend_schema(responses=OneReleaseShape)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Its files, checks, and how to cite it."""
        found = self.release()
        cite = release_page.cited(found)
        return Response(OneReleaseShape(found, context={"cite": cite}).data)


class MakePublic(StudyView):
    @extend_schema(request=Public, responses=ReleaseShape)
    def put(self, request: Request, slug: str, number: int) -> Response:
        """Let anyone who has its address read it, or no longer."""
        self.study(Role.LEAD)
        found = release_for(self.request.user, slug, number)
        return Response(ReleaseShape(actions.set_public(release=found, by=self.me, **self.given(Public))).data)


class Changes(ReleaseView):
    @extend_schema(
        parameters=[OpenApiParameter("since", int, description="number of any earlier release")],
        responses={200: ComparedShape, 202: BeingCompared},
    )
    def get(self, request: Request, slug: str, number: int) -> Response:
        """What is another than in the release before: bugs, labels with their causes, names of categories.

        With `since`, than in that release: answers, the codebook and files as well; 202 while a worker compares them.
        """
        release, since = self.release(), self.asked("since")
        if since:
            return self.compared(self.numbered(compared.earlier_number(release, since)), release)
        told = release_page.changes_of(release)
        if told is None:
            raise NotFound("There is no release before this one.")
        return Response(ChangesShape(told).data)

    def compared(self, since: Release, release: Release) -> Response:
        found, after = compared.compared(since, release), compared.AGAIN_AFTER
        if found is None:
            return Response({"retry_after": after}, status=202, headers={"Retry-After": str(after)})
        return Response(ComparedShape(found).data)


class OneFile(ReleaseView):
    @extend_schema(responses={(200, kind): OpenApiTypes.BINARY for kind in KINDS})
    def get(self, request: Request, slug: str, number: int, file: str) -> HttpResponseBase:
        """A file of the release: the same bytes for ever. `pandas.read_parquet` and R read from here."""
        return file_response(request, self.release(), file)


class Archive(ReleaseView):
    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str, number: int) -> HttpResponseBase:
        """All files in one archive."""
        return archive_response(request, self.release())
