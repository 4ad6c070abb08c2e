"""Reading a codebook: as a document, by the names people use, and whether anything stands on it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Model

from annotator.codebook.document import ApartDoc, CategoryDoc, Document, FacetDoc
from annotator.codebook.models import Category, Codebook, Facet, TellApart, Version
from annotator.studies.models import Study


def codebook_of(study: Study) -> Codebook | None:
    return Codebook.objects.filter(study=study).first()


def present_version(study_id: int) -> Version | None:
    """The version in force, without its document."""
    return Version.objects.filter(codebook__study=study_id).defer("document").order_by("-number").first()


def as_document(codebook: Codebook) -> Document:
    """The codebook as it stands, retired parts and permanent ids included. Three queries."""
    categories: dict[int, list[Category]] = {}
    rows = Category.objects.exclude(state=Category.State.PROPOSED)  # those are their proposers' alone
    for category in rows.filter(facet__codebook=codebook):
        categories.setdefault(category.facet_id, []).append(category)
    facets = Facet.objects.filter(codebook=codebook)
    apart: dict[int, list[TellApart]] = {}
    for note in TellApart.objects.in_use().filter(first__facet__codebook=codebook):
        apart.setdefault(note.first.facet_id, []).append(note)
    return Document(
        title=codebook.title,
        description=codebook.description,
        source=codebook.source,
        facets=tuple(facet_doc(facet, categories.get(facet.pk, []), apart.get(facet.pk, [])) for facet in facets),
    )


def facet_doc(facet: Facet, categories: list[Category], apart: Iterable[TellApart] = ()) -> FacetDoc:
    by_id: dict[int | None, Category] = {category.pk: category for category in categories}
    return FacetDoc(
        id=facet.key,
        name=facet.name,
        definition=facet.definition,
        kind=facet.kind,
        answers="many" if facet.is_many else "one",
        decided=facet.decided,
        optional=facet.is_optional,
        takes_codes=facet.takes_codes,
        hotkey=facet.hotkey,
        retired=facet.retired_at is not None,
        categories=tuple(category_doc(category, by_id) for category in categories),
        tell_apart=tuple(ApartDoc(note.first.name, note.second.name, note.text) for note in apart),
    )


def category_doc(category: Category, by_id: Mapping[int | None, Category]) -> CategoryDoc:
    return CategoryDoc(
        name=category.name,
        id=category.uid,
        parent=by_id[category.parent_id].name if category.parent_id else "",
        order=category.rank,
        definition=category.definition,
        include=category.include,
        exclude=category.exclude,
        examples=tuple(category.examples),
        hotkey=category.hotkey,
        aka=tuple(category.aka),
        unverified=category.is_unverified,
        not_applicable=category.is_not_applicable,
        code=category.is_code,
        retired=category.state != Category.State.ACTIVE,
        merged_into=by_id[category.merged_into_id].uid if category.merged_into_id else "",
        split_from=by_id[category.split_from_id].uid if category.split_from_id else "",
        redefined_in=category.redefined_in,
    )


# --- finding by the names that people use


def folded(text: str) -> str:
    """Case and runs of blanks make no difference."""
    return " ".join(text.casefold().split())


@dataclass(frozen=True, slots=True)
class Names:
    """Facets by id or name, their categories by name, other name or permanent id."""

    facets: dict[str, Facet]
    exact: dict[int, dict[str, Category]]
    loose: dict[int, dict[str, Category]]

    def facet(self, word: str) -> Facet | None:
        return self.facets.get(word) or self.facets.get(folded(word))

    def category(self, facet: Facet, word: str, *, fold_case: bool = True) -> Category | None:
        """As it stands first; then, where asked, whatever differs in case and blanks alone, if that is only one."""
        found = self.exact.get(facet.pk, {}).get(word)
        if found is None and fold_case:
            found = self.loose.get(facet.pk, {}).get(folded(word))
        return found


def names_in(codebook: Codebook) -> Names:
    """What may be named in this codebook, retired parts left out. Two queries."""
    facets = list(Facet.objects.filter(codebook=codebook, retired_at=None))
    categories: dict[int, list[Category]] = {facet.pk: [] for facet in facets}
    for category in Category.objects.filter(facet__in=facets, state=Category.State.ACTIVE):
        categories[category.facet_id].append(category)
    return Names(
        facets={word: f for f in facets for word in (folded(f.name), folded(f.key), f.key)},
        exact={key: _exact(rows) for key, rows in categories.items()},
        loose={key: _loose(rows) for key, rows in categories.items()},
    )


def _exact(categories: list[Category]) -> dict[str, Category]:
    """A name wins over another's alias, an alias over an id."""
    found = {category.uid: category for category in categories}
    found |= {alias: category for category in categories for alias in category.aka}
    return found | {category.name: category for category in categories}


def _loose(categories: list[Category]) -> dict[str, Category]:
    names = _unambiguous((folded(category.name), category) for category in categories)
    aliases = _unambiguous((folded(alias), category) for category in categories for alias in category.aka)
    return aliases | names


def _unambiguous(pairs: Any) -> dict[str, Category]:
    found: dict[str, Category] = {}
    twice: set[str] = set()
    for word, category in pairs:
        if found.setdefault(word, category) is not category:
            twice.add(word)
    return {word: category for word, category in found.items() if word not in twice}


# --- what stands on it


def is_in_use(codebook: Codebook) -> bool:
    """Whether a round was opened on it or any label stands on it.

    Asked of every table that points here, so later stages count without being known. Opening a round already
    fixes it, so the answer tells nothing of what anybody answered.
    """
    mine: list[tuple[type[Model], dict[str, Any]]] = [
        (Version, {"codebook": codebook}),
        (Facet, {"codebook": codebook}),
        (Category, {"facet__codebook": codebook}),
    ]
    return any(_is_referenced(model, which) for model, which in mine)


def _is_referenced(model: type[Model], which: dict[str, Any]) -> bool:
    for relation in model._meta.get_fields(include_hidden=True):
        other = getattr(relation, "related_model", None)
        field = getattr(relation, "field", None)
        if not (relation.auto_created and field and isinstance(other, type) and issubclass(other, Model)):
            continue
        if other._meta.app_label == "codebook":
            continue
        rows = other._base_manager.filter(**{f"{field.name}__{key}": value for key, value in which.items()})
        if rows.exists():
            return True
    return False
