"""What of the codebook changed since a rater's last bug, and which of the rater's own answers it may concern."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from annotator.accounts.models import User
from annotator.codebook import differing
from annotator.codebook.differing import Difference, differences
from annotator.codebook.models import Codebook, Version
from annotator.codebook.reading import to_document
from annotator.labeling.models import Answer, Assignment, Round

MOST_LISTED = 100
FOR_ALL_ANSWERS = (differing.ADDED, differing.RESTORED, differing.MERGED, differing.SPLIT)  # of the facet
FOR_ITS_OWN = (differing.CLARIFIED, differing.REDEFINED, differing.RETIRED)
UNTOLD = {"other names", "whether it is checked against its source"}


@dataclass(frozen=True)
class News:
    """From the version that the rater last saw to the one in force."""

    seen: int
    now: int
    found: tuple[Difference, ...]

    @property
    def has_second_look(self) -> bool:
        return any(each.kind in (*FOR_ALL_ANSWERS, *FOR_ITS_OWN) for each in self.found)


def news_since(codebook: Codebook, seen: int | None) -> News | None:
    """None where nothing changed that a rater would want to know. No query once the process has told it."""
    if not seen or seen >= codebook.number:
        return None
    found = _told(codebook.pk, seen, codebook.number, codebook.digest)
    return News(seen, codebook.number, found) if found else None


@lru_cache(maxsize=128)
def _told(
    codebook_id: int, seen: int, now: int, digest: str
) -> tuple[Difference, ...]:  # the digest tells copies apart
    documents = Version.objects.filter(codebook=codebook_id, number__in=[seen, now]).order_by("number")
    both = [to_document(document) for document in documents.values_list("document", flat=True)]
    return tuple(filter(_is_told, differences(*both))) if len(both) == 2 else ()


def _is_told(found: Difference) -> bool:
    return not (found.kind == differing.CLARIFIED and {what for what, _, _ in found.words} <= UNTOLD)


def last_seen(round_: Round, rater: User) -> int | None:
    """The version under which the rater answered the last bug of this round, in the rater's own order."""
    mine = Answer.objects.filter(
        assignment__round=round_, assignment__rater=rater, assignment__state=Assignment.State.SUBMITTED, is_current=True
    )
    found: int | None = mine.order_by("-assignment__position").values_list("version", flat=True).first()
    return found


@dataclass(frozen=True)
class SecondLook:
    """A change, and the rater's own answers before it that may be seen otherwise now: number and title of each bug."""

    difference: Difference
    bugs: tuple[tuple[int, str], ...]


def second_looks(round_: Round, rater: User, news: News) -> list[SecondLook]:
    return [
        SecondLook(each, tuple(_bugs(round_, rater, each, before=news.now)))
        for each in news.found
        if each.kind in (*FOR_ALL_ANSWERS, *FOR_ITS_OWN)
    ]


def _bugs(round_: Round, rater: User, found: Difference, *, before: int) -> Iterable[tuple[int, str]]:
    mine = Answer.objects.filter(round=round_, rater=rater, facet__key=found.facet, is_current=True, version__lt=before)
    if found.kind in FOR_ITS_OWN:
        mine = mine.filter(category__uid=found.uid)
    rows = mine.order_by("assignment__position").values_list("bug__number", "bug__item__title").distinct()
    return rows[:MOST_LISTED]
