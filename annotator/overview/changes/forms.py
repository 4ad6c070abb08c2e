"""What a lead fills in to merge, split, redefine or retire a category."""

from typing import Any

from django import forms

from annotator.codebook.changes import CategoryChange
from annotator.codebook.forms import lines
from annotator.codebook.models import Category
from annotator.codebook.reading import NAME

LONGEST_REASON, LONGEST_TEXT = 2000, 10_000
FEWEST_PARTS, MOST_PARTS = 2, 50


def area(rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows})


class ChangeForm(forms.Form):
    """Every change carries the version that was before the person's eyes, and its reason."""

    version = forms.IntegerField(required=False, widget=forms.HiddenInput)
    reason = forms.CharField(
        label="Why?", max_length=LONGEST_REASON, widget=area(2), help_text="Kept beside the change; readers will ask."
    )

    def __init__(self, *args: Any, category: Category, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.category = category
        self.initial = {"version": category.facet.codebook.number, **self.of(category)}
        self.order_fields(["version", *(name for name in self.fields if name not in {"version", "reason"}), "reason"])

    def of(self, category: Category) -> dict[str, Any]:
        return {}


class MergeForm(ChangeForm):
    into = forms.ChoiceField(label="Merge it into", widget=forms.Select(attrs={"class": "full"}))
    also = forms.MultipleChoiceField(
        label="Merge these into it as well",
        required=False,
        widget=forms.SelectMultiple(attrs={"size": 6, "class": "full"}),
    )

    def __init__(self, *args: Any, category: Category, **kwargs: Any) -> None:
        super().__init__(*args, category=category, **kwargs)
        others = category.facet.categories.filter(state=Category.State.ACTIVE, is_not_applicable=False)
        listed = [(other.uid, other.name[:100]) for other in others.exclude(pk=category.pk)]
        self.fields["into"].choices = [("", "choose …"), *listed]  # type: ignore[attr-defined]  # it is a choice field
        self.fields["also"].choices = listed  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        filled = super().clean() or {}
        filled["also"] = [uid for uid in filled.get("also", ()) if uid != filled.get("into")]
        return filled

    @property
    def sources(self) -> list[str]:
        return [self.category.uid, *self.cleaned_data["also"]]


class SplitForm(ChangeForm):
    """A name and a definition for each part."""

    def __init__(self, *args: Any, category: Category, rows: int = 3, **kwargs: Any) -> None:
        super().__init__(*args, category=category, **kwargs)
        self.rows = max(FEWEST_PARTS, min(rows, MOST_PARTS))
        for place in range(1, self.rows + 1):
            self.fields[f"name-{place}"] = forms.CharField(
                label=f"Part {place}", max_length=NAME, required=place <= FEWEST_PARTS
            )
            self.fields[f"definition-{place}"] = forms.CharField(
                label=f"Definition of part {place}", max_length=LONGEST_TEXT, required=False, widget=area(2)
            )
        self.order_fields(["version", *(name for name in self.fields if "-" in name), "reason"])

    @property
    def pairs(self) -> list[tuple[forms.BoundField, forms.BoundField]]:
        return [(self[f"name-{place}"], self[f"definition-{place}"]) for place in range(1, self.rows + 1)]

    @property
    def more(self) -> int:
        return min(self.rows + 3, MOST_PARTS)

    def parts(self) -> list[CategoryChange]:
        filled = self.cleaned_data
        return [
            CategoryChange(name=filled[f"name-{place}"].strip(), definition=filled[f"definition-{place}"].strip())
            for place in range(1, self.rows + 1)
            if filled[f"name-{place}"].strip()
        ]


class RedefineForm(ChangeForm):
    definition = forms.CharField(label="Definition", required=False, max_length=LONGEST_TEXT, widget=area(4))
    include = forms.CharField(label="Include", required=False, max_length=LONGEST_TEXT, widget=area(4))
    exclude = forms.CharField(label="Exclude", required=False, max_length=LONGEST_TEXT, widget=area(4))
    examples = forms.CharField(
        label="Examples", required=False, max_length=50_000, widget=area(3), help_text="One a line."
    )

    def of(self, category: Category) -> dict[str, Any]:
        return {
            "definition": category.definition,
            "include": category.include,
            "exclude": category.exclude,
            "examples": "\n".join(category.examples),
        }

    def change(self) -> CategoryChange:
        filled = self.cleaned_data
        return CategoryChange(
            definition=filled["definition"].strip(),
            include=filled["include"].strip(),
            exclude=filled["exclude"].strip(),
            examples=lines(filled["examples"]),
        )


class RetireForm(ChangeForm):
    pass
