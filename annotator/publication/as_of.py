"""A table with the names of an earlier version of the codebook, and labels as they were merged by then."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from annotator.codebook.models import Version
from annotator.publication.columns import Row, Table
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
    return replace(table, batches=_batches(table, Then.of(version), is_mapped=is_mapped))


def _batches(table: Table, then: Then, *, is_mapped: bool) -> Iterator[list[Row]]:
    name, uid = table.place("category"), table.place("category_uid")
    for batch in table.batches:
        yield [_named(row, name, uid, then, is_mapped=is_mapped) for row in batch]


def _named(row: Row, name: int, uid: int, then: Then, *, is_mapped: bool) -> Row:
    cells = list(row)
    if is_mapped:
        cells[uid] = then.places.get(str(cells[uid]), cells[uid])
    cells[name] = then.names.get(str(cells[uid]), cells[name])
    return tuple(cells)
