"""The entries of a list of addresses, looked at again: there is no search that would show what was edited."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from annotator.clients.github.copies import Glance
from annotator.clients.github.errors import Broken, Gone
from annotator.collection import edits
from annotator.collection.models import Finding, Repository, Window

if TYPE_CHECKING:
    from annotator.collection.harvesting import Harvester

TOGETHER = 50  # asked for in one question


def look(run: "Harvester", window: Window) -> None:
    """The next entries by number; what was edited is compared."""
    held = Finding.objects.filter(window=window, state=Finding.State.FETCHED, number__gt=int(window.cursor or 0))
    numbers = list(held.order_by("number").values_list("number", flat=True)[:TOGETHER])
    if numbers:
        edits.follow(run, window.repository, list(_glances(run, window.repository, numbers)))
    with run.held():
        window.cursor = str(numbers[-1]) if len(numbers) == TOGETHER else ""
        window.state = Window.State.LOOKING if window.cursor else Window.State.DONE
        window.save(update_fields=["cursor", "state"])


def _glances(run: "Harvester", repository: Repository, numbers: Sequence[int]) -> Iterator[Glance]:
    for copy in run.github.fetch_many(f"{repository.owner}/{repository.name}", numbers).values():
        if not isinstance(copy, Gone | Broken):
            yield Glance(copy.id, copy.number, copy.updated_at)
