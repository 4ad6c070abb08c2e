"""How the first rows of a sheet would be read: the live preview beside the choice of columns."""

from dataclasses import dataclass, field

from annotator.intake.cleaning import New
from annotator.intake.mapping import Mapping
from annotator.intake.planning import make_plan
from annotator.intake.plans import Category, Known, Plan
from annotator.intake.queries import known_of
from annotator.intake.sheets import Sheet
from annotator.studies.models import Study

ROWS = 8


@dataclass(slots=True)
class Look:
    """One row of the sheet, as it would come in."""

    row: int
    bug: str = ""
    title: str = ""
    labels: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def looks(study: Study, sheet: Sheet, mapping: Mapping) -> list[Look]:
    """BadInput where the mapping does not fit."""
    sheet.rows = sheet.rows[:ROWS]
    known = known_of(study, mapping)
    plan = make_plan(sheet=sheet, mapping=mapping, known=known)
    found = {row.number: Look(row.number) for row in sheet.rows}
    for bug in plan.bugs:
        found[bug.row].bug, found[bug.row].title = bug.said, bug.item.title
    add_labels(found, plan, known)
    for remark in (*plan.errors, *plan.warnings):
        if remark.row in found:
            look = found[remark.row]
            look.problems.append(remark.text.removeprefix(f"{look.bug}: "))
    return list(found.values())


def add_labels(found: dict[int, Look], plan: Plan, known: Known) -> None:
    names = {choice.reference: choice.name for facet in known.facets for choice in facet.choices}
    facets = {facet.id: facet.name for facet in known.facets}

    def said(categories: tuple[Category, ...]) -> str:
        return ", ".join(f"{one.name} (new)" if isinstance(one, New) else names[one] for one in categories)

    for (_, _, rater, facet), answer in plan.answers.items():
        found[answer.row].labels.append(f"{facets[facet]}, {rater.name}: {said(answer.categories)}")
    for (_, facet), final in plan.finals.items():
        found[final.row].labels.append(f"final {facets[facet]}: {said(final.categories)}")
    for vote in plan.votes.values():
        found[vote.row].bug = found[vote.row].bug or vote.item.identity.said
        found[vote.row].labels.append(f"{vote.reviewer.name}: {vote.decision}")
