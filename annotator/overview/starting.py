"""Starting a study in the browser: a title, and the codebook to begin with."""

import re
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotator.accounts.actions import slug_of
from annotator.accounts.http import Request
from annotator.accounts.models import User
from annotator.codebook import presets
from annotator.codebook.document import Document
from annotator.codebook.plain import MAX_BYTES
from annotator.codebook.reading import read
from annotator.overview.actions import create_study
from annotator.studies.actions import TAKEN_BY_PAGES
from annotator.studies.models import Study
from annotator.web.errors import BadInput

FILE = "file"


class StudyForm(forms.Form):
    title = forms.CharField(label="Title", max_length=200)
    slug = forms.CharField(
        label="Short name",
        required=False,
        max_length=60,
        help_text="Stands in addresses and commands: small letters, digits, dashes. Made from the title where left empty.",
    )
    question = forms.CharField(
        label="Research question", required=False, max_length=10_000, widget=forms.Textarea(attrs={"rows": 3})
    )
    codebook = forms.CharField(widget=forms.HiddenInput, required=False)
    file = forms.FileField(label="Codebook file", required=False)

    def clean_codebook(self) -> str:
        chosen = FILE if self.files.get("file") else self.cleaned_data["codebook"]  # who uploads one means it
        if chosen not in [*presets.slugs(), FILE]:
            raise forms.ValidationError("Choose a codebook, or a file of your own.")
        return str(chosen)

    def document(self) -> Document:
        if self.cleaned_data["codebook"] != FILE:
            return presets.preset(self.cleaned_data["codebook"])
        file = self.cleaned_data.get("file")
        if file is None:
            raise BadInput("Choose the codebook file to upload, or one of the codebooks above.")
        return read(file.read(MAX_BYTES + 1))


@login_required
@require_http_methods(["GET", "POST"])
def new_study(request: Request) -> HttpResponse:
    form = StudyForm(request.POST, request.FILES) if request.method == "POST" else StudyForm()
    if request.method == "POST" and form.is_valid():
        try:
            study = _start(form, by=request.user)
        except BadInput as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, "The study is started. Next: bring in your sheet and invite the second rater.")
            return redirect("overview:home", study.slug)
    context: dict[str, Any] = {
        "form": form,
        "presets": [(slug, presets.preset(slug)) for slug in presets.slugs()],
        "chosen": form.data.get("codebook", presets.MAIN),
    }
    return render(request, "overview/new_study.html", context, status=400 if form.errors else 200)


def _start(form: StudyForm, *, by: User) -> Study:
    filled = form.cleaned_data
    return create_study(
        slug=filled["slug"] or short_name(filled["title"]),
        title=filled["title"],
        question=filled["question"],
        document=form.document(),
        by=by,
    )


def short_name(title: str) -> str:
    """The first free short name that the title gives."""
    base = re.sub(r"[^a-z0-9]+", "-", slug_of(title))[:50].strip("-")
    taken = TAKEN_BY_PAGES | set(Study.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    return next(name for n in range(1, len(taken) + 2) if (name := base if n == 1 else f"{base}-{n}") not in taken)
