"""Forms of screening: a criterion, and what a screening reads."""

from typing import Any
from zlib import crc32

from django import forms

from annotator.accounts.models import User
from annotator.collection.models import Item
from annotator.screening import choosing
from annotator.screening.choosing import Wanted
from annotator.screening.criteria import LONGEST_NAME, LONGEST_TEXT, free_keys
from annotator.screening.models import Criterion, Screening
from annotator.studies.models import Role, Study

LARGEST = 1_000_000


class CriterionForm(forms.Form):
    """A rule, in words that a reviewer can decide by."""

    kind = forms.ChoiceField(label="Kind", choices=Criterion.Kind.choices, initial=Criterion.Kind.EXCLUDE)
    name = forms.CharField(
        label="Name", max_length=LONGEST_NAME, help_text="Short: it is the reason in counts and in the flow."
    )
    text = forms.CharField(
        label="What it means",
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    hotkey = forms.CharField(label="Key", required=False, max_length=1)
    late_reason = forms.CharField(
        label="Why it comes only now", required=False, widget=forms.Textarea(attrs={"rows": 2}), max_length=LONGEST_TEXT
    )

    def __init__(self, study: Study, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.is_late = Screening.objects.open().filter(study=study).exists()
        keys = ", ".join(free_keys(study)) or "none"
        self.fields["hotkey"].help_text = f"After E on the reading page; left empty, the next one. Free: {keys}."
        if not self.is_late:
            del self.fields["late_reason"]

    def options(self) -> dict[str, Any]:
        """Options of `criteria.write` but study and who asks."""
        return dict(self.cleaned_data)


class ScreeningForm(forms.Form):
    """Which items are read, by whom, and what their votes decide."""

    name = forms.CharField(label="Name", max_length=120)
    harvest = forms.ChoiceField(label="Items of", required=False)
    kind = forms.ChoiceField(label="Kind", required=False, choices=[("", "any"), *Item.Kind.choices])
    repository = forms.ChoiceField(label="Repository", required=False)
    words = forms.CharField(
        label="Words in the title", required=False, max_length=500, help_text="Any of them, split by commas."
    )
    label = forms.CharField(label="Label", required=False, max_length=200, help_text="One of those on GitHub.")
    newest = forms.IntegerField(
        label="Only the newest", required=False, min_value=1, max_value=LARGEST, help_text="Left empty: all that match."
    )
    reviewers = forms.MultipleChoiceField(label="Reviewers", widget=forms.CheckboxSelectMultiple)
    overlap = forms.IntegerField(
        label="Votes a candidate",
        required=False,
        min_value=1,
        max_value=20,
        help_text="Left empty: all reviewers vote on all. Fewer rotate.",
    )
    rule = forms.ChoiceField(label="What the votes decide", choices=Screening.Rule.choices, widget=forms.RadioSelect)
    seed = forms.IntegerField(
        label="Seed", min_value=0, max_value=2**31 - 1, help_text="Each reviewer's order can be drawn again from it."
    )

    def __init__(self, study: Study, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        every = choosing.free(study).count()
        found = [(str(number), f"harvest {number}") for number in choosing.harvests(study)]
        self._offer("harvest", [("", f"all that are no candidates yet ({every:,})"), *found])
        self._offer("repository", [("", "any"), *((label, label) for label in choosing.repositories(study))])
        people = User.objects.filter(memberships__study=study, memberships__role=Role.RATER).order_by("username")
        self.people = {person.username: person for person in people}
        self._offer("reviewers", [(name, name) for name in self.people])
        self.fields["reviewers"].initial = list(self.people) if len(self.people) <= 3 else []
        number = Screening.objects.filter(study=study).count() + 1
        self.fields["name"].initial = f"Screening {number}"
        self.fields["rule"].initial = Screening.Rule.UNANIMOUS
        self.fields["seed"].initial = crc32(f"{study.slug}:screening:{number}".encode()) % 1_000_000

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        self.fields[name].choices = choices  # type: ignore[attr-defined]  # these are fields with choices

    def options(self) -> dict[str, Any]:
        """Options of `open_screening` but study and who asks."""
        data = self.cleaned_data
        wanted = Wanted(
            harvest=int(data["harvest"]) if data["harvest"] else None,
            **{name: data[name] for name in ("kind", "repository", "words", "label", "newest")},
        )
        same = {name: data[name] for name in ("name", "overlap", "rule", "seed")}
        return {**same, "wanted": wanted, "reviewers": [self.people[name] for name in data["reviewers"]]}
