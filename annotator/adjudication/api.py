"""Adjudication over REST: what the pages can do, under the same rules."""

from typing import Any

from django.db.models import F, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.accounts.models import User
from annotator.adjudication import actions, audits, forms, meetings, queue, reopening
from annotator.adjudication import serializers as shapes
from annotator.adjudication.deciding import NOT_YET, has_rated
from annotator.adjudication.item import Item, bug_of, item_of, letters_of
from annotator.adjudication.jointly import decide_jointly, waiting_for_joint
from annotator.adjudication.models import AuditPick, Dispute, Resolution
from annotator.codebook.models import Facet
from annotator.labeling.models import Round
from annotator.labeling.queries import round_named
from annotator.sampling.models import Bug
from annotator.studies.models import Role, Session, Study
from annotator.studies.rest import StudyList, StudyView
from annotator.web.errors import BadInput, Refused

DECISION = ("bug", "facet", "category", "round", "by", "recorded_by")
MEETING_ROLES = (Role.LEAD, Role.ADJUDICATOR, Role.RATER)


@extend_schema_view(
    get=extend_schema(
        parameters=[
            OpenApiParameter("facet", str),
            OpenApiParameter("round", str, description="number or name"),
            OpenApiParameter("repository", str),
            OpenApiParameter("state", str, enum=list(queue.STATES)),
        ]
    )
)
class Disputes(StudyList):
    """The disputes of a study. What an open round holds is not among them."""

    serializer_class = shapes.DisputeSerializer
    order = ("bug_number", "facet_key")

    def rows(self) -> QuerySet[Dispute]:
        study, state = self.study(), self.asked("state") or queue.OPEN
        if state not in queue.STATES:
            raise BadInput(f"There is no state “{state[:30]}”. It is one of: {', '.join(queue.STATES)}.")
        filters = queue.Filters(self.asked("facet"), self.round_asked(study), self.asked("repository"), state)
        rows = queue.disputes(study, filters).select_related("bug", "facet", "round")
        return rows.annotate(bug_number=F("bug__number"), facet_key=F("facet__key"))

    def round_asked(self, study: Study) -> str:
        named = self.asked("round")
        found = round_named(study, named) if named else None
        if named and found is None:
            raise Http404("There is no such round.")
        return str(found.number) if found else ""


# --- a facet of a bug


class BugView(StudyView):
    """A view of one bug; `number` stands in the address."""

    def found(self, study: Study, key: str = "") -> tuple[Bug, Facet]:
        """The bug and the facet; without a key the verdict."""
        bug = bug_of(study, self.kwargs["number"])
        facet = Facet.objects.filter(codebook__study=study, key=key or Facet.VERDICT, retired_at=None).first()
        if bug is None or facet is None:
            raise Http404("The study has no such bug or facet.")
        return bug, facet


class FacetView(BugView):
    """A view of one facet of a bug; `facet` stands in the address, too."""

    def here(self, *roles: str) -> tuple[Bug, Facet]:
        return self.found(self.study(*roles), self.kwargs["facet"])


def told(bug: Bug, facet: Facet) -> Item:
    """The bug's facet where its round has closed; otherwise the same refusal whatever was answered."""
    item = item_of(bug, facet_key=facet.key)
    if item.positions is None:
        raise Refused(NOT_YET)
    return item


def shown(bug: Bug, facet: Facet) -> Response:
    return Response(shapes.ItemSerializer(told(bug, facet)).data)


class FacetOfBug(FacetView):
    @extend_schema(responses=shapes.ItemSerializer)
    def get(self, request: Request, slug: str, number: int, facet: str) -> Response:
        """A facet of a bug: the sides with their rationales, and what settles it."""
        return shown(*self.here())


class Decide(FacetView):
    @extend_schema(request=shapes.DecisionInput, responses=shapes.ItemSerializer)
    def post(self, request: Request, slug: str, number: int, facet: str) -> Response:
        """Settle a dispute as an adjudicator who did not rate the bug."""
        bug, asked = self.here(Role.ADJUDICATOR)
        data = self.given(shapes.DecisionInput)
        to: dict[str, Any] = {"bug": bug, "facet": asked, "by": self.me}
        if data["left_open"]:
            actions.leave_open(**to, note=data["note"])
        elif data["not_a_bug"]:
            actions.adjudicate_not_a_bug(**to, reason=data["reason"], note=data["note"])
        else:
            label = forms.categories(asked, data["categories"])
            actions.adjudicate(**to, categories=label, reason=data["reason"], note=data["note"])
        return shown(bug, asked)


class Change(FacetView):
    @extend_schema(request=shapes.ChangeInput, responses=shapes.ItemSerializer)
    def post(self, request: Request, slug: str, number: int, facet: str) -> Response:
        """Decide anew on what is settled."""
        bug, asked = self.here(Role.ADJUDICATOR)
        data = self.given(shapes.ChangeInput)
        actions.change_decision(
            bug=bug,
            facet=asked,
            categories=forms.categories(asked, data["categories"]),
            reason=data["reason"],
            note=data["note"],
            seen_at=seen(data["seen_at"]),
            by=self.me,
        )
        return shown(bug, asked)


def seen(at: str) -> str:
    """The time as it is compared, whether it ends in Z or in +00:00."""
    return f"{at[:-1]}+00:00" if at.endswith("Z") else at


class TakeStand(FacetView):
    @extend_schema(request=shapes.StandInput, responses=shapes.ItemSerializer)
    def post(self, request: Request, slug: str, number: int, facet: str) -> Response:
        """A rater's move on an own dispute."""
        bug, asked = self.here(Role.RATER)
        data = self.given(shapes.StandInput)
        label = forms.categories(asked, data["categories"])
        actions.take_stand(bug=bug, facet=asked, move=data["move"], categories=label, why=data["why"], by=self.me)
        return shown(bug, asked)


class SetJointly(FacetView):
    @extend_schema(request=shapes.JointInput, responses=shapes.ItemSerializer)
    def post(self, request: Request, slug: str, number: int, facet: str) -> Response:
        """Set the label of a facet that members of the study decide together."""
        bug, asked = self.here(Role.LEAD, Role.ADJUDICATOR)
        data = self.given(shapes.JointInput)
        people = list(User.objects.filter(username__in=data["participants"]))
        if len(people) != len(set(data["participants"])):
            raise BadInput("Name members of the study, each once.")
        decide_jointly(
            bug=bug,
            facet=asked,
            categories=forms.categories(asked, data["categories"]),
            participants=people,
            seen_at=seen(data["seen_at"]),
            note=data["note"],
            by=self.me,
        )
        return shown(bug, asked)


class WaitingJointly(StudyView):
    @extend_schema(responses=shapes.WaitingSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Facets that are decided jointly, and the bugs that have no label there yet."""
        return Response(shapes.WaitingSerializer(waiting_for_joint(self.study()), many=True).data)


# --- a bug


class Remarks(BugView):
    @extend_schema(responses=shapes.RemarkSerializer(many=True))
    def get(self, request: Request, slug: str, number: int) -> Response:
        """The discussion of a bug after its round has closed."""
        return self.discussion(*self.found(self.study()))

    @extend_schema(request=shapes.RemarkSerializer, responses=shapes.RemarkSerializer(many=True))
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Say something on the bug, or ask its raters."""
        study = self.study()
        bug, verdict = self.found(study)
        data = self.given(shapes.RemarkSerializer)
        if data["is_question"]:
            self.study(Role.ADJUDICATOR)
        elif not has_rated(bug, self.me):
            self.study(Role.LEAD, Role.ADJUDICATOR)
        about = self.found(study, data["facet"])[1] if data["facet"] else None
        actions.remark(bug=bug, text=data["text"], facet=about, is_question=data["is_question"], by=self.me)
        return self.discussion(bug, verdict)

    def discussion(self, bug: Bug, verdict: Facet) -> Response:
        return Response(shapes.RemarkSerializer(told(bug, verdict).remarks, many=True).data)


class Decisions(BugView):
    @extend_schema(responses=shapes.ResolutionSerializer(many=True))
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Every decision on a bug, oldest first; superseded ones stay."""
        bug, verdict = self.found(self.study())
        told(bug, verdict)
        rows = Resolution.objects.filter(bug=bug).select_related(*DECISION).order_by("pk")
        return Response(shapes.ResolutionSerializer(rows, many=True).data)


class Reopen(BugView):
    @extend_schema(request=shapes.ReopenInput, responses=shapes.ResolutionSerializer(many=True))
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Let one rater look again, in a relabel round of its own."""
        bug, verdict = self.found(self.study(Role.LEAD, Role.ADJUDICATOR))
        data = self.given(shapes.ReopenInput)
        item = told(bug, verdict)
        sides = {letter: rater for rater, letter in letters_of(item.positions).items()} if item.positions else {}
        if data["side"] not in sides:
            raise BadInput("Name the side whose rater looks again.")
        rater = User.objects.get(pk=sides[data["side"]])
        reopening.reopen_for(bug=bug, rater=rater, reason=data["reason"], by=self.me)
        stale = Resolution.objects.current().filter(bug=bug).select_related(*DECISION)
        return Response(shapes.ResolutionSerializer(stale.order_by("pk"), many=True).data)


# --- a round


class RoundView(StudyView):
    """A view of one round; `number` stands in the address."""

    def round(self, *roles: str) -> Round:
        rows = Round.objects.select_related("study")
        return get_object_or_404(rows, study=self.study(*roles), number=self.kwargs["number"])


class Majority(RoundView):
    @extend_schema(request=None, responses=shapes.CountSerializer)
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Let the majority of a round's raters decide, where the protocol allows it."""
        round_ = self.round(Role.LEAD, Role.ADJUDICATOR)
        return Response({"settled": actions.settle_by_majority(round_=round_, by=self.me)})


class Unanimous(RoundView):
    @extend_schema(responses=shapes.PickSerializer(many=True))
    def get(self, request: Request, slug: str, number: int) -> Response:
        """The bugs of a round drawn for a second look."""
        return self.drawn(self.round())

    @extend_schema(request=shapes.AcceptInput, responses=shapes.PickSerializer(many=True))
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Accept the round's unanimous bugs, and draw some for a second look."""
        round_, data = self.round(Role.LEAD, Role.ADJUDICATOR), self.given(shapes.AcceptInput)
        audits.accept_unanimous(round_=round_, share=data["share"], seed=data["seed"], by=self.me)
        return self.drawn(round_)

    def drawn(self, round_: Round) -> Response:
        picks = (
            AuditPick.objects.filter(acceptance__round=round_)
            .select_related("bug", "acceptance__round")
            .order_by("bug__number")
        )
        return Response(shapes.PickSerializer(picks, many=True).data)


class Pick(StudyView):
    @extend_schema(
        operation_id="studies_rounds_unanimous_pick", request=shapes.PickInput, responses=shapes.PickSerializer
    )
    def post(self, request: Request, slug: str, number: int, bug: int) -> Response:
        """The outcome of a second look."""
        study = self.study(Role.ADJUDICATOR)
        rows = AuditPick.objects.select_related("bug", "acceptance__round")
        drawn = get_object_or_404(rows, bug__study=study, acceptance__round__number=number, bug__number=bug)
        data = self.given(shapes.PickInput)
        if data["confirmed"]:
            return Response(shapes.PickSerializer(audits.confirm_pick(pick=drawn, by=self.me)).data)
        facet = Facet.objects.filter(codebook__study=study, key=data["facet"] or Facet.VERDICT, retired_at=None).first()
        if facet is None:
            raise Http404("The study has no such bug or facet.")
        done = audits.change_pick(
            pick=drawn,
            facet=facet,
            categories=forms.categories(facet, data["categories"]),
            reason=data["reason"],
            note=data["note"],
            seen_at=seen(data["seen_at"]),
            by=self.me,
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
    found = {"participants": list(names), "started_at": meeting.started_at, "ended_at": meeting.ended_at}
    return Response(shapes.MeetingSerializer(found | {"notes": meeting.notes}).data)


class Meeting(StudyView):
    @extend_schema(responses=shapes.MeetingSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """The meeting that goes on."""
        return as_meeting(live(self.study(*MEETING_ROLES)))

    @extend_schema(request=shapes.MeetingSerializer, responses=shapes.MeetingSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Start a meeting."""
        study, names = self.study(*MEETING_ROLES), self.given(shapes.MeetingSerializer)["participants"]
        people = list(User.objects.filter(username__in=names, memberships__study=study).distinct())
        if len(people) != len(set(names)):
            raise BadInput("Name members of the study, each once.")
        meetings.start_meeting(study=study, participants=people, by=self.me)
        return as_meeting(live(study))


class EndMeeting(StudyView):
    @extend_schema(request=shapes.EndInput, responses=shapes.MeetingSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """End the meeting that goes on."""
        study, notes = self.study(*MEETING_ROLES), self.given(shapes.EndInput)["notes"]
        return as_meeting(meetings.end_meeting(meeting=live(study), notes=notes, by=self.me))


class DecideTogether(FacetView):
    @extend_schema(request=shapes.TogetherInput, responses=shapes.ItemSerializer)
    def post(self, request: Request, slug: str, number: int, facet: str) -> Response:
        """Settle a dispute in the meeting: every rater of the bug takes part and confirms."""
        study = self.study(*MEETING_ROLES)
        bug, asked = self.found(study, facet)
        data = self.given(shapes.TogetherInput)
        more: dict[str, Any] = {"meeting": live(study), "bug": bug, "facet": asked, "note": data["note"], "by": self.me}
        if data["left_open"]:
            meetings.leave_open_together(**more)
        elif data["not_a_bug"]:
            meetings.not_a_bug_together(**more, confirmed=data["confirmed"])
        else:
            label = forms.categories(asked, data["categories"])
            meetings.decide_together(**more, categories=label, confirmed=data["confirmed"])
        return shown(bug, asked)
