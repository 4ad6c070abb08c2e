"""Acts that cross stages, as programs ask for them."""

from typing import Any

from rest_framework import serializers

from annotator.labeling.models import Round
from annotator.labeling.serializers import GateShape
from annotator.overview.rounds import choosing

LARGEST = 2**31 - 1  # number of a bug


class WantedBugs(serializers.Serializer[Any]):
    """Which bugs: by number, or all, the first or a random sample of those that match."""

    numbers = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST), required=False, max_length=100_000
    )
    source = serializers.CharField(  # type: ignore[assignment]  # Field has an attribute of this name
        required=False, default=choosing.FREE, help_text="free: in no main round yet; all; or the number of a round"
    )
    repository = serializers.CharField(required=False, allow_blank=True, default="")
    of_import = serializers.IntegerField(required=False, allow_null=True, default=None)
    take = serializers.ChoiceField(
        [choosing.EVERY, choosing.FIRST, choosing.RANDOM], required=False, default=choosing.EVERY
    )
    count = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=1)


class NewRound(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=120)
    kind = serializers.ChoiceField(Round.Kind.choices, required=False, default=Round.Kind.MAIN)
    bugs = WantedBugs(required=False)
    raters = serializers.ListField(child=serializers.CharField(), allow_empty=False)
    design = serializers.ChoiceField(Round.Design.choices, required=False, default=Round.Design.FIXED)
    overlap = serializers.IntegerField(required=False, default=2, min_value=1, max_value=20)
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=2**31 - 1)
    shares_codes = serializers.BooleanField(required=False, default=False)
    gate = GateShape(required=False, help_text="where it is left out, the protocol's")
    reason = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        help_text="why the study goes on where the last round missed its gate",
    )


class HappeningShape(serializers.Serializer[Any]):
    """An event, or several alike in a row."""

    at = serializers.DateTimeField()
    actor = serializers.CharField()
    verb = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # Field has an attribute of this name
    round = serializers.CharField()
    why = serializers.CharField()
    change = serializers.CharField()
    count = serializers.IntegerField()


class EventsShape(serializers.Serializer[Any]):
    next = serializers.CharField(allow_null=True, help_text="address of the next page")
    results = HappeningShape(many=True)
