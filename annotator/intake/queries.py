"""What a study holds already, read in a fixed number of queries whatever its size."""

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db.models import BooleanField, ExpressionWrapper, Q

from annotator.accounts.models import User
from annotator.adjudication.models import Resolution
from annotator.codebook.models import Category, Facet
from annotator.collection.models import Context, Item, Repository
from annotator.intake.cleaning import Choice
from annotator.intake.identity import GITHUB, Place
from annotator.intake.mapping import Mapping
from annotator.intake.plans import Known, KnownFacet, KnownOutcome, KnownPerson, KnownRound
from annotator.labeling.models import Answer, Assignment, Round, RoundBug
from annotator.sampling.models import Bug
from annotator.screening.models import Candidate, Criterion, Outcome, Screening, Vote
from annotator.studies.models import Membership, Study

ITSELF = (Resolution.Source.UNANIMOUS, Resolution.Source.SINGLE)


def known_of(study: Study, mapping: Mapping) -> Known:
    """Everything that a plan for this mapping looks up."""
    known = Known()
    read_repositories(known, study)
    for identity, pk, title in Item.objects.filter(study=study).values_list("identity", "pk", "title"):
        known.items[identity] = pk
        if not title:
            known.untitled.add(pk)
    bugs = Bug.objects.filter(study=study).values_list("item_id", "ordinal", "pk")
    known.bugs = {(item, ordinal): pk for item, ordinal, pk in bugs}
    known.people, known.accounts = people_of(study)
    if mapping.has_labels:
        known.facets = facets_of(study)
        read_rounds(known, study)
        adjudicated = Resolution.objects.current().filter(study=study, by__isnull=False)
        known.deciders = set(adjudicated.values_list("bug_id", "by_id"))
    if mapping.final:
        read_finals(known, study)
    if mapping.votes or mapping.outcome:
        read_votes(known, study)
    if mapping.context:
        rows = Context.objects.filter(item__study=study).values_list("item_id", "ordinal", "pk", "values")
        known.contexts = {(item, ordinal): (pk, values) for item, ordinal, pk, values in rows}
    return known


def read_repositories(known: Known, study: Study) -> None:
    rows = list(Repository.objects.filter(study=study).order_by("pk"))
    for row in rows:
        label = row.label.lower()
        known.repositories[label] = row.pk
        if place := place_of(row):
            known.places[label] = place
            known.by_place.setdefault(place.text, row.pk)
    for row in rows:
        read_names(known, row)


def read_names(known: Known, row: Repository) -> None:
    """Whatever else it is or was called leads to it, unless another is called so."""
    place = place_of(row)
    for name in row.names:
        known.repositories.setdefault(name, row.pk)
        if place is None:
            continue
        known.places.setdefault(name, place)
        text = f"{place.host}/{name}"
        if known.by_place.setdefault(text, row.pk) == row.pk and text != place.text:
            known.moved[text] = place


def place_of(row: Repository) -> Place | None:
    return Place(row.host or GITHUB, row.owner, row.name) if row.owner and row.name else place_in(row.label)


def place_in(label: str) -> Place | None:
    """A repository that is called owner/name is there."""
    owner, slash, name = label.partition("/")
    return Place(GITHUB, owner, name) if slash and owner and name and "/" not in name and " " not in label else None


def people_of(study: Study) -> tuple[list[KnownPerson], dict[str, tuple[int, bool]]]:
    roles: dict[int, set[str]] = {}
    for user, role in Membership.objects.filter(study=study).values_list("user_id", "role"):
        roles.setdefault(user, set()).add(role)
    people, accounts = [], {}
    never = Q(last_login=None, password__startswith=UNUSABLE_PASSWORD_PREFIX)
    users = User.objects.order_by("pk").annotate(is_used=ExpressionWrapper(~never, BooleanField()))
    for pk, username, display_name, is_used in users.values_list("pk", "username", "display_name", "is_used"):
        if pk in roles:
            people.append(KnownPerson(pk, username, display_name, frozenset(roles[pk])))
        else:
            accounts[username] = (pk, is_used)
    return people, accounts


def facets_of(study: Study) -> list[KnownFacet]:
    facets = list(Facet.objects.filter(codebook__study=study, retired_at=None))
    categories: dict[int, list[Category]] = {facet.pk: [] for facet in facets}
    listed = Category.objects.exclude(state=Category.State.PROPOSED)  # a rater's own code is no sheet's to name
    for category in listed.filter(facet__in=facets):
        categories[category.facet_id].append(category)
    return [
        KnownFacet(
            id=facet.pk,
            key=facet.key,
            name=facet.name,
            is_many=facet.is_many,
            is_verdict=facet.is_verdict,
            choices=tuple(choices_in(categories[facet.pk], is_verdict=facet.is_verdict)),
            reasons=reasons_in(categories[facet.pk]) if facet.is_verdict else {},
        )
        for facet in facets
    ]


def reasons_in(categories: list[Category]) -> dict[str, str]:
    """Of the verdict's narrower categories, which say why something is not a bug: name to uid."""
    return {category.name: category.uid for category in categories if category.parent_id}


def choices_in(categories: list[Category], *, is_verdict: bool) -> Iterable[Choice]:
    """A merged category's name leads to the one that took its place; a reason of the verdict to “not a bug”."""
    by_id = {category.pk: category for category in categories}
    former: dict[int, list[str]] = {}
    for category in categories:
        if category.state == Category.State.MERGED:
            former.setdefault(successor(category, by_id).pk, []).append(category.name)
    for category in categories:
        if category.state != Category.State.MERGED:
            yield Choice(
                reference=(category.parent_id if is_verdict else None) or category.pk,
                name=category.name,
                uid=category.uid,
                aka=(*category.aka, *former.get(category.pk, ())),
                parents=tuple(ancestors(category, by_id)),
                is_retired=category.state == Category.State.RETIRED,
            )


def successor(category: Category, by_id: dict[int, Category]) -> Category:
    seen: set[int] = set()
    while category.merged_into_id in by_id and category.pk not in seen:
        seen.add(category.pk)
        category = by_id[category.merged_into_id]
    return category


def ancestors(category: Category, by_id: dict[int, Category]) -> list[str]:
    names: list[str] = []
    while category.parent_id in by_id and len(names) < 20:
        category = by_id[category.parent_id]
        names.insert(0, category.name)
    return names


def read_rounds(known: Known, study: Study) -> None:
    """All rounds by name; of imported ones also what they hold. An open round's answers are not looked at."""
    for row in Round.objects.filter(study=study):
        is_imported = row.state == Round.State.IMPORTED
        known.rounds[row.name] = KnownRound(row.pk, is_imported, row.state, row.blindness)
    imported = [row.id for row in known.rounds.values() if row.is_imported]
    for round_id, bug in RoundBug.objects.filter(round_id__in=imported).values_list("round_id", "bug_id"):
        known.round_bugs.setdefault(round_id, set()).add(bug)
    turns = Assignment.objects.filter(round_id__in=imported)
    for pk, round_id, bug, rater, note, confidence in turns.values_list(
        "pk", "round_id", "bug_id", "rater_id", "note", "confidence"
    ):
        known.turns[round_id, bug, rater] = (pk, note, confidence)
    answers = Answer.objects.current().filter(round_id__in=imported)
    read_sets(known.answers, answers.values_list("round_id", "bug_id", "rater_id", "facet_id", "category_id"))


def read_sets(into: dict[Any, frozenset[int]], rows: Iterable[tuple[int, ...]]) -> None:
    for *key, value in rows:
        found = into.get(tuple(key))
        into[tuple(key)] = found | {value} if found else frozenset((value,))


def labelled_items(study: Study) -> set[int]:
    """Items of which the study holds a bug."""
    return set(Bug.objects.filter(study=study).values_list("item_id", flat=True))


def read_finals(known: Known, study: Study) -> None:
    """Current labels, and whether nobody but an imported round's own answers settled them."""
    rows = Resolution.objects.filter(study=study, is_current=True, is_stale=False, category__isnull=False)
    for bug, facet, category, source, state in rows.values_list(
        "bug_id", "facet_id", "category_id", "source", "round__state"
    ):
        labels, _ = known.finals.get((bug, facet), (frozenset(), False))
        settled_itself = source in ITSELF and state == Round.State.IMPORTED
        known.finals[bug, facet] = (labels | {category}, settled_itself)


def read_votes(known: Known, study: Study) -> None:
    """Of what sheets brought. Votes that are given here are not looked at."""
    rows = Candidate.objects.filter(study=study)
    brought = Q(screening__state=Screening.State.IMPORTED)
    known.candidates = dict(rows.filter(brought).values_list("item_id", "pk"))
    known.screened_here = dict(rows.exclude(brought).values_list("item_id", "screening__name"))
    votes = Vote.objects.blind().filter(candidate__study=study, candidate__screening__state=Screening.State.IMPORTED)
    for item, reviewer, decision in votes.values_list("candidate__item_id", "reviewer_id", "decision"):
        known.votes[item, reviewer] = decision
    decided = Outcome.objects.current().filter(candidate__study=study)
    decided = decided.filter(candidate__screening__state=Screening.State.IMPORTED)
    for item, decision, source in decided.values_list("candidate__item_id", "decision", "source"):
        is_dropped = source == Outcome.Source.DROPPED
        known.outcomes[item] = KnownOutcome(decision, source in Outcome.DERIVED, is_dropped)
    for criterion in Criterion.objects.active().filter(study=study):
        for word in (criterion.code, criterion.name, criterion.ground):
            known.criteria[" ".join(word.casefold().split())] = criterion.pk
