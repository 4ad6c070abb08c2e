"""The pool: what a sample is drawn from."""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Exists, F, OuterRef, QuerySet

from annotator.collection.models import Finding, Harvest, Item
from annotator.collection.queries import Statement, statement_of
from annotator.sampling.models import Bug, Drawn, Sample
from annotator.sampling.rules import Rule
from annotator.screening.queries import included, is_screened
from annotator.stats.draws import Member
from annotator.studies.models import Study
from annotator.web.errors import BadInput

NO_REPOSITORY = "no repository"


def items(study: Study, rule: Rule, *, of: Sample | None = None) -> "QuerySet[Item]":
    """What screening keeps, as far as the rule asks for it, less what holds bugs already.

    Without any screening: less what harvests found and could not fetch, though some part of it may be here.

    `of` a sample: its own places held none when it was drawn, so that they count though they do now.
    """
    wanted = included(study)
    if not is_screened(study):
        found = Finding.objects.filter(item=OuterRef("pk"))
        wanted = wanted.filter(~Exists(found) | Exists(found.filter(state=Finding.State.FETCHED)))
    if rule.harvest is not None:
        wanted = wanted.filter(Exists(Finding.objects.filter(item=OuterRef("pk"), harvest=harvest_of(study, rule))))
    if rule.repositories:
        wanted = wanted.filter(repository__label__in=rule.repositories)
    if of is None:
        return wanted.filter(~Exists(Bug.objects.filter(item=OuterRef("pk"))))
    own = Exists(Drawn.objects.filter(sample=of, item=OuterRef("pk")))
    return wanted.filter(~Exists(Bug.objects.filter(item=OuterRef("pk"))) | own)


def harvest_of(study: Study, rule: Rule) -> Harvest:
    found = Harvest.objects.filter(study=study, number=rule.harvest or 0).first()
    if found is None:
        raise BadInput(f"There is no harvest {rule.harvest}.")
    return found


def members(study: Study, rule: Rule, *, of: Sample | None = None) -> dict[int, Member]:
    """By the item's id."""
    moment = F(f"{rule.moment}_at")
    stratum = F("repository__label") if rule.by == "repository" else F("kind")
    rows = items(study, rule, of=of).order_by().values_list("pk", "identity", stratum, moment)
    return {pk: member(rule, *row) for pk, *row in rows.iterator(chunk_size=5000)}


def member(rule: Rule, identity: str, stratum: str | None, moment: dt.datetime | None) -> Member:
    """With what the rule asks for and nothing else: the rest may change without changing the draw."""
    label = stratum or NO_REPOSITORY
    if rule.by == "kind":
        label = Item.Kind(label).label
    return Member(identity, label if rule.is_stratified else "", moment if rule.goes_by_date else None)


@dataclass(frozen=True)
class Gap:
    """A harvest behind the pool that is not complete."""

    harvest: Harvest
    statement: Statement

    @property
    def says(self) -> str:
        if self.harvest.state != Harvest.State.DONE:
            return f"harvest {self.harvest.number} is {self.harvest.get_state_display().lower()}"
        lacks = [
            (self.statement.found - self.statement.fetched, "not fetched"),
            (self.statement.capped, "capped by the search"),
            (self.statement.partial, "held in part"),
        ]
        told = ", ".join(f"{n:,} {what}" for n, what in lacks if n)
        return f"of harvest {self.harvest.number} are {told or 'some'}"


def gaps(study: Study, rule: Rule) -> list[Gap]:
    """Of the harvests behind the pool: those that lack something and for which nobody has said why that may be."""
    return [gap for gap in _incomplete(harvests_behind(study, rule)) if not gap.harvest.override_reason]


def harvests_behind(study: Study, rule: Rule) -> "QuerySet[Harvest]":
    """The chosen one, else those that found anything in the repositories."""
    if rule.harvest is not None:
        return Harvest.objects.filter(pk=harvest_of(study, rule).pk)
    found = Finding.objects.filter(harvest=OuterRef("pk"))
    if rule.repositories:
        found = found.filter(repository__label__in=rule.repositories)
    return Harvest.objects.filter(Exists(found), study=study).order_by("number")


def _incomplete(harvests: "QuerySet[Harvest]") -> Iterator[Gap]:
    for harvest in harvests:
        statement = statement_of(harvest)
        if not statement.is_complete:
            yield Gap(harvest, statement)


def said(found: Sequence[Gap]) -> str:
    return "; ".join(gap.says for gap in found)
