"""The form of a finding."""

from typing import Any

from django import forms

from annotator.analysis.labels import FINAL, UNANIMOUS, raters_with_labels
from annotator.analysis.queries import questions_of
from annotator.publication.findings import LONGEST, REPOSITORY, Asked
from annotator.publication.models import Finding
from annotator.studies.models import Study


class FindingForm(forms.Form):
    """Categories are named one a line: a name may hold a comma."""

    sentence = forms.CharField(
        label="Sentence",
        widget=forms.Textarea(attrs={"rows": 2}),
        max_length=LONGEST,
        help_text="Numbers stand in braces: {share} of bugs are crashes ({count} of {n}).",
    )
    facet = forms.ChoiceField(label="Facet")
    categories = forms.CharField(
        label="Categories",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Names as in the codebook, one a line; those below them count too.",
    )
    across = forms.ChoiceField(label="Only within", required=False)
    within = forms.CharField(
        label="Which of it",
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Categories of that facet, or repositories, one a line.",
    )
    labels = forms.ChoiceField(label="Labels")
    why = forms.CharField(label="Why it is changed", widget=forms.Textarea(attrs={"rows": 2}), max_length=2_000)

    def __init__(self, study: Study, data: Any = None, *, held: Finding | None = None) -> None:
        questions = questions_of(study)
        super().__init__(data, initial=begun(held, {code.uid: code.name for each in questions for code in each.codes}))
        facets = [(each.key, each.name) for each in questions]
        raters = [(name, name) for name in raters_with_labels(study)]
        choices = {
            "facet": facets,
            "across": [("", "all bugs"), (REPOSITORY, "repository"), *facets],
            "labels": [(FINAL, "final labels"), (UNANIMOUS, "unanimous labels"), *raters],
        }
        for name, offered in choices.items():
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)  # noqa: S101  # for the types
            field.choices = offered
        if held is None:
            del self.fields["why"]

    def asked(self) -> dict[str, Any]:
        sent = self.cleaned_data
        lists = {
            name: [line.strip() for line in sent[name].splitlines() if line.strip()]
            for name in ("categories", "within")
        }
        return {name: sent[name] for name in ("facet", "across", "labels")} | lists


def begun(held: Finding | None, names: dict[str, str]) -> dict[str, Any]:
    if held is None:
        return {}
    asked = Asked.of(held.asked)
    listed = {name: "\n".join(names.get(uid, uid) for uid in getattr(asked, name)) for name in ("categories", "within")}
    return {"sentence": held.sentence, "facet": asked.facet, "across": asked.across, "labels": asked.labels} | listed
