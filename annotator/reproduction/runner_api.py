"""The routes of a host: claim, renew, log, result. Its key opens these and nothing else; no other key opens them."""

import math
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotator.accounts.models import Token
from annotator.clients.environments.locked import refuse_unfit
from annotator.reproduction import leases
from annotator.reproduction.ledger import LONGEST_PIECE, MOST_PIECES, Piece, Result, Used, Work, storable
from annotator.reproduction.matching import Can
from annotator.reproduction.models import Host, Run

LONGEST_OUTPUT = 400_000
MOST_MB = 10**9
BLANK: dict[str, Any] = {"recipe": {}, "script": "", "environment": "", "repeat": 0, "seed": 0}


class CanShape(serializers.Serializer[Any]):
    """What the machine can do now."""

    pythons = serializers.ListField(child=serializers.CharField(max_length=20), max_length=100)
    memory_mb = serializers.IntegerField(min_value=0, max_value=MOST_MB)
    memory_held_mb = serializers.IntegerField(
        min_value=0, max_value=MOST_MB, default=0, help_text="that runs there may use now"
    )
    gpus = serializers.IntegerField(min_value=0, max_value=100)
    gpu_free_mb = serializers.ListField(child=serializers.IntegerField(min_value=0, max_value=MOST_MB), max_length=100)
    runners = serializers.DictField(
        child=serializers.CharField(allow_blank=True, max_length=500),
        help_text="by name: empty, or why it does not work",
    )


class WorkShape(serializers.Serializer[Any]):
    run = serializers.CharField()
    lease = serializers.CharField(help_text="speaks for this claim in all that follows")
    attempt = serializers.IntegerField()
    recipe = serializers.DictField()
    script = serializers.CharField()
    environment = serializers.CharField()
    repeat = serializers.IntegerField()
    seed = serializers.IntegerField()
    runner = serializers.CharField()
    locked = serializers.CharField(help_text="requirements to install; empty: lock them")
    python = serializers.CharField()
    image = serializers.CharField(help_text="the container image to run, by its digest; empty: look its name up")
    lease_seconds = serializers.FloatField()


class LeaseShape(serializers.Serializer[Any]):
    run = serializers.CharField(max_length=64)
    lease = serializers.CharField(max_length=100)
    attempt = serializers.IntegerField(min_value=1, max_value=10**6)


class NewPiece(serializers.Serializer[Any]):
    sequence = serializers.IntegerField(min_value=0, max_value=leases.MOST_SEQUENCES - 1)
    text = serializers.CharField(max_length=LONGEST_PIECE, trim_whitespace=False)
    is_error = serializers.BooleanField(default=False)


class NewLog(LeaseShape):
    pieces = serializers.ListField(child=NewPiece(), max_length=MOST_PIECES)


class UsedShape(serializers.Serializer[Any]):
    python = serializers.CharField(allow_blank=True, max_length=200)
    locked = serializers.CharField(allow_blank=True, max_length=500_000, trim_whitespace=False)
    image = serializers.CharField(allow_blank=True, max_length=500)
    variables = serializers.DictField(child=serializers.CharField(allow_blank=True, trim_whitespace=False))
    setup = serializers.ListField(child=serializers.CharField(trim_whitespace=False), max_length=50)

    def validate_locked(self, value: str) -> str:
        """Other machines install what the first one locked."""
        try:
            refuse_unfit(value)
        except ValueError as problem:
            said = f"The lock is not taken: {problem}. It holds exact versions with SHA-256 hashes and nothing else."
            raise serializers.ValidationError(said) from None
        return value


class Measure(serializers.FloatField):
    """A number of at least 0: `nan`, `inf` and 1e999 are none, and no answer could hold them."""

    def to_internal_value(self, data: Any) -> float:
        value = super().to_internal_value(data)
        if not math.isfinite(value) or value < 0:
            self.fail("invalid")
        return value


class ResultShape(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(Run.Outcome.choices)
    said = serializers.CharField(allow_blank=True, max_length=4000)
    exit_code = serializers.IntegerField(allow_null=True, min_value=-(2**31), max_value=2**31 - 1)
    seconds = Measure(allow_null=True)
    cpu_seconds = Measure(allow_null=True)
    peak_mb = Measure(allow_null=True)
    gpu_peak_mb = Measure(allow_null=True)
    stdout = serializers.CharField(allow_blank=True, max_length=LONGEST_OUTPUT, trim_whitespace=False)
    stderr = serializers.CharField(allow_blank=True, max_length=LONGEST_OUTPUT, trim_whitespace=False)
    measures = serializers.DictField()
    installed = serializers.DictField(child=serializers.CharField(max_length=100))
    used = UsedShape(allow_null=True)
    input_digest = serializers.CharField(allow_blank=True, max_length=64)
    may_pass = serializers.BooleanField()

    def validate_measures(self, value: dict[str, Any]) -> Any:
        try:
            return storable(value)
        except ValueError as problem:
            raise serializers.ValidationError(str(problem)) from None


class NewResult(LeaseShape):
    result = ResultShape()


class GoOn(serializers.Serializer[Any]):
    go_on = serializers.BooleanField(help_text="false: stop at once; the run was cancelled, or another has it")


class Counted(serializers.Serializer[Any]):
    counted = serializers.BooleanField(help_text="false: this attempt no longer counts")


class IsHost(BasePermission):
    """A key that belongs to a host of a study, has the scope runner and no other."""

    message = "These routes are a host's. Add one under the study's hosts, and use its key."

    def has_permission(self, request: Request, view: Any) -> bool:
        if not isinstance(request.auth, Token) or request.auth.scopes != ["runner"]:
            return False
        view.host = Host.objects.present().filter(token=request.auth).first()
        return view.host is not None


class RunnerView(APIView):
    permission_classes = [IsHost]
    host: Host

    def given(self, shape: type[serializers.Serializer[Any]]) -> dict[str, Any]:
        sent = shape(data=self.request.data)
        sent.is_valid(raise_exception=True)
        return dict(sent.validated_data)


def work_of(given: dict[str, Any]) -> Work:
    """The lease alone: what else belongs to the work, the row knows."""
    return Work.of(BLANK | {name: given[name] for name in ("run", "lease", "attempt")})


class Claim(RunnerView):
    @extend_schema(request=CanShape, responses={200: WorkShape, 204: None})
    def post(self, request: Request) -> Response:
        """The oldest run that the host can take. No content: there is none."""
        work = leases.claim_next(self.host, Can(**self.given(CanShape)))
        if work is None:
            return Response(status=status.HTTP_204_NO_CONTENT)
        return Response(WorkShape(work.document()).data)


class Renew(RunnerView):
    @extend_schema(request=LeaseShape, responses=GoOn)
    def post(self, request: Request) -> Response:
        """Keep the lease."""
        return Response(GoOn({"go_on": leases.renew(work_of(self.given(LeaseShape)), self.host)}).data)


class WriteLog(RunnerView):
    @extend_schema(request=NewLog, responses=GoOn)
    def post(self, request: Request) -> Response:
        """Store pieces of output; the same piece twice is stored once."""
        given = self.given(NewLog)
        pieces = [Piece(**one) for one in given["pieces"]]
        return Response(GoOn({"go_on": leases.write(work_of(given), pieces, self.host)}).data)


class TakeResult(RunnerView):
    @extend_schema(request=NewResult, responses=Counted)
    def post(self, request: Request) -> Response:
        """End the attempt."""
        given = self.given(NewResult)
        told = given["result"]
        used = Used(**told.pop("used")) if told["used"] else told.pop("used")
        counted = leases.end(work_of(given), Result(used=used, **told), self.host)
        return Response(Counted({"counted": counted}).data)
