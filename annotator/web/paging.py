"""Lists are paged by key: no page counts the whole."""

from rest_framework.pagination import CursorPagination


class ByKey(CursorPagination):
    ordering = "pk"
    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 1000
