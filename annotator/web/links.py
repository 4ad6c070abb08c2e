"""Addresses of pages that another stage may or may not have."""

from django.urls import NoReverseMatch, reverse


def address(view: str, *arguments: object) -> str:
    """The page's address, or nothing where there is no such page."""
    try:
        return reverse(view, args=arguments)
    except NoReverseMatch:
        return ""
