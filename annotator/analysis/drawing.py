"""A figure drawn by a worker, as often as it is woken and never twice of the same numbers. The row is the truth."""

import datetime as dt
import logging

from django.db.models import Q
from django.utils import timezone

from annotator.analysis.asked import Asked
from annotator.analysis.kept import asked_of
from annotator.analysis.models import Drawing
from annotator.analysis.numbers import numbers
from annotator.analysis.sheets import Sheet
from annotator.analysis.simulating import monte_carlo
from annotator.web.errors import BadInput, Refused

logger = logging.getLogger(__name__)
LEASE = dt.timedelta(minutes=5)
FAILED = "It failed for a reason that is in the server's log. The last picture stays."


def free() -> Q:
    return Q(lease_until=None) | Q(lease_until__lt=timezone.now())


def perform(drawing_id: int) -> bool:
    """Count and draw, where what it shows has changed; False where somebody else is at it, or nothing has changed."""
    claimed = Drawing.objects.filter(free(), pk=drawing_id).update(lease_until=timezone.now() + LEASE)
    if not claimed:
        return False
    drawing = Drawing.objects.select_related("study").get(pk=drawing_id)
    try:
        return bring_up_to_date(drawing)
    except (BadInput, Refused) as problem:
        _end(drawing, state=Drawing.State.FAILED, message=str(problem))
        return True
    except Exception:
        logger.exception("figure %s failed", drawing)
        _end(drawing, state=Drawing.State.FAILED, message=FAILED)
        raise


def bring_up_to_date(drawing: Drawing) -> bool:
    asked = asked_of(drawing)
    plain = numbers(drawing.study, asked)
    if plain.digest == drawing.drawn_of and drawing.state == Drawing.State.DRAWN:
        _end(drawing, wanted=plain.digest)
        return False
    sheet = numbers(drawing.study, asked, whole=True, simulate=monte_carlo)
    _end(drawing, **drawn(sheet, asked), wanted=plain.digest, drawn_of=plain.digest)
    return True


def drawn(sheet: Sheet, asked: Asked) -> dict[str, object]:
    from annotator.analysis.picturing import pdf_of, picture_of, png_of  # a large library

    svg = picture_of(sheet, asked)
    return {
        "state": Drawing.State.DRAWN, "message": "", "drawn_at": timezone.now(), "data": sheet.document(), "svg": svg,
        "pdf": pdf_of(svg), "png": png_of(svg),
    }  # fmt: skip


def _end(drawing: Drawing, **values: object) -> None:
    Drawing.objects.filter(pk=drawing.pk).update(lease_until=None, **values)


def left_waiting() -> list[int]:
    """Figures that nobody was woken for, or whose worker is gone."""
    waiting = Q(state=Drawing.State.WAITING) | Q(lease_until__lt=timezone.now())
    return list(Drawing.objects.filter(free(), waiting).order_by("pk").values_list("pk", flat=True))
