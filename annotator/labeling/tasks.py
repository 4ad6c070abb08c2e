"""Background work of labelling."""

from celery import shared_task
from django.utils import timezone

from annotator.labeling.models import Round
from annotator.labeling.places import release_expired


@shared_task  # type: ignore[untyped-decorator]  # celery has no types
def expire_leases() -> int:
    """Give back places whose lease is over, in all open pools."""
    pools = Round.objects.open().filter(design=Round.Design.POOL)
    return sum(release_expired(round_=pool, now=timezone.now()) for pool in pools)
