"""What the pages of an import send."""

from typing import Any

from django import forms
from django.conf import settings

from annotator.codebook.models import Category, Facet
from annotator.intake.columns import Choices, read_choices
from annotator.intake.columns import Facet as Asked
from annotator.intake.mapping import Mapping, to_document
from annotator.intake.models import Import
from annotator.studies.models import Membership, Study
from annotator.web.errors import BadInput

MB = 1024 * 1024
MAPPING_LIMIT = MB


class UploadForm(forms.Form):
    file = forms.FileField(
        label="Sheet",
        help_text="CSV, TSV or XLSX, at most 20 MB. One row a bug, with whatever columns you have.",
        error_messages={"empty": "The file is empty (0 bytes).", "required": "Choose a file first."},
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size and file.size > settings.UPLOAD_LIMIT:
            size = settings.UPLOAD_LIMIT // MB
            raise forms.ValidationError(
                f"The file has {file.size / MB:.0f} MB, at most {size} are taken: split the sheet."
            )
        return file


def mapping_text(file: Any) -> bytes:
    """The uploaded mapping file."""
    if file is None:
        raise BadInput("Choose a mapping file first.")
    if file.size > MAPPING_LIMIT:
        raise BadInput("The mapping file is larger than 1 MB.")
    text: bytes = file.read()
    return text


def facets_of(study: Study) -> list[Asked]:
    """The questions that a column may answer."""
    facets = Facet.objects.filter(codebook__study=study, retired_at=None)
    labels: dict[int, list[str]] = {}
    for facet, name in Category.objects.filter(facet__in=facets, state="active").values_list("facet_id", "name"):
        labels.setdefault(facet, []).append(name)
    return [Asked(row.key, row.name, row.is_many, tuple(labels.get(row.pk, ()))) for row in facets]


def people_of(study: Study) -> list[str]:
    names = Membership.objects.filter(study=study).order_by("user__username").values_list("user__username", flat=True)
    return list(dict.fromkeys(names))


def sent_choices(sent: Any, row: Import, width: int) -> Choices:
    """The page's fields; what a mapping file said beyond them stays."""
    choices = read_choices({key: str(sent[key]) for key in sent}, width)
    earlier = dict(row.mapping.get("clean", {})) if row.mapping else {}
    choices.kept = {key: value for key, value in earlier.items() if key not in ("blank", "unknown", "split")}
    return choices


def with_aliases(mapping: Mapping, sent: Any) -> dict[str, Any]:
    """The mapping's document with what each unknown label was said to mean; `alias.FACET.LABEL` is a category."""
    document = to_document(mapping)
    clean = document["clean"]
    aliases = {facet: dict(pairs) for facet, pairs in clean.get("aliases", {}).items()}
    for key, label, meaning in zip(sent.getlist("facet"), sent.getlist("label"), sent.getlist("meaning"), strict=False):
        if meaning:
            aliases.setdefault(key, {})[label] = meaning
    if aliases:
        clean["aliases"] = aliases
    if sent.get("rest") == "add":
        clean["unknown"] = "add"
    return document
