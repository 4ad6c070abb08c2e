"""What a lead says of a release: names, texts, authors, licence, makers."""

from typing import Any

from django import forms

from annotator.accounts.models import User
from annotator.publication.actions import LONGEST_NOTES
from annotator.publication.options import AUTHORS, FIGURES, LICENCES, MOST_TEXT, TEXTS, Options
from annotator.studies.models import Membership, Role, Study


class ReleaseForm(forms.Form):
    """Begins as the last release was."""

    texts = forms.ChoiceField(label="Titles and texts from GitHub", choices=TEXTS.items(), widget=forms.RadioSelect)
    authors = forms.ChoiceField(label="Authors of pull requests", choices=AUTHORS.items(), widget=forms.RadioSelect)
    figures = forms.ChoiceField(
        label="Figures",
        choices=FIGURES.items(),
        widget=forms.RadioSelect,
        help_text="None that compares with another study or counts one rater's labels.",
    )
    named = forms.MultipleChoiceField(
        label="Named with their consent",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="All others appear under pseudonyms. A release cannot be taken back: tick only who agreed.",
    )
    licence = forms.ChoiceField(
        label="Licence of the labels", choices=[(key, name) for key, (name, _) in LICENCES.items()]
    )
    creators = forms.CharField(
        label="Whom to cite",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        max_length=MOST_TEXT,
        help_text="One a line: name; affiliation; ORCID. Left empty, the team of the study.",
    )
    description = forms.CharField(
        label="What the data are", required=False, widget=forms.Textarea(attrs={"rows": 3}), max_length=MOST_TEXT
    )
    notes = forms.CharField(
        label="What changed", required=False, widget=forms.Textarea(attrs={"rows": 2}), max_length=LONGEST_NOTES
    )

    def __init__(self, study: Study, options: Options, data: Any = None) -> None:
        begin = options.as_dict() | {"creators": "\n".join(line_of(each) for each in options.creators)}
        super().__init__(data, initial=begin)
        field = self.fields["named"]
        assert isinstance(field, forms.MultipleChoiceField)  # noqa: S101  # for the types
        field.choices = [(name, name) for name in people_of(study)]

    def options(self) -> Options:
        sent = self.cleaned_data
        lines = [line for line in sent["creators"].splitlines() if line.strip()]
        return Options(
            named=tuple(sorted(sent["named"])),
            texts=sent["texts"],
            authors=sent["authors"],
            figures=sent["figures"],
            licence=sent["licence"],
            creators=tuple(creator_in(line) for line in lines),
            description=sent["description"],
        )


def people_of(study: Study) -> list[str]:
    """Whose names a release would hold: who rates or decides."""
    roles = [Role.RATER, Role.ADJUDICATOR, Role.LEAD]
    members = Membership.objects.filter(study=study, role__in=roles).values("user")
    return list(User.objects.filter(pk__in=members).order_by("username").values_list("username", flat=True))


def line_of(creator: dict[str, str]) -> str:
    return "; ".join([creator["name"], creator.get("affiliation", ""), creator.get("orcid", "")]).rstrip("; ")


def creator_in(line: str) -> dict[str, str]:
    parts = [part.strip() for part in line.split(";")]
    found = dict(zip(("name", "affiliation", "orcid"), [*parts, "", ""], strict=False))
    return {name: text for name, text in found.items() if text}
