"""Two people at the same codebook: the second is told what changed since the page was opened, and loses nothing."""

from collections.abc import Collection

from annotator.codebook.differing import FACET, Difference, differences
from annotator.codebook.models import Codebook, Version
from annotator.codebook.queries import as_document
from annotator.codebook.reading import to_document
from annotator.web.errors import Refused


class ChangedMeanwhile(Refused):
    """What the person looked at is not what is there now."""

    def __init__(self, found: tuple[Difference, ...], *, seen: int, now: int) -> None:
        said = " ".join(f"{difference.says}." for difference in found)
        super().__init__(f"Since you opened the page (v{seen}, now v{now}): {said} Nothing of yours is stored yet.")
        self.differences, self.seen, self.now = found, seen, now


def changed_since(codebook: Codebook, seen: int | None) -> tuple[Difference, ...]:
    """What of the whole codebook is different from the version that was before the person's eyes."""
    if seen is None or seen == codebook.number:
        return ()
    then = Version.objects.filter(codebook=codebook, number=seen).first()
    if then is None:
        return ()
    return tuple(differences(to_document(then.document), as_document(codebook)))


def refuse_changed(codebook: Codebook, uids: Collection[str], *, seen: int | None) -> None:
    """The codebook's row is held."""
    touched = set(uids)
    found = tuple(each for each in changed_since(codebook, seen) if touched & each.uids)
    if found and seen is not None:
        raise ChangedMeanwhile(found, seen=seen, now=codebook.number)


def refuse_changed_facet(codebook: Codebook, key: str, *, seen: int | None) -> None:
    """The question itself, not its categories. The codebook's row is held."""
    found = tuple(each for each in changed_since(codebook, seen) if each.kind == FACET and each.facet == key)
    if found and seen is not None:
        raise ChangedMeanwhile(found, seen=seen, now=codebook.number)
