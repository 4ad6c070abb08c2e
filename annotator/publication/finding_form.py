"""The form of a finding: categories and repositories are chosen, so that none is mistyped."""

from collections.abc import Sequence
from typing import Any

from django import forms

from annotator.analysis.labels import FINAL, UNANIMOUS, raters_with_labels
from annotator.analysis.queries import Question, questions_of
from annotator.publication.findings import LONGEST, REPOSITORY, Asked
from annotator.publication.models import Finding
from annotator.sampling.models import Bug
from annotator.studies.models import Study

Group = tuple[str, list[tuple[str, str]]]


def listed(label: str, help_text: str, *, required: bool) -> forms.MultipleChoiceField:
    boxes = forms.CheckboxSelectMultiple(attrs={"class": "boxes"})
    return forms.MultipleChoiceField(label=label, help_text=help_text, required=required, widget=boxes)


class FindingForm(forms.Form):
    """A box's value is the facet's key, or "repository", a colon, and the uid or label: the boxes say which facet is meant."""

    sentence = forms.CharField(
        label="Sentence",
        widget=forms.Textarea(attrs={"rows": 2}),
        max_length=LONGEST,
        help_text="Numbers stand in braces: {share} of bugs are crashes ({count} of {n}).",
    )
    categories = listed("Categories", "Of one facet. Those below them count too.", required=True)
    within = listed("Only within", "Categories of another facet, or repositories. None: all bugs.", required=False)
    labels = forms.ChoiceField(label="Labels")
    why = forms.CharField(label="Why it is changed", widget=forms.Textarea(attrs={"rows": 2}), max_length=2_000)

    def __init__(self, study: Study, data: Any = None, *, held: Finding | None = None) -> None:
        super().__init__(data, initial=begun(held))
        facets = [group_of(question) for question in questions_of(study)]
        raters = [(name, name) for name in raters_with_labels(study)]
        choices: dict[str, Sequence[Any]] = {
            "categories": facets,
            "within": [*facets, *repositories_of(study)],
            "labels": [(FINAL, "final labels"), (UNANIMOUS, "unanimous labels"), *raters],
        }
        for name, offered in choices.items():
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)  # noqa: S101  # for the types
            field.choices = offered
        if held is None:
            del self.fields["why"]

    def clean(self) -> dict[str, Any]:
        sent = super().clean() or self.cleaned_data
        for name in ("categories", "within"):
            if len({value.partition(":")[0] for value in sent.get(name, ())}) > 1:
                self.add_error(name, "Take boxes of one heading.")
        return sent

    def asked(self) -> dict[str, Any]:
        facet, categories = apart(self.cleaned_data["categories"])
        across, within = apart(self.cleaned_data["within"])
        chosen = {"facet": facet, "categories": categories, "across": across, "within": within}
        return chosen | {"labels": self.cleaned_data["labels"]}


def group_of(question: Question) -> Group:
    return (question.name, [(f"{question.key}:{code.uid}", code.name) for code in question.codes])


def repositories_of(study: Study) -> list[Group]:
    """Those that a bug comes from."""
    bugs = Bug.objects.filter(study=study, item__repository__isnull=False).order_by("item__repository__label")
    labels = bugs.values_list("item__repository__label", flat=True).distinct()
    return [("Repository", [(f"{REPOSITORY}:{label}", label) for label in labels])] if labels else []


def apart(values: Sequence[str]) -> tuple[str, list[str]]:
    return (values[0].partition(":")[0] if values else "", [value.partition(":")[2] for value in values])


def begun(held: Finding | None) -> dict[str, Any]:
    if held is None:
        return {}
    asked = Asked.of(held.asked)
    boxes = {
        "categories": [f"{asked.facet}:{uid}" for uid in asked.categories],
        "within": [f"{asked.across}:{uid}" for uid in asked.within],
    }
    return {"sentence": held.sentence, "labels": asked.labels} | boxes
