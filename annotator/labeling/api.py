"""REST: rounds, and one's own turns in them. Of an open round nobody gets another's answer here."""

from collections.abc import Mapping
from typing import Any

from django.db.models import F, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotator.accounts.models import User
from annotator.codebook.choices import choices_of
from annotator.codebook.models import Facet
from annotator.labeling import actions, follow_up, forms, proposals, rounds, turns
from annotator.labeling import serializers as shapes
from annotator.labeling.models import Answer, Assignment, Flag, Round
from annotator.labeling.news import news_since, second_looks
from annotator.labeling.proposals import with_codes
from annotator.labeling.queries import plain_verdicts, progress, rates_in, round_named, rounds_with_denials
from annotator.labeling.submission import Pin, Submission
from annotator.sampling.models import Bug
from annotator.studies.models import Role, Study
from annotator.studies.rest import StudyList, StudyView, whole
from annotator.web.errors import BadInput


class RoundView(StudyView):
    """A view of one round; `number` stands in the address."""

    def round(self, *roles: str) -> Round:
        rows = Round.objects.select_related("study__codebook", "codebook_version").defer("codebook_version__document")
        return get_object_or_404(rows, study=self.study(*roles), number=self.kwargs["number"])


def show_round(round_: Round, *, viewer: User, roles: frozenset[str]) -> Response:
    told = progress(round_, viewer=viewer, is_lead=Role.LEAD in roles)
    context = {"bugs": {round_.pk: round_.round_bugs.count()}, "progress": told}
    return Response(shapes.OneRoundShape(round_, context=context).data)


def roles_of(study: Study) -> frozenset[str]:
    return study.my_roles


class OneRound(RoundView):
    @extend_schema(responses=shapes.OneRoundShape)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """A round, with the progress that one may know."""
        return show_round(self.round(), viewer=self.me, roles=roles_of(self.study()))


class Gate(RoundView):
    @extend_schema(request=shapes.GateShape, responses=shapes.OneRoundShape)
    def put(self, request: Request, slug: str, number: int) -> Response:
        """Change the gate, until the first submission."""
        round_, given = self.round(Role.LEAD), self.given(shapes.GateShape)
        gate = {name.removeprefix("gate_"): value for name, value in given.items()}
        actions.set_gate(round_=round_, by=self.me, **gate)
        return show_round(self.round(), viewer=self.me, roles=roles_of(self.study()))


# --- one's own turns


class TurnView(RoundView):
    def mine(self) -> Assignment:
        """One's own turn at the bug of the address. Whether others have it cannot be told from the answer."""
        found = turns.turn_at(self.round(Role.RATER), self.me, self.kwargs["bug"])
        if found is None:
            raise Http404("You have no such bug in this round.")
        return found

    def shown(self) -> Response:
        return Response(shapes.TurnShape(self.mine()).data)


@extend_schema_view(get=extend_schema(parameters=[OpenApiParameter("state", str)]))
class Turns(RoundView, StudyList):
    """One's own turns in the round, in one's own order."""

    serializer_class = shapes.TurnLine
    order = ("position",)

    def rows(self) -> QuerySet[Assignment]:
        mine = turns.turns(self.round(Role.RATER), self.me).filter(state__in=turns.SHOWN_STATES)
        state = self.asked("state")
        return mine.filter(state=state) if state else mine


class Again(RoundView):
    @extend_schema(parameters=[OpenApiParameter("since", int)], responses=shapes.SecondLookShape(many=True))
    def get(self, request: Request, slug: str, number: int) -> Response:
        """What changed in the codebook since a version, else since the round opened, and one's own answers from before."""
        round_ = self.round(Role.RATER)
        opened = round_.codebook_version.number if round_.codebook_version else 0
        since = whole(self.asked("since")) or opened
        news = news_since(round_.study.codebook, since) if round_.is_open else None
        looks = second_looks(round_, self.me, news) if news else []
        return Response(shapes.SecondLookShape(looks, many=True).data)


class Next(RoundView):
    @extend_schema(request=None, responses={200: shapes.TurnShape, 204: None})
    def post(self, request: Request, slug: str, number: int) -> Response:
        """The next bug, claimed where the round is a pool. No content: there is none now."""
        round_ = self.round(Role.RATER)
        found = turns.next_turn(round_, self.me) if round_.is_open else None
        if found is None:
            return Response(status=status.HTTP_204_NO_CONTENT)
        return Response(shapes.TurnShape(found).data)


class Turn(TurnView):
    @extend_schema(responses=shapes.TurnShape)
    def get(self, request: Request, slug: str, number: int, bug: int) -> Response:
        """One's own turn at a bug: answers, draft, notes."""
        return self.shown()


class Answers(TurnView):
    @extend_schema(request=shapes.SubmissionShape, responses=shapes.TurnShape)
    def put(self, request: Request, slug: str, number: int, bug: int) -> Response:
        """Submit answers, or other ones in their place until the round closes."""
        turn, given = self.mine(), self.given(shapes.SubmissionShape)
        answers = {} if given["not_a_bug"] else by_uid(turn.round, turn.rater_id, given.pop("answers"))
        pins = [Pin(**pin) for pin in given.pop("pins")]
        submission = Submission(**given | {"answers": answers, "pins": pins})
        actions.submit(assignment=turn, submission=submission, by=self.me)
        return self.shown()


def by_uid(round_: Round, rater: int, answers: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The answers by the ids of their categories: a name is exchanged for its id, the rest stays as it is."""
    facets = with_codes(choices_of(round_.study.codebook), round_, rater).facets
    uids = {key: {name: uid for uid, name in facet.names.items()} for key, facet in facets.items()}
    return {key: [uids.get(key, {}).get(word, word) for word in words] for key, words in answers.items()}


class Draft(TurnView):
    @extend_schema(request=shapes.Filled, responses=shapes.KeptShape)
    def put(self, request: Request, slug: str, number: int, bug: int) -> Response:
        """Keep what is not submitted yet, for oneself alone."""
        turn, given = self.mine(), self.given(shapes.Filled)
        pins = tuple(forms.ShownPin(**pin) for pin in given.pop("pins"))
        answers = {key: tuple(uids) for key, uids in by_uid(turn.round, turn.rater_id, given.pop("answers")).items()}
        filled = forms.Filled(answers=answers, pins=pins, revision=turn.revision, **given)
        return Response({"kept_at": actions.save_draft(assignment=turn, draft=filled.as_draft(), by=self.me)})


class Codes(TurnView):
    @extend_schema(responses=shapes.CodeShape(many=True))
    def get(self, request: Request, slug: str, number: int, bug: int) -> Response:
        """The codes that one may choose here besides the codebook's categories: one's own, or all that the round shares."""
        turn = self.mine()
        return Response(shapes.CodeShape(proposals.codes_for(turn.round, turn.rater_id), many=True).data)

    @extend_schema(request=shapes.NewCode, responses={201: shapes.CodeShape(many=True)})
    def post(self, request: Request, slug: str, number: int, bug: int) -> Response:
        """Propose a code. Nobody else sees it until the round closes, unless the round shares codes."""
        turn, given = self.mine(), self.given(shapes.NewCode)
        facet = proposals.facet_of(turn.round, given.pop("facet"))
        proposals.propose(assignment=turn, facet=facet, by=self.me, **given)
        listed = proposals.codes_for(turn.round, turn.rater_id)
        return Response(shapes.CodeShape(listed, many=True).data, status=status.HTTP_201_CREATED)


class Skip(TurnView):
    @extend_schema(request=shapes.SkipShape, responses=shapes.TurnShape)
    def post(self, request: Request, slug: str, number: int, bug: int) -> Response:
        """Give the bug back, with a reason."""
        turn = self.mine()
        actions.skip(assignment=turn, by=self.me, **self.given(shapes.SkipShape))
        return self.shown()


class Park(TurnView):
    @extend_schema(request=None, responses=shapes.TurnShape)
    def post(self, request: Request, slug: str, number: int, bug: int) -> Response:
        """Later: the bug stays with oneself and comes again when the others are done."""
        actions.park(assignment=self.mine(), by=self.me)
        return self.shown()


class FurtherNotes(TurnView):
    @extend_schema(request=shapes.NewNote, responses={201: shapes.TurnShape})
    def post(self, request: Request, slug: str, number: int, bug: int) -> Response:
        """Note that the item holds another bug. Nobody else sees it until the round closes."""
        turn = self.mine()
        actions.note_further_bug(assignment=turn, note=self.given(shapes.NewNote)["note"], by=self.me)
        return Response(shapes.TurnShape(self.mine()).data, status=status.HTTP_201_CREATED)


class OwnFlags(TurnView):
    @extend_schema(request=shapes.NewFlag, responses={201: shapes.FlagShape})
    def post(self, request: Request, slug: str, number: int, bug: int) -> Response:
        """Doubt an own answer of a closed round. It stands; the lead decides on a second look."""
        turn, given = self.mine(), self.given(shapes.NewFlag)
        facet = Facet.objects.filter(codebook__study=turn.round.study, key=given["facet"]).first()
        if facet is None:
            raise BadInput(f"The codebook has no facet “{given['facet']}”.")
        raised = follow_up.flag(assignment=turn, facet_id=facet.pk, reason=given["reason"], by=self.me)
        return Response(shapes.FlagShape(raised).data, status=status.HTTP_201_CREATED)


# --- what a lead decides


class Flags(RoundView):
    @extend_schema(responses=shapes.FlagShape(many=True))
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Doubts of raters about own answers, once the round is no longer open."""
        round_ = self.round()
        return self.listed(round_, hides=self.hides(round_))

    @extend_schema(request=shapes.FlagsDecision, responses=shapes.FlagShape(many=True))
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Accept flags as one relabel round, or refuse them."""
        round_, given = self.round(Role.LEAD), self.given(shapes.FlagsDecision)
        hides = self.hides(round_)
        wanted = {(which["bug"], None if hides else which["rater"], which["facet"]) for which in given["flags"]}
        new = [raised for raised in rounds.flags(round_) if raised.state == Flag.State.NEW]
        chosen = [raised for raised in new if named(raised, hides=hides) in wanted]
        if {named(raised, hides=hides) for raised in chosen} != wanted:
            raise BadInput("Name open flags of this round, each by bug, rater and facet.")
        if given["accept"]:
            follow_up.relabel_flagged(flags=chosen, name=given["name"], by=self.me)
        else:
            for raised in chosen:
                follow_up.refuse_flag(raised=raised, by=self.me)
        return self.listed(round_, hides=hides)

    def hides(self, round_: Round) -> bool:
        return rounds.hides_names(round_.study, roles_of(self.study()))

    def listed(self, round_: Round, *, hides: bool) -> Response:
        found = [] if round_.is_open else rounds.flags(round_)
        return Response(shapes.FlagShape(found, many=True, context={"names_hidden": hides}).data)


def named(raised: Flag, *, hides: bool) -> tuple[int, str | None, str]:
    rater = None if hides else raised.assignment.rater.username
    return raised.assignment.bug.number, rater, raised.facet.key


class FurtherBugs(RoundView):
    @extend_schema(responses=shapes.FurtherShape(many=True))
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Further bugs that raters noted, once the round is no longer open."""
        return Response(shapes.FurtherShape(rounds.further(self.round()), many=True).data)

    @extend_schema(request=shapes.FurtherDecision, responses=shapes.FurtherShape(many=True))
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Follow a note, match it with a bug that is there, or refuse it."""
        round_, given = self.round(Role.LEAD), self.given(shapes.FurtherDecision)
        wanted = (given["bug"], given["rater"], given["place"])
        noted = next((row.note for row in rounds.further(round_) if whose(row) == wanted), None)
        if noted is None:
            raise Http404("There is no such note.")
        if given["act"] == "follow":
            follow_up.follow_further_bug(noted=noted, by=self.me)
        else:
            same = self.same_bug(noted.assignment.bug, given["same"]) if given["act"] == "match" else None
            follow_up.match_further_bug(noted=noted, bug=same, reason=given["reason"], by=self.me)
        return Response(shapes.FurtherShape(rounds.further(round_), many=True).data)

    def same_bug(self, origin: Bug, number: int | None) -> Bug:
        found = Bug.objects.filter(item=origin.item_id, number=number or 0).first()
        if found is None:
            raise BadInput("“same” is the number of the item's bug that the note means.")
        return found


def whose(noted: rounds.Noted) -> tuple[int, str, int]:
    turn = noted.note.assignment
    return turn.bug.number, turn.rater.username, noted.place


class Skipped(RoundView):
    @extend_schema(responses=shapes.SkippedShape(many=True))
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Bugs that raters gave back, for a lead who does not rate in the round."""
        return Response(shapes.SkippedShape(rounds.skipped(self.unrated()), many=True).data)

    @extend_schema(request=shapes.HandOn, responses=shapes.SkippedShape(many=True))
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Give a skipped bug to another rater."""
        round_, given = self.unrated(), self.given(shapes.HandOn)
        turn = get_object_or_404(
            Assignment.objects.select_related("rater", "bug"),
            round=round_, bug__number=given["bug"], rater__username=given["rater"],
        )  # fmt: skip
        to = User.objects.filter(username=given["to"]).first()
        if to is None:
            raise BadInput("“to” is the user name of the rater who takes the bug.")
        actions.hand_on(assignment=turn, to=to, by=self.me)
        return Response(shapes.SkippedShape(rounds.skipped(round_), many=True).data)

    def unrated(self) -> Round:
        round_ = self.round(Role.LEAD)
        if round_.is_open and rates_in(round_, self.me):
            raise Http404("Who rates in an open round sees it as a rater.")
        return round_


# --- answers


@extend_schema_view(
    get=extend_schema(
        parameters=[
            OpenApiParameter("round", str, description="number or name"),
            OpenApiParameter("facet", str),
            OpenApiParameter("rater", str),
            OpenApiParameter("bug", int),
        ]
    )
)
class AllAnswers(StudyList):
    """Answers as they stand: one's own, and of others those of rounds that are no longer open."""

    serializer_class = shapes.AnswerShape
    order = ("bug_number", "round_number", "rater_name", "facet_key", "slot")

    def rows(self) -> QuerySet[Any, Any]:
        study = self.study()
        answers = Answer.objects.current().visible_to(self.me).filter(round__study=study)
        filters = {
            "round": self.asked_round(study),
            "bug__number": whole(self.asked("bug")),
            "facet__key": self.asked("facet") or None,
            "rater__username": self.asked("rater") or None,
        }
        wanted = answers.filter(**{path: value for path, value in filters.items() if value is not None})
        return wanted.exclude(plain_verdicts(rounds_with_denials(study))).values(
            "slot", "revision", "is_assisted", "at", "cell", "version", "category__name", "category__uid",
            "assignment__confidence", "assignment__note", "round__name", "round__kind", "round__blindness",
            "bug__ordinal", "bug__item__number", "bug__item__repository__label",
            bug_number=F("bug__number"), round_number=F("round__number"),
            rater_name=F("rater__username"), facet_key=F("facet__key"),
        )  # fmt: skip

    def asked_round(self, study: Study) -> Round | None:
        named = self.asked("round")
        found = round_named(study, named) if named else None
        if named and found is None:
            raise Http404("There is no such round.")
        return found
