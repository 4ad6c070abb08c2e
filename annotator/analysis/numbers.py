"""The one way from what is asked to its numbers: for pages, files, the REST interface, commands and workers."""

from collections.abc import Callable

from annotator.analysis import asked as kinds
from annotator.analysis.asked import Asked
from annotator.analysis.comparing import comparison
from annotator.analysis.crossing import MONTE_CARLO, association, cross
from annotator.analysis.distributing import distribution
from annotator.analysis.relating import agreement, correlation, time, trend
from annotator.analysis.sheets import Sheet
from annotator.studies.models import Study

PLAIN: dict[str, Callable[[Study, Asked], Sheet]] = {
    kinds.ASSOCIATION: association,
    kinds.CORRELATION: correlation,
    kinds.TREND: trend,
    kinds.TIME: time,
    kinds.AGREEMENT: agreement,
}


def numbers(study: Study, asked: Asked, *, whole: bool = False, simulate: MONTE_CARLO | None = None) -> Sheet:
    """Counted now. `whole` adds what is dearer: what other labels would change.

    `simulate` is given by workers and commands, and brings with it what takes large libraries: the exact test of large
    tables, and intervals by pull request.
    """
    if asked.kind == kinds.DISTRIBUTION:
        return distribution(study, asked, whole=whole, resamples=simulate is not None)
    if asked.kind == kinds.CROSS:
        return cross(study, asked, whole=whole, simulate=simulate)
    if asked.kind == kinds.COMPARISON:
        return comparison(study, asked, other=Study.objects.filter(slug=asked.other).first() if asked.other else None)
    return PLAIN[asked.kind](study, asked)
