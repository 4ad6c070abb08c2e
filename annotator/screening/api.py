"""REST: criteria, screenings, and one's own votes in them. Of an open screening nobody gets another's vote here."""

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.accounts.models import User
from annotator.screening import actions, criteria, queries, turns
from annotator.screening import serializers as shapes
from annotator.screening.choosing import Wanted
from annotator.screening.models import Criterion, Reading, Screening
from annotator.studies.models import Role, Study
from annotator.studies.rest import StudyList, StudyView, whole
from annotator.web.errors import BadInput


class ScreeningView(StudyView):
    """A view of one screening; `number` stands in the address."""

    def screening(self, *roles: str) -> Screening:
        rows = Screening.objects.select_related("study").prefetch_related("reviewers")
        return get_object_or_404(rows, study=self.study(*roles), number=self.kwargs["number"])


def show(screening: Screening, *, viewer: User, roles: frozenset[str], code: int = 200) -> Response:
    told = queries.progress(screening, viewer=viewer, is_lead=Role.LEAD in roles)
    return Response(shapes.OneScreeningShape(screening, context={"progress": told}).data, status=code)


# --- criteria


class Criteria(StudyView):
    @extend_schema(responses=shapes.CriterionShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The rules of screening, retired ones too; those that have to hold first."""
        listed = list(Criterion.objects.filter(study=self.study()))
        return Response(shapes.CriterionShape(listed, many=True).data)

    @extend_schema(request=shapes.NewCriterion, responses={201: shapes.CriterionShape})
    def post(self, request: Request, slug: str) -> Response:
        """Write a criterion; while a screening is open with the reason why it comes only now."""
        written = criteria.write(study=self.study(Role.LEAD), by=self.me, **self.given(shapes.NewCriterion))
        return Response(shapes.CriterionShape(written).data, status=status.HTTP_201_CREATED)


class CriterionView(StudyView):
    def criterion(self) -> Criterion:
        wanted = self.kwargs["key"].upper()
        study = self.study(Role.LEAD)
        found = next((one for one in Criterion.objects.filter(study=study) if one.code == wanted), None)
        if found is None:
            raise Http404("There is no such criterion.")
        return found


class OneCriterion(CriterionView):
    @extend_schema(request=shapes.Rewording, responses=shapes.CriterionShape)
    def put(self, request: Request, slug: str, key: str) -> Response:
        """Change its words, until the first screening opens; its key at any time."""
        changed = criteria.reword(criterion=self.criterion(), by=self.me, **self.given(shapes.Rewording))
        return Response(shapes.CriterionShape(changed).data)

    @extend_schema(request=None, responses={204: None})
    def delete(self, request: Request, slug: str, key: str) -> Response:
        """Take it back, until the first screening opens."""
        criteria.remove(criterion=self.criterion(), by=self.me)
        return Response(status=status.HTTP_204_NO_CONTENT)


class RetireCriterion(CriterionView):
    @extend_schema(request=shapes.WithReason, responses=shapes.CriterionShape)
    def post(self, request: Request, slug: str, key: str) -> Response:
        """No further vote can cite it."""
        retired = criteria.retire(criterion=self.criterion(), by=self.me, **self.given(shapes.WithReason))
        return Response(shapes.CriterionShape(retired).data)


# --- screenings


class Screenings(StudyList):
    """Screenings by number."""

    serializer_class = shapes.ScreeningShape
    order = ("number",)

    def rows(self) -> QuerySet[Screening]:
        return Screening.objects.filter(study=self.study()).prefetch_related("reviewers")

    @extend_schema(request=shapes.NewScreening, responses={201: shapes.OneScreeningShape})
    def post(self, request: Request, slug: str) -> Response:
        """Open a screening: its reviewers can begin at once."""
        study, given = self.study(Role.LEAD), self.given(shapes.NewScreening)
        wanted = Wanted(**given.pop("items", {}))
        reviewers = people_named(study, given.pop("reviewers"))
        opened = actions.open_screening(study=study, reviewers=reviewers, wanted=wanted, by=self.me, **given)
        return show(opened, viewer=self.me, roles=study.my_roles, code=status.HTTP_201_CREATED)


def people_named(study: Study, names: list[str]) -> list[User]:
    """In the order given, each once or refused."""
    people = User.objects.in_bulk(names, field_name="username")
    missing = [name for name in names if name not in people]
    if missing:
        raise BadInput(f"{missing[0][:150]} is not a rater of this study. Give the role under Members first.")
    return [people[name] for name in names]


class OneScreening(ScreeningView):
    @extend_schema(responses=shapes.OneScreeningShape)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """A screening, with the progress that one may know."""
        screening = self.screening()
        return show(screening, viewer=self.me, roles=self.study().my_roles)


class Close(ScreeningView):
    @extend_schema(request=None, responses=shapes.OneScreeningShape)
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Freeze the votes for good, and write what the rule decides."""
        actions.close(screening=self.screening(Role.LEAD), by=self.me)
        return show(self.screening(), viewer=self.me, roles=self.study().my_roles)


@extend_schema_view(get=extend_schema(parameters=[OpenApiParameter("screening", int)]))
class Counts(StudyView):
    @extend_schema(responses=shapes.ScreeningCounts)
    def get(self, request: Request, slug: str) -> Response:
        """What became of the candidates, of the study or of one screening."""
        study, number = self.study(), whole(self.asked("screening"))
        screening = None if number is None else get_object_or_404(Screening, study=study, number=number)
        return Response(shapes.ScreeningCounts(queries.counts(study, screening)).data)


# --- one's own readings


@extend_schema_view(get=extend_schema(parameters=[OpenApiParameter("state", str)]))
class Mine(ScreeningView, StudyList):
    """One's own candidates in the screening, in one's own order."""

    serializer_class = shapes.ReadingShape
    order = ("position",)

    def rows(self) -> QuerySet[Reading]:
        mine = turns.readings(self.screening(Role.RATER), self.me)
        state = self.asked("state")
        return mine.filter(state=state) if state else mine


class Next(ScreeningView):
    @extend_schema(request=None, responses={200: shapes.ReadingShape, 204: None})
    def post(self, request: Request, slug: str, number: int) -> Response:
        """The next candidate to read. No content: there is none."""
        screening = self.screening(Role.RATER)
        found = turns.next_reading(screening, self.me) if screening.is_open else None
        if found is None:
            return Response(status=status.HTTP_204_NO_CONTENT)
        return Response(shapes.ReadingShape(found).data)


class ReadingView(ScreeningView):
    def reading(self) -> Reading:
        """One's own. Whether others have the candidate cannot be told from the answer."""
        found = turns.reading_at(self.screening(Role.RATER), self.me, self.kwargs["candidate"])
        if found is None:
            raise Http404("You have no such candidate in this screening.")
        return found

    def shown(self) -> Response:
        return Response(shapes.ReadingShape(self.reading()).data)


class OneReading(ReadingView):
    @extend_schema(responses=shapes.ReadingShape)
    def get(self, request: Request, slug: str, number: int, candidate: int) -> Response:
        """One's own turn at a candidate, with one's own vote."""
        return self.shown()


class OwnVote(ReadingView):
    @extend_schema(request=shapes.NewVote, responses=shapes.ReadingShape)
    def put(self, request: Request, slug: str, number: int, candidate: int) -> Response:
        """Vote, or vote otherwise, until the screening closes."""
        actions.vote(reading=self.reading(), by=self.me, **self.given(shapes.NewVote))
        return self.shown()

    @extend_schema(request=None, responses=shapes.ReadingShape)
    def delete(self, request: Request, slug: str, number: int, candidate: int) -> Response:
        """Take one's vote back."""
        actions.take_back(reading=self.reading(), by=self.me)
        return self.shown()


class Later(ReadingView):
    @extend_schema(request=None, responses=shapes.ReadingShape)
    def post(self, request: Request, slug: str, number: int, candidate: int) -> Response:
        """Put it off: it comes again when the others are done."""
        actions.put_off(reading=self.reading(), by=self.me)
        return self.shown()
