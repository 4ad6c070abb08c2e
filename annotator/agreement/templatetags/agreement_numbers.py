"""Coefficients in templates."""

from django import template

from annotator.agreement.entries import Entry
from annotator.agreement.gating import not_computable
from annotator.agreement.numbers import short
from annotator.stats.reasons import SENTENCES

register = template.Library()


@register.filter(name="short")
def shortened(value: float | str | None) -> str:
    """A missing key of an entry reads as an empty text."""
    return short(None if value == "" or isinstance(value, str) else value)


@register.filter
def why_no_interval(entry: Entry) -> str:
    return SENTENCES.get(entry.get("no_interval") or "", "")


@register.filter
def why(entry: Entry) -> str:
    """The sentence of an entry's reason code."""
    return not_computable(entry, entry["reason"])
