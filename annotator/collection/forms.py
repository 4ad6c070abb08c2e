"""What leads fill in: a harvest's query or list, when to look again, a token."""

from typing import Any

from django import forms

from annotator.collection.access import GITHUB, hosts
from annotator.collection.asking import LONGEST_DAYS
from annotator.collection.models import Harvest
from annotator.collection.tokens import LONGEST_NAME
from annotator.collection.wanted import GITHUB_OPENED, Wanted, from_document, lines, read_list, unique, words
from annotator.web.errors import BadInput

KINDS = [("pull_request", "Pull requests"), ("issue", "Issues")]
STATES = [("", "any state"), ("open", "open"), ("closed", "closed"), ("merged", "merged")]
MOMENTS = [("merged", "merged"), ("closed", "closed"), ("created", "opened"), ("updated", "last changed")]
LONG = 200_000


def day() -> forms.DateInput:
    return forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")


def several_lines(rows: int, example: str) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, "placeholder": example, "spellcheck": "false"})


class HostForm(forms.Form):
    """The host is asked for only where there is a choice; the actions know which may be asked."""

    host = forms.CharField(label="GitHub", required=False, max_length=200)

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        known = list(hosts())
        choices = [(host, host) for host in known]
        self.fields["host"].widget = forms.Select(choices=choices) if len(known) > 1 else forms.HiddenInput()
        self.fields["host"].initial = known[0]

    def clean_host(self) -> str:
        return self.cleaned_data["host"] or GITHUB


class HarvestForm(HostForm):
    repositories = forms.CharField(
        label="Repositories",
        required=False,
        max_length=LONG,
        widget=several_lines(3, "owner/name"),
        help_text="One a line, as owner/name or by address.",
        error_messages={"required": "Name at least one, or paste a list of addresses below."},
    )
    kind = forms.ChoiceField(label="What", choices=KINDS, widget=forms.RadioSelect, initial="pull_request")
    moment = forms.ChoiceField(label="Which were", choices=MOMENTS, initial="merged")
    first = forms.DateField(label="from", required=False, widget=day())
    last = forms.DateField(label="to", required=False, widget=day(), help_text="UTC days, both included.")
    state = forms.ChoiceField(label="And are", choices=STATES, required=False)
    match = forms.CharField(
        label="With one of these words in title or label",
        required=False,
        max_length=2000,
        help_text="A word begins so, in any case: fix finds Fixes, fault does not find default.",
    )
    labels = forms.CharField(
        label="With all of these labels",
        required=False,
        max_length=2000,
        widget=several_lines(2, "type: bug"),
        help_text="One a line.",
    )
    authors = forms.CharField(label="Opened by one of", required=False, max_length=2000, help_text="User names.")
    limit = forms.IntegerField(
        label="Only the newest", required=False, min_value=1, max_value=10**6, help_text="Of each repository."
    )
    urls = forms.CharField(
        label="Addresses",
        required=False,
        max_length=1_500_000,
        widget=several_lines(4, "https://github.com/owner/name/pull/12"),
        help_text="Pull requests or issues, one a line. They are collected as they stand, without a query.",
    )
    refresh_days = forms.IntegerField(
        label="Look again every so many days",
        required=False,
        min_value=1,
        max_value=LONGEST_DAYS,
        help_text="For what is new or was edited. Left empty: only when somebody says so.",
    )

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.fields["repositories"].required = not str(self.data.get("urls", "")).strip()

    def wanted(self) -> tuple[Wanted, str]:
        """What is asked for, and of which host. Raises BadInput."""
        sent = self.cleaned_data
        if sent["urls"].strip():
            if sent["repositories"].strip():
                raise BadInput("Give repositories or a list of addresses, not both.")
            return read_list(lines(sent["urls"]), host=sent["host"])
        return self._query(sent), sent["host"]

    def _query(self, sent: dict[str, Any]) -> Wanted:
        return Wanted(
            repositories=unique(lines(sent["repositories"])),
            kind=sent["kind"],
            moment=sent["moment"],
            first=sent["first"] or GITHUB_OPENED,
            last=sent["last"],
            state=sent["state"],
            words=words(sent["match"]),
            labels=tuple(dict.fromkeys(filter(None, map(str.strip, sent["labels"].splitlines())))),
            authors=tuple(dict.fromkeys(sent["authors"].replace(",", " ").split())),
            limit=sent["limit"],
        )


def as_sent(harvest: Harvest) -> dict[str, Any]:
    """The form filled in as for that harvest, to ask for something alike."""
    wanted = from_document(harvest.query)
    if wanted.listed:
        return {"host": harvest.host, "urls": "\n".join(wanted.listed)}
    return {
        "host": harvest.host,
        "repositories": "\n".join(wanted.repositories),
        "kind": wanted.kind,
        "moment": wanted.moment,
        "first": None if wanted.first == GITHUB_OPENED else wanted.first,
        "last": wanted.last,
        "state": wanted.state,
        "match": ", ".join(wanted.words),
        "labels": "\n".join(wanted.labels),
        "authors": ", ".join(wanted.authors),
        "limit": wanted.limit,
    }


class ScheduleForm(forms.Form):
    days = forms.IntegerField(label="Look again every", required=False, min_value=1, max_value=LONGEST_DAYS)


class TokenForm(HostForm):
    name = forms.CharField(
        label="Name", max_length=LONGEST_NAME, help_text="What everybody will see of it, such as: Lee, until March."
    )
    token = forms.CharField(
        label="Token",
        max_length=500,
        strip=True,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="It needs to read public repositories, nothing more. It is stored sealed and never shown again.",
    )
    field_order = ["name", "token", "host"]
