"""A study's people and protocol over REST: what the pages can do, under the same rules."""

from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.utils import extend_schema
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


class Member(StudyView):
    @extend_schema(request=shapes.MemberInput, responses=shapes.MemberSerializer(many=True))
    def put(self, request: Request, slug: str, username: str) -> Response:
        """Exactly these roles; with none the person leaves."""
        study = self.study(Role.LEAD)
        person, given = queries.person_in(study, username), self.given(shapes.MemberInput)
        actions.set_roles(study=study, user=person, roles=given["roles"], by=self.me)
        if given["roles"]:
            described = {"experience": given["experience"], "tie": given["tie"]}
            actions.describe_member(study=study, user=person, by=self.me, **described)
        return Response(shapes.MemberSerializer(queries.members_of(study), many=True).data)


# --- invitations


class Invitations(StudyView):
    @extend_schema(responses=shapes.InvitationSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Invitations that still work."""
        rows = queries.open_invitations(self.study(Role.LEAD))
        return Response(shapes.InvitationSerializer(rows, many=True).data)

    @extend_schema(request=shapes.InvitationInput, responses={201: shapes.LinkSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Invite: the link is shown this once."""
        study = self.study(Role.LEAD)
        _, secret = actions.invite(study=study, by=self.me, **self.given(shapes.InvitationInput))
        return Response({"link": request.build_absolute_uri(reverse("studies:join", args=[secret]))}, status=201)


class Invitation(StudyView):
    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, key: str) -> Response:
        """Revoke an invitation."""
        invitation = queries.invitation_named(self.study(Role.LEAD), key)
        actions.revoke_invitation(invitation=invitation, by=self.me)
        return Response(status=204)


class Join(StudyView):
    @extend_schema(request=shapes.JoinInput, responses=shapes.StudySerializer)
    def post(self, request: Request) -> Response:
        """Join a study by the token of an invitation."""
        joined = actions.accept(secret=self.given(shapes.JoinInput)["token"], user=self.me)
        return Response(shapes.StudySerializer(study_for(self.me, joined.slug)).data)


# --- the protocol


class OneProtocol(StudyView):
    @extend_schema(responses=shapes.ProtocolSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """How labels are decided."""
        return Response(protocol_of(self.study()).as_dict())

    @extend_schema(request=shapes.ProtocolInput, responses=shapes.ProtocolSerializer)
    def put(self, request: Request, slug: str) -> Response:
        """Deviate from the protocol, with a reason."""
        study = self.study(Role.LEAD)
        filled = shapes.ProtocolInput(data=request.data)
        filled.is_valid(raise_exception=True)
        reason = filled.validated_data["reason"]
        actions.change_protocol(study=study, protocol=filled.protocol(), reason=reason, by=self.me)
        study.refresh_from_db()
        return Response(protocol_of(study).as_dict())


class Deviations(StudyView):
    @extend_schema(responses=shapes.DeviationSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """What changed since the protocol was laid down, newest first."""
        rows = self.study().deviations.select_related("by").order_by("-at", "-pk")
        return Response(shapes.DeviationSerializer(rows, many=True).data)
