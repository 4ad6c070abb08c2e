"""A table with the names of an earlier version of the codebook, and labels as they were merged by then."""

from dataclasses import dataclass, replace
from typing import Any

from annotator.codebook.models import Version
from annotator.publication.batches import plain
from annotator.publication.columns import Batch, Table
from annotator.studies.models import Study
from annotator.web.errors import BadInput
from annotator.web.numbers import whole


@dataclass(frozen=True)
class Then:
    """What categories were called, and what had taken whose place, by their ids."""

    names: dict[str, str]
    places: dict[str, str]

    @classmethod
    def of(cls, version: Version) -> "Then":
        listed: list[dict[str, Any]] = [each for facet in version.document["facets"] for each in facet["categories"]]
        return cls(
            names={each["id"]: each["name"] for each in listed},
            places={each["id"]: each["merged_into"] for each in listed if each.get("merged_into")},
        )


def version_named(study: Study, text: str) -> Version | None:
    """By its number, which may follow a v; none where nothing is asked."""
    if not text:
        return None
    number = whole(text.removeprefix("v"))
    found = Version.objects.filter(codebook__study=study, number=number).first() if number is not None else None
    if found is None:
        raise BadInput(f"The codebook has no version “{text[:20]}”.")
    return found


def as_published(table: Table, version: Version, *, is_mapped: bool) -> Table:
    """`is_mapped`: labels count as what had taken their category's place; answers stay what was answered."""
    if not any(column.name == "category_uid" for column in table.columns):
        raise BadInput(f"The table {table.name} names no categories by id, so it cannot be had as of a version.")
    then = Then.of(version)
    return replace(table, batches=(_named(batch, table, then, is_mapped=is_mapped) for batch in table.batches))


def _named(batch: Batch, table: Table, then: Then, *, is_mapped: bool) -> Batch:
    """A category's name and id are of one key, and change together."""
    name, uid = table.place("category"), table.place("category_uid")
    named = list(batch)
    if is_mapped:
        named[uid] = batch[uid].written(lambda was: then.places.get(was, was))
    ids, names = named[uid], batch[name]
    says = [then.names.get(str(id_), was) for id_, was in zip(ids.values(), names.values(), strict=True)]
    named[name] = plain(says)
    return named
