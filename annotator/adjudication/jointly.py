"""Facets that nobody answers blind: people of the study decide them together, bug by bug."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotator.accounts.models import User
from annotator.adjudication import deciding
from annotator.adjudication.deciding import Source
from annotator.adjudication.models import Dispute, Resolution
from annotator.adjudication.queries import FINAL_KINDS, final_rounds
from annotator.codebook.models import Category, Facet
from annotator.labeling.models import Answer, Round, RoundBug
from annotator.sampling.models import Bug
from annotator.studies.models import Membership, Session, Study
from annotator.web.errors import BadInput, Refused


@transaction.atomic
def decide_jointly(
    *,
    bug: Bug,
    facet: Facet,
    categories: Sequence[Category],
    participants: Sequence[User],
    by: User,
    seen_at: str,
    note: str = "",
    session: Session | None = None,
) -> list[Resolution]:
    """Set the label that the participants decided together; a label before it stays as history.

    `seen_at` is the time (ISO) of the label that the page showed, empty where there was none.
    """
    note = deciding.check_words(note)
    bug = deciding.lock(bug)
    basis = deciding.positions_for(bug).round
    _refuse_facet(bug, facet)
    before = deciding.current(bug, facet)
    if seen_at != (before[0].at.isoformat() if before else ""):
        raise Refused("Another decision was made since the page was opened. Load it again and compare.")
    names = _names(bug.study, participants)
    return deciding.store(
        bug,
        facet,
        deciding.check_label(facet, categories),
        source=Source.JOINT,
        basis=basis,
        by=by,
        verb="decided jointly",
        note=note,
        session=session,
        participants=names,
    )


def _refuse_facet(bug: Bug, facet: Facet) -> None:
    if facet.decided != Facet.Decided.JOINT:
        raise Refused(f"{facet.name} is not decided jointly in this study. What raters differ on is in the queue.")
    if not Bug.objects.filter(labelled_as_bugs(bug.study), pk=bug.pk).exists():
        raise Refused("Only a bug has other labels: its verdict is in dispute, or it is not a bug.")


def _names(study: Study, participants: Sequence[User]) -> list[str]:
    chosen = {person.pk: person.username for person in participants}
    members = set(Membership.objects.filter(study=study, user__in=chosen).values_list("user", flat=True))
    if len(chosen) < 2 or members != set(chosen):
        raise BadInput("Tick at least two members of the study who decided it together.")
    return sorted(chosen.values())


def labelled_as_bugs(study: Study) -> Q:
    """Of bugs: answered in a round that is no longer open, and the verdict is neither in dispute nor not a bug."""
    here = {"bug": OuterRef("pk"), "facet__key": Facet.VERDICT}
    denied = Resolution.objects.current().filter(**here, category__name=Category.NOT_A_BUG)
    disputed = Dispute.objects.filter(**here, is_open=True)
    answered = Answer.objects.current().filter(bug=OuterRef("pk"), round__in=final_rounds(study))
    return Q(Exists(answered)) & ~Q(Exists(denied)) & ~Q(Exists(disputed))


@dataclass(frozen=True)
class Waiting:
    """Bugs that have no label yet in a facet that is decided jointly."""

    facet: Facet
    numbers: tuple[int, ...]


def waiting_for_joint(study: Study) -> list[Waiting]:
    facets = Facet.objects.filter(codebook__study=study, decided=Facet.Decided.JOINT, retired_at=None)
    found = [Waiting(facet, tuple(unlabelled(study, facet).values_list("number", flat=True))) for facet in facets]
    return [waiting for waiting in found if waiting.numbers]


def unlabelled(study: Study, facet: Facet) -> QuerySet[Bug]:
    label = Resolution.objects.current().filter(bug=OuterRef("pk"), facet=facet, is_stale=False)
    again = RoundBug.objects.filter(bug=OuterRef("pk"), round__state=Round.State.OPEN, round__kind__in=FINAL_KINDS)
    rows = Bug.objects.filter(labelled_as_bugs(study), study=study)
    return rows.exclude(Exists(label)).exclude(Exists(again)).order_by("number")
