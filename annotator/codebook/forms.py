"""What a lead fills in."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import QueryDict

from annotator.codebook.changes import CategoryChange, FacetChange
from annotator.codebook.differing import Words
from annotator.codebook.document import Document
from annotator.codebook.models import Category, Facet
from annotator.codebook.reading import NAME


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _area(rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows})


def laid_on_top(data: QueryDict, *, base: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[QueryDict, list[Words]]:
    """What a person typed over an older state, laid over the present one: what they left alone is as it is now.

    With it what both changed: the field, as it was, as the other person has it now.
    """
    typed, crossed = data.copy(), []
    for name, value in now.items():
        was, mine = _sent(base.get(name)), data.get(name, "")
        if _same(mine, was):
            typed[name] = _sent(value)
            if value is False:
                del typed[name]
        elif not _same(_sent(value), was) and not _same(_sent(value), mine):
            crossed.append((name, was, _sent(value)))
    return typed, crossed


def _sent(value: Any) -> str:
    """As a browser sends it."""
    return "on" if value is True else "" if value in (None, False) else str(value)


def _same(one: str, other: str) -> bool:
    return one.replace("\r\n", "\n").strip() == other.replace("\r\n", "\n").strip()


class CategoryForm(forms.Form):
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)
    name = forms.CharField(label="Name", max_length=NAME, strip=False)
    hotkey = forms.CharField(
        label="Hotkey", required=False, max_length=1, widget=forms.TextInput(attrs={"class": "mono", "size": 2})
    )
    parent = forms.ChoiceField(label="Parent", required=False)
    rank = forms.FloatField(label="Place on the scale", required=False)
    definition = forms.CharField(label="Definition", required=False, max_length=10_000, widget=_area(3))
    include = forms.CharField(label="Include", required=False, max_length=10_000, widget=_area(4))
    exclude = forms.CharField(label="Exclude", required=False, max_length=10_000, widget=_area(4))
    examples = forms.CharField(
        label="Examples", required=False, max_length=50_000, widget=_area(3), help_text="One a line."
    )
    aka = forms.CharField(
        label="Other names",
        required=False,
        max_length=50_000,
        widget=_area(2),
        help_text="One a line. Sheets and commands may use them.",
    )
    is_unverified = forms.BooleanField(label="Not checked against its source", required=False)

    def __init__(self, *args: Any, facet: Facet, category: Category | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.category = category
        self.crossed: list[Words] = []  # what somebody else changed too, since the page was opened
        others = facet.categories.filter(state=Category.State.ACTIVE, is_not_applicable=False)
        if category:
            others = others.exclude(pk=category.pk)
            self.initial = _initial(category)
        parents = [("", "none, top level"), *((c.uid, c.name[:80]) for c in others)]
        wide = forms.Select(attrs={"class": "full"})
        self.fields["parent"] = forms.ChoiceField(label="Parent", required=False, choices=parents, widget=wide)
        if facet.kind != Facet.Kind.ORDINAL:
            del self.fields["rank"]
        self.order_fields(list(CategoryForm.base_fields))

    def change(self) -> CategoryChange:
        filled = self.cleaned_data
        return CategoryChange(
            name=self._name(),
            hotkey=filled["hotkey"].strip(),
            parent=filled["parent"],
            rank=filled.get("rank"),
            definition=filled["definition"].strip(),
            include=filled["include"].strip(),
            exclude=filled["exclude"].strip(),
            examples=lines(filled["examples"]),
            aka=lines(filled["aka"]),
            is_unverified=filled["is_unverified"],
        )

    def _name(self) -> str | None:
        """A name with line ends, as sheets have them, does not survive a text field: unless it differs, it stays."""
        name: str = self.cleaned_data["name"]
        old = self.category.name if self.category else ""
        is_same = "".join(old.split()) == "".join(name.split()) and "\n" in old
        return None if is_same else name.strip()


def _initial(category: Category) -> dict[str, Any]:
    """As the form shows it at first."""
    return {
        "version": category.facet.codebook.number,
        "name": category.name,
        "hotkey": category.hotkey,
        "parent": category.parent.uid if category.parent else "",
        "rank": category.rank,
        "definition": category.definition,
        "include": category.include,
        "exclude": category.exclude,
        "examples": "\n".join(category.examples),
        "aka": "\n".join(category.aka),
        "is_unverified": category.is_unverified,
    }


def initial_then(document: Document, facet: str, uid: str) -> dict[str, Any]:
    """The same of a category as an earlier version has it; empty where it had none."""
    mine = document.facet(facet)
    found = next((each for each in mine.categories if each.id == uid), None) if mine else None
    if mine is None or found is None:
        return {}
    ids = {each.name: each.id for each in sorted(mine.categories, key=lambda each: not each.retired)}
    return {
        "name": found.name,
        "hotkey": found.hotkey,
        "parent": ids.get(found.parent, ""),
        "rank": found.order,
        "definition": found.definition,
        "include": found.include,
        "exclude": found.exclude,
        "examples": "\n".join(found.examples),
        "aka": "\n".join(found.aka),
        "is_unverified": found.unverified,
    }


class FacetForm(forms.Form):
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)
    name = forms.CharField(label="Name", max_length=120)
    hotkey = forms.CharField(
        label="Hotkey", required=False, max_length=1, widget=forms.TextInput(attrs={"class": "mono", "size": 2})
    )
    definition = forms.CharField(label="Question", required=False, max_length=10_000, widget=_area(3))
    kind = forms.ChoiceField(label="Kind", choices=Facet.Kind.choices)
    answers = forms.ChoiceField(label="Answers", choices=[("one", "One"), ("many", "Several")])
    decided = forms.ChoiceField(label="Decided", choices=Facet.Decided.choices)
    is_optional = forms.BooleanField(label="May be answered “not applicable”", required=False)
    takes_codes = forms.BooleanField(label="Open coding: raters may propose codes of their own", required=False)

    structure = ("kind", "answers", "decided", "is_optional")

    def __init__(self, *args: Any, facet: Facet | None = None, is_fixed: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if facet:
            self.initial = {
                "version": facet.codebook.number,
                "name": facet.name,
                "hotkey": facet.hotkey,
                "definition": facet.definition,
                "kind": facet.kind,
                "answers": "many" if facet.is_many else "one",
                "decided": facet.decided,
                "is_optional": facet.is_optional,
                "takes_codes": facet.takes_codes,
            }
        for name in self.structure:
            self.fields[name].disabled = is_fixed

    def change(self) -> FacetChange:
        filled = self.cleaned_data
        return FacetChange(
            name=filled["name"],
            hotkey=filled["hotkey"].strip(),
            definition=filled["definition"].strip(),
            kind=filled["kind"],
            is_many=filled["answers"] == "many",
            decided=filled["decided"],
            is_optional=filled["is_optional"],
            takes_codes=filled["takes_codes"],
        )


class NewFacetForm(FacetForm):
    key = forms.CharField(
        label="Id", max_length=60, help_text="For sheets, commands and exports, such as root_cause. It stays."
    )
    field_order = ["key", "name"]


class ApartForm(forms.Form):
    """A pair of categories, and how to tell them apart."""

    first = forms.ChoiceField(label="One category", widget=forms.Select(attrs={"class": "full"}))
    second = forms.ChoiceField(label="The other", widget=forms.Select(attrs={"class": "full"}))
    text = forms.CharField(
        label="How to tell them apart",
        required=False,
        max_length=10_000,
        widget=_area(3),
        help_text="Raters see it when either is chosen. Empty, the pair has no note any more.",
    )

    def __init__(self, *args: Any, facet: Facet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = facet.categories.filter(state=Category.State.ACTIVE, is_not_applicable=False)
        choices = [(row.uid, row.name[:80]) for row in rows]
        for name in ("first", "second"):
            self.fields[name].choices = choices  # type: ignore[attr-defined]  # a field with choices


class FileForm(forms.Form):
    file = forms.FileField(label="Codebook file", help_text="YAML, JSON or CSV, at most 500 kB.")
