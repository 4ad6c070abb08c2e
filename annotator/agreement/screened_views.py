"""Agreement of one screening's votes: a page, and the part that the screening's own page loads."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from annotator.accounts.http import Request
from annotator.agreement import screened
from annotator.screening.models import Screening
from annotator.studies.access import study_for

NOT_YET = "Agreement is counted when the screening closes. Until then nobody sees it, whatever has been voted."


@login_required
@require_GET
def show(request: Request, slug: str, number: int) -> HttpResponse:
    """An open screening gives the same text to everybody."""
    study = study_for(request.user, slug)
    screening = get_object_or_404(Screening, study=study, number=number)
    entries = screened.entries_of(screening)
    context = {"study": study, "chosen": screening, "screening": entries, "not_yet": NOT_YET}
    is_part = bool(request.headers.get("HX-Request"))
    response = render(request, f"agreement/{'_screening_part' if is_part else 'screening'}.html", context)
    response["Vary"] = "HX-Request"
    return response
