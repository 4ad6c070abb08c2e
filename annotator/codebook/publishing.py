"""Where every change ends: the codebook is checked as a whole, published as a version, noted and recorded."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Max
from django.utils import timezone

from annotator.accounts.models import User
from annotator.codebook import reading, storing
from annotator.codebook.hotkeys import with_hotkeys
from annotator.codebook.models import Category, Change, Codebook, Facet, Version
from annotator.codebook.queries import as_document, category_doc
from annotator.history.actions import record
from annotator.web.errors import BadInput


def lock(codebook: Codebook) -> Codebook:
    """Whoever changes a codebook holds its row, so that two changes never cross."""
    return Codebook.objects.select_for_update().get(pk=codebook.pk)


def check(codebook: Codebook, facet: Facet, rows: Sequence[Category]) -> None:
    """Refuse rows that would spoil the codebook, before the database does so in fewer words."""
    document = as_document(codebook)
    old = document.facet(facet.key)
    if old is None:
        raise BadInput("That facet is not in the codebook any more. Load the page again.")
    near: dict[int | None, Category] = {
        each.pk: each for row in rows for each in (row.parent, row.merged_into, row.split_from) if each
    }
    docs = [category_doc(row, near) for row in rows]
    reading.to_document(document.with_facet(old.with_categories(*docs)).as_dict())


def settle(codebook: Codebook, *, by: User | None, reason: str) -> Version:
    """Check the codebook as a whole as if it came from a file, give free keys to what has none, publish."""
    document = reading.to_document(as_document(codebook).as_dict())
    storing.write_hotkeys(document, with_hotkeys(document), codebook)
    return publish(codebook, by=by, reason=reason)


def publish(codebook: Codebook, *, by: User | None, reason: str) -> Version:
    """Where nothing changed, the latest version is that already."""
    document = as_document(codebook)
    digest = document.digest()
    latest = Version.objects.filter(codebook=codebook).order_by("-number").first()
    if latest and latest.digest == digest:
        return latest
    version = Version.objects.create(
        codebook=codebook,
        number=codebook.number + 1,
        digest=digest,
        document=document.as_dict(),
        published_by=by,
        reason=reason,
    )
    codebook.number, codebook.digest = version.number, digest
    codebook.save(update_fields=["number", "digest"])
    return version


def next_number(codebook: Codebook) -> int:
    """Of a change; the codebook's row is held."""
    last = Change.objects.filter(codebook=codebook).aggregate(last=Max("number"))["last"]
    return (last or 0) + 1


def note(
    version: Version,
    *,
    act: str,
    facet: Facet,
    categories: Iterable[str],
    by: User | None,
    old: dict[str, Any] | None = None,
    new: dict[str, Any] | None = None,
    reason: str = "",
    undoes: Change | None = None,
) -> Change:
    """A change that took effect at once, and the version that it led to."""
    return Change.objects.create(
        codebook=version.codebook,
        number=next_number(version.codebook),
        act=act,
        facet=facet,
        categories=list(categories),
        old=old or {},
        new=new or {},
        reason=reason,
        by=by,
        applied_at=timezone.now(),
        version=version,
        undoes=undoes,
    )


def tell(verb: str, codebook: Codebook, *, by: User | None, label: str = "", **more: Any) -> None:
    record(
        verb,
        by=by,
        kind="codebook",
        object_id=codebook.pk,
        label=label or codebook.title,
        study_id=codebook.study_id,
        **more,
    )


def short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:57]}…"
