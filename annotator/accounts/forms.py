"""What people fill in about themselves."""

from django import forms

from annotator.accounts.actions import SCOPES

SCOPE_LABELS = {
    "read": "Read what you may read",
    "write": "Write what you may write",
    "runner": "Serve as a runner of reproductions",
}
LIVES = [(7, "A week"), (30, "30 days"), (90, "90 days"), (366, "A year")]


class ProfileForm(forms.Form):
    display_name = forms.CharField(
        label="Display name", required=False, max_length=150, help_text="Shown beside your user name."
    )


class TokenForm(forms.Form):
    name = forms.CharField(label="What is it for?", max_length=100, help_text="Such as: notebook on my laptop.")
    scopes = forms.MultipleChoiceField(
        label="What may it do?",
        choices=[(scope, SCOPE_LABELS[scope]) for scope in SCOPES],
        widget=forms.CheckboxSelectMultiple,
        initial=["read"],
    )
    days = forms.TypedChoiceField(label="How long does it live?", choices=LIVES, coerce=int, initial=90)


class NewPasswordForm(forms.Form):
    password = forms.CharField(
        label="New password",
        strip=False,
        max_length=200,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="At least 8 characters; not a common one, not your name.",
    )
    again = forms.CharField(
        label="Once more",
        strip=False,
        max_length=200,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean_again(self) -> str:
        if self.cleaned_data.get("password") != self.cleaned_data["again"]:
            raise forms.ValidationError("The two differ. Type the same twice.")
        return str(self.cleaned_data["again"])


class NewcomerForm(NewPasswordForm):
    username = forms.CharField(
        label="User name",
        max_length=60,
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"}),
        help_text="Small letters, digits, dots and dashes. It stands in exports unless they use pseudonyms.",
    )
    display_name = forms.CharField(label="Display name", required=False, max_length=150)
    field_order = ["username", "display_name", "password", "again"]
