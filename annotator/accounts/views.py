"""One's own account."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotator.accounts import actions
from annotator.accounts.forms import NewPasswordForm, ProfileForm, TokenForm
from annotator.accounts.http import Request
from annotator.accounts.models import Token
from annotator.web.errors import BadInput


@login_required
@require_http_methods(["GET", "POST"])
def profile(request: Request) -> HttpResponse:
    user = request.user
    form = ProfileForm(request.POST if request.method == "POST" else None, initial={"display_name": user.display_name})
    if request.method == "POST" and form.is_valid():
        actions.change_display_name(user=user, display_name=form.cleaned_data["display_name"])
        messages.success(request, "Your display name is saved.")
        return redirect("accounts:profile")
    return render(request, "accounts/profile.html", {"form": form})


@login_required
@require_http_methods(["GET", "POST"])
def tokens(request: Request) -> HttpResponse:
    """One's keys; a new one is shown in this answer and never again."""
    user, secret = request.user, ""
    form = TokenForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            _, secret = actions.make_token(user=user, **form.cleaned_data)
        except BadInput as problem:
            form.add_error(None, str(problem))
        else:
            form = TokenForm()
    mine = Token.objects.filter(user=user, revoked_at=None).order_by("-created_at", "-pk")
    context = {"form": form, "tokens": mine, "secret": secret, "now": timezone.now()}
    return render(request, "accounts/tokens.html", context, status=400 if form.errors else 200)


@login_required
@require_POST
def revoke(request: Request, key: str) -> HttpResponse:
    user = request.user
    token = get_object_or_404(Token, user=user, hint=key, revoked_at=None)
    actions.revoke_token(token=token, by=user)
    messages.success(request, f"The key “{token.name}” is revoked. Programs that used it are turned away from now on.")
    return redirect("accounts:tokens")


@sensitive_post_parameters("password", "again")
@require_http_methods(["GET", "POST"])
def reset(request: HttpRequest, token: str) -> HttpResponse:
    """A one-time link: who holds it sets that person's password."""
    link = actions.password_link(token)
    if link is None:
        return render(request, "accounts/link_ended.html", {"what": "password link"}, status=404)
    form = NewPasswordForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            actions.set_password_by_link(secret=token, password=form.cleaned_data["password"])
        except BadInput as weak:
            form.add_error("password", str(weak))
        else:
            messages.success(request, "Your new password is set. Sign in with it.")
            return redirect("account_login")
    context = {"form": form, "person": link.user}
    return render(request, "accounts/reset.html", context, status=400 if form.errors else 200)


@require_GET
def forgotten(request: HttpRequest) -> HttpResponse:
    """There is no mail, so a person gets a link from a lead."""
    return render(request, "accounts/forgotten.html")


@login_required
@require_GET
def no_mail(request: Request) -> HttpResponse:
    return redirect("accounts:profile")
