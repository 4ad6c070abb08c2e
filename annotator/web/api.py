"""Where a program begins."""

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view, permission_classes
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse


@extend_schema(exclude=True)
@api_view(["GET"])
@permission_classes([AllowAny])
def root(request: Request) -> Response:
    """The addresses from which all others are reached."""
    return Response(
        {
            "studies": request.build_absolute_uri("studies/"),
            "schema": reverse("schema", request=request),
            "docs": reverse("docs", request=request),
        }
    )
