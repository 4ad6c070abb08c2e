"""One's own account over REST."""

from typing import Any, cast

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.accounts import actions
from annotator.accounts import serializers as shapes
from annotator.accounts.models import Token, User
from annotator.web.errors import Refused


@extend_schema(methods=["GET"], responses=shapes.UserSerializer)
@extend_schema(methods=["PATCH"], request=shapes.UserSerializer, responses=shapes.UserSerializer)
@api_view(["GET", "PATCH"])
def me(request: Request) -> Response:
    """Who one is; the display name may change."""
    user = cast(User, request.user)
    if request.method == "PATCH":
        filled = shapes.UserSerializer(user, data=request.data, partial=True)
        filled.is_valid(raise_exception=True)
        name = filled.validated_data.get("display_name", user.display_name)
        actions.change_display_name(user=user, display_name=name)
    return Response(shapes.UserSerializer(user).data)


@extend_schema(methods=["GET"], responses=shapes.TokenSerializer(many=True))
@extend_schema(methods=["POST"], request=shapes.TokenInput, responses={201: shapes.SecretSerializer})
@api_view(["GET", "POST"])
def tokens(request: Request) -> Response:
    """One's keys. A new one is made by a signed-in person alone: a key makes no keys."""
    user = cast(User, request.user)
    if request.method == "GET":
        mine = Token.objects.filter(user=user, revoked_at=None).order_by("-created_at", "-pk")
        return Response(shapes.TokenSerializer(mine, many=True).data)
    if isinstance(request.auth, Token):
        raise Refused("A key cannot make keys. Sign in and make it under your account.")
    filled = shapes.TokenInput(data=request.data)
    filled.is_valid(raise_exception=True)
    given: dict[str, Any] = filled.validated_data
    _, secret = actions.make_token(user=user, name=given["name"], scopes=given["scopes"], days=given["days"])
    return Response({"secret": secret}, status=201)


@extend_schema(request=None, responses={204: None})
@api_view(["DELETE"])
def token(request: Request, key: str) -> Response:
    """Revoke one of one's keys, named by how it begins."""
    user = cast(User, request.user)
    actions.revoke_token(token=get_object_or_404(Token, user=user, hint=key, revoked_at=None), by=user)
    return Response(status=204)
