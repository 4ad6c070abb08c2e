"""What items say about each other, kept as links: a pull request and the issue that it closes, what a text mentions.

A link leads to the other item once the study holds it, whichever of the two arrives first.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from annotator.clients.github import links
from annotator.clients.github.copies import Copy, PullRequestCopy
from annotator.collection.models import Item, Link
from annotator.collection.repositories import GITHUB, Repositories
from annotator.studies.models import Study

MOST_MENTIONS = 20
BATCH = 500
Source = Link.Source


@dataclass(frozen=True)
class Place:
    """Where a link leads."""

    host: str
    owner: str
    name: str
    number: int

    @property
    def repository(self) -> str:
        return f"{self.host}/{self.owner}/{self.name}".lower()

    @property
    def identity(self) -> str:
        return f"{self.repository}#{self.number}"


def keep_links(*, study: Study, host: str, pairs: Sequence[tuple[Item, Copy]]) -> None:
    """Of items whose copies were taken: what they link to, and who linked to them before."""
    if not pairs:
        return
    known = Repositories(study)
    rows = [Link(item=item, **values) for item, copy in pairs for values in said(copy, host or GITHUB, known)]
    lead(rows, study=study, known=known)
    Link.objects.bulk_create(rows, ignore_conflicts=True)
    lead_to(study=study, items=[item for item, _ in pairs], known=known)


def today(place: Place, known: Repositories, github_id: int | None = None) -> Place:
    """As the study calls the repository, so that a link through a former name is the same link."""
    row = known.find(place.repository, github_id)
    return Place(place.host, row.owner, row.name, place.number) if row and row.owner else place


def said(copy: Copy, host: str, known: Repositories) -> list[dict[str, Any]]:
    """Each place once, by the strongest word about it: GitHub's reference, then a keyword, then a mention."""
    found: dict[str, dict[str, Any]] = {}
    own = today(place_of(copy.repository, copy.number, host), known, copy.repository_id)
    for source, place, title in (*_closing(copy, host, known), *_written(copy, host, known)):
        if place.identity == own.identity:
            continue
        there = {"host": place.host, "owner": place.owner, "name": place.name, "number": place.number}
        found.setdefault(place.identity, {**there, "source": source, "title": title})
    return list(found.values())


def place_of(repository: str, number: int, host: str) -> Place:
    owner, _, name = repository.partition("/")
    return Place(host[:200], owner, name, number)


Said = Iterator[tuple[str, Place, str]]


def _closing(copy: Copy, host: str, known: Repositories) -> Said:
    for link in copy.links:
        place = place_of(link.repository, link.number, host)
        yield Source.CLOSING, today(place, known, link.repository_id), link.title


def _written(copy: Copy, host: str, known: Repositories) -> Said:
    """An issue closes nothing, whatever it says."""
    closed: Iterable[links.Reference] = ()
    if isinstance(copy, PullRequestCopy):
        closed = [*links.closes(copy.body, repository=copy.repository), *_in_commits(copy)]
    named = links.names(f"{copy.title}\n\n{copy.body}", repository=copy.repository)[:MOST_MENTIONS]
    for source, references in ((Source.KEYWORD, closed), (Source.MENTION, named)):
        for reference in references:
            place = place_of(reference.repository, reference.number, reference.host or host)
            is_own = place.repository == place_of(copy.repository, 0, host).repository
            yield source, today(place, known, copy.repository_id if is_own else None), ""


def _in_commits(copy: PullRequestCopy) -> Iterator[links.Reference]:
    for commit in copy.commits:
        yield from links.closes(commit.message, repository=copy.repository, is_markdown=False)


# --- to the items that are held


def lead(rows: Sequence[Link], *, study: Study, known: Repositories) -> None:
    """Set the target of each link whose other end is held."""
    waiting = [row for row in rows if row.target_id is None]
    places = {id(row): Place(row.host, row.owner, row.name, row.number) for row in waiting}
    found = held(study=study, places=set(places.values()), known=known)
    for row in waiting:
        target = found.get(places[id(row)])
        if target is not None and target != row.item_id:
            row.target_id = target


def held(*, study: Study, places: set[Place], known: Repositories) -> dict[Place, int]:
    """Ids of items by place: by identity, else by repository and number, else by address."""
    if not places:
        return {}
    rows = {place: known.find(place.repository) for place in places}
    numbers = {place.number for place in places}
    repositories = {row.pk for row in rows.values() if row}
    addresses = {address: place for place in places for address in addresses_of(place)}
    by_identity = {place.identity: place for place in places}
    by_number = {(row.pk, place.number): place for place, row in rows.items() if row}
    same = Q(identity__in=by_identity) | Q(url__in=addresses)
    if repositories:
        same |= Q(repository__in=repositories, number__in=numbers)
    found: dict[Place, int] = {}
    columns = ("pk", "identity", "repository_id", "number", "url")
    for pk, identity, repository, number, url in (
        Item.objects.filter(same, study=study).order_by("pk").values_list(*columns)
    ):
        place = by_identity.get(identity) or by_number.get((repository, number)) or addresses.get(url)
        if place is not None:
            found.setdefault(place, pk)
    return found


def addresses_of(place: Place) -> tuple[str, str]:
    base = f"https://{place.host}/{place.owner}/{place.name}"
    return f"{base}/pull/{place.number}", f"{base}/issues/{place.number}"


def lead_to(*, study: Study, items: Sequence[Item], known: Repositories | None = None) -> None:
    """Links that waited for one of these items now lead there."""
    numbers = {item.number for item in items if item.number is not None}
    if numbers:
        _lead_waiting(Link.objects.filter(number__in=numbers), study, known)


def lead_all(*, study: Study) -> None:
    """Many items came in: every link that waits is looked at."""
    _lead_waiting(Link.objects.all(), study, None)


def _lead_waiting(links_: "QuerySet[Link]", study: Study, known: Repositories | None) -> None:
    rows = list(links_.filter(item__study=study, target=None))
    for some in batches(rows, BATCH):
        known = known or Repositories(study)
        lead(some, study=study, known=known)
        Link.objects.bulk_update([row for row in some if row.target_id], ["target"])


def batches(rows: Sequence[Link], size: int) -> Iterator[Sequence[Link]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def let_go(*, items: "QuerySet[Item]") -> None:
    """Before items are taken out again: links to them wait once more."""
    Link.objects.filter(target__in=items).update(target=None)
