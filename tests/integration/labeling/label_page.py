"""Addresses of the labelling page, and what stands behind them."""

from django.urls import reverse

from annotator.labeling.models import Assignment

HTMX = {"HX-Request": "true"}
GOOD = {"cause": "type", "stage": "training"}


def turn_of(round_, rater, position: int = 0) -> Assignment:
    return Assignment.objects.select_related("bug").get(round=round_, rater=rater, position=position)


def url(turn: Assignment, name: str = "bug") -> str:
    return reverse(f"labeling:{name}", args=[turn.round.study.slug, turn.round.number, turn.bug.number])


def label_url(round_) -> str:
    return reverse("labeling:label", args=[round_.study.slug, round_.number])
