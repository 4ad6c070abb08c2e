"""Screening as programs see it."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotator.collection.models import Item
from annotator.screening.models import Candidate, Criterion, Outcome, Reading, Screening, Vote
from annotator.screening.turns import own_vote

LARGEST = 2**31 - 1
REASON = "name of the criterion, or of what does not hold; empty: none was cited"


class CriterionShape(serializers.Serializer[Any]):
    code = serializers.CharField(help_text="names the criterion in its study, such as E2")
    kind = serializers.CharField(help_text="include: has to hold; exclude: keeps it out")
    name = serializers.CharField()
    text = serializers.CharField()
    hotkey = serializers.CharField()
    added_at = serializers.DateTimeField()
    late_reason = serializers.CharField(help_text="why it was added while a screening was open; empty: it was not")
    retired_at = serializers.DateTimeField(allow_null=True)
    retired_reason = serializers.CharField()


class NewCriterion(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(Criterion.Kind.choices)
    name = serializers.CharField(max_length=80)
    text = serializers.CharField(required=False, allow_blank=True, default="", max_length=4000)
    hotkey = serializers.CharField(required=False, allow_blank=True, default="", max_length=1)
    late_reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=4000)


class Rewording(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=80)
    text = serializers.CharField(allow_blank=True, max_length=4000)
    hotkey = serializers.CharField(allow_blank=True, max_length=1)


class WithReason(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=10_000)


class ScreeningShape(serializers.Serializer[Screening]):
    number = serializers.IntegerField(help_text="names the screening in its study")
    name = serializers.CharField()
    state = serializers.CharField(help_text="open, closed or imported")
    rule = serializers.CharField(help_text="unanimous, majority or discussed")
    blindness = serializers.CharField(help_text="enforced, declared, unknown or no")
    reviewers = serializers.SerializerMethodField()
    overlap = serializers.IntegerField(help_text="votes a candidate; 0 where sheets brought them")
    seed = serializers.IntegerField()
    choice = serializers.DictField(help_text="which items were taken, as asked for")
    opened_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_reviewers(self, screening: Screening) -> list[str]:
        return sorted(person.username for person in screening.reviewers.all())


class ReviewerProgress(serializers.Serializer[Any]):
    reviewer = serializers.CharField(source="reviewer.username")
    total = serializers.IntegerField()
    voted = serializers.IntegerField()
    later = serializers.IntegerField()
    left = serializers.IntegerField()


class OneScreeningShape(ScreeningShape):
    progress = serializers.SerializerMethodField(help_text="of the reviewers whose progress one may know")

    @extend_schema_field(ReviewerProgress(many=True))
    def get_progress(self, screening: Screening) -> Any:
        return ReviewerProgress(self.context["progress"], many=True).data


class WantedItems(serializers.Serializer[Any]):
    """Items that are no candidates yet, the newest first; what is left out does not narrow."""

    harvest = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=1, max_value=LARGEST)
    kind = serializers.ChoiceField(Item.Kind.choices, required=False, allow_blank=True, default="")
    repository = serializers.CharField(
        required=False, allow_blank=True, default="", help_text="what the study calls it"
    )
    words = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=500, help_text="in the title, any of them, by commas"
    )
    label = serializers.CharField(  # type: ignore[assignment]  # Field has an attribute of this name
        required=False, allow_blank=True, default="", max_length=200, help_text="one of those on GitHub"
    )
    newest = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=1, max_value=LARGEST)


class NewScreening(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=120)
    items = WantedItems(required=False)
    reviewers = serializers.ListField(child=serializers.CharField(), allow_empty=False)
    overlap = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=1, max_value=20, help_text="left out: all of them"
    )
    rule = serializers.ChoiceField(Screening.Rule.choices, required=False, default=Screening.Rule.UNANIMOUS)
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=LARGEST)


class ScreeningCounts(serializers.Serializer[Any]):
    """candidates = reading + unread + conflict + excluded together + included; included = kept + dropped together."""

    items = serializers.IntegerField(help_text="of the study, candidates or not")
    candidates = serializers.IntegerField()
    reading = serializers.IntegerField(help_text="of open screenings")
    unread = serializers.IntegerField()
    conflict = serializers.IntegerField()
    excluded = serializers.DictField(child=serializers.IntegerField(), help_text="by reason")
    included = serializers.IntegerField()
    dropped = serializers.DictField(child=serializers.IntegerField(), help_text="was in, left later; by reason")
    kept = serializers.IntegerField(help_text="is in")


# --- one's own readings


class VoteShape(serializers.Serializer[Vote]):
    decision = serializers.CharField(help_text="include or exclude")
    criterion = serializers.SerializerMethodField(help_text="code of the criterion that is cited")
    comment = serializers.CharField()
    turn = serializers.IntegerField(help_text="1: blind; later ones follow the close")
    at = serializers.DateTimeField()

    def get_criterion(self, vote: Vote) -> str:
        return vote.criterion.code if vote.criterion else ""


class ReadingShape(serializers.Serializer[Reading]):
    """One's own turn at a candidate."""

    candidate = serializers.IntegerField(source="candidate.position")
    reference = serializers.CharField(source="candidate.item.reference")
    url = serializers.CharField(source="candidate.item.url")
    title = serializers.CharField(source="candidate.item.title")
    state = serializers.CharField(help_text="todo, later or voted")
    position = serializers.IntegerField(help_text="in one's own order")
    vote = serializers.SerializerMethodField(help_text="one's own; null before")

    @extend_schema_field(VoteShape(allow_null=True))
    def get_vote(self, reading: Reading) -> Any:
        held = own_vote(reading)
        return VoteShape(held).data if held else None


class NewVote(serializers.Serializer[Any]):
    decision = serializers.ChoiceField(Vote.Decision.choices)
    criterion = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=12, help_text="its code; needed to exclude"
    )
    comment = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=10_000, trim_whitespace=False
    )


# --- what became of candidates


class SaidShape(serializers.Serializer[Any]):
    reviewer = serializers.CharField(source="reviewer.username")
    vote = VoteShape(allow_null=True, help_text="the latest; null: none")
    blind = VoteShape(allow_null=True, help_text="the blind one, where that was another")


class OutcomeShape(serializers.Serializer[Outcome]):
    decision = serializers.CharField(help_text="include or exclude")
    source = serializers.CharField(  # type: ignore[assignment]  # Field has an attribute of this name
        help_text="single, unanimous, majority, discussed, decided, imported, labelled or dropped"
    )
    reason = serializers.SerializerMethodField(help_text=REASON)
    note = serializers.CharField()
    participants = serializers.ListField(child=serializers.CharField())
    by = serializers.SerializerMethodField()
    at = serializers.DateTimeField()

    def get_reason(self, outcome: Outcome) -> str:
        return outcome.criterion.ground if outcome.criterion else ""

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_by(self, outcome: Outcome) -> str | None:
        return outcome.by.username if outcome.by else None


class CandidateShape(serializers.Serializer[Candidate]):
    screening = serializers.IntegerField(source="screening.number")
    candidate = serializers.IntegerField(source="position")
    reference = serializers.CharField(source="item.reference")
    url = serializers.CharField(source="item.url")
    title = serializers.CharField(source="item.title")


class CandidateLine(serializers.Serializer[Any]):
    """A candidate with what was said of it; of an open screening nothing is said."""

    candidate = CandidateShape()
    said = SaidShape(many=True)
    outcome = OutcomeShape(allow_null=True)


class WholeCandidate(CandidateLine):
    earlier = serializers.SerializerMethodField(help_text="superseded decisions, the latest first")

    @extend_schema_field(OutcomeShape(many=True))
    def get_earlier(self, line: Any) -> Any:
        return OutcomeShape(self.context["earlier"], many=True).data


class NewDecision(serializers.Serializer[Any]):
    decision = serializers.ChoiceField(Vote.Decision.choices)
    criterion = serializers.CharField(required=False, allow_blank=True, default="", max_length=12)
    note = serializers.CharField(max_length=10_000)
    participants = serializers.ListField(child=serializers.CharField(), required=False, default=list, max_length=100)


class Dropping(serializers.Serializer[Any]):
    criterion = serializers.CharField(required=False, allow_blank=True, default="", max_length=12)
    reason = serializers.CharField(max_length=10_000)
