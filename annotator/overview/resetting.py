"""Links for a new password: never between two who rate in the same open round, since one could sign in as the other."""

from typing import cast

from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request as ApiRequest
from rest_framework.response import Response

from annotator.accounts.http import Request
from annotator.accounts.models import Token, User
from annotator.labeling.queries import rated_together
from annotator.studies.access import study_for
from annotator.studies.actions import make_reset_link
from annotator.studies.forms import InvitationForm
from annotator.studies.models import Role, Study
from annotator.studies.queries import person_in
from annotator.studies.serializers import LinkSerializer
from annotator.studies.views import members_page
from annotator.web.errors import Refused


@transaction.atomic
def reset_password(*, study: Study, user: User, by: User) -> str:
    """The secret of the link. Opening a round ends those that its raters made for one another."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)  # as opening a round does
    if together := rated_together(by, user):
        raise Refused(
            f"You and {user.username} both rate in {together.name}, which is open: whoever holds this link could read "
            "what the other answers. Ask another lead, or an administrator."
        )
    return make_reset_link(study=study, user=user, by=by)


@login_required
@require_POST
def reset(request: Request, slug: str, username: str) -> HttpResponse:
    """A one-time link by which the person sets a new password, shown once."""
    study = study_for(request.user, slug, Role.LEAD)
    person = person_in(study, username)
    secret = reset_password(study=study, user=person, by=request.user)
    link = request.build_absolute_uri(reverse("accounts:reset", args=[secret]))
    return members_page(request, study, form=InvitationForm(), link=link, link_for="password", person=person)


@extend_schema(request=None, responses=LinkSerializer)
@api_view(["POST"])
def password_link(request: ApiRequest, slug: str, username: str) -> Response:
    """A one-time link by which the person sets a new password. Not with a key: a stolen one must not open accounts."""
    study = study_for(request.user, slug, Role.LEAD)
    person = person_in(study, username)
    if isinstance(request.auth, Token):
        raise Refused("A key cannot make password links. Make them in the browser, under Members.")
    secret = reset_password(study=study, user=person, by=cast(User, request.user))
    return Response({"link": request.build_absolute_uri(reverse("accounts:reset", args=[secret]))})
