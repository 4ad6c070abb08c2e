"""Writes a plan: inside one transaction, in the order in which rows point at each other."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from annotator.accounts.models import User
from annotator.adjudication.finals import Final, import_finals
from annotator.codebook.actions import add_categories
from annotator.codebook.models import Facet
from annotator.collection import importing as collection
from annotator.collection.models import Context
from annotator.history.actions import record
from annotator.intake.cleaning import New
from annotator.intake.plans import Category, Known, Plan, PlannedItem, PlannedPerson, PlannedRound, Said
from annotator.intake.queries import labelled_items
from annotator.labeling import importing as labeling
from annotator.labeling.models import Answer, Round, RoundBug
from annotator.sampling.importing import add_numbered_bugs
from annotator.screening import importing as screening
from annotator.screening.models import Vote
from annotator.studies.models import Membership, Role, Study

Created = dict[str, list[int]]


@dataclass(slots=True)
class Stored:
    """What the import made: ids by table, what it filled elsewhere, both for undo; and the rounds that it touched."""

    created: Created = field(default_factory=lambda: defaultdict(list))
    filled: dict[str, dict[int, Any]] = field(default_factory=lambda: defaultdict(dict))  # into rows that were there
    rounds: list[Round] = field(default_factory=list)


class Storer:
    def __init__(self, *, study: Study, plan: Plan, known: Known, by: User | None) -> None:
        self.study, self.plan, self.known, self.by = study, plan, known, by
        self.stored = Stored()
        self.categories: dict[tuple[int, str], int] = {}
        self.rounds: dict[PlannedRound, Round] = {}

    def run(self) -> Stored:
        self.store_people()
        self.store_categories()
        self.store_items()
        self.store_bugs()
        self.store_contexts()
        self.store_votes()
        for planned in self.plan.rounds:
            self.store_round(planned)
        self.store_finals()
        self.store_outcomes()
        screening.finish_sheet(study=self.study, labelled=labelled_items(self.study), by=self.by)
        return self.stored

    # --- people and categories

    def store_people(self) -> None:
        for person in self.plan.people:
            if person.id is None:
                person.id = self.new_user(person).pk
            if person.needs_role:
                made = Membership.objects.create(study=self.study, user_id=person.id, role=Role.RATER)
                self.stored.created["membership"].append(made.pk)
                self.tell("joined the study", "membership", made.pk, person.username, {"role": Role.RATER.value})

    def new_user(self, person: PlannedPerson) -> User:
        user = User(username=person.username, display_name=person.name)
        user.set_unusable_password()
        user.save()
        self.stored.created["user"].append(user.pk)
        self.tell("made an account", "user", user.pk, person.username, {"display_name": person.name})
        return user

    def tell(self, verb: str, kind: str, pk: int, label: str, new: object) -> None:
        record(verb, by=self.by, kind=kind, object_id=pk, label=label, study_id=self.study.pk, new=new, why="import")

    def store_categories(self) -> None:
        for facet, added in self.plan.new_categories.items():
            row = Facet.objects.select_related("codebook").get(pk=facet)
            names = [new.name for new in added]
            made = add_categories(facet=row, names=names, by=self.by, reason="Met in an imported sheet")
            for name, category in zip(names, made, strict=True):
                self.categories[facet, name] = category.pk
                self.stored.created["category"].append(category.pk)

    def category(self, facet: int, category: Category) -> int:
        return self.categories[facet, category.name] if isinstance(category, New) else category

    # --- items and bugs

    def store_items(self) -> None:
        new = self.plan.new_items
        self.store_repositories(new)
        by_identity = (
            collection.add_items(study=self.study, rows=[self.sheet_item(item) for item in new]) if new else {}
        )
        for item in new:
            item.id = by_identity[item.identity.text]
            self.stored.created["item"].append(item.id)
        if self.plan.titles:
            titles = {item.id: title for item, title in self.plan.titles.items() if item.id}
            collection.name_items(titles=titles)
            self.stored.filled["title"] = titles

    def store_repositories(self, items: list[PlannedItem]) -> None:
        """Found by what the sheet calls it, else by its place; else new."""
        missing: dict[str, collection.SheetRepository] = {}
        for item in items:
            label, place = item.repository, self.plan.places.get(item.repository) or item.identity.place
            if not label or label in self.known.repositories or label in missing:
                continue
            if place and (there := self.known.by_place.get(place.text)):
                self.known.repositories[label] = there
            elif place and self.is_one_place(label):
                missing[label] = collection.SheetRepository(item.identity.label, place.host, place.owner, place.name)
            else:
                missing[label] = collection.SheetRepository(item.identity.label)
        if missing:
            ids = collection.add_repositories(study=self.study, rows=list(missing.values()))
            made = {label: ids[row.label] for label, row in missing.items()}
            self.known.repositories |= made
            self.stored.created["repository"] += made.values()

    def is_one_place(self, label: str) -> bool:
        """A label under which the sheet puts several repositories stays a label."""
        places = {
            item.identity.place.text for item in self.plan.items if item.repository == label and item.identity.place
        }
        return len(places) == 1

    def sheet_item(self, item: PlannedItem) -> collection.SheetItem:
        identity = item.identity
        return collection.SheetItem(
            identity=identity.text,
            kind=item.kind,
            repository_id=self.known.repositories.get(item.repository),
            number=identity.number,
            key=identity.key,
            url=identity.url,
            title=item.title,
        )

    def store_bugs(self) -> None:
        new = self.plan.new_bugs
        places = [(bug.item.id or 0, bug.ordinal) for bug in new]
        ids = add_numbered_bugs(study=self.study, places=places) if new else {}
        for bug, place in zip(new, places, strict=True):
            bug.id = ids[place]
            self.stored.created["bug"].append(bug.id)

    def store_contexts(self) -> None:
        new, wider = [], {}
        for (item, ordinal), values in self.plan.contexts.items():
            pk, stored = self.known.contexts.get((item.id or 0, ordinal), (0, {}))
            if pk:
                wider[pk] = {**values, **stored}
                self.stored.filled["context"][pk] = [name for name in values if name not in stored]
            else:
                new.append((item.id or 0, ordinal, values))
        present = Context.objects.filter(item__study=self.study)
        last = present.order_by("-pk").values_list("pk", flat=True).first() or 0
        collection.add_contexts(rows=new)
        self.stored.created["context"] += present.filter(pk__gt=last).values_list("pk", flat=True) if new else []
        collection.widen_contexts(values=wider)

    # --- votes

    def store_votes(self) -> None:
        if not self.plan.candidates:
            return
        missing = [item.id for item in self.plan.candidates if item.id and item.id not in self.known.candidates]
        blindness = self.plan.blindness if self.plan.votes else ""
        into, is_new = screening.imported_screening(study=self.study, blindness=blindness, by=self.by)
        self.stored.created["screening"] += [into.pk] if is_new else []
        candidates = screening.add_candidates(screening=into, items=missing)
        self.stored.created["candidate"] += [candidates[item] for item in missing]
        last = Vote.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        rows = [
            screening.SheetVote(
                candidates[vote.item.id or 0],
                vote.reviewer.id or 0,
                vote.decision,
                vote.reason,
                vote.cell,
                vote.criterion,
            )
            for vote in self.plan.votes.values()
        ]
        screening.add_votes(rows=rows)
        votes = Vote.objects.filter(candidate__study=self.study, pk__gt=last)
        self.stored.created["vote"] += votes.values_list("pk", flat=True)
        self.known.candidates = candidates

    def store_outcomes(self) -> None:
        """What the sheet says of candidates, before what follows from their votes."""
        said = [(item.id or 0, outcome) for item, outcome in self.plan.outcomes.items()]
        said += [(outcome.item or 0, outcome) for outcome in self.plan.dropped]
        rows = [
            screening.SheetDecision(
                self.known.candidates[item], outcome.decision, outcome.source, outcome.criterion, outcome.note
            )
            for item, outcome in said
        ]
        if rows:
            self.stored.created["outcome"] += screening.add_decisions(study=self.study, rows=rows, by=self.by)

    # --- answers

    def store_round(self, planned: PlannedRound) -> None:
        round_ = labeling.imported_round(study=self.study, name=planned.name, blindness=self.plan.blindness, by=self.by)
        if planned.id is None:
            self.stored.created["round"].append(round_.pk)
        self.rounds[planned] = round_
        turns = self.store_turns(planned, round_)
        self.store_round_bugs(planned, round_, turns)
        last = Answer.objects.filter(round=round_).order_by("-pk").values_list("pk", flat=True).first() or 0
        if labeling.add_answers(round_=round_, rows=self.sheet_answers(planned, turns)):
            self.stored.created["answer"] += Answer.objects.filter(round=round_, pk__gt=last).values_list(
                "pk", flat=True
            )
        labeling.finish_sheet(round_=round_)
        self.stored.rounds.append(round_)

    def store_round_bugs(self, planned: PlannedRound, round_: Round, turns: dict[tuple[int, int], int]) -> None:
        present = self.known.round_bugs.get(round_.pk, set())
        bugs = [bug.id for where, bug in self.plan.round_bugs if where is planned and bug.id and bug.id not in present]
        taken = Counter(bug for bug, _ in turns)
        labeling.add_round_bugs(round_=round_, places={bug: taken[bug] for bug in bugs})
        made = RoundBug.objects.filter(round=round_).values_list("bug_id", "pk")
        new = set(bugs)
        self.stored.created["round_bug"] += [pk for bug, pk in made if bug in new]
        if present:
            labeling.count_places(round_=round_)

    def store_turns(self, planned: PlannedRound, round_: Round) -> dict[tuple[int, int], int]:
        mine = [turn for (where, _, _), turn in self.plan.turns.items() if where is planned]
        new = [turn for turn in mine if turn.id is None]
        rows = [
            labeling.SheetTurn(t.bug.id or 0, t.rater.id or 0, t.confidence, t.note, t.not_a_bug_reason) for t in new
        ]
        ids = labeling.add_turns(round_=round_, rows=rows)
        self.stored.created["assignment"] += [ids[row.bug_id, row.rater_id] for row in rows]
        notes = {t.id: (t.note, t.confidence) for t in mine if t.id and t.has_new_note}
        before = {pk: (note, sure) for pk, note, sure in self.known.turns.values()}
        self.stored.filled["note"] |= {pk: where_blank(before[pk], said) for pk, said in notes.items()}
        labeling.add_notes(notes=notes)
        return ids

    def sheet_answers(self, planned: PlannedRound, turns: dict[tuple[int, int], int]) -> Iterable[labeling.SheetAnswer]:
        for (where, bug, rater, facet), said in self.plan.answers.items():
            if where is planned and bug.id and rater.id:
                for slot, category in enumerate(said.categories):
                    chosen = self.category(facet, category)
                    yield labeling.SheetAnswer(
                        turns[bug.id, rater.id], bug.id, rater.id, facet, chosen, slot, said.cell
                    )

    # --- final labels

    def store_finals(self) -> None:
        by_round: dict[Round | None, list[Final]] = defaultdict(list)
        for (bug, facet), said in self.plan.finals.items():
            planned = self.plan.final_rounds.get(bug)
            by_round[self.rounds[planned] if planned else None].append(self.final(bug.id or 0, facet, said))
        for round_, rows in by_round.items():
            self.stored.created["resolution"] += import_finals(study=self.study, rows=rows, round_=round_, by=self.by)

    def final(self, bug: int, facet: int, said: Said) -> Final:
        categories = [self.category(facet, category) for category in said.categories]
        return Final(bug_id=bug, facet_id=facet, category_ids=categories, cell=said.cell)


def where_blank(before: tuple[str, str], after: tuple[str, str]) -> list[str]:
    """What was filled: note and confidence, each empty where there was one."""
    return ["" if old else new for old, new in zip(before, after, strict=True)]
