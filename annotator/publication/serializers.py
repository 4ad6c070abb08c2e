"""Exports as programs see them."""

from typing import Any

from rest_framework import serializers


class ExportShape(serializers.Serializer[Any]):
    table = serializers.CharField()
    format = serializers.CharField()
    url = serializers.CharField()
