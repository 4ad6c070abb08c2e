"""REST: path rules, what they take, how they stand beside what was settled, and labels by rule."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.adjudication.derived import derive
from annotator.codebook.models import Facet
from annotator.codebook.path_rules import import_rules, to_rules
from annotator.overview.rules import standing
from annotator.overview.rules.views import facet_in
from annotator.studies.models import Role
from annotator.studies.rest import StudyView


class PathRuleShape(serializers.Serializer[Any]):
    prefix = serializers.CharField(source="rule.prefix")
    category = serializers.CharField(source="rule.category", help_text="its id; empty: the rule says nothing")
    name = serializers.CharField(source="category")
    note = serializers.CharField(source="rule.note")
    files = serializers.IntegerField(help_text="changed files that fall under it")


class RuledShape(serializers.Serializer[Any]):
    """The rules of a repository; of any where its name is empty."""

    repository = serializers.CharField()
    rules = PathRuleShape(source="lines", many=True)
    files = serializers.IntegerField()
    unmatched = serializers.IntegerField()
    folders = serializers.SerializerMethodField(help_text="where the files lie that no rule takes")

    def get_folders(self, one: standing.Ruled) -> dict[str, int]:
        return dict(one.folders)


class PathRuleInput(serializers.Serializer[Any]):
    prefix = serializers.CharField(max_length=1_000, trim_whitespace=False)
    level = serializers.CharField(
        required=False, allow_null=True, help_text="a category's name or id; null says nothing"
    )
    category = serializers.CharField(required=False, allow_null=True)
    note = serializers.CharField(required=False, allow_blank=True, max_length=1_000)


class PathRulesInput(serializers.Serializer[Any]):
    """As in a file of rules: for each repository its list, in the place of the present one."""

    rules = serializers.DictField(child=serializers.ListField(child=PathRuleInput()))


class RulingShape(serializers.Serializer[Any]):
    labelled = serializers.IntegerField()
    same = serializers.IntegerField()
    left = serializers.IntegerField(help_text="bugs that the rules leave open")


class RulesReportShape(serializers.Serializer[Any]):
    """The rules beside labels that did not come of them."""

    n = serializers.IntegerField()
    right = serializers.IntegerField(help_text="one value, and the settled one")
    among = serializers.IntegerField(help_text="several, the settled one among them")
    wrong = serializers.IntegerField()
    undecided = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True, help_text="right, of those for which the rules say one value")
    cells = serializers.SerializerMethodField()

    def get_cells(self, told: standing.Report) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = {}
        for (one, other), count in sorted(told.cells.items()):
            found.setdefault(one, {})[other] = count
        return found


class RulesView(StudyView):
    def facet(self, *roles: str) -> Facet:
        return facet_in(self.study(*roles), self.kwargs["facet"])


class PathRules(RulesView):
    @extend_schema(responses=RuledShape(many=True))
    def get(self, request: Request, slug: str, facet: str) -> Response:
        """The path rules of a facet by repository, with the changed files that each takes."""
        return self.told(self.facet())

    @extend_schema(request=PathRulesInput, responses=RuledShape(many=True))
    def put(self, request: Request, slug: str, facet: str) -> Response:
        """Rules of the named repositories, each list in the place of the present one."""
        row = self.facet(Role.LEAD)
        self.given(PathRulesInput)
        import_rules(facet=row, rules=to_rules(request.data, row), by=self.me)
        return self.told(row)

    def told(self, facet: Facet) -> Response:
        return Response(RuledShape(standing.ruled(facet.codebook.study, facet), many=True).data)


class RulesReport(RulesView):
    @extend_schema(responses=RulesReportShape)
    def get(self, request: Request, slug: str, facet: str) -> Response:
        """The rules put beside settled labels: how many are right, and which they take for which."""
        row = self.facet()
        return Response(RulesReportShape(standing.report(row.codebook.study, row)).data)


class Derive(RulesView):
    @extend_schema(request=None, responses=RulingShape)
    def post(self, request: Request, slug: str, facet: str) -> Response:
        """Label the bugs of a facet that is decided by rule."""
        row = self.facet(Role.LEAD)
        return Response(RulingShape(derive(study=row.codebook.study, facet=row, by=self.me)).data)
