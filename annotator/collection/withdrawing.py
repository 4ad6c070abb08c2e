"""What a sheet brought of items, and what it filled into those that were there, taken back inside the undo of its import."""

from collections.abc import Collection, Mapping

from django.db import transaction
from django.db.models import ProtectedError

from annotator.collection import linking
from annotator.collection.models import Context, Item, Repository
from annotator.web.withdrawing import Brought, of_spans, take_out


@transaction.atomic
def withdraw_contexts(*, brought: Brought) -> None:
    take_out(brought, [("context", Context, "a context column")])


@transaction.atomic
def withdraw_items(*, brought: Brought) -> None:
    """What others linked to leads nowhere again."""
    for items in of_spans(Item, brought.get("item", [])):
        linking.let_go(items=items)
    take_out(brought, [("item", Item, "an item")])


@transaction.atomic
def withdraw_repositories(*, brought: Brought) -> None:
    """Those that nobody else uses by now."""
    for rows in of_spans(Repository, brought.get("repository", [])):
        for row in rows:
            try:
                with transaction.atomic():
                    row.delete()
            except ProtectedError:
                continue


@transaction.atomic
def unname_items(*, titles: Mapping[int, str]) -> None:
    """Take away the titles that a sheet gave, where they are still the same."""
    for pk, title in titles.items():
        Item.objects.filter(pk=pk, title=title).update(title="")


@transaction.atomic
def narrow_contexts(*, columns: Mapping[int, Collection[str]]) -> None:
    """Take away the columns that a sheet added to contexts that were there. What is stored is never overwritten."""
    for context in Context.objects.filter(pk__in=columns):
        context.values = {name: cell for name, cell in context.values.items() if name not in columns[context.pk]}
        context.save(update_fields=["values"])
