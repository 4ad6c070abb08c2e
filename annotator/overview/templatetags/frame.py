"""The frame in templates. A tag and not a context processor: a page that shows no frame pays for none."""

from collections.abc import Iterable
from typing import Any

from django import template

from annotator.accounts.models import User
from annotator.labeling.models import Round
from annotator.labeling.queries import rated_together
from annotator.overview.frame import BESIDE, STAGES, notes_on, places, waiting_for
from annotator.studies.access import roles_in
from annotator.studies.models import Role

register = template.Library()
# whose pages stand under another's name
WITHIN = {"changes": "codebook", "coding": "codebook", "replacing": "sampling", "ruling": "codebook"}


@register.inclusion_tag("components/stages.html", takes_context=True)
def stages(context: template.Context) -> dict[str, Any]:
    """The navigation of the `study` in the context; nothing on a page outside any."""
    study, request = context.get("study"), context.get("request")
    if study is None or request is None:
        return {}
    roles = getattr(study, "my_roles", None) or roles_in(request.user, study)
    here = request.resolver_match.namespace if request.resolver_match else ""
    here = WITHIN.get(here, here)
    waiting = waiting_for(study, request.user, roles)
    return {
        "stages": places(study, STAGES, here=here, waiting=waiting),
        "beside": places(study, BESIDE, here=here, notes=notes_on(study)),
    }


@register.simple_tag(takes_context=True)
def rated_beside(context: template.Context, person: User) -> Round | None:
    """An open round in which the viewer and another person both rate."""
    viewer = context["request"].user
    return None if viewer == person else rated_together(viewer, person)


@register.filter
def in_order(roles: Iterable[str]) -> list[str]:
    """From lead to reader, whatever order they were kept in."""
    return sorted(roles, key=Role.values.index)
