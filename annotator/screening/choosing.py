"""Which items become candidates: by harvest or by what they are, the newest first; repeatable, and blind to any vote."""

import json
from dataclasses import asdict, dataclass
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast, Coalesce

from annotator.collection.models import Finding, Harvest, Item, Repository
from annotator.screening.models import Candidate
from annotator.studies.models import Study
from annotator.web.errors import BadInput


@dataclass(frozen=True)
class Wanted:
    """A choice of items that are no candidates yet; what is left empty does not narrow it."""

    harvest: int | None = None
    kind: str = ""
    repository: str = ""
    words: str = ""  # in the title, any of them, split by commas
    label: str = ""  # of those on GitHub, exactly
    newest: int | None = None  # at most so many

    def as_stored(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value}


def free(study: Study) -> "QuerySet[Item]":
    """Items that no screening has."""
    return Item.objects.filter(study=study).exclude(Exists(Candidate.objects.filter(item=OuterRef("pk"))))


def choose(study: Study, wanted: Wanted) -> "QuerySet[Item]":
    """The newest first: by when they were merged, else closed, else opened; those without a date last."""
    items = free(study)
    if wanted.harvest is not None:
        items = items.filter(Exists(_found_by(study, wanted.harvest)))
    if wanted.kind:
        items = items.filter(kind=wanted.kind)
    if wanted.repository:
        items = items.filter(repository__label=wanted.repository)
    if words := [word.strip() for word in wanted.words.split(",") if word.strip()]:
        items = items.filter(reduce(or_, (Q(title__icontains=word) for word in words)))
    if wanted.label:
        items = _labelled(items, wanted.label)
    moment = Coalesce("merged_at", "closed_at", "opened_at")
    items = items.alias(moment=moment).order_by(F("moment").desc(nulls_last=True), "identity")
    return items if wanted.newest is None else items[: wanted.newest]


def _found_by(study: Study, number: int) -> "QuerySet[Finding]":
    harvest = Harvest.objects.filter(study=study, number=number).first()
    if harvest is None:
        raise BadInput(f"There is no harvest {number}.")
    return Finding.objects.filter(harvest=harvest, item=OuterRef("pk"))


def _labelled(items: "QuerySet[Item]", label: str) -> "QuerySet[Item]":
    """The list of labels is looked at as text, which both databases can; they write other letters differently."""
    told = items.alias(labels_text=Cast("labels", TextField()))
    return told.filter(
        Q(labels_text__contains=json.dumps(label)) | Q(labels_text__contains=json.dumps(label, ensure_ascii=False))
    )


def repositories(study: Study) -> list[str]:
    return list(Repository.objects.filter(study=study).order_by("label").values_list("label", flat=True))


def harvests(study: Study) -> list[int]:
    return list(Harvest.objects.filter(study=study).order_by("-number").values_list("number", flat=True))
