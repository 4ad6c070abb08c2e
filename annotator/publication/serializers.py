"""Exports and releases as programs see them."""

from typing import Any

from rest_framework import serializers

from annotator.publication.models import Release
from annotator.publication.options import AUTHORS, FIGURES, LICENCES, MOST_TEXT, TEXTS


class ExportShape(serializers.Serializer[Any]):
    table = serializers.CharField()
    format = serializers.CharField()
    url = serializers.CharField()


class ReleaseFile(serializers.Serializer[Any]):
    path = serializers.CharField()
    sha256 = serializers.CharField()
    bytes = serializers.IntegerField()


class CheckShape(serializers.Serializer[Any]):
    check = serializers.CharField()
    passed = serializers.BooleanField()
    must = serializers.BooleanField(help_text="it keeps a release back where it fails")
    says = serializers.CharField()


class CreatorShape(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=300)
    affiliation = serializers.CharField(max_length=300, required=False)
    orcid = serializers.CharField(max_length=19, required=False)


class OptionsShape(serializers.Serializer[Any]):
    """What the lead decided on names and texts."""

    named = serializers.ListField(child=serializers.CharField(max_length=150), required=False)
    texts = serializers.ChoiceField(choices=list(TEXTS), required=False)
    authors = serializers.ChoiceField(choices=list(AUTHORS), required=False)
    figures = serializers.ChoiceField(choices=list(FIGURES), required=False)
    licence = serializers.ChoiceField(choices=list(LICENCES), required=False)
    creators = CreatorShape(many=True, required=False)
    description = serializers.CharField(max_length=MOST_TEXT, required=False, allow_blank=True)


class NewRelease(OptionsShape):
    notes = serializers.CharField(
        max_length=10_000, required=False, allow_blank=True, default="", help_text="what changed"
    )


class ReleaseShape(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    sha256 = serializers.CharField()
    published_at = serializers.DateTimeField()
    is_public = serializers.BooleanField()
    notes = serializers.CharField()


class OneReleaseShape(ReleaseShape):
    options = OptionsShape()
    files = ReleaseFile(source="manifest", many=True)
    checks = CheckShape(many=True)
    cite = serializers.SerializerMethodField()

    def get_cite(self, release: Release) -> dict[str, str]:
        """`bibtex`, `text` and `cff`."""
        return dict(vars(self.context["cite"]))


class ReleaseProgress(serializers.Serializer[Any]):
    done = serializers.IntegerField(required=False)
    of = serializers.IntegerField(required=False)
    says = serializers.CharField(required=False)


class RequestShape(serializers.Serializer[Any]):
    state = serializers.CharField(help_text="waiting, running, published, failed or unchanged")
    message = serializers.CharField()
    progress = ReleaseProgress()
    number = serializers.IntegerField(allow_null=True)
    asked_at = serializers.DateTimeField()


class Public(serializers.Serializer[Any]):
    is_public = serializers.BooleanField()


class ChangedLabel(serializers.Serializer[Any]):
    bug = serializers.IntegerField()
    repository = serializers.CharField()
    number = serializers.CharField()
    facet = serializers.CharField()
    before = serializers.ListField(child=serializers.CharField())
    after = serializers.ListField(child=serializers.CharField())
    cause = serializers.CharField()


class ChangedName(serializers.Serializer[Any]):
    uid = serializers.CharField()
    facet = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()


class ChangesShape(serializers.Serializer[Any]):
    since = serializers.IntegerField()
    bugs_added = serializers.IntegerField()
    bugs_gone = serializers.IntegerField()
    bugs_left = serializers.ListField(child=serializers.IntegerField())
    counts = serializers.DictField(child=serializers.IntegerField(), help_text="labels by facet: all of them")
    labels = ChangedLabel(many=True, help_text="the first 10,000")
    names = ChangedName(many=True)


class BeingCompared(serializers.Serializer[Any]):
    retry_after = serializers.IntegerField(help_text="seconds; the header says so as well")


class ListedBug(serializers.Serializer[Any]):
    bug = serializers.IntegerField()
    repository = serializers.CharField()
    number = serializers.CharField()
    change = serializers.CharField(help_text="added, gone or changed")
    columns = serializers.ListField(child=serializers.CharField(), help_text="of `bugs`, that hold something else")


class ComparedBugs(serializers.Serializer[Any]):
    counts = serializers.DictField(child=serializers.IntegerField(), help_text="bugs added, gone and changed")
    columns = serializers.DictField(child=serializers.IntegerField(), help_text="changed bugs by column")
    listed = ListedBug(many=True, help_text="the first 1,000")


class ListedAnswer(serializers.Serializer[Any]):
    bug = serializers.IntegerField()
    repository = serializers.CharField()
    number = serializers.CharField()
    round = serializers.CharField()
    facet = serializers.CharField()
    before = serializers.ListField(child=serializers.CharField(), help_text="of all raters, never whose")
    after = serializers.ListField(child=serializers.CharField())


class ComparedAnswers(serializers.Serializer[Any]):
    """A bug, round and facet each, with the answers of all raters."""

    counts = serializers.DictField(child=serializers.IntegerField(), help_text="added, gone and changed")
    facets = serializers.DictField(child=serializers.IntegerField(), help_text="gone and changed, by facet")
    rounds_added = serializers.DictField(child=serializers.IntegerField(), help_text="added, by round")
    listed = ListedAnswer(many=True, help_text="gone and changed: the first 1,000")


class ChangedWords(serializers.Serializer[Any]):
    what = serializers.CharField()
    was = serializers.CharField()
    now = serializers.CharField()


class ChangedEntry(serializers.Serializer[Any]):
    kind = serializers.CharField(help_text="added, renamed, redefined, merged …, as between versions of the codebook")
    facet = serializers.CharField()
    category = serializers.CharField(help_text="permanent id; empty where it is no single category")
    says = serializers.CharField()
    words = ChangedWords(many=True)


class ComparedCodebook(serializers.Serializer[Any]):
    since = serializers.IntegerField(allow_null=True, help_text="version in the earlier release")
    version = serializers.IntegerField(allow_null=True)
    entries = ChangedEntry(many=True)


class ComparedFile(serializers.Serializer[Any]):
    path = serializers.CharField()
    change = serializers.CharField(help_text="added, gone, changed or same")
    before = serializers.IntegerField(allow_null=True, help_text="bytes")
    after = serializers.IntegerField(allow_null=True, help_text="bytes")


class ComparedShape(ChangesShape):
    bugs = ComparedBugs(required=False, help_text="with `since`, as all that follows")
    answers = ComparedAnswers(required=False)
    codebook = ComparedCodebook(required=False)
    files = ComparedFile(many=True, required=False)


class MethodsPart(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    text = serializers.CharField()
    missing = serializers.ListField(child=serializers.CharField())


class ChecklistItem(serializers.Serializer[Any]):
    source = serializers.CharField()  # type: ignore[assignment]  # a field of that name
    number = serializers.CharField()
    asks = serializers.CharField()
    state = serializers.CharField(help_text="recorded, partly, missing, or in the paper")
    where = serializers.ListField(child=serializers.CharField())
    missing = serializers.ListField(child=serializers.CharField())


class MethodsShape(serializers.Serializer[Any]):
    parts = MethodsPart(many=True)
    checklist = ChecklistItem(many=True)


class NewFinding(serializers.Serializer[Any]):
    sentence = serializers.CharField(max_length=2_000)
    facet = serializers.CharField()
    categories = serializers.ListField(child=serializers.CharField(), help_text="names or ids; those below count too")
    across = serializers.CharField(required=False, allow_blank=True, default="", help_text="a facet, or repository")
    within = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    labels = serializers.CharField(
        required=False, default="final", help_text="final, unanimous, or a rater's user name"
    )


class ChangedFinding(NewFinding):
    why = serializers.CharField(max_length=2_000)


class Withdrawn(serializers.Serializer[Any]):
    why = serializers.CharField(max_length=2_000)


class StatedFinding(serializers.Serializer[Any]):
    number = serializers.IntegerField(source="finding.number")
    version = serializers.IntegerField(source="finding.version")
    sentence = serializers.CharField(source="finding.sentence")
    text = serializers.CharField()
    numbers = serializers.DictField(child=serializers.JSONField())
    asked = serializers.DictField(source="finding.asked", child=serializers.JSONField())
    released = serializers.CharField(help_text="as the latest release has it; empty: in none")
    has_moved = serializers.BooleanField()
