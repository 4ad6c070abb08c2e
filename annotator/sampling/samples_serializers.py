"""Samples as programs see them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotator.collection.models import Item
from annotator.sampling.forms import LARGEST_SEED
from annotator.sampling.models import Bug, Sample
from annotator.sampling.queries import Part
from annotator.sampling.rules import MOMENTS, MOST, STRATA
from annotator.stats.draws import KINDS, NEWEST, RANDOM
from annotator.web.numbers import MOST_DIGITS

LARGEST = 10**MOST_DIGITS - 1


class RuleShape(serializers.Serializer[Any]):
    """How a sample is drawn. What makes no difference for the kind is left out."""

    kind = serializers.ChoiceField(KINDS)
    count = serializers.IntegerField(
        min_value=1, max_value=MOST, required=False, help_text="in all; of each stratum where equal"
    )
    by = serializers.ChoiceField(list(STRATA), required=False, help_text="what makes the strata")
    within = serializers.ChoiceField([NEWEST, RANDOM], required=False, help_text="how a stratum is ordered")
    moment = serializers.ChoiceField(list(MOMENTS), required=False, help_text="the date that newest goes by")
    harvest = serializers.IntegerField(
        min_value=1, max_value=LARGEST, required=False, help_text="only what this harvest found"
    )
    repositories = serializers.ListField(
        child=serializers.CharField(max_length=300), required=False, help_text="only what is of these"
    )


class WantedSample(serializers.Serializer[Any]):
    """A draw. Instead of a count, confidence and margin in percent may be given, of draws at random."""

    rule = RuleShape()
    seed = serializers.IntegerField(min_value=0, max_value=LARGEST_SEED)
    confidence = serializers.FloatField(min_value=0, max_value=100, required=False, allow_null=True, default=None)
    margin = serializers.FloatField(min_value=0, max_value=100, required=False, default=5.0)


class NewSample(WantedSample):
    name = serializers.CharField(max_length=120)
    reason = serializers.CharField(
        max_length=4000,
        required=False,
        allow_blank=True,
        default="",
        help_text="why it is drawn though a harvest behind the pool is not complete",
    )


class PartShape(serializers.Serializer[Part]):
    stratum = serializers.CharField(source="label", help_text="empty where the sample is not stratified")
    pool = serializers.IntegerField(source="size", help_text="items")
    wanted = serializers.IntegerField(help_text="bugs: the quota, or as many as the smallest stratum yields")
    taken = serializers.IntegerField(help_text="items taken up")
    left = serializers.IntegerField(help_text="bugs that left")
    bugs = serializers.IntegerField(source="staying", help_text="bugs that stay")
    reserve = serializers.IntegerField(help_text="items")


class SampleShape(serializers.Serializer[Sample]):
    number = serializers.IntegerField()
    name = serializers.CharField()
    rule = RuleShape()
    seed = serializers.IntegerField()
    digest = serializers.CharField(help_text="SHA-256 of the pool in its canonical order, the rule and the seed")
    pool = serializers.IntegerField(source="pool_size")
    reason = serializers.CharField(source="override_reason")
    drawn_by = serializers.CharField(source="drawn_by.username", allow_null=True, default=None)
    drawn_at = serializers.DateTimeField()


class WholeSampleShape(SampleShape):
    strata = serializers.SerializerMethodField()

    @extend_schema_field(PartShape(many=True))
    def get_strata(self, sample: Sample) -> list[dict[str, Any]]:
        return list(PartShape(self.context["parts"], many=True).data)


class ItemNamed(serializers.Serializer[Item]):
    identity = serializers.CharField()
    reference = serializers.CharField(help_text="how a person names the item")
    title = serializers.CharField()
    url = serializers.CharField()


class FirstShape(serializers.Serializer[Any]):
    position = serializers.IntegerField()
    item = ItemNamed()
    stratum = serializers.CharField()
    wanted = serializers.BooleanField(source="is_wanted")


class ShareShape(serializers.Serializer[Any]):
    stratum = serializers.CharField(source="label")
    pool = serializers.IntegerField(source="size")
    wanted = serializers.IntegerField()


class PreviewShape(serializers.Serializer[Any]):
    rule = RuleShape(source="rule.document")
    pool = serializers.IntegerField(source="pool_size")
    wanted = serializers.IntegerField()
    digest = serializers.CharField()
    strata = ShareShape(source="shares", many=True)
    first = FirstShape(many=True, help_text="the first twenty places")
    lacks = serializers.CharField(help_text="what harvests behind the pool lack; empty where they are complete")


class PlaceBug(serializers.Serializer[Any]):
    number = serializers.IntegerField(source="bug.number")
    left = serializers.CharField(source="bug.left_reason", help_text="empty: it stays")
    replaces = serializers.IntegerField(allow_null=True)
    replaced_by = serializers.IntegerField(allow_null=True)


class PlaceShape(serializers.Serializer[Any]):
    position = serializers.IntegerField(source="place.position")
    stratum = serializers.CharField(source="place.stratum.label")
    item = ItemNamed(source="place.item")
    moment = serializers.DateTimeField(source="place.moment", allow_null=True)
    state = serializers.CharField(source="place.state", help_text="reserve or taken")
    bugs = PlaceBug(many=True)


class TakeUpInput(serializers.Serializer[Any]):
    stratum = serializers.CharField(
        max_length=300, required=False, allow_null=True, default=None, help_text="none: all strata in turn"
    )
    most = serializers.IntegerField(
        min_value=1,
        max_value=MOST,
        required=False,
        allow_null=True,
        default=None,
        help_text="none: all that are wanted",
    )


class TakenUp(serializers.Serializer[Any]):
    bugs = serializers.ListField(child=serializers.IntegerField(), help_text="numbers")


class TopUpShape(serializers.Serializer[Any]):
    left = serializers.IntegerField(source="left.number")
    reason = serializers.CharField(source="left.left_reason")
    note = serializers.CharField(source="left.left_note")
    came = serializers.IntegerField(source="came.number")
    at = serializers.DateTimeField()
    by = serializers.CharField(source="by.username", allow_null=True, default=None)


class TopUpsMade(serializers.Serializer[Any]):
    top_ups = TopUpShape(many=True)


class AgainShape(serializers.Serializer[Any]):
    same = serializers.BooleanField(source="is_same")
    holds = serializers.BooleanField(help_text="the list that is kept follows from its own pool, rule and seed")
    pool = serializers.IntegerField(source="pool_size", help_text="items today")
    digest = serializers.CharField(help_text="of today's pool")
    changes = serializers.ListField(child=serializers.CharField(), help_text="what sets today's pool apart")


class LeaveInput(serializers.Serializer[Any]):
    reason = serializers.ChoiceField([Bug.Left.DUPLICATE.value, Bug.Left.WITHDRAWN.value])
    note = serializers.CharField(max_length=4000)


class ComeBackInput(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=4000)


class LeftShape(serializers.Serializer[Bug]):
    number = serializers.IntegerField()
    left_at = serializers.DateTimeField(allow_null=True)
    left = serializers.CharField(source="left_reason", help_text="empty: it stays")
    note = serializers.CharField(source="left_note")
