"""The forms of sampling."""

from dataclasses import replace
from typing import Any
from zlib import crc32

from django import forms
from django.http import QueryDict

from annotator.collection.models import Harvest, Repository
from annotator.sampling.models import Bug, Sample
from annotator.sampling.planning import SIZED, size_for
from annotator.sampling.rules import MOST, Rule
from annotator.stats import draws
from annotator.studies.models import Study
from annotator.web.errors import BadInput

KINDS = [
    (draws.ALL, "all of the pool"),
    (draws.NEWEST, "the newest"),
    (draws.RANDOM, "at random"),
    (draws.SMALLEST, "by stratum: the smallest whole, of the others as many bugs"),
    (draws.PROPORTIONAL, "by stratum, in proportion to its size"),
    (draws.EQUAL, "by stratum, the same number of each"),
]
ORDERS = [(draws.NEWEST, "newest first"), (draws.RANDOM, "at random")]
LEVELS = [("", "–"), ("90", "90 %"), ("95", "95 %"), ("99", "99 %")]
LARGEST_SEED = 2**31 - 1


class SampleForm(forms.Form):
    """How a sample is drawn. The same fields, in the address, make the preview."""

    name = forms.CharField(label="Name", max_length=120)
    kind = forms.ChoiceField(label="Draw", choices=KINDS, initial=draws.ALL, widget=forms.RadioSelect)
    count = forms.IntegerField(label="How many bugs", min_value=1, max_value=MOST, required=False)
    confidence = forms.ChoiceField(label="or as many as it takes at", choices=LEVELS, required=False, initial="")
    margin = forms.FloatField(label="confidence, ± percent", min_value=0.1, max_value=50, required=False, initial=5)
    by = forms.ChoiceField(label="Strata", choices=[("repository", "repositories"), ("kind", "kinds of items")])
    within = forms.ChoiceField(label="Order within a stratum", choices=ORDERS)
    moment = forms.ChoiceField(
        label="Newest goes by the date",
        choices=[("merged", "merged"), ("closed", "closed"), ("opened", "opened")],
    )
    harvest = forms.ChoiceField(label="Pool", required=False)
    repositories = forms.MultipleChoiceField(
        label="Only of the repositories",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen: all.",
    )
    seed = forms.IntegerField(label="Seed", min_value=0, max_value=LARGEST_SEED)
    override_reason = forms.CharField(
        label="Why it is drawn though a harvest is not complete",
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(self, study: Study, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.study = study
        harvests = Harvest.objects.filter(study=study).order_by("number").values_list("number", flat=True)
        pools = [("", "all that is in"), *((str(number), f"harvest {number}") for number in harvests)]
        self.fields["harvest"].choices = pools  # type: ignore[attr-defined]  # it has choices
        labels = list(Repository.objects.filter(study=study).order_by("label").values_list("label", flat=True))
        self.fields["repositories"].choices = [(label, label) for label in labels]  # type: ignore[attr-defined]  # it has choices
        number = Sample.objects.filter(study=study).count() + 1
        self.fields["name"].initial = f"Sample {number}" if number > 1 else "Main sample"
        # The same at each look, so that a preview shows what will be drawn.
        self.fields["seed"].initial = crc32(f"{study.slug}:sample {number}".encode()) % 1_000_000

    @property
    def has_repositories(self) -> bool:
        return len(self.fields["repositories"].choices) > 1  # type: ignore[attr-defined]  # it has choices

    @property
    def has_harvests(self) -> bool:
        return len(self.fields["harvest"].choices) > 1  # type: ignore[attr-defined]  # it has choices

    def rule(self) -> Rule:
        """As the fields say it; where a confidence level is chosen, with the number that it asks for."""
        data = self.cleaned_data
        level = data["confidence"] if data["kind"] in SIZED and not data["count"] else ""
        rule = Rule(
            kind=data["kind"],
            count=data["count"] or (1 if level else None),
            by=data["by"] or "repository",
            within=data["within"] or draws.NEWEST,
            moment=data["moment"] or "merged",
            harvest=int(data["harvest"]) if data["harvest"] else None,
            repositories=tuple(data["repositories"]),
        )
        if not level:
            return rule
        if not data["margin"]:
            raise BadInput("Say within which margin the confidence level holds.")
        return replace(rule, count=size_for(self.study, rule, confidence=float(level), margin=data["margin"]))


def asked_for(study: Study, sent: QueryDict) -> SampleForm:
    """The form as an address fills it, with what it leaves out as nobody has chosen it."""
    blank, filled = SampleForm(study), sent.copy()
    for name, field in blank.fields.items():
        value = blank.get_initial_for_field(field, name)
        if name not in filled and not isinstance(field, forms.MultipleChoiceField):
            if value is None and isinstance(field, forms.ChoiceField):
                value = field.choices[0][0]  # type: ignore[index]  # a list of pairs
            filled[name] = "" if value is None else str(value)
    return SampleForm(study, filled)


class TakeForm(forms.Form):
    stratum = forms.CharField(required=False, max_length=300)
    most = forms.IntegerField(required=False, min_value=1, max_value=MOST)


class LeaveForm(forms.Form):
    """A bug leaves by a lead's word. What is not a bug leaves by its settled verdict."""

    reason = forms.ChoiceField(
        label="It leaves as",
        choices=[(Bug.Left.DUPLICATE, "a duplicate"), (Bug.Left.WITHDRAWN, "withdrawn")],
    )
    note = forms.CharField(
        label="Why",
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Of which bug it is the duplicate, or what speaks against it.",
    )


class ReasonForm(forms.Form):
    reason = forms.CharField(label="Why", max_length=4000)
