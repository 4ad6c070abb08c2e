"""What tells raters' answers by name, without the bugs on which the viewer still decides not knowing whose is whose."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpResponse
from django.views.decorators.http import require_GET

from annotator.accounts.http import Request
from annotator.adjudication.names import nameless_bugs
from annotator.agreement.views import cell_of
from annotator.labeling.api import AllAnswers
from annotator.studies.access import study_for


@login_required
@require_GET
def cell(request: Request, slug: str, **place: Any) -> HttpResponse:
    """The bugs of a cell of the confusion matrix."""
    study = study_for(request.user, slug)
    return cell_of(request, study, hidden=nameless_bugs(study, request.user, study.my_roles), **place)


class Answers(AllAnswers):
    def rows(self) -> QuerySet[Any, Any]:
        study = self.study()
        return super().rows().exclude(bug__number__in=nameless_bugs(study, self.me, study.my_roles))
