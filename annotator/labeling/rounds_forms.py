"""The gate of a round, as a form."""

from typing import Any

from django import forms

from annotator.labeling.models import Round


class GateForm(forms.Form):
    """Which coefficient has to reach which bound, and on how many bugs at least."""

    gate_coefficient = forms.ChoiceField(
        label="Coefficient", choices=Round.GateCoefficient.choices, required=False, initial=Round.GateCoefficient.KAPPA
    )
    gate_method = forms.ChoiceField(
        label="Held against the bound", choices=Round.GateMethod.choices, initial=Round.GateMethod.LOWER
    )
    gate_bound = forms.FloatField(label="Bound", min_value=-1, max_value=1, initial=0.8)
    gate_min_n = forms.IntegerField(label="On at least so many bugs", min_value=0, max_value=1_000_000, initial=10)

    @classmethod
    def of(cls, round_: Round) -> "GateForm":
        return cls(initial={name: getattr(round_, name) for name in cls.base_fields})

    def gate(self) -> dict[str, Any]:
        """Options of `set_gate`."""
        return {name.removeprefix("gate_"): self.cleaned_data[name] for name in GateForm.base_fields}
