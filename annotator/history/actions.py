"""Writing history."""

from typing import Any, Protocol

from annotator.history.models import Event


class Actor(Protocol):
    pk: Any

    def get_username(self) -> str: ...


def record(
    verb: str,
    *,
    by: Actor | None,
    kind: str,
    object_id: int | None = None,
    label: str = "",
    study_id: int | None = None,
    round_id: int | None = None,
    screening_id: int | None = None,
    old: Any = None,
    new: Any = None,
    why: str = "",
) -> Event:
    """Append one event, in the transaction of the act itself.

    `round_id` marks an act that nobody but its author may see until that round closes; `screening_id` the same.
    """
    return Event.objects.create(
        verb=verb,
        actor_id=by.pk if by else None,
        actor_name=by.get_username() if by else "",
        kind=kind,
        object_id=object_id,
        label=label[:200],
        study_id=study_id,
        round_id=round_id,
        screening_id=screening_id,
        old=old,
        new=new,
        why=why,
    )
