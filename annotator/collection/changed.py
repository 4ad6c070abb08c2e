"""Which files an item changes: of the copy that was fetched, else as a column of its sheet lists them."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from annotator.collection.models import ChangedFile, Context, Repository

Place = tuple[int, int]  # item's id, ordinal of its bug
LISTED = re.compile(r"(\S.*?)\s*\+\s*[\w,]+\s*[-−–]\s*[\w,]+")  # path+adds-dels, a line each
BARE = re.compile(r"\S+/\S+")  # a line that was cut off


def changed_paths(places: Iterable[Place]) -> dict[Place, list[str]]:
    """Two queries. A sheet may list the files of each bug of an item apart."""
    wanted = list(dict.fromkeys(places))
    items = {item for item, _ in wanted}
    fetched: dict[int, list[str]] = defaultdict(list)
    rows = ChangedFile.objects.filter(item__in=items).order_by("item", "position")
    for item, path in rows.values_list("item_id", "path").iterator(chunk_size=5000):
        fetched[item].append(path)
    missing = [item for item in items if item not in fetched]
    listed: dict[Place, list[str]] = {}
    for item, ordinal, values in Context.objects.filter(item__in=missing).values_list("item_id", "ordinal", "values"):
        listed[item, ordinal] = listed_in(values)
    return {place: fetched.get(place[0]) or listed.get(place, []) for place in wanted}


def listed_in(values: Mapping[str, object]) -> list[str]:
    """The paths in the first column that lists files with what was added and removed, a line each."""
    for cell in values.values():
        lines = [line.strip() for line in str(cell).splitlines() if line.strip()]
        counted = [LISTED.fullmatch(line) for line in lines]
        if any(counted) and all(found or BARE.fullmatch(line) for line, found in zip(lines, counted, strict=True)):
            return [found[1] if found else line for line, found in zip(lines, counted, strict=True)]
    return []


def names_of(repository: Repository | None) -> list[str]:
    """What a repository may be called: as its sheet has it, and on GitHub at any time."""
    if repository is None:
        return []
    place = f"{repository.owner}/{repository.name}" if repository.owner and repository.name else ""
    return [name for name in (repository.label, place, *repository.names) if name]
