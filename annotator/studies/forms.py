"""What leads fill in."""

from typing import Any

from django import forms

from annotator.studies.models import Role
from annotator.studies.protocol import DECIDED_BY, GateCoefficient, GateMethod, Protocol

ROLE_HELP = {
    Role.LEAD: "Lead: opens and closes rounds, invites, sees everything but answers of open rounds",
    Role.RATER: "Rater: labels bugs, blind to the other raters until the round closes",
    Role.ADJUDICATOR: "Adjudicator: settles what raters differ on, in bugs they did not rate",
    Role.READER: "Reader: looks at what is closed",
}


class StudyForm(forms.Form):
    title = forms.CharField(label="Title", max_length=200)
    question = forms.CharField(
        label="Research question", required=False, max_length=10_000, widget=forms.Textarea(attrs={"rows": 4})
    )


class InvitationForm(forms.Form):
    roles = forms.MultipleChoiceField(
        label="What will they do?",
        choices=[(role.value, text) for role, text in ROLE_HELP.items()],
        widget=forms.CheckboxSelectMultiple,
        initial=[Role.RATER.value],
    )
    note = forms.CharField(label="For whom is it?", required=False, max_length=200, help_text="Only for your list.")


class RolesForm(forms.Form):
    roles = forms.MultipleChoiceField(
        label="Roles", choices=Role.choices, required=False, widget=forms.CheckboxSelectMultiple
    )
    experience = forms.CharField(
        label="Experience", required=False, max_length=200, help_text="Such as: 6 years of C++, 3 of PyTorch."
    )
    tie = forms.CharField(
        label="Tie to the studied systems", required=False, max_length=200, help_text="Such as: contributor until 2024."
    )


class ProtocolForm(forms.Form):
    decided_by = forms.ChoiceField(
        label="Where raters differ, the final label comes from", choices=DECIDED_BY.items(), widget=forms.RadioSelect
    )
    by_majority = forms.BooleanField(label="With three raters or more, let the majority decide", required=False)
    hide_names = forms.BooleanField(label="Hide the raters' names in adjudication", required=False)
    suggest_in_blind = forms.BooleanField(
        label="Show raters what path rules suggest; their answers count as assisted", required=False
    )
    reproduction_first = forms.BooleanField(
        label="Show raters whether a bug could be made to happen, before they label it", required=False
    )
    gate_coefficient = forms.ChoiceField(
        label="A round passes its gate by", choices=GateCoefficient.choices, required=False
    )
    gate_method = forms.ChoiceField(label="read as", choices=GateMethod.choices)
    gate_bound = forms.FloatField(label="which has to reach", min_value=0, max_value=1)
    gate_min_n = forms.IntegerField(label="on at least so many bugs", min_value=1, max_value=100_000)
    notes = forms.CharField(
        label="Further rules",
        required=False,
        max_length=10_000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="What else was agreed on before labelling began.",
    )
    reason = forms.CharField(
        label="Reason of the change", required=False, max_length=10_000, widget=forms.Textarea(attrs={"rows": 2})
    )

    def as_protocol(self) -> Protocol:
        values: dict[str, Any] = {name: value for name, value in self.cleaned_data.items() if name != "reason"}
        return Protocol(**values)
