"""One's studies, their people and their protocol."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotator.accounts.forms import NewcomerForm
from annotator.accounts.http import Request
from annotator.accounts.models import User
from annotator.studies import actions, queries
from annotator.studies.access import may_reset, study_for
from annotator.studies.forms import InvitationForm, ProtocolForm, RolesForm, StudyForm
from annotator.studies.models import Membership, Role, Study
from annotator.studies.protocol import protocol_of
from annotator.web.errors import BadInput, Refused


@login_required
@require_GET
def home(request: Request) -> HttpResponse:
    """The person's studies. Who has not signed in is led there."""
    return render(request, "studies/home.html", {"studies": queries.studies_of(request.user)})


@login_required
@require_http_methods(["GET", "POST"])
def about(request: Request, slug: str) -> HttpResponse:
    """What the study is called and asks; everybody in it may read, a lead may change it."""
    study = study_for(request.user, slug, *([Role.LEAD] if request.method == "POST" else []))
    given = {"title": study.title, "question": study.question}
    form = StudyForm(request.POST if request.method == "POST" else None, initial=given)
    if request.method == "POST" and form.is_valid():
        try:
            changed = actions.describe_study(study=study, by=request.user, **form.cleaned_data)
        except BadInput as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, "The study is described so." if changed else "Nothing was different.")
            return redirect("studies:about", slug)
    context = {"study": study, "form": form, "is_lead": Role.LEAD in study.my_roles}
    return render(request, "studies/about.html", context, status=400 if form.errors else 200)


# --- joining


@sensitive_post_parameters("password", "again")
@require_http_methods(["GET", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """An invitation's link: who is signed in joins as that person, anybody else makes an account."""
    invitation = actions.invitation_for(token)
    if invitation is None:
        return render(request, "accounts/link_ended.html", {"what": "invitation"}, status=404)
    if request.method == "POST" and request.user.is_authenticated:
        return _welcome(request, actions.accept(secret=token, user=request.user))
    form = NewcomerForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            return _join_as_newcomer(request, token, form.cleaned_data)
        except BadInput as problem:
            form.add_error(None, str(problem))
    context = {"form": form, "invitation": invitation, "roles": [Role(role).label for role in invitation.roles]}
    return render(request, "studies/join.html", context, status=400 if form.errors else 200)


def _join_as_newcomer(request: HttpRequest, token: str, filled: dict[str, Any]) -> HttpResponse:
    user, study = actions.accept_as_newcomer(
        secret=token,
        username=filled["username"],
        password=filled["password"],
        display_name=filled["display_name"],
    )
    login(request, user)
    return _welcome(request, study)


def _welcome(request: HttpRequest, study: Study) -> HttpResponse:
    messages.success(request, f"Welcome to “{study.title}”.")
    return redirect("overview:home", study.slug)


# --- members


@login_required
@require_http_methods(["GET", "POST"])
def members(request: Request, slug: str) -> HttpResponse:
    """Who is in the study; a lead invites by a link that is shown once."""
    if request.method == "GET":
        return members_page(request, study_for(request.user, slug), form=InvitationForm())
    study = study_for(request.user, slug, Role.LEAD)
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return members_page(request, study, form=form, status=400)
    try:
        _, secret = actions.invite(study=study, by=request.user, **form.cleaned_data)
    except BadInput as problem:
        form.add_error(None, str(problem))
        return members_page(request, study, form=form, status=400)
    link = request.build_absolute_uri(reverse("studies:join", args=[secret]))
    return members_page(request, study, form=InvitationForm(), link=link, link_for="invitation")


def members_page(request: Request, study: Study, *, status: int = 200, **context: Any) -> HttpResponse:
    is_lead = Role.LEAD in study.my_roles
    invitations = queries.open_invitations(study) if is_lead else []
    context |= {
        "study": study,
        "members": queries.members_of(study),
        "is_lead": is_lead,
        "invitations": [(invitation, queries.key_of(invitation)) for invitation in invitations],
    }
    return render(request, "studies/members.html", context, status=status)


@login_required
@require_http_methods(["GET", "POST"])
def member(request: Request, slug: str, username: str) -> HttpResponse:
    """One person's roles in the study."""
    study = study_for(request.user, slug, Role.LEAD)
    person = queries.person_in(study, username)
    form = RolesForm(request.POST if request.method == "POST" else None, initial=_held(study, person))
    if request.method == "POST" and form.is_valid():
        try:
            return _change_member(request, study, person, form.cleaned_data)
        except (BadInput, Refused) as problem:
            form.add_error(None, str(problem))
    context = {"study": study, "person": person, "form": form, "may_reset": may_reset(request.user, person)}
    return render(request, "studies/member.html", context, status=400 if form.errors else 200)


def _change_member(request: Request, study: Study, person: User, filled: dict[str, Any]) -> HttpResponse:
    by = request.user
    actions.set_roles(study=study, user=person, roles=filled["roles"], by=by)
    if filled["roles"]:
        actions.describe_member(study=study, user=person, experience=filled["experience"], tie=filled["tie"], by=by)
    done = "is saved" if filled["roles"] else "has left the study; answers and history stay"
    messages.success(request, f"{person.username} {done}.")
    return redirect("studies:members" if _still_leads(study, by) else "studies:home", *_slug(study, by))


def _still_leads(study: Study, user: User) -> bool:
    return Membership.objects.filter(study=study, user=user).exists()


def _slug(study: Study, user: User) -> list[str]:
    return [study.slug] if _still_leads(study, user) else []


@login_required
@require_POST
def revoke(request: Request, slug: str, key: str) -> HttpResponse:
    study = study_for(request.user, slug, Role.LEAD)
    invitation = queries.invitation_named(study, key)
    actions.revoke_invitation(invitation=invitation, by=request.user)
    messages.success(request, "The invitation is revoked: its link does not work any more.")
    return redirect("studies:members", slug)


# --- the protocol


@login_required
@require_http_methods(["GET", "POST"])
def protocol(request: Request, slug: str) -> HttpResponse:
    """How the study decides; everybody in it may read, a lead may deviate with a reason."""
    roles = [Role.LEAD] if request.method == "POST" else []
    study = study_for(request.user, slug, *roles)
    form = ProtocolForm(request.POST if request.method == "POST" else None, initial=protocol_of(study).as_dict())
    if request.method == "POST" and form.is_valid():
        try:
            changed = actions.change_protocol(
                study=study, protocol=form.as_protocol(), reason=form.cleaned_data["reason"], by=request.user
            )
        except BadInput as problem:
            form.add_error("reason" if "why" in str(problem) else None, str(problem))
        else:
            messages.success(request, "The change stands beside the protocol." if changed else "Nothing was different.")
            return redirect("studies:protocol", slug)
    context = {
        "study": study,
        "form": form,
        "is_lead": Role.LEAD in study.my_roles,
        "deviations": study.deviations.select_related("by").order_by("-at", "-pk"),
    }
    return render(request, "studies/protocol.html", context, status=400 if form.errors else 200)


# --- in common


def _held(study: Study, person: User) -> dict[str, Any]:
    found = next(m for m in queries.members_of(study) if m.user == person)
    return {"roles": list(found.roles), "experience": found.experience, "tie": found.tie}
