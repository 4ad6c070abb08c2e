"""Adjudication over REST: what the pages can do, under the same rules."""

from typing import Any, cast

from django.db.models import F
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import api_view
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.accounts.models import User
from annotator.adjudication import actions, audits, forms, meetings, queue, reopening
from annotator.adjudication import serializers as shapes
from annotator.adjudication.deciding import NOT_YET, has_rated
from annotator.adjudication.item import Item, bug_of, item_of, letters_of
from annotator.adjudication.models import AuditPick, Dispute, Resolution
from annotator.codebook.models import Facet
from annotator.labeling.models import Round
from annotator.labeling.queries import round_named
from annotator.sampling.models import Bug
from annotator.studies.access import study_for
from annotator.studies.models import Role, Session, Study
from annotator.web.errors import BadInput, Refused
from annotator.web.paging import ByKey

DECISION = ("bug", "facet", "category", "round", "by", "recorded_by")
MEETING_ROLES = (Role.LEAD, Role.ADJUDICATOR, Role.RATER)


def found(study: Study, number: int, key: str = "") -> tuple[Bug, Facet]:
    """The bug and the facet; without a key the verdict."""
    bug = bug_of(study, number)
    facet = Facet.objects.filter(codebook__study=study, key=key or Facet.VERDICT, retired_at=None).first()
    if bug is None or facet is None:
        raise Http404("The study has no such bug or facet.")
    return bug, facet


def told(bug: Bug, facet: Facet) -> Item:
    """The bug's facet where its round has closed; otherwise the same refusal whatever was answered."""
    item = item_of(bug, facet_key=facet.key)
    if item.positions is None:
        raise Refused(NOT_YET)
    return item


def sent(request: Request, shape: type[Any]) -> dict[str, Any]:
    checked = shape(data=request.data)
    checked.is_valid(raise_exception=True)
    return cast(dict[str, Any], checked.validated_data)


def person(request: Request) -> User:
    return cast(User, request.user)


class ByBug(ByKey):
    """In the order of public facts: a cursor holds what rows are sorted by."""

    ordering = ("bug_number", "facet_key")  # type: ignore[assignment]  # the stubs know of one field only


class Disputes(ListAPIView[Dispute]):
    """The disputes of a study. What an open round holds is not among them."""

    pagination_class = ByBug
    serializer_class = shapes.DisputeSerializer
    queryset = Dispute.objects.none()

    @extend_schema(
        parameters=[
            OpenApiParameter("facet", str),
            OpenApiParameter("round", str, description="number or name"),
            OpenApiParameter("repository", str),
            OpenApiParameter("state", str, enum=list(queue.STATES)),
        ]
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> Any:
        study = study_for(self.request.user, self.kwargs["slug"])
        asked = self.request.GET
        state = asked.get("state", queue.OPEN)
        if state not in queue.STATES:
            raise BadInput(f"There is no state “{state[:30]}”. It is one of: {', '.join(queue.STATES)}.")
        filters = queue.Filters(asked.get("facet", ""), self.round_asked(study), asked.get("repository", ""), state)
        rows = queue.disputes(study, filters).select_related("bug", "facet", "round")
        return rows.annotate(bug_number=F("bug__number"), facet_key=F("facet__key"))

    def round_asked(self, study: Study) -> str:
        named = self.request.GET.get("round", "")
        found = round_named(study, named) if named else None
        if named and found is None:
            raise Http404("There is no such round.")
        return str(found.number) if found else ""


@extend_schema(responses=shapes.ItemSerializer)
@api_view(["GET"])
def show(request: Request, slug: str, number: int, facet: str) -> Response:
    """A facet of a bug: the sides with their rationales, and what settles it."""
    bug, asked = found(study_for(request.user, slug), number, facet)
    return Response(shapes.ItemSerializer(told(bug, asked)).data)


@extend_schema(request=shapes.DecisionInput, responses=shapes.ItemSerializer)
@api_view(["POST"])
def decide(request: Request, slug: str, number: int, facet: str) -> Response:
    """Settle a dispute as an adjudicator who did not rate the bug."""
    bug, asked = found(study_for(request.user, slug, Role.ADJUDICATOR), number, facet)
    data, by = sent(request, shapes.DecisionInput), person(request)
    if data["left_open"]:
        actions.leave_open(bug=bug, facet=asked, note=data["note"], by=by)
    elif data["not_a_bug"]:
        actions.adjudicate_not_a_bug(bug=bug, facet=asked, reason=data["reason"], note=data["note"], by=by)
    else:
        label = forms.categories(asked, data["categories"])
        actions.adjudicate(bug=bug, facet=asked, categories=label, reason=data["reason"], note=data["note"], by=by)
    return Response(shapes.ItemSerializer(told(bug, asked)).data)


@extend_schema(request=shapes.ChangeInput, responses=shapes.ItemSerializer)
@api_view(["POST"])
def change(request: Request, slug: str, number: int, facet: str) -> Response:
    """Decide anew on what is settled."""
    bug, asked = found(study_for(request.user, slug, Role.ADJUDICATOR), number, facet)
    data = sent(request, shapes.ChangeInput)
    actions.change_decision(
        bug=bug,
        facet=asked,
        categories=forms.categories(asked, data["categories"]),
        reason=data["reason"],
        note=data["note"],
        seen_at=seen(data["seen_at"]),
        by=person(request),
    )
    return Response(shapes.ItemSerializer(told(bug, asked)).data)


def seen(at: str) -> str:
    """The time as it is compared, whether it ends in Z or in +00:00."""
    return f"{at[:-1]}+00:00" if at.endswith("Z") else at


@extend_schema(request=shapes.StandInput, responses=shapes.ItemSerializer)
@api_view(["POST"])
def stand(request: Request, slug: str, number: int, facet: str) -> Response:
    """A rater's move on an own dispute."""
    bug, asked = found(study_for(request.user, slug, Role.RATER), number, facet)
    data = sent(request, shapes.StandInput)
    label = forms.categories(asked, data["categories"])
    actions.take_stand(bug=bug, facet=asked, move=data["move"], categories=label, why=data["why"], by=person(request))
    return Response(shapes.ItemSerializer(told(bug, asked)).data)


@extend_schema(methods=["GET"], responses=shapes.RemarkSerializer(many=True))
@extend_schema(methods=["POST"], request=shapes.RemarkSerializer, responses=shapes.RemarkSerializer(many=True))
@api_view(["GET", "POST"])
def remarks(request: Request, slug: str, number: int) -> Response:
    """The discussion of a bug after its round has closed."""
    study = study_for(request.user, slug)
    bug, verdict = found(study, number)
    if request.method == "POST":
        data = sent(request, shapes.RemarkSerializer)
        if data["is_question"]:
            study_for(request.user, slug, Role.ADJUDICATOR)
        elif not has_rated(bug, person(request)):
            study_for(request.user, slug, Role.LEAD, Role.ADJUDICATOR)
        about = found(study, number, data["facet"])[1] if data["facet"] else None
        actions.remark(bug=bug, text=data["text"], facet=about, is_question=data["is_question"], by=person(request))
    return Response(shapes.RemarkSerializer(told(bug, verdict).remarks, many=True).data)


@extend_schema(responses=shapes.ResolutionSerializer(many=True))
@api_view(["GET"])
def decisions(request: Request, slug: str, number: int) -> Response:
    """Every decision on a bug, oldest first; superseded ones stay."""
    bug, verdict = found(study_for(request.user, slug), number)
    told(bug, verdict)
    rows = Resolution.objects.filter(bug=bug).select_related(*DECISION).order_by("pk")
    return Response(shapes.ResolutionSerializer(rows, many=True).data)


@extend_schema(request=shapes.ReopenInput, responses=shapes.ResolutionSerializer(many=True))
@api_view(["POST"])
def reopen(request: Request, slug: str, number: int) -> Response:
    """Let one rater look again, in a relabel round of its own."""
    bug, verdict = found(study_for(request.user, slug, Role.LEAD, Role.ADJUDICATOR), number)
    data = sent(request, shapes.ReopenInput)
    item = told(bug, verdict)
    sides = {letter: rater for rater, letter in letters_of(item.positions).items()} if item.positions else {}
    if data["side"] not in sides:
        raise BadInput("Name the side whose rater looks again.")
    rater = User.objects.get(pk=sides[data["side"]])
    reopening.reopen_for(bug=bug, rater=rater, reason=data["reason"], by=person(request))
    stale = Resolution.objects.current().filter(bug=bug).select_related(*DECISION)
    return Response(shapes.ResolutionSerializer(stale.order_by("pk"), many=True).data)


@extend_schema(request=None, responses=shapes.CountSerializer)
@api_view(["POST"])
def majority(request: Request, slug: str, number: int) -> Response:
    """Let the majority of a round's raters decide, where the protocol allows it."""
    study = study_for(request.user, slug, Role.LEAD, Role.ADJUDICATOR)
    round_ = get_object_or_404(Round.objects.select_related("study"), study=study, number=number)
    return Response({"settled": actions.settle_by_majority(round_=round_, by=person(request))})


@extend_schema(methods=["GET"], responses=shapes.PickSerializer(many=True))
@extend_schema(methods=["POST"], request=shapes.AcceptInput, responses=shapes.PickSerializer(many=True))
@api_view(["GET", "POST"])
def unanimous(request: Request, slug: str, number: int) -> Response:
    """The bugs of a round drawn for a second look; POST accepts its unanimous bugs and draws them."""
    study = study_for(request.user, slug)
    round_ = get_object_or_404(Round, study=study, number=number)
    if request.method == "POST":
        study_for(request.user, slug, Role.LEAD, Role.ADJUDICATOR)
        data = sent(request, shapes.AcceptInput)
        audits.accept_unanimous(round_=round_, share=data["share"], seed=data["seed"], by=person(request))
    picks = AuditPick.objects.filter(round=round_).select_related("bug", "round").order_by("bug__number")
    return Response(shapes.PickSerializer(picks, many=True).data)


@extend_schema(operation_id="studies_rounds_unanimous_pick", request=shapes.PickInput, responses=shapes.PickSerializer)
@api_view(["POST"])
def pick(request: Request, slug: str, number: int, bug: int) -> Response:
    """The outcome of a second look."""
    study = study_for(request.user, slug, Role.ADJUDICATOR)
    drawn = get_object_or_404(
        AuditPick.objects.select_related("bug", "round"), round__study=study, round__number=number, bug__number=bug
    )
    data, by = sent(request, shapes.PickInput), person(request)
    if data["confirmed"]:
        done = audits.confirm_pick(pick=drawn, by=by)
    else:
        _, facet = found(study, bug, data["facet"])
        done = audits.change_pick(
            pick=drawn,
            facet=facet,
            categories=forms.categories(facet, data["categories"]),
            reason=data["reason"],
            note=data["note"],
            seen_at=seen(data["seen_at"]),
            by=by,
        )
    return Response(shapes.PickSerializer(done).data)


# --- meetings


def live(study: Study) -> Session:
    meeting = meetings.live_meeting(study)
    if meeting is None:
        raise Refused("No meeting is going on. Start one first.")
    return meeting


def as_meeting(meeting: Session) -> Response:
    names = meeting.participants.order_by("username").values_list("username", flat=True)
    shown = {"participants": list(names), "started_at": meeting.started_at, "ended_at": meeting.ended_at}
    return Response(shapes.MeetingSerializer(shown | {"notes": meeting.notes}).data)


@extend_schema(methods=["GET"], responses=shapes.MeetingSerializer)
@extend_schema(methods=["POST"], request=shapes.MeetingSerializer, responses=shapes.MeetingSerializer)
@api_view(["GET", "POST"])
def meeting(request: Request, slug: str) -> Response:
    """The meeting that goes on; POST starts one."""
    study = study_for(request.user, slug, *MEETING_ROLES)
    if request.method == "POST":
        names = sent(request, shapes.MeetingSerializer)["participants"]
        people = list(User.objects.filter(username__in=names, memberships__study=study).distinct())
        if len(people) != len(set(names)):
            raise BadInput("Name members of the study, each once.")
        meetings.start_meeting(study=study, participants=people, by=person(request))
    return as_meeting(live(study))


@extend_schema(request=shapes.EndInput, responses=shapes.MeetingSerializer)
@api_view(["POST"])
def end_meeting(request: Request, slug: str) -> Response:
    """End the meeting that goes on."""
    study = study_for(request.user, slug, *MEETING_ROLES)
    notes = sent(request, shapes.EndInput)["notes"]
    return as_meeting(meetings.end_meeting(meeting=live(study), notes=notes, by=person(request)))


@extend_schema(request=shapes.TogetherInput, responses=shapes.ItemSerializer)
@api_view(["POST"])
def decide_together(request: Request, slug: str, number: int, facet: str) -> Response:
    """Settle a dispute in the meeting: every rater of the bug takes part and confirms."""
    study = study_for(request.user, slug, *MEETING_ROLES)
    bug, asked = found(study, number, facet)
    data = sent(request, shapes.TogetherInput)
    more: dict[str, Any] = {
        "meeting": live(study),
        "bug": bug,
        "facet": asked,
        "note": data["note"],
        "by": person(request),
    }
    if data["left_open"]:
        meetings.leave_open_together(**more)
    elif data["not_a_bug"]:
        meetings.not_a_bug_together(**more, confirmed=data["confirmed"])
    else:
        label = forms.categories(asked, data["categories"])
        meetings.decide_together(**more, categories=label, confirmed=data["confirmed"])
    return Response(shapes.ItemSerializer(told(bug, asked)).data)
