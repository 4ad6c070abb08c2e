"""What the views of the REST interface have in common: the person, the study, what was sent, pages of a list."""

from typing import Any, cast

from django.db.models import QuerySet
from rest_framework.exceptions import NotFound
from rest_framework.generics import ListAPIView
from rest_framework.pagination import BasePagination
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from annotator.accounts.models import User
from annotator.studies.access import study_for
from annotator.studies.models import Study
from annotator.web import numbers
from annotator.web.paging import ByKey
from annotator.web.texts import check_text


class StudyView(APIView):
    """A view below one study, which exists for its members alone."""

    @property
    def me(self) -> User:
        return cast(User, self.request.user)  # authentication is required throughout

    def study(self, *roles: str) -> Study:
        return study_for(self.request.user, self.kwargs["slug"], *roles)

    def given(self, serializer: type[Serializer[Any]]) -> dict[str, Any]:
        """The body, checked field by field."""
        sent = serializer(data=self.request.data)
        sent.is_valid(raise_exception=True)
        return cast(dict[str, Any], sent.validated_data)

    def asked(self, name: str) -> str:
        """A filter of the address; empty where it is not there."""
        text = self.request.query_params.get(name, "")
        check_text(text, name)
        return text


class StudyList(StudyView, ListAPIView[Any]):
    """A list, page by page. `order` names what rows are sorted by: public facts, since they stand in the cursor."""

    order: tuple[str, ...]

    def rows(self) -> QuerySet[Any, Any]:
        raise NotImplementedError

    def get_queryset(self) -> QuerySet[Any, Any]:
        if getattr(self, "swagger_fake_view", False):  # the schema is being made: there is no study
            return Study.objects.none()
        return self.rows()

    def told(self, rows: list[Any]) -> list[Any]:
        """What the rows of one page are shown as."""
        return rows

    def paginate_queryset(self, queryset: Any) -> list[Any]:
        return self.told(super().paginate_queryset(queryset) or [])

    @property
    def paginator(self) -> BasePagination:
        pages = ByKey()
        pages.ordering = self.order  # type: ignore[assignment]  # the stubs know of one field only
        self._paginator = getattr(self, "_paginator", pages)
        return self._paginator


def whole(text: str) -> int | None:
    """A number from an address, or None where there is none."""
    number = numbers.whole(text)
    if text and number is None:
        raise NotFound(f"There is no number {text[:20]}.")
    return number
