"""How a study decides on labels: written down before, changed only with a reason."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from django.db import models

from annotator.studies.models import Study
from annotator.web.errors import BadInput

DECIDED_BY = {
    "adjudicator": "One person who did not rate the bug",
    "discussion": "The raters themselves, in discussion",
    "either": "The raters where they come to agree, else one person who did not rate it",
}


class GateCoefficient(models.TextChoices):
    NONE = "", "No gate"
    KAPPA = "kappa", "Cohen's kappa"
    LINEAR = "kappa_linear", "Kappa, linear weights"
    QUADRATIC = "kappa_quadratic", "Kappa, quadratic weights"
    AC1 = "ac1", "Gwet's AC1"
    ALPHA = "alpha", "Krippendorff's alpha"


class GateMethod(models.TextChoices):
    VALUE = "value", "The value"
    LOWER = "lower", "The lower bound of its 95 % interval"


class Blindness(models.TextChoices):
    """Whether those who answered could see each other's answers."""

    ENFORCED = "enforced", "Enforced here"
    DECLARED = "declared", "Declared"
    UNKNOWN = "unknown", "Unknown"
    NO = "no", "Not blind"


@dataclass(frozen=True, kw_only=True, slots=True)
class Protocol:
    """What is agreed on before labelling begins. The gate's figures are what a new round proposes."""

    decided_by: str = "either"
    by_majority: bool = False  # with three raters or more the blind majority may settle
    hide_names: bool = True  # in adjudication
    suggest_in_blind: bool = False  # path rules are shown in facets that raters answer: their answers are assisted
    reproduction_first: bool = False  # raters see whether a bug could be made to happen before they label it
    gate_coefficient: str = GateCoefficient.KAPPA.value
    gate_method: str = GateMethod.LOWER.value
    gate_bound: float = 0.8
    gate_min_n: int = 10
    notes: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def protocol_of(study: Study) -> Protocol:
    """The study's protocol; what it never laid down is as by default."""
    known = {field.name for field in fields(Protocol)}
    return Protocol(**{name: value for name, value in study.protocol.items() if name in known})


def check(protocol: Protocol) -> None:
    if protocol.decided_by not in DECIDED_BY:
        raise BadInput("Choose who decides where raters differ.")
    if protocol.gate_coefficient not in GateCoefficient.values or protocol.gate_method not in GateMethod.values:
        raise BadInput("Choose the gate's coefficient and how it is read.")
    if not 0 <= protocol.gate_bound <= 1:
        raise BadInput("The gate's bound lies between 0 and 1.")
    if not 1 <= protocol.gate_min_n <= 100_000:
        raise BadInput("The gate needs at least 1 bug, and not more than 100,000.")
    if len(protocol.notes) > 10_000:
        raise BadInput("The notes may have at most 10,000 characters.")
