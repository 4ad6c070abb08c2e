"""The form of a new round."""

from itertools import count
from typing import Any
from zlib import crc32

from django import forms

from annotator.accounts.models import User
from annotator.codebook.models import Facet
from annotator.intake.models import Import
from annotator.labeling.models import Round
from annotator.labeling.rounds_forms import GateForm
from annotator.overview.rounds import choosing
from annotator.overview.rounds.choosing import Wanted
from annotator.studies.models import Role, Study
from annotator.studies.protocol import protocol_of

LARGEST = 1_000_000
PAIR = 2
TAKES = [
    (choosing.EVERY, "All that match"),
    (choosing.FIRST, "The first by number"),
    (choosing.RANDOM, "A random sample"),
]


class RoundForm(GateForm):
    """What is opened: which bugs, by whom, and what agreement they have to reach."""

    name = forms.CharField(label="Name", max_length=120)
    kind = forms.ChoiceField(
        label="Kind",
        choices=Round.Kind.choices,
        initial=Round.Kind.MAIN,
        help_text="Final labels come from main and relabel rounds; the others are for practice and checks.",
    )
    source = forms.ChoiceField(label="Bugs from")
    repository = forms.ChoiceField(label="Only of the repository", required=False)
    of_import = forms.ChoiceField(label="Only of the import", required=False)
    take = forms.ChoiceField(label="Of these take", choices=TAKES, initial=choosing.EVERY)
    count = forms.IntegerField(
        label="How many", min_value=1, max_value=LARGEST, required=False, help_text="For the first or a sample."
    )
    raters = forms.MultipleChoiceField(label="Raters", widget=forms.CheckboxSelectMultiple)
    design = forms.ChoiceField(label="Design", choices=Round.Design.choices)
    overlap = forms.IntegerField(
        label="Raters a bug",
        min_value=1,
        max_value=20,
        initial=PAIR,
        help_text="With the same raters for every bug: all of them.",
    )
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=2**31 - 1,
        help_text="The sample, the pairs and each rater's order can be drawn again from it.",
    )
    shares_codes = forms.BooleanField(
        label="Codes that a rater proposes are seen by all at once",
        required=False,
        help_text="Else each rater's are their own until the round closes. Shared, the round is not blind as to codes.",
    )
    reason = forms.CharField(
        label="Why the study goes on below the gate", required=False, widget=forms.Textarea(attrs={"rows": 3})
    )

    def __init__(self, study: Study, *args: Any, held: Round | None = None, **more: Any) -> None:
        super().__init__(*args, **more)
        self.held = held
        self._offer("source", _sources(study))
        self._offer("repository", [("", "any"), *((label, label) for label in choosing.repositories(study))])
        self._offer("of_import", [("", "any"), *_imports(study)])
        people = User.objects.filter(memberships__study=study, memberships__role=Role.RATER).order_by("username")
        self.people = {person.username: person for person in people}
        self._offer("raters", [(name, name) for name in self.people])
        self.fields["raters"].initial = _usual(study, list(self.people))
        number = Round.objects.filter(study=study).count() + 1
        self.fields["name"].initial = _free_name(study, number)
        # The same at each look, so that the page itself tells nothing.
        self.fields["seed"].initial = crc32(f"{study.slug}:{number}".encode()) % 1_000_000
        laid_down = protocol_of(study)
        for gate in GateForm.base_fields:
            self.fields[gate].initial = getattr(laid_down, gate)
        if not held:
            del self.fields["reason"]
        if not Facet.objects.filter(codebook__study=study, takes_codes=True, retired_at=None).exists():
            del self.fields["shares_codes"]

    @property
    def has_repositories(self) -> bool:
        return len(self.fields["repository"].choices) > 2  # type: ignore[attr-defined]  # any, and two to choose from

    @property
    def has_imports(self) -> bool:
        return len(self.fields["of_import"].choices) > 2  # type: ignore[attr-defined]  # any, and two to choose from

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        self.fields[name].choices = choices  # type: ignore[attr-defined]  # these are fields with choices

    def wanted(self) -> Wanted:
        data = self.cleaned_data
        return Wanted(
            source=data["source"],
            repository=data["repository"],
            import_number=int(data["of_import"]) if data["of_import"] else None,
            take=data["take"],
            count=data["count"],
            seed=data["seed"],
        )

    def options(self) -> dict[str, Any]:
        """Options of `open_next_round` but study, bugs and who asks."""
        data = self.cleaned_data
        same = ["name", "kind", "design", "overlap", "seed", *GateForm.base_fields]
        return {
            **{name: data[name] for name in same},
            "shares_codes": data.get("shares_codes", False),
            "raters": [self.people[name] for name in data["raters"]],
            "reason": data.get("reason", ""),
        }


def _usual(study: Study, raters: list[str]) -> list[str]:
    """Those of the latest round, else the pair; of more than two who never rated none is taken for granted."""
    if len(raters) <= PAIR:
        return raters
    latest = Round.objects.filter(study=study).exclude(state=Round.State.IMPORTED).order_by("-number").first()
    dealt = latest.assignments.order_by().values_list("rater__username", flat=True).distinct() if latest else []
    return sorted(set(dealt) & set(raters))


def _free_name(study: Study, number: int) -> str:
    taken = set(Round.objects.filter(study=study).values_list("name", flat=True))
    return next(name for n in count(number) if (name := f"Round {n}") not in taken)


def _sources(study: Study) -> list[tuple[str, str]]:
    free = choosing.not_yet_in_a_main_round(study).count()
    rounds = Round.objects.filter(study=study).order_by("-number").values_list("number", "name")
    return [
        (choosing.FREE, f"not yet in a main round ({free})"),
        (choosing.ALL, "all of the study"),
        *((str(number), f"those of {name}") for number, name in rounds),
    ]


def _imports(study: Study) -> list[tuple[str, str]]:
    done = Import.objects.filter(study=study, state=Import.State.DONE).order_by("-number")
    return [(str(number), f"{number}: {filename}") for number, filename in done.values_list("number", "filename")]
