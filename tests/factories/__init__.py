"""Test data, built as people would build it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import factory
from django.utils import timezone
from factory.django import DjangoModelFactory

from annotator.accounts.models import User
from annotator.codebook.actions import create_codebook
from annotator.codebook.models import Category, Codebook
from annotator.codebook.reading import to_document
from annotator.collection.models import Finding, Harvest, Item, Repository, Window
from annotator.collection.wanted import Wanted
from annotator.labeling.actions import submit
from annotator.labeling.models import Assignment, Round
from annotator.labeling.opening import open_round
from annotator.labeling.submission import Submission
from annotator.sampling.models import Bug
from annotator.studies.models import Membership, Study


class UserFactory(DjangoModelFactory[User]):
    class Meta:
        model = User
        skip_postgeneration_save = True

    username = factory.Sequence(lambda n: f"person-{n}")
    password = "!"


class StudyFactory(DjangoModelFactory[Study]):
    class Meta:
        model = Study

    slug = factory.Sequence(lambda n: f"study-{n}")
    title = "Bugs in frameworks"


class RepositoryFactory(DjangoModelFactory[Repository]):
    class Meta:
        model = Repository

    label = factory.Sequence(lambda n: f"tessera-{n}/tessera")


class ItemFactory(DjangoModelFactory[Item]):
    class Meta:
        model = Item

    kind = Item.Kind.PULL_REQUEST
    number = factory.Sequence(lambda n: 1000 + n)
    identity = factory.LazyAttribute(lambda item: f"github.com/tessera/tessera#{item.number}")
    title = factory.LazyAttribute(lambda item: f"Fix wrong sum {item.number}")
    url = factory.LazyAttribute(lambda item: f"https://github.com/tessera/tessera/pull/{item.number}")


def member(study: Study, user: User, *roles: str) -> User:
    for role in roles:
        Membership.objects.get_or_create(study=study, user=user, role=role)
    return user


def make_codebook(study: Study, facets: Mapping[str, Sequence[str]], **options: Any) -> Codebook:
    """A codebook of these facets (the verdict comes by itself); `many`, `optional` and `ordinal` name facets."""
    described = [
        {
            "id": key,
            "kind": "ordinal" if key in options.get("ordinal", ()) else "nominal",
            "answers": "many" if key in options.get("many", ()) else "one",
            "optional": key in options.get("optional", ()),
            "categories": [
                {"name": name} | ({"order": place} if key in options.get("ordinal", ()) else {})
                for place, name in enumerate(names, 1)
            ],
        }
        for key, names in facets.items()
    ]
    document = to_document({"title": "Test codebook", "facets": described})
    return create_codebook(study=study, document=document, by=None)


def make_bugs(study: Study, count: int) -> list[Bug]:
    first = Bug.objects.filter(study=study).count()
    return [
        Bug.objects.create(study=study, item=ItemFactory(study=study), number=first + place + 1)
        for place in range(count)
    ]


def make_round(study: Study, *, bugs: Sequence[Bug], raters: Sequence[User], by: User, **options: Any) -> Round:
    options.setdefault("name", f"Round {Round.objects.filter(study=study).count() + 1}")
    return open_round(study=study, bugs=bugs, raters=raters, by=by, **options)


def answer(round_: Round, bug: Bug, rater: User, answers: Mapping[str, str | Sequence[str]], **more: Any) -> Assignment:
    """Submit answers given by category name."""
    assignment = Assignment.objects.get(round=round_, bug=bug, rater=rater)
    chosen = {}
    for key, names in answers.items():
        wanted = [names] if isinstance(names, str) else list(names)
        rows = Category.objects.filter(facet__codebook__study=round_.study, facet__key=key, name__in=wanted)
        uids = dict(rows.values_list("name", "uid"))
        chosen[key] = [uids.get(name, name) for name in wanted]
    return submit(assignment=assignment, submission=Submission(answers=chosen, **more), by=rater)


def make_harvest(study: Study, *, items: Sequence[Item], gone: int = 0, by: User | None = None, **more: Any) -> Harvest:
    """One that found these items, of one repository, and so many that are gone."""
    wanted = Wanted(("tessera-dl/tessera",), moment="merged")
    number = Harvest.objects.filter(study=study).count() + 1
    more = {"state": Harvest.State.DONE, "looked_at": timezone.now()} | more
    harvest = Harvest.objects.create(study=study, number=number, query=wanted.document(), created_by=by, **more)
    repository = (items[0].repository if items else None) or RepositoryFactory(study=study)
    now = timezone.now().replace(microsecond=0)
    window = Window.objects.create(
        harvest=harvest, repository=repository, starts=now, ends=now, state="done", hits=len(items) + gone
    )
    shared = {"harvest": harvest, "window": window, "repository": repository}
    Finding.objects.bulk_create(Finding(number=item.number, item=item, state="fetched", **shared) for item in items)
    Finding.objects.bulk_create(
        Finding(number=10**8 + place, state="unavailable", reason="404", **shared) for place in range(gone)
    )
    return harvest
