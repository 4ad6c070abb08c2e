"""Rounds, turns and answers as programs see them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotator.labeling.forms import SKIP_REASONS
from annotator.labeling.models import Assignment, Evidence, Flag, Round
from annotator.labeling.news import SecondLook
from annotator.labeling.suggesting import for_turn
from annotator.labeling.turns import current_answers, further_notes

UIDS = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}}


class GateShape(serializers.Serializer[Round]):
    """What agreement the round has to reach."""

    coefficient = serializers.ChoiceField(Round.GateCoefficient.choices, source="gate_coefficient", allow_blank=True)
    method = serializers.ChoiceField(Round.GateMethod.choices, source="gate_method")
    bound = serializers.FloatField(source="gate_bound", min_value=-1, max_value=1)
    min_n = serializers.IntegerField(source="gate_min_n", min_value=0, max_value=1_000_000)


class RoundShape(serializers.Serializer[Round]):
    number = serializers.IntegerField(help_text="names the round in its study")
    name = serializers.CharField()
    kind = serializers.CharField(help_text="training, main, relabel, retest or audit")
    state = serializers.CharField(help_text="open, closed or imported")
    blindness = serializers.CharField(help_text="enforced, declared, unknown or no")
    design = serializers.CharField(help_text="fixed, rotating or pool")
    overlap = serializers.IntegerField(help_text="raters a bug")
    shares_codes = serializers.BooleanField(help_text="a proposed code is everybody's at once: not blind as to codes")
    seed = serializers.IntegerField()
    bugs = serializers.SerializerMethodField()
    codebook_version = serializers.SerializerMethodField()
    gate = GateShape(source="*")
    gate_continued_reason = serializers.CharField(help_text="why the study went on below the gate; empty: it did not")
    opened_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)

    def get_bugs(self, round_: Round) -> int:
        counts: dict[int, int] = self.context["bugs"]
        return counts.get(round_.pk, 0)

    def get_codebook_version(self, round_: Round) -> int | None:
        return round_.codebook_version.number if round_.codebook_version else None


class ProgressShape(serializers.Serializer[Any]):
    rater = serializers.CharField(source="rater.username")
    total = serializers.IntegerField()
    submitted = serializers.IntegerField()
    skipped = serializers.IntegerField()
    parked = serializers.IntegerField()
    left = serializers.IntegerField()


class OneRoundShape(RoundShape):
    progress = serializers.SerializerMethodField(help_text="of the raters whose progress one may know")

    @extend_schema_field(ProgressShape(many=True))
    def get_progress(self, round_: Round) -> Any:
        return ProgressShape(self.context["progress"], many=True).data


class PinShape(serializers.Serializer[Any]):
    """A quote pinned as evidence."""

    kind = serializers.ChoiceField(Evidence.Kind.choices)
    anchor = serializers.CharField(max_length=200)
    place = serializers.CharField(max_length=500)
    quote = serializers.CharField(max_length=20_000, trim_whitespace=False)


class TurnLine(serializers.Serializer[Assignment]):
    """One's own turn at a bug, in a list."""

    bug = serializers.IntegerField(source="bug.number")
    reference = serializers.CharField(source="bug.item.reference")
    title = serializers.CharField(source="bug.item.title")
    position = serializers.IntegerField(help_text="its place in one's own order, from 0")
    state = serializers.CharField(help_text="todo, claimed, submitted, skipped or parked")
    revision = serializers.IntegerField(help_text="how often it was submitted")
    submitted_at = serializers.DateTimeField(allow_null=True)
    confidence = serializers.CharField()
    has_draft = serializers.SerializerMethodField()

    def get_has_draft(self, turn: Assignment) -> bool:
        return turn.draft is not None


class SuggestedFile(serializers.Serializer[Any]):
    path = serializers.CharField()
    prefix = serializers.CharField(help_text="of the rule under which it fell")


class SuggestedCategory(serializers.Serializer[Any]):
    id = serializers.CharField(source="uid")
    name = serializers.CharField()
    files = SuggestedFile(many=True)
    total = serializers.IntegerField()


class SuggestionShape(serializers.Serializer[Any]):
    """What path rules say of a bug in a facet."""

    facet = serializers.CharField()
    kind = serializers.ChoiceField(["one", "several", "none"])
    categories = SuggestedCategory(many=True)
    silent = serializers.IntegerField(help_text="files under rules that say nothing")
    unmatched = serializers.IntegerField()


class TurnShape(TurnLine):
    """One's own turn at a bug, with all that was said there."""

    round = serializers.IntegerField(source="round.number")
    lease_until = serializers.DateTimeField(allow_null=True)
    note = serializers.CharField()
    not_a_bug = serializers.CharField(source="not_a_bug_reason", help_text="why it is not a bug; empty: it is one")
    active_seconds = serializers.IntegerField()
    skip_reason = serializers.CharField()
    answers = serializers.SerializerMethodField(help_text="ids of categories by facet, as last submitted")
    pins = serializers.SerializerMethodField()
    further_bugs = serializers.SerializerMethodField(help_text="one's own notes of further bugs")
    suggestions = serializers.SerializerMethodField(help_text="of path rules, where the protocol shows them to raters")
    draft = serializers.SerializerMethodField(help_text="what is not submitted yet")
    draft_at = serializers.DateTimeField(allow_null=True)

    @extend_schema_field(UIDS)
    def get_answers(self, turn: Assignment) -> dict[str, list[str]]:
        answers: dict[str, list[str]] = {}
        for facet, uid in current_answers(turn):
            answers.setdefault(facet, []).append(uid)
        return answers

    @extend_schema_field(PinShape(many=True))
    def get_pins(self, turn: Assignment) -> Any:
        return PinShape(Evidence.objects.filter(assignment=turn, is_current=True), many=True).data

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_further_bugs(self, turn: Assignment) -> list[str]:
        return further_notes(turn)

    @extend_schema_field(SuggestionShape(many=True))
    def get_suggestions(self, turn: Assignment) -> Any:
        return SuggestionShape(for_turn(turn, turn.round), many=True).data

    @extend_schema_field({"type": ["object", "null"], "additionalProperties": True})
    def get_draft(self, turn: Assignment) -> Any:
        return turn.draft


class Filled(serializers.Serializer[Any]):
    """Answers on a bug: for each facet the ids of its categories, or their names as they stand."""

    answers = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()), required=False, default=dict
    )
    not_a_bug = serializers.CharField(required=False, allow_blank=True, default="")
    confidence = serializers.ChoiceField(Assignment.Confidence.choices, required=False, allow_blank=True, default="")
    note = serializers.CharField(required=False, allow_blank=True, default="", trim_whitespace=False)
    pins = PinShape(many=True, required=False, default=list)
    active_seconds = serializers.IntegerField(required=False, default=0, min_value=0, max_value=100_000)


class SubmissionShape(Filled):
    key = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=40, help_text="sent twice, it counts once"
    )


class NewCode(serializers.Serializer[Any]):
    facet = serializers.CharField(max_length=60)
    name = serializers.CharField(max_length=600)
    definition = serializers.CharField(max_length=10_000)
    example = serializers.CharField(max_length=2_000, required=False, allow_blank=True, default="")


class CodeShape(serializers.Serializer[Any]):
    """A code proposed in the round."""

    facet = serializers.CharField()
    id = serializers.CharField(source="uid")
    name = serializers.CharField()
    definition = serializers.CharField()
    example = serializers.CharField()
    is_mine = serializers.BooleanField()


class SecondLookShape(serializers.Serializer[Any]):
    """A change of the codebook, and one's own bugs that it may concern."""

    kind = serializers.CharField(source="difference.kind")
    facet = serializers.CharField(source="difference.facet")
    says = serializers.CharField(source="difference.says")
    bugs = serializers.SerializerMethodField()

    def get_bugs(self, look: SecondLook) -> list[int]:
        return [number for number, _ in look.bugs]


class SkipShape(serializers.Serializer[Any]):
    reason = serializers.ChoiceField([(reason, reason) for reason in SKIP_REASONS])
    note = serializers.CharField(required=False, allow_blank=True, default="", trim_whitespace=False)


class NewNote(serializers.Serializer[Any]):
    note = serializers.CharField(trim_whitespace=False)


class KeptShape(serializers.Serializer[Any]):
    kept_at = serializers.DateTimeField()


class NewFlag(serializers.Serializer[Any]):
    facet = serializers.CharField()
    reason = serializers.CharField(trim_whitespace=False)


class FlagShape(serializers.Serializer[Any]):
    bug = serializers.IntegerField(source="assignment.bug.number")
    rater = serializers.SerializerMethodField(help_text="null where the protocol hides names from who decides")
    facet = serializers.CharField(source="facet.key")
    reason = serializers.CharField()
    state = serializers.CharField(help_text="new, accepted or refused")
    at = serializers.DateTimeField()
    relabel_round = serializers.SerializerMethodField()

    def get_rater(self, flag: Flag) -> str | None:
        return None if self.context.get("names_hidden") else flag.assignment.rater.username

    def get_relabel_round(self, flag: Flag) -> int | None:
        return flag.relabel_round.number if flag.relabel_round else None


class WhichFlag(serializers.Serializer[Any]):
    bug = serializers.IntegerField()
    rater = serializers.CharField(allow_null=True, default=None, help_text="null where it is hidden: any rater's")
    facet = serializers.CharField()


class FlagsDecision(serializers.Serializer[Any]):
    """Accepted, the flagged bugs go into one relabel round of this name; else they are refused."""

    flags = WhichFlag(many=True, allow_empty=False)
    accept = serializers.BooleanField()
    name = serializers.CharField(required=False, allow_blank=True, default="")


class FurtherShape(serializers.Serializer[Any]):
    bug = serializers.IntegerField(source="note.assignment.bug.number")
    rater = serializers.CharField(source="note.assignment.rater.username")
    place = serializers.IntegerField(help_text="tells several notes of one turn apart, from 1")
    note = serializers.CharField(source="note.note")
    state = serializers.CharField(source="note.state", help_text="new, matched or refused")
    became = serializers.SerializerMethodField(help_text="number of the bug that it became or means")

    def get_became(self, noted: Any) -> int | None:
        return noted.note.bug.number if noted.note.bug else None


class FurtherDecision(serializers.Serializer[Any]):
    """Make it a bug of its own, match it with one that is there, or refuse it with a reason."""

    bug = serializers.IntegerField()
    rater = serializers.CharField()
    place = serializers.IntegerField(default=1)
    act = serializers.ChoiceField(["follow", "match", "refuse"])
    same = serializers.IntegerField(required=False, allow_null=True, default=None)
    reason = serializers.CharField(required=False, allow_blank=True, default="")


class SkippedShape(serializers.Serializer[Any]):
    bug = serializers.IntegerField(source="turn.bug.number")
    rater = serializers.CharField(source="turn.rater.username")
    reason = serializers.CharField(source="turn.skip_reason")
    note = serializers.CharField(source="turn.skip_note")
    free = serializers.SerializerMethodField(help_text="raters who could take it")

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_free(self, skipped: Any) -> list[str]:
        return [rater.username for rater in skipped.free]


class HandOn(serializers.Serializer[Any]):
    bug = serializers.IntegerField()
    rater = serializers.CharField()
    to = serializers.CharField()


class AnswerShape(serializers.Serializer[Any]):
    """Named as the columns of the table of answers."""

    bug = serializers.IntegerField(source="bug_number")
    repository = serializers.SerializerMethodField(help_text="what the study calls it; empty where there is none")
    number = serializers.IntegerField(source="bug__item__number", allow_null=True)
    ordinal = serializers.IntegerField(source="bug__ordinal")
    round = serializers.CharField(source="round__name")
    round_number = serializers.IntegerField()
    round_kind = serializers.CharField(source="round__kind")
    blindness = serializers.CharField(source="round__blindness")
    rater = serializers.CharField(source="rater_name")
    facet = serializers.CharField(source="facet_key")
    slot = serializers.IntegerField()
    category = serializers.CharField(source="category__name")
    category_uid = serializers.CharField(source="category__uid")
    cell = serializers.CharField(help_text="as it stood in the imported sheet")
    codebook_version = serializers.IntegerField(source="version", help_text="0: not known")
    answered_at = serializers.DateTimeField(source="at")
    revision = serializers.IntegerField()
    confidence = serializers.CharField(source="assignment__confidence")
    note = serializers.CharField(source="assignment__note")
    is_assisted = serializers.BooleanField()

    def get_repository(self, row: dict[str, Any]) -> str:
        return row["bug__item__repository__label"] or ""
