"""An item's identity as part of an address: any text, a sheet's key with a line break in it, too."""

from django.urls import register_converter
from django.urls.converters import StringConverter


class AnyText(StringConverter):
    regex = r"[\s\S]+"


register_converter(AnyText, "anytext")
ITEM = "items/<anytext:identity>"
