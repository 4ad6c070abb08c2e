"""The codebook over REST: what the pages can do, under the same rules."""

from typing import Any, cast

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.accounts.models import User
from annotator.codebook import actions, formats, presets, queries, reading
from annotator.codebook import serializers as shapes
from annotator.codebook.differing import differences
from annotator.codebook.models import Category, Codebook, Facet, Version
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study
from annotator.web import numbers


@extend_schema(responses=shapes.PresetSerializer(many=True))
@api_view(["GET"])
def list_presets(request: Request) -> Response:  # the same for everybody
    """The shipped codebooks."""
    return Response([presets.summary(slug) for slug in presets.slugs()])


@extend_schema(methods=["GET"], responses=shapes.CodebookSerializer)
@extend_schema(methods=["PUT"], request=OpenApiTypes.OBJECT, responses=shapes.CodebookSerializer)
@api_view(["GET", "PUT"])
def whole(request: Request, slug: str) -> Response:
    """The codebook as its file has it. PUT a whole file in its place, while nothing stands on it."""
    study = _study(request, slug)
    if request.method == "PUT":
        _replace(study, reading.to_document(request.data), by=_me(request))
    return _told(study)


def _replace(study: Study, document: Any, *, by: User) -> None:
    codebook = queries.codebook_of(study)
    if codebook is None:
        actions.create_codebook(study=study, document=document, by=by)
    else:
        actions.replace_codebook(codebook=codebook, document=document, by=by)


@extend_schema(
    methods=["GET"], parameters=[OpenApiParameter("as", enum=list(formats.FORMATS))], responses=shapes.CodebookFileShape
)
@extend_schema(methods=["PUT"], request=shapes.CodebookFileInput, responses=shapes.CodebookSerializer)
@api_view(["GET", "PUT"])
def file(request: Request, slug: str) -> Response:
    """The codebook as the text of a file: YAML, JSON or CSV. PUT such a text in its place, while nothing stands on it."""
    study = _study(request, slug)
    if request.method == "PUT":
        _replace(
            study, reading.read(_filled(shapes.CodebookFileInput, request).validated_data["content"]), by=_me(request)
        )
        return _told(study)
    wanted = request.query_params.get("as", "yaml")
    text = formats.written(queries.as_document(_codebook(study)).without_builtins(), wanted)
    return Response({"name": f"{study.slug}-codebook.{wanted}", "content": text})


@extend_schema(responses=shapes.VersionSerializer(many=True))
@api_view(["GET"])
def versions(request: Request, slug: str) -> Response:
    """What was published, newest first."""
    rows = _codebook(_study(request, slug)).versions.select_related("published_by").defer("document")
    return Response(shapes.VersionSerializer(rows.order_by("-number"), many=True).data)


@extend_schema(parameters=[OpenApiParameter("since", int)], responses=shapes.OneVersionSerializer)
@api_view(["GET"])
def version(request: Request, slug: str, number: int) -> Response:
    """The codebook as it was published, and what it differs in from an earlier version: the one before, or `since`."""
    codebook = _codebook(_study(request, slug))
    row = get_object_or_404(Version.objects.select_related("published_by"), codebook=codebook, number=number)
    before = codebook.versions.filter(number__lt=number)
    since = numbers.whole(request.query_params.get("since", ""))
    earlier = (before.filter(number=since).first() if since else None) or before.order_by("-number").first()
    document = reading.to_document(row.document)
    found = differences(reading.to_document(earlier.document), document) if earlier else []
    told = {"since": earlier.number if earlier else None, "differences": found}
    return Response({**shapes.OneVersionSerializer(row, context=told).data, **row.document})


@extend_schema(request=shapes.NewFacetInput, responses={201: shapes.CodebookSerializer})
@api_view(["POST"])
def facets(request: Request, slug: str) -> Response:
    """Add a facet, while nothing stands on the codebook."""
    study = _study(request, slug)
    filled = _filled(shapes.NewFacetInput, request)
    actions.add_facet(
        codebook=_codebook(study), key=filled.validated_data["id"], by=_me(request), change=filled.change()
    )
    return _told(study, status=201)


@extend_schema(methods=["PATCH"], request=shapes.FacetInput, responses=shapes.CodebookSerializer)
@extend_schema(methods=["DELETE"], request=None, responses=shapes.CodebookSerializer)
@api_view(["PATCH", "DELETE"])
def facet(request: Request, slug: str, facet: str) -> Response:
    """Change a facet's words and keys any time, its shape while nothing stands on the codebook."""
    study = _study(request, slug)
    row = _facet(study, facet)
    if request.method == "DELETE":
        actions.remove_facet(facet=row, by=_me(request))
    else:
        actions.edit_facet(facet=row, by=_me(request), change=_filled(shapes.FacetInput, request).change())
    return _told(study)


@extend_schema(request=shapes.NewCategoryInput, responses={201: shapes.CodebookSerializer})
@api_view(["POST"])
def categories(request: Request, slug: str, facet: str) -> Response:
    """Add a category; it gets an id of its own."""
    study = _study(request, slug)
    row = _facet(study, facet)
    actions.add_category(facet=row, by=_me(request), change=_filled(shapes.NewCategoryInput, request).change())
    return _told(study, status=201)


@extend_schema(methods=["PATCH"], request=shapes.CategoryInput, responses=shapes.CodebookSerializer)
@extend_schema(methods=["DELETE"], request=shapes.ReasonInput, responses=shapes.CodebookSerializer)
@api_view(["PATCH", "DELETE"])
def category(request: Request, slug: str, uid: str) -> Response:
    """Change a category, or take it away: deleted while nothing stands on the codebook, else retired."""
    study = _study(request, slug)
    row = _category(study, uid)
    if request.method == "DELETE":
        reason = _filled(shapes.ReasonInput, request).validated_data["reason"]
        actions.remove_category(category=row, by=_me(request), reason=reason)
    else:
        filled = _filled(shapes.CategoryInput, request)
        reason, seen = filled.validated_data["reason"], filled.validated_data["version"]
        actions.edit_category(category=row, by=_me(request), change=filled.change(), reason=reason, seen=seen)
    return _told(study)


@extend_schema(request=None, responses=shapes.CodebookSerializer)
@api_view(["POST"])
def restore(request: Request, slug: str, uid: str) -> Response:
    """Take a retired category back into use."""
    study = _study(request, slug)
    actions.restore_category(category=_category(study, uid), by=_me(request))
    return _told(study)


# --- in common


def _study(request: Request, slug: str) -> Study:
    """Reading is for everybody in the study, changing for its leads."""
    return study_for(request.user, slug, *([] if request.method == "GET" else [Role.LEAD]))


def _codebook(study: Study) -> Codebook:
    codebook = queries.codebook_of(study)
    if codebook is None:
        raise Http404("The study has no codebook yet.")
    return codebook


def _facet(study: Study, key: str) -> Facet:
    return get_object_or_404(Facet, codebook__study=study, key=key, retired_at=None)


def _category(study: Study, uid: str) -> Category:
    rows = Category.objects.exclude(state=Category.State.PROPOSED).select_related("facet__codebook", "parent")
    return get_object_or_404(rows, facet__codebook__study=study, uid=uid)


def _filled(shape: type[Any], request: Request) -> Any:
    filled = shape(data=request.data)
    filled.is_valid(raise_exception=True)
    return filled


def _told(study: Study, *, status: int = 200) -> Response:
    codebook = _codebook(study)
    body = queries.as_document(codebook).as_dict()
    state = {"version": codebook.number, "digest": codebook.digest, "in_use": queries.is_in_use(codebook)}
    return Response({**state, **body}, status=status)


def _me(request: Request) -> User:
    return cast(User, request.user)
