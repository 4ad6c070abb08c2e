"""A study's people and protocol over REST: what the pages can do, under the same rules."""

from typing import Any, cast

from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.accounts.models import User
from annotator.studies import actions, queries
from annotator.studies import serializers as shapes
from annotator.studies.access import study_for
from annotator.studies.models import Role
from annotator.studies.protocol import protocol_of
from annotator.studies.rest import StudyList, StudyView


class OneStudy(StudyView):
    """A study of yours. A lead may give it another title or question."""

    @extend_schema(responses=shapes.StudySerializer)
    def get(self, request: Request, slug: str) -> Response:
        """A study of yours."""
        return Response(shapes.StudySerializer(self.study()).data)

    @extend_schema(request=shapes.StudyInput, responses=shapes.StudySerializer)
    def patch(self, request: Request, slug: str) -> Response:
        """Another title or question."""
        found = self.study(Role.LEAD)
        given = {"title": found.title, "question": found.question} | self.given(shapes.StudyInput)
        actions.describe_study(study=found, by=self.me, **given)
        return Response(shapes.StudySerializer(self.study()).data)


# --- members


class Members(StudyList):
    """Who is in the study, by user name."""

    serializer_class = shapes.MemberSerializer
    order = ("username",)

    def rows(self) -> QuerySet[User]:
        return User.objects.filter(memberships__study=self.study()).distinct()

    def told(self, rows: list[User]) -> list[queries.Member]:
        members = {member.user: member for member in queries.members_of(self.study())}
        return [members[user] for user in rows]


@extend_schema(request=shapes.MemberInput, responses=shapes.MemberSerializer(many=True))
@api_view(["PUT"])
def member(request: Request, slug: str, username: str) -> Response:
    """Exactly these roles; with none the person leaves."""
    found = study_for(request.user, slug, Role.LEAD)
    person = queries.person_in(found, username)
    given = _given(shapes.MemberInput, request)
    actions.set_roles(study=found, user=person, roles=given["roles"], by=_me(request))
    if given["roles"]:
        actions.describe_member(
            study=found, user=person, experience=given["experience"], tie=given["tie"], by=_me(request)
        )
    return Response(shapes.MemberSerializer(queries.members_of(found), many=True).data)


# --- invitations


@extend_schema(methods=["GET"], responses=shapes.InvitationSerializer(many=True))
@extend_schema(methods=["POST"], request=shapes.InvitationInput, responses={201: shapes.LinkSerializer})
@api_view(["GET", "POST"])
def invitations(request: Request, slug: str) -> Response:
    """Invitations that still work; POST makes one and shows its link this once."""
    found = study_for(request.user, slug, Role.LEAD)
    if request.method == "GET":
        return Response(shapes.InvitationSerializer(queries.open_invitations(found), many=True).data)
    _, secret = actions.invite(study=found, by=_me(request), **_given(shapes.InvitationInput, request))
    return Response({"link": request.build_absolute_uri(reverse("studies:join", args=[secret]))}, status=201)


@extend_schema(request=None, responses={204: None})
@api_view(["DELETE"])
def invitation(request: Request, slug: str, key: str) -> Response:
    """Revoke an invitation."""
    found = study_for(request.user, slug, Role.LEAD)
    actions.revoke_invitation(invitation=queries.invitation_named(found, key), by=_me(request))
    return Response(status=204)


@extend_schema(request=shapes.JoinInput, responses=shapes.StudySerializer)
@api_view(["POST"])
def join(request: Request) -> Response:
    """Join a study by the token of an invitation."""
    joined = actions.accept(secret=_given(shapes.JoinInput, request)["token"], user=_me(request))
    return Response(shapes.StudySerializer(study_for(request.user, joined.slug)).data)


# --- the protocol


@extend_schema(methods=["GET"], responses=shapes.ProtocolSerializer)
@extend_schema(methods=["PUT"], request=shapes.ProtocolInput, responses=shapes.ProtocolSerializer)
@api_view(["GET", "PUT"])
def protocol(request: Request, slug: str) -> Response:
    """How labels are decided; PUT is a deviation with its reason."""
    found = study_for(request.user, slug, *([] if request.method == "GET" else [Role.LEAD]))
    if request.method == "PUT":
        filled = shapes.ProtocolInput(data=request.data)
        filled.is_valid(raise_exception=True)
        actions.change_protocol(
            study=found, protocol=filled.protocol(), reason=filled.validated_data["reason"], by=_me(request)
        )
        found.refresh_from_db()
    return Response(protocol_of(found).as_dict())


@extend_schema(responses=shapes.DeviationSerializer(many=True))
@api_view(["GET"])
def deviations(request: Request, slug: str) -> Response:
    """What changed since the protocol was laid down, newest first."""
    rows = study_for(request.user, slug).deviations.select_related("by").order_by("-at", "-pk")
    return Response(shapes.DeviationSerializer(rows, many=True).data)


# --- in common


def _given(shape: type[Any], request: Request) -> dict[str, Any]:
    filled = shape(data=request.data)
    filled.is_valid(raise_exception=True)
    return cast(dict[str, Any], filled.validated_data)


def _me(request: Request) -> User:
    return cast(User, request.user)
