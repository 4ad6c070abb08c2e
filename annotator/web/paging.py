"""Lists are paged by key: no page counts the whole."""

from typing import Any

from rest_framework.pagination import CursorPagination


class ByKey(CursorPagination):
    ordering = "pk"
    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 1000

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        address = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["next", "previous", "results"],
            "properties": {"next": address, "previous": address, "results": schema},
        }
