"""A study's tokens for GitHub: for leads. What was typed in is never sent back."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from annotator.accounts.http import Request
from annotator.collection.access import hosts
from annotator.collection.budgets import KEY, stored_keys
from annotator.collection.forms import TokenForm
from annotator.collection.models import GitHubToken
from annotator.collection.tokens import remove_token, store_token
from annotator.studies.access import study_for
from annotator.studies.models import Role
from annotator.web.errors import BadInput


@sensitive_post_parameters("token")
@login_required
@require_http_methods(["GET", "POST"])
def tokens(request: Request, slug: str) -> HttpResponse:
    study = study_for(request.user, slug, Role.LEAD)
    form = TokenForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            row = store_token(study=study, by=request.user, **form.cleaned_data)
        except BadInput as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, f"The token “{row.name}” is stored. Harvests of {row.host} use it from now on.")
            return redirect("collection:tokens", study.slug)
    context = {"study": study, "form": form, "keys": stored_keys(study), "has_hosts": len(hosts()) > 1}
    return render(request, "collection/tokens.html", context, status=400 if form.errors else 200)


@login_required
@require_POST
def remove(request: Request, slug: str, key: str) -> HttpResponse:
    study = study_for(request.user, slug, Role.LEAD)
    row = get_object_or_404(GitHubToken.objects.present(study), digest__startswith=key) if len(key) == KEY else None
    if row is None:
        raise Http404("There is no such token.")
    remove_token(row=row, by=request.user)
    messages.success(request, f"The token “{row.name}” is removed: what was stored of it is wiped.")
    return redirect("collection:tokens", study.slug)
