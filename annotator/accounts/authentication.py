"""Keys for programs: `Authorization: Token …`."""

from typing import Any

from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from annotator.accounts.keys import digest_of
from annotator.accounts.models import Token, User


class TokenAuthentication(BaseAuthentication):
    keyword = "Token"

    def authenticate(self, request: Request) -> tuple[User, Token] | None:
        words = get_authorization_header(request).decode("latin-1").split()
        if not words or words[0].lower() != self.keyword.lower():
            return None
        if len(words) != 2:
            raise AuthenticationFailed("Send the key as: Authorization: Token KEY")
        token = Token.objects.select_related("user").filter(digest=digest_of(words[1])).first()
        if token is None or token.revoked_at or token.expires_at <= timezone.now() or not token.user.is_active:
            raise AuthenticationFailed("This key is unknown, revoked or expired. Make a new one under your account.")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return self.keyword


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its registration is untyped
    """How the schema describes a key."""

    target_class = TokenAuthentication
    name = "key"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:  # its signature
        said = "Authorization: Token KEY. Keys are made under one's account."
        return {"type": "apiKey", "in": "header", "name": "Authorization", "description": said}


class HasScope(BasePermission):
    """A key does what its scopes say; a signed-in person is not limited by this."""

    message = "The key lacks the scope for this."

    def has_permission(self, request: Request, view: Any) -> bool:
        if not isinstance(request.auth, Token):
            return True
        wanted = "read" if request.method in SAFE_METHODS else "write"
        return wanted in request.auth.scopes
