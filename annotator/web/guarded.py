"""What a trigger of the database refuses, told from a fault."""

from django.db import DatabaseError

from annotator.web.errors import Refused

SQLSTATE = "CG001"  # of what our triggers raise on PostgreSQL


def refusal_in(problem: Exception) -> Refused | None:
    """The refusal that the trigger's words make; None where no trigger spoke."""
    said = words_in(problem.__cause__) if isinstance(problem, DatabaseError) else ""
    return Refused(f"{said[0].upper()}{said[1:]}. Nothing was stored.") if said else None


def words_in(cause: BaseException | None) -> str:
    if getattr(cause, "pgcode", None) == SQLSTATE:
        return str(cause.diag.message_primary)  # type: ignore[union-attr]  # psycopg2's
    if getattr(cause, "sqlite_errorname", None) == "SQLITE_CONSTRAINT_TRIGGER":
        return str(cause)
    return ""
