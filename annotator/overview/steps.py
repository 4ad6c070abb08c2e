"""What needs the viewer next, most urgent first, each with one link."""

from collections import Counter
from collections.abc import Iterator, Sequence

from django.db.models import Exists, OuterRef
from django.urls import reverse

from annotator.adjudication import queue
from annotator.codebook.models import Codebook
from annotator.collection.models import Harvest, Item
from annotator.labeling.models import Flag, FurtherBug, Round
from annotator.overview.bugs.replacing import denied
from annotator.overview.home import RoundLine, Viewer
from annotator.overview.rounds.choosing import not_yet_in_a_main_round
from annotator.overview.screening_steps import to_screen
from annotator.overview.step import Step
from annotator.sampling.models import Bug, Drawn
from annotator.studies.models import Membership, Role, Study

PAIR = 2


def steps(study: Study, lines: Sequence[RoundLine], viewer: Viewer) -> list[Step]:
    found: list[Step] = []
    found += _to_label(study, lines, viewer)
    found += to_screen(study, viewer)
    if Role.RATER in viewer.roles:
        found += _own_disputes(study, viewer)
    if Role.ADJUDICATOR in viewer.roles:
        found += _disputes(study, viewer)
    if viewer.is_lead:
        found += _beginnings(study, lines) if not lines else _leading(study, lines)
    return found


def _to_label(study: Study, lines: Sequence[RoundLine], viewer: Viewer) -> Iterator[Step]:
    for line in lines:
        if not (line.round.is_open and line.is_mine):
            continue
        left = sum(one.left for one in line.progress if one.rater == viewer.user)
        if left:
            url = reverse("labeling:label", args=[study.slug, line.round.number])
            yield Step(
                f"{_bugs(left)} of {line.round.name} wait for your answer", "blind until the round closes", url, "Label"
            )


def _own_disputes(study: Study, viewer: Viewer) -> Iterator[Step]:
    """Disputes of closed rounds on which the rater has not taken a stand."""
    count = queue.own_waiting(study, viewer.user).count()
    if count:
        url = reverse("adjudication:mine", args=[study.slug])
        text = "keep yours, accept the other’s, or propose a third"
        yield Step(f"You and another rater differ {_times(count)}", text, url, "Take a stand")


def _disputes(study: Study, viewer: Viewer) -> Iterator[Step]:
    waiting = queue.undecided(study, viewer.user)
    count = waiting.count()
    if count:
        verb = "waits" if count == 1 else "wait"
        text = f"on {_bugs(queue.bugs_in(waiting))} of closed rounds"
        yield Step(
            f"{count} dispute{_s(count)} {verb} for your decision",
            text,
            reverse("adjudication:queue", args=[study.slug]),
            "Adjudicate",
        )


# --- the lead of a study that has rounds


def _leading(study: Study, lines: Sequence[RoundLine]) -> Iterator[Step]:
    notes, flags = _new_by_round(FurtherBug, study), _new_by_round(Flag, study)
    for line in lines:
        if line.round.is_open:
            yield from _open_round(study, line)
        else:
            yield from _closed_round(study, line, notes=notes[line.round.pk], flags=flags[line.round.pk])
    yield from _to_replace(study)
    free = not_yet_in_a_main_round(study).count()
    if free and not any(line.round.is_open for line in lines):
        url = reverse("overview:new_round", args=[study.slug])
        yield Step(f"{_bugs(free)} not yet in a main round", "no round is open", url, "New round")


def _to_replace(study: Study) -> Iterator[Step]:
    """Of samples: what the raters found to be no bug. Bugs that a sheet brought have no successor."""
    count = denied(study).filter(Exists(Drawn.objects.filter(item=OuterRef("item"), state=Drawn.State.TAKEN))).count()
    if count:
        url = reverse("replacing:bugs", args=[study.slug])
        verb = "is" if count == 1 else "are"
        yield Step(
            f"{_bugs(count)} {verb} none after all", "the next of the reserve can take their places", url, "Replace"
        )


def _new_by_round(model: type[FurtherBug] | type[Flag], study: Study) -> Counter[int]:
    """How many rows wait for the lead, by round. Those of open rounds are their authors' alone."""
    new = model._default_manager.filter(assignment__round__study=study, state=model.State.NEW).order_by()
    new = new.exclude(assignment__round__state=Round.State.OPEN)
    return Counter(new.values_list("assignment__round", flat=True))


def _open_round(study: Study, line: RoundLine) -> Iterator[Step]:
    page = reverse("labeling:round", args=[study.slug, line.round.number])
    close = reverse("overview:close_round", args=[study.slug, line.round.number])
    if line.is_mine:
        if not any(one.left for one in line.progress):
            yield Step(
                f"You have answered all of {line.round.name}",
                "ask the other raters whether they are done, too",
                close,
                "Close round",
            )
        return
    if not any(one.left for one in line.progress):
        yield Step(
            f"Everybody is done with {line.round.name}",
            "closing locks the answers and counts agreement",
            close,
            "Close round",
        )
    skipped = sum(one.skipped for one in line.progress)
    if skipped:
        text = "to hand on to another rater, or to leave out"
        yield Step(f"{_bugs(skipped)} skipped in {line.round.name}", text, page, "Look")


def _closed_round(study: Study, line: RoundLine, *, notes: int, flags: int) -> Iterator[Step]:
    page = reverse("labeling:round", args=[study.slug, line.round.number])
    if line.gate.needs_reason:
        facets = ", ".join(dict.fromkeys(holding.facet_name.lower() for holding in line.gate.short_of))
        url = reverse("agreement:round", args=[study.slug, line.round.number])
        text = f"{facets} · the next main round needs a reason"
        yield Step(f"{line.round.name} did not pass its gate", text, url, "Look")
    if notes:
        yield Step(
            f"{notes} further bug{_s(notes)} noted in {line.round.name}",
            "make bugs of them, or say why not",
            page,
            "Match",
        )
    if flags:
        yield Step(
            f"{flags} answer{_s(flags)} of {line.round.name} flagged", "by the raters who gave them", page, "Decide"
        )


# --- the lead of a study that has none yet


def _beginnings(study: Study, lines: Sequence[RoundLine]) -> Iterator[Step]:
    """The way to the first round; what is done already is left out."""
    if not Codebook.objects.filter(study=study).exists():
        yield Step(
            "Choose a codebook",
            "the questions and the answers they take",
            reverse("codebook:tree", args=[study.slug]),
            "Choose",
        )
    has_bugs = Bug.objects.filter(study=study).exists()
    if not has_bugs and Item.objects.filter(study=study).exists():
        url = reverse("sampling:new", args=[study.slug])
        yield Step("Draw a sample", "of what is in, by a rule that can be repeated", url, "Draw")
    elif not has_bugs:
        yield Step(
            "Import a sheet", "CSV, TSV or XLSX, one row a bug", reverse("intake:upload", args=[study.slug]), "Import"
        )
    if not has_bugs and not Harvest.objects.filter(study=study).exists():
        url = reverse("collection:harvests", args=[study.slug])
        yield Step("Or collect from GitHub", "by a query or a list of addresses", url, "Collect")
    raters = Membership.objects.filter(study=study, role=Role.RATER).count()
    if raters < PAIR:
        text = "by a one-time link that you send them" if raters == 0 else "one has joined"
        yield Step("Invite two raters", text, reverse("studies:members", args=[study.slug]), "Invite")
    if has_bugs and raters and not Round.objects.filter(study=study).exists():
        url = reverse("overview:new_round", args=[study.slug])
        yield Step(
            "Open the first round",
            "a small training round before it shows where the guideline is unclear",
            url,
            "New round",
        )


def _bugs(count: int) -> str:
    return f"{count:,} bug{_s(count)}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _s(count: int) -> str:
    return "" if count == 1 else "s"
