"""What was collected, as programs see it."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotator.collection.access import GITHUB
from annotator.collection.asking import LONGEST_DAYS
from annotator.collection.models import ChangedFile, Edit, Fault, Finding, Harvest, Item, Link, Window
from annotator.collection.progress import Line, Progress
from annotator.collection.saying import in_words
from annotator.collection.tokens import LONGEST_NAME
from annotator.collection.wanted import GITHUB_OPENED, from_document

KINDS = [(kind, kind) for kind in ("pull_request", "issue")]
MOMENTS = [(moment, moment) for moment in ("merged", "closed", "created", "updated")]
STATES = [(state, state) for state in ("", "open", "closed", "merged")]


class CommentShape(serializers.Serializer[Any]):
    kind = serializers.CharField()
    author = serializers.CharField(help_text="empty: the account was deleted")
    at = serializers.DateTimeField(allow_null=True)
    body = serializers.CharField()
    path = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    verdict = serializers.CharField(help_text="of a review: approved, changes_requested, …")


class LinkShape(serializers.Serializer[Link]):
    """What an item says about another, which need not be held."""

    kind = serializers.CharField(
        source="source", help_text="closing: GitHub's reference; keyword: words such as fixes #12; mention"
    )
    host = serializers.CharField()
    repository = serializers.SerializerMethodField()
    number = serializers.IntegerField()
    title = serializers.CharField()
    target = serializers.CharField(
        source="target.identity", allow_null=True, default=None, help_text="identity of the item that is held"
    )

    def get_repository(self, link: Link) -> str:
        return f"{link.owner}/{link.name}"


class EditedPartShape(serializers.Serializer[Any]):
    part = serializers.CharField(help_text="title, description, state, labels, comment, review, commits, files, …")
    diff = serializers.CharField(help_text="a unified diff without its head, against the copy")
    what = serializers.CharField(required=False, help_text="of a turn: changed, added or removed")
    author = serializers.CharField(required=False, help_text="of a turn; empty: the account was deleted")
    at = serializers.CharField(required=False, help_text="when the turn was said")


class EditShape(serializers.Serializer[Edit]):
    """What was edited at the source after the copy was taken."""

    edited_at = serializers.DateTimeField()
    seen_at = serializers.DateTimeField()
    changes = EditedPartShape(many=True)


class CommitShape(serializers.Serializer[Any]):
    sha = serializers.CharField()
    message = serializers.CharField()
    author = serializers.CharField()
    at = serializers.DateTimeField(allow_null=True)


class FileShape(serializers.Serializer[ChangedFile]):
    path = serializers.CharField()
    old_path = serializers.CharField()
    status = serializers.CharField()
    additions = serializers.IntegerField()
    deletions = serializers.IntegerField()
    patch = serializers.SerializerMethodField(help_text="a unified diff without its head; empty where there is none")

    def get_patch(self, file: ChangedFile) -> str:
        return file.patch.text if hasattr(file, "patch") else ""


# --- harvests


class QueryShape(serializers.Serializer[Any]):
    """What is looked for. `listed` names single pull requests or issues; then the rest stands at its defaults."""

    repositories = serializers.ListField(child=serializers.CharField())
    kind = serializers.CharField()
    moment = serializers.CharField(help_text="which date the period is of: merged, closed, created or updated")
    first = serializers.DateField()
    last = serializers.DateField(allow_null=True, help_text="null: until now")
    state = serializers.CharField(help_text="open, closed, merged, or empty")
    words = serializers.ListField(child=serializers.CharField())
    labels = serializers.ListField(child=serializers.CharField())
    authors = serializers.ListField(child=serializers.CharField())
    limit = serializers.IntegerField(allow_null=True)
    listed = serializers.ListField(child=serializers.CharField())


class CountsShape(serializers.Serializer[Line]):
    found = serializers.IntegerField(help_text="what was wanted, the unavailable among it")
    fetched = serializers.IntegerField()
    unavailable = serializers.IntegerField()
    to_fetch = serializers.IntegerField()
    to_list = serializers.IntegerField(help_text="promised by the search, and not listed yet")
    passed_over = serializers.IntegerField(help_text="hits that were not wanted")
    capped = serializers.IntegerField(help_text="hits beyond the 1,000 that a search gives, in one second of time")
    partial = serializers.IntegerField(  # type: ignore[assignment]  # Serializer has an attribute of this name
        help_text="windows of which the search did not give all"
    )
    lacking = serializers.IntegerField(help_text="items of which GitHub does not give all parts")
    edited = serializers.IntegerField(help_text="edited on GitHub since the copy was taken")
    uncounted = serializers.IntegerField(help_text="windows that nobody has asked about yet")
    windows = serializers.IntegerField()


class LineShape(CountsShape):
    repository = serializers.CharField(source="label")


class HarvestShape(serializers.Serializer[Harvest]):
    number = serializers.IntegerField(help_text="names the harvest in its study")
    host = serializers.CharField()
    state = serializers.CharField(help_text="waiting, running, paused, done, cancelled or failed")
    message = serializers.CharField(help_text="why it stands still")
    words = serializers.SerializerMethodField(help_text="what was asked for, in a sentence")
    query = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()
    created_by = serializers.SerializerMethodField()
    looked_at = serializers.DateTimeField(allow_null=True, help_text="when it last came to its end")
    wake_at = serializers.DateTimeField(allow_null=True, help_text="when it goes on by itself")
    refresh_days = serializers.IntegerField(allow_null=True)
    override_reason = serializers.CharField(help_text="why it may be sampled though not complete")

    def get_words(self, row: Harvest) -> str:
        return in_words(from_document(row.query), row.host)

    @extend_schema_field(QueryShape)
    def get_query(self, row: Harvest) -> Any:
        return from_document(row.query).document()

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_created_by(self, row: Harvest) -> str | None:
        return row.created_by.username if row.created_by else None


class RequestsShape(serializers.Serializer[Any]):
    rest = serializers.IntegerField(source="rest_requests")
    graphql = serializers.IntegerField(source="graphql_requests")
    points = serializers.IntegerField()


class ReasonShape(serializers.Serializer[Any]):
    reason = serializers.CharField()
    count = serializers.IntegerField()


class FaultShape(serializers.Serializer[Fault]):
    kind = serializers.CharField()
    said = serializers.CharField()
    count = serializers.IntegerField()
    first_at = serializers.DateTimeField()
    last_at = serializers.DateTimeField()


class AllowanceShape(serializers.Serializer[Any]):
    resource = serializers.CharField()
    remaining = serializers.IntegerField(allow_null=True)
    limit = serializers.IntegerField(allow_null=True)
    reset_at = serializers.DateTimeField(allow_null=True)


class KeyShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    allowances = AllowanceShape(many=True)
    blocked_until = serializers.DateTimeField(allow_null=True)
    is_refused = serializers.BooleanField()


class OneHarvestShape(serializers.Serializer[Progress]):
    """A harvest and how far it is."""

    harvest = HarvestShape()
    sum = CountsShape()
    repositories = LineShape(source="lines", many=True)
    unavailable = serializers.SerializerMethodField()
    passed_over = serializers.SerializerMethodField()
    faults = FaultShape(many=True)
    requests = RequestsShape(source="harvest")
    budget = serializers.SerializerMethodField(help_text="of the last run's tokens, for leads")
    minutes_left = serializers.IntegerField(allow_null=True)
    is_complete = serializers.BooleanField()

    @extend_schema_field(ReasonShape(many=True))
    def get_unavailable(self, found: Progress) -> Any:
        return [{"reason": reason, "count": count} for reason, count in found.unavailable]

    @extend_schema_field(ReasonShape(many=True))
    def get_passed_over(self, found: Progress) -> Any:
        return [{"reason": reason, "count": count} for reason, count in found.passed_over]

    @extend_schema_field(KeyShape(many=True))
    def get_budget(self, found: Progress) -> Any:
        return KeyShape(found.keys, many=True).data if self.context.get("is_lead") else []


class NewQuery(serializers.Serializer[Any]):
    """Repositories and what narrows them, or a list of addresses."""

    host = serializers.CharField(default=GITHUB, max_length=200)
    repositories = serializers.ListField(child=serializers.CharField(max_length=300), default=list)
    kind = serializers.ChoiceField(choices=KINDS, default="pull_request")
    moment = serializers.ChoiceField(choices=MOMENTS, default="created")
    first = serializers.DateField(default=GITHUB_OPENED)
    last = serializers.DateField(allow_null=True, default=None, help_text="null: until now")
    state = serializers.ChoiceField(choices=STATES, default="")
    words = serializers.ListField(child=serializers.CharField(max_length=200), default=list)
    labels = serializers.ListField(child=serializers.CharField(max_length=200), default=list)
    authors = serializers.ListField(child=serializers.CharField(max_length=200), default=list)
    limit = serializers.IntegerField(min_value=1, allow_null=True, default=None)
    urls = serializers.ListField(
        child=serializers.CharField(max_length=2000), default=list, help_text="instead of a query"
    )


class NewHarvest(NewQuery):
    refresh_days = serializers.IntegerField(min_value=1, max_value=LONGEST_DAYS, allow_null=True, default=None)


class HarvestPreview(NewQuery):
    count = serializers.BooleanField(default=False, help_text="ask GitHub how many there are: one search, now")


class HarvestPreviewShape(serializers.Serializer[Any]):
    words = serializers.CharField()
    hits = serializers.IntegerField(allow_null=True, help_text="before words are looked for; null: not asked")
    is_complete = serializers.BooleanField(allow_null=True, help_text="false: the search ran out of time")


class Schedule(serializers.Serializer[Any]):
    refresh_days = serializers.IntegerField(min_value=1, max_value=LONGEST_DAYS, allow_null=True)


class WhySampled(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=4000)


class FindingShape(serializers.Serializer[Finding]):
    repository = serializers.CharField(source="repository.label")
    number = serializers.IntegerField()
    state = serializers.CharField(help_text="found (to fetch), fetched, unavailable or passed_over")
    reason = serializers.CharField(help_text="404, 410, 451, 403, no_answer, unreadable; or words, limit")
    item = serializers.SerializerMethodField(help_text="identity of the item; null where none is held")
    lacks = serializers.ListField(child=serializers.ListField(), help_text="[what, held, total] of each part")
    edited_at = serializers.DateTimeField(allow_null=True)

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_item(self, row: Finding) -> str | None:
        return row.item.identity if row.item else None


class WindowShape(serializers.Serializer[Window]):
    repository = serializers.CharField(source="repository.label")
    starts = serializers.DateTimeField()
    ends = serializers.DateTimeField()
    state = serializers.CharField()
    hits = serializers.IntegerField()
    is_capped = serializers.BooleanField()
    is_partial = serializers.BooleanField()


# --- tokens


class GitHubTokenShape(serializers.Serializer[Any]):
    """A token as it may be shown: never itself."""

    key = serializers.CharField(help_text="names it in addresses")
    name = serializers.CharField(source="row.name")
    host = serializers.CharField(source="row.host")
    added_by = serializers.CharField(source="row.added_by.username")
    added_at = serializers.DateTimeField(source="row.added_at")
    used_at = serializers.DateTimeField(source="row.used_at", allow_null=True)
    refused_at = serializers.DateTimeField(source="row.refused_at", allow_null=True)
    allowances = AllowanceShape(many=True)
    blocked_until = serializers.DateTimeField(allow_null=True)


class NewGitHubToken(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=LONGEST_NAME)
    token = serializers.CharField(max_length=500, write_only=True)
    host = serializers.CharField(default=GITHUB, max_length=200)


# --- items


class ItemShape(serializers.Serializer[Item]):
    identity = serializers.CharField(help_text="names the item in its study")
    kind = serializers.CharField()
    repository = serializers.SerializerMethodField(help_text="what the study calls it; empty where there is none")
    number = serializers.IntegerField(allow_null=True)
    key = serializers.CharField()
    reference = serializers.CharField(help_text="how a person names it")
    url = serializers.CharField()
    title = serializers.CharField()
    state = serializers.CharField()
    author = serializers.CharField()
    labels = serializers.ListField(child=serializers.CharField())
    opened_at = serializers.DateTimeField(allow_null=True)
    closed_at = serializers.DateTimeField(allow_null=True)
    merged_at = serializers.DateTimeField(allow_null=True)
    fetched_at = serializers.DateTimeField(allow_null=True, help_text="when the copy was taken; null: there is none")

    def get_repository(self, item: Item) -> str:
        return item.repository.label if item.repository else ""


class WholeItemShape(ItemShape):
    """The item with everything that was kept of it."""

    body = serializers.SerializerMethodField()
    comments = CommentShape(many=True)
    commits = CommitShape(many=True)
    files = FileShape(many=True)
    links = LinkShape(many=True)
    edits = EditShape(many=True)

    def get_body(self, item: Item) -> str:
        return item.text.body if hasattr(item, "text") else ""
