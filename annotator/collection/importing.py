"""Items as a sheet names them, without a copy from GitHub: many at once, inside an import's transaction."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from annotator.collection.linking import lead_all
from annotator.collection.models import Context, Item, Repository
from annotator.studies.models import Study
from annotator.web.bulk import insert_rows, refresh_statistics

BATCH = 500


@dataclass(frozen=True, slots=True)
class SheetItem:
    identity: str
    kind: str
    repository_id: int | None = None
    number: int | None = None
    key: str = ""
    url: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class SheetRepository:
    label: str
    host: str = ""
    owner: str = ""
    name: str = ""


@transaction.atomic
def add_repositories(*, study: Study, rows: Sequence[SheetRepository]) -> dict[str, int]:
    """Ids by label."""
    columns = ("study_id", "label", "host", "owner", "name")
    insert_rows(Repository, columns, ((study.pk, row.label, row.host, row.owner, row.name) for row in rows))
    return dict(Repository.objects.filter(study=study).values_list("label", "pk"))


@transaction.atomic
def add_items(*, study: Study, rows: Sequence[SheetItem]) -> dict[str, int]:
    """Ids by identity, of all items of the study. None of the rows may be there already."""
    columns = ("study_id", "kind", "repository_id", "number", "key", "identity", "url", "title")
    insert_rows(
        Item,
        columns,
        (
            (study.pk, row.kind, row.repository_id, row.number, row.key, row.identity, row.url, row.title)
            for row in rows
        ),
    )
    lead_all(study=study)
    return dict(Item.objects.filter(study=study).values_list("identity", "pk"))


@transaction.atomic
def name_items(*, titles: Mapping[int, str]) -> None:
    """Give titles to items that have none."""
    items = [Item(pk=pk, title=title) for pk, title in titles.items()]
    Item.objects.bulk_update(items, ["title"], batch_size=BATCH)


@transaction.atomic
def add_contexts(*, rows: Iterable[tuple[int, int, dict[str, str]]]) -> None:
    """Rows of (item, ordinal, {name: cell})."""
    insert_rows(Context, ("item_id", "ordinal", "values"), rows)
    refresh_statistics(Item, Context)


@transaction.atomic
def widen_contexts(*, values: Mapping[int, dict[str, str]]) -> None:
    """Further columns for contexts that are there, by id."""
    contexts = [Context(pk=pk, values=cells) for pk, cells in values.items()]
    Context.objects.bulk_update(contexts, ["values"], batch_size=BATCH)
