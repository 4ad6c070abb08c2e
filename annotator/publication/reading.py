"""Who may read a release: members of its study, and anyone where it is public. Nothing else of the study is told."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404

from annotator.adjudication.names import nameless_bugs
from annotator.publication.exports import BY_NAME
from annotator.publication.files import File
from annotator.publication.keeping import files_of
from annotator.publication.models import Release
from annotator.studies.access import roles_in
from annotator.studies.models import Study


def release_for(user: Any, slug: str, number: int) -> Release:
    """With its study, which has the person's roles there: none for a reader of a public release."""
    study = Study.objects.filter(slug=slug).first()
    mine = roles_in(user, study) if study and getattr(user, "is_authenticated", False) else frozenset()
    found = Release.objects.published().filter(study=study, number=number).first() if study else None
    if study is None or found is None or not (mine or found.is_public):
        raise Http404("There is no such release.")
    study.my_roles = mine
    found.study = study
    return found


def is_public(slug: str, number: int) -> bool:
    return Release.objects.published().filter(study__slug=slug, number=number, is_public=True).exists()


def tells_names(path: str) -> bool:
    return path.partition(".")[0] in BY_NAME


def refuse_names(user: Any, study: Study) -> None:
    """Who still decides without the raters' names does not read whose answer is whose."""
    if study.my_roles and nameless_bugs(study, user, study.my_roles):
        raise PermissionDenied(
            "Bugs wait for your decision, which you make without the raters' names: this file tells them."
        )


def file_of(release: Release, path: str) -> File:
    for file in files_of(release):
        if file.path == path:
            return file
    raise Http404("The release has no such file.")
