"""How well the raters agreed: read from the snapshots of rounds that are no longer open, or counted anew."""

from collections.abc import Iterable

from annotator.agreement import gating, pooling, screened
from annotator.agreement.comparing import AS_ANSWERED, recompute
from annotator.agreement.entries import Entry
from annotator.agreement.models import Snapshot
from annotator.agreement.scales import ANSWERED, LEVELS, version_of
from annotator.codebook.models import Version
from annotator.labeling.models import Round
from annotator.studies.models import Study
from annotator.web.errors import BadInput
from annotator.web.numbers import whole

NOW = "now"  # the codebook's present version


def entries(
    study: Study, *, round_: Round | None = None, facet: str | None = None, level: str = ANSWERED
) -> list[Entry]:
    """The agreement list of a study: rounds by number, facets in the codebook's order, pairs by name, all raters last."""
    rounds = Round.objects.with_agreement().filter(study=study)
    if round_ is not None:
        rounds = rounds.filter(pk=round_.pk)
    by_round = entries_by_round(rounds.order_by("number"), level=level)
    found = [entry for listed in by_round.values() for entry in listed]
    if round_ is None:
        found += screened.entries(study)
    return [entry for entry in found if facet in (None, entry["facet"])]


def entries_of(round_: Round, *, level: str = ANSWERED) -> list[Entry]:
    """As its snapshot holds them; counted now where there is none yet. An open round gives nothing."""
    return entries_by_round([round_], level=level).get(round_.pk, [])


def entries_by_round(rounds: Iterable[Round], *, level: str = ANSWERED) -> dict[int, list[Entry]]:
    """The same for many rounds, by id, in their order; one query for all that are counted.

    By top categories, or mapped to another version of the codebook, they are counted when asked for: the answers of a
    closed round do not change.
    """
    over = [round_ for round_ in rounds if not round_.is_open]
    if level != ANSWERED:
        return {round_.pk: recompute(round_, level=level) for round_ in over}
    kept = Snapshot.objects.filter(round__in=over, basis=AS_ANSWERED, is_current=True)
    stored: dict[int, list[Entry]] = dict(kept.values_list("round_id", "entries"))
    return {round_.pk: stored[round_.pk] if round_.pk in stored else recompute(round_) for round_ in over}


def pooled(study: Study, *, facet: str | None = None, level: str = ANSWERED) -> list[Entry]:
    """All main rounds that are closed or imported together, each pair and all raters."""
    rounds = Round.objects.with_agreement().filter(study=study, kind=Round.Kind.MAIN).order_by("number")
    found = pooling.entries(list(rounds), level=level)
    return [entry for entry in found if facet in (None, entry["facet"])]


def level_named(study: Study, name: str, *, mapped: str = "") -> str:
    """The answers as given, unless the top categories are asked for, or a version of the codebook to map them to.

    `mapped` is a version's number, or "now" for the present one.
    """
    versions = Version.objects.filter(codebook__study=study)
    if mapped:
        present = versions.order_by("-number").values_list("number", flat=True).first()
        number = present if mapped == NOW else whole(mapped.removeprefix("v"))
        name = f"v{number}" if number else mapped
    number = version_of(name)
    if name and name not in LEVELS and number is None:
        raise BadInput(f"There is no level “{name[:40]}”: take {' or '.join(LEVELS)}, or a version such as v2.")
    if number is not None and not versions.filter(number=number).exists():
        raise BadInput(f"The codebook has no version {number}.")
    return name or ANSWERED


def gate_of(round_: Round) -> gating.RoundGate:
    """What the gate says about the round: for its page and for the study's home."""
    return gating.of_round(round_, entries_of(round_))
