"""Lists are paged by key: no page counts the whole."""

from typing import Any

from django.db import DataError
from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination


class ByKey(CursorPagination):
    ordering = "pk"
    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 1000

    def paginate_queryset(self, *args: Any, **options: Any) -> list[Any] | None:
        try:
            return super().paginate_queryset(*args, **options)
        except (ValueError, OverflowError, DataError):  # a cursor is an address's own word: any text may stand in it
            raise NotFound("There is no such page: go on from the first one.") from None

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        address = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["next", "previous", "results"],
            "properties": {"next": address, "previous": address, "results": schema},
        }
