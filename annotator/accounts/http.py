"""A request as signed-in views see it."""

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from annotator.accounts.models import User


class Request(HttpRequest):
    """After `login_required`: with a person, and with what htmx said."""

    user: User  # login_required has turned strangers away
    htmx: HtmxDetails
