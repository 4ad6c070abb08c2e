"""Where a program begins."""

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework.decorators import api_view, permission_classes
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.serializers import URLField

ADDRESSES = inline_serializer("Root", {"studies": URLField(), "schema": URLField(), "docs": URLField()})


@extend_schema(operation_id="root", responses=ADDRESSES, auth=[], summary="Where to begin")
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
