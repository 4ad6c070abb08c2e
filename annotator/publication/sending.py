"""A table on its way to a browser or a program, while it is being read."""

from typing import cast

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse

from annotator.accounts.models import User
from annotator.adjudication.names import nameless_bugs
from annotator.publication import side_by_side
from annotator.publication.exports import FORMATS, TABLES, export
from annotator.publication.pseudonyms import pseudonyms_of
from annotator.studies.models import Study


def wants_pseudonyms(request: HttpRequest) -> bool:
    return request.GET.get("pseudonyms", "") in ("1", "true", "on")


def table_response(
    request: HttpRequest, study: Study, *, table: str, format_: str, is_safe: bool = False
) -> StreamingHttpResponse:
    if table not in TABLES or format_ not in FORMATS:
        raise Http404(f"There is no such file. Tables: {', '.join(TABLES)}; formats: {', '.join(FORMATS)}.")
    made = export(
        study,
        table,
        format_,
        pseudonyms=wants_pseudonyms(request),
        is_safe=is_safe,
        codebook=request.GET.get("codebook", ""),
        left_out=nameless_bugs(study, cast(User, request.user), study.my_roles),
    )
    headers = {"Content-Disposition": f'attachment; filename="{made.filename}"'}
    return StreamingHttpResponse(made.pieces, content_type=made.content_type, headers=headers)


def mapping_response(request: HttpRequest, study: Study) -> HttpResponse:
    """What `import_sheet` reads the side-by-side table with."""
    hide = pseudonyms_of(study) if wants_pseudonyms(request) else None
    headers = {"Content-Disposition": f'attachment; filename="{study.slug}-side_by_side.mapping.yaml"'}
    return HttpResponse(side_by_side.mapping(study, hide=hide), content_type="application/yaml", headers=headers)
