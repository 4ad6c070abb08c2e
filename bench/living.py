"""A codebook that lives, at size: each change of 1,000 categories with 100,000 answers is previewed, made and undone.

python -m bench.living: prints JSON, the seconds of each act's preview and of the act itself.
"""

import json
import os
import random
import time
from collections.abc import Callable
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bench.settings")
django.setup()

from django.core.management import call_command  # noqa: E402

from annotator.accounts.models import User  # noqa: E402
from annotator.adjudication.actions import settle_at_close  # noqa: E402
from annotator.codebook import actions, living  # noqa: E402
from annotator.codebook.changes import CategoryChange  # noqa: E402
from annotator.codebook.models import Category, Change, Facet  # noqa: E402
from annotator.codebook.reading import to_document  # noqa: E402
from annotator.collection import importing as collection  # noqa: E402
from annotator.collection.importing import SheetItem  # noqa: E402
from annotator.collection.models import Item  # noqa: E402
from annotator.labeling import importing  # noqa: E402
from annotator.labeling.importing import SheetAnswer, SheetTurn  # noqa: E402
from annotator.overview.changes import changing  # noqa: E402
from annotator.overview.changes.previewing import preview  # noqa: E402
from annotator.sampling.importing import add_numbered_bugs  # noqa: E402
from annotator.studies.models import Membership, Role, Study  # noqa: E402
from bench.seed import settle_statistics  # noqa: E402

CATEGORIES, TOP, ROUNDS, BUGS = 1_000, 100, 2, 25_000  # two raters: 100,000 answers
FAVOURED = 0.2  # share of answers that go to one category, so that a change touches many
WORDS = "What belongs here, in a sentence that a rater reads while labelling, and another one. "


def main() -> dict[str, dict[str, float]]:
    call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
    lead = User.objects.create_user("lead", password=None)
    raters = [User.objects.create_user(name, password=None) for name in ("alice", "bob")]
    study = found(lead, raters)
    for number in range(ROUNDS):
        label(study, number, raters, lead)
    settle_statistics()
    return dict(acts(study, lead))


def found(lead: User, raters: list[User]) -> Study:
    study = Study.objects.create(slug="living", title="A codebook that lives", created_by=lead)
    for rater in raters:
        Membership.objects.create(study=study, user=rater, role=Role.RATER)
    below = {number: f"Category {number % TOP}" for number in range(TOP, CATEGORIES)}
    listed = [
        {"name": f"Category {number}", "definition": WORDS, "include": WORDS, "exclude": WORDS}
        | ({"parent": below[number]} if number in below else {})
        for number in range(CATEGORIES)
    ]
    document = to_document({"title": "Living", "facets": [{"id": "cause", "categories": listed}]})
    actions.create_codebook(study=study, document=document, by=lead)
    return study


def label(study: Study, number: int, raters: list[User], lead: User) -> None:
    """One round of both raters, brought in as a sheet would be."""
    chance = random.Random(number)
    rows = [SheetItem(f"{number}/{n}", Item.Kind.OTHER, None, None, f"{number}/{n}", "", "A bug") for n in range(BUGS)]
    ids = collection.add_items(study=study, rows=rows)
    add_numbered_bugs(study=study, places=[(ids[row.identity], 1) for row in rows])
    bugs = list(study.bugs.order_by("-number").values_list("pk", flat=True)[:BUGS])
    round_ = importing.imported_round(study=study, name=f"Round {number + 1}", blindness="declared", by=lead)
    importing.add_round_bugs(round_=round_, places=dict.fromkeys(bugs, len(raters)))
    pairs = [(bug, rater.pk) for bug in bugs for rater in raters]
    turns = importing.add_turns(round_=round_, rows=[SheetTurn(bug, rater) for bug, rater in pairs])
    facet = Facet.objects.get(codebook__study=study, key="cause")
    categories = list(facet.categories.order_by("position").values_list("pk", flat=True))
    said = {bug: favoured(chance, categories) for bug in bugs}
    answers = (
        SheetAnswer(
            turns[bug, rater],
            bug,
            rater,
            facet.pk,
            said[bug] if chance.random() < 0.8 else chance.choice(categories),
            0,
            "",
        )
        for bug, rater in pairs
    )
    importing.add_answers(round_=round_, rows=answers)
    importing.finish_sheet(round_=round_)
    settle_at_close(round_=round_, by=lead)


def favoured(chance: random.Random, ids: list[int]) -> int:
    return ids[0] if chance.random() < FAVOURED else chance.choice(ids)


def acts(study: Study, lead: User) -> Any:
    """Each act by its name, with the seconds of its preview and of itself."""

    def row(name: str) -> Category:
        return Category.objects.select_related("facet__codebook", "parent").get(name=name, state="active")

    def edit(which: str, **fields: Any) -> Any:
        return lambda: actions.edit_category(category=row(which), by=lead, change=CategoryChange(**fields))

    def merge(sources: list[str], into: str) -> Any:
        rows = [row(name) for name in sources]
        return lambda: changing.make(study, living.merge_categories, sources=rows, into=row(into), reason="r", by=lead)

    def parts() -> Any:
        made = [CategoryChange(name=f"Part {n}") for n in range(3)]
        return changing.make(study, living.split_category, category=row("Plenty"), parts=made, reason="r", by=lead)

    def meaning() -> Any:
        change = CategoryChange(definition="Other.")
        return changing.make(
            study, living.redefine_category, category=row("Plenty"), change=change, reason="r", by=lead
        )

    def undo() -> Any:
        return changing.undo(change=Change.objects.latest("number"), by=lead, reason="r")

    facet = row("Category 1").facet
    yield timed("add", "add", [], lambda: actions.add_category(facet=facet, by=lead, change=CategoryChange(name="New")))
    yield timed("rename", "rename", ["Category 0"], edit("Category 0", name="Plenty"))
    yield timed("clarify", "clarify", ["Plenty"], edit("Plenty", definition="Better said."))
    yield timed("move", "move", ["Category 500"], edit("Category 500", parent=row("Category 1").uid, hotkey=""))
    few = [f"Category {number}" for number in range(900, 1_000)]
    yield timed("merge one", "merge", ["Category 2"], merge(["Category 2"], "Plenty"), into="Plenty")
    yield timed("undo the merge", "", [], undo)
    yield timed("merge 100", "merge", few, merge(few, "Category 3"), into="Category 3")
    yield timed("undo the merge of 100", "", [], undo)
    yield timed("change the meaning", "redefine", ["Plenty"], meaning)
    yield timed("undo the meaning", "", [], undo)
    yield timed(
        "retire",
        "retire",
        ["Category 950"],
        lambda: actions.remove_category(category=row("Category 950"), by=lead, reason="r"),
    )
    gone = Category.objects.select_related("facet__codebook").get(name="Category 950")
    yield timed("restore", "restore", [], lambda: actions.restore_category(category=gone, by=lead))
    Category.objects.filter(parent=row("Plenty")).update(parent=None, hotkey="")
    yield timed("split", "split", ["Plenty"], parts)
    yield timed("undo the split", "", [], undo)


def timed(name: str, act: str, touched: list[str], do: Callable[[], Any], *, into: str = "") -> Any:
    rows = Category.objects.filter(facet__key="cause", state="active").select_related("facet__codebook__study")
    found = {row.name: row for row in rows}
    facet = next(iter(found.values())).facet
    uids = [found[name].uid for name in touched]
    started = time.perf_counter()
    shown = preview(facet, act=act, touched=uids, into=found[into].uid if into else "") if act else None
    middle = time.perf_counter()
    do()
    ended = time.perf_counter()
    told = {"preview_s": middle - started, "apply_s": ended - middle, "answers": shown.answers if shown else 0}
    return name, told


if __name__ == "__main__":
    print(json.dumps(main()))
