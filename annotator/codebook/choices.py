"""What may be answered, ready for checking a submission: cached by version, so it costs no query."""

from dataclasses import dataclass
from functools import lru_cache

from annotator.codebook.models import Category, Codebook, Facet, Version


@dataclass(frozen=True)
class FacetChoices:
    id: int
    key: str
    name: str
    is_many: bool
    is_optional: bool
    decided: str
    takes_codes: bool
    categories: dict[str, int]  # uid → id, the active ones
    names: dict[str, str]  # uid → name


@dataclass(frozen=True)
class Choices:
    """The facets of a codebook by key, in order, the built-in verdict apart."""

    facets: dict[str, FacetChoices]
    verdict: FacetChoices | None
    bug_id: int | None  # category "bug" of the verdict
    not_a_bug_id: int | None
    reasons: dict[str, str]  # why it is not a bug: uid → name

    def reason(self, word: str) -> str | None:
        """The uid of a reason given by uid or name; any word where the codebook lists none."""
        if not self.reasons or word in self.reasons:
            return word
        return next((uid for uid, name in self.reasons.items() if name == word), None)


def choices_of(codebook: Codebook) -> Choices:
    """Choices as of the codebook's present version."""
    return _read(codebook.pk, codebook.number, codebook.digest)


@lru_cache(maxsize=64)
def _read(codebook_id: int, number: int, digest: str) -> Choices:  # what the cache goes by
    facets = list(Facet.objects.filter(codebook_id=codebook_id, retired_at=None))
    categories = _offered(codebook_id, number, facets)
    read = [_facet(facet, categories) for facet in facets]
    verdict = next((facet for facet in read if facet.key == Facet.VERDICT), None)
    by_name = {name: verdict.categories[uid] for uid, name in verdict.names.items()} if verdict else {}
    not_a_bug = by_name.get(Category.NOT_A_BUG)
    reasons = {category.uid: category.name for category in categories if not_a_bug and category.parent_id == not_a_bug}
    return Choices(
        facets={facet.key: facet for facet in read if facet.key != Facet.VERDICT},
        verdict=verdict,
        bug_id=by_name.get(Category.BUG),
        not_a_bug_id=not_a_bug,
        reasons=reasons,
    )


def _offered(codebook_id: int, number: int, facets: list[Facet]) -> list[Category]:
    """As that version has them, so that an answer's stamp is true though the codebook is changed at the same moment."""
    rows = Category.objects.filter(facet__in=facets)
    found = Version.objects.filter(codebook=codebook_id, number=number).values_list("document", flat=True).first()
    if found is None:
        return list(rows.filter(state=Category.State.ACTIVE))
    listed = [each for facet in found["facets"] for each in facet["categories"] if not each.get("retired")]
    names = {each["id"]: each["name"] for each in listed}
    offered = [row for row in rows if row.uid in names]
    for row in offered:
        row.name = names[row.uid]
    return offered


def _facet(facet: Facet, categories: list[Category]) -> FacetChoices:
    mine = [category for category in categories if category.facet_id == facet.pk]
    return FacetChoices(
        id=facet.pk,
        key=facet.key,
        name=facet.name,
        is_many=facet.is_many,
        is_optional=facet.is_optional,
        decided=facet.decided,
        takes_codes=facet.takes_codes,
        categories={category.uid: category.pk for category in mine},
        names={category.uid: category.name for category in mine},
    )
