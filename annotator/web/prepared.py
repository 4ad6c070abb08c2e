"""Querysets whose SQL is written once a process: for the few that run at every save of a rater.

Writing the SQL of a wide select costs the ORM more than the database takes to answer it. Measured: `make bench`.
"""

import threading
import weakref
from collections.abc import Callable
from itertools import count
from typing import Any, Generic, TypeVar, cast

from django.db import DEFAULT_DB_ALIAS, connection, models
from django.db.models.query import get_related_populators  # what querysets themselves use
from psycopg2.extensions import AsIs

M = TypeVar("M", bound=models.Model)
LARGEST = 2**63 - 1
NUMBERS = count(1)
FIRST_STAND_IN = 2_000_000_011  # fits every integer column, and is nobody's number


class Prepared(Generic[M]):
    """`Prepared(build, "round", "rater")`: build(round=…, rater=…) is called once, with stand-ins for the values.

    A value is an integer or a text and stands where the queryset compares a column with it, nowhere else.
    """

    def __init__(self, build: Callable[..., "models.QuerySet[M]"], *names: str) -> None:
        self.build = build
        self.names = names
        self.own = threading.local()  # a compiler belongs to the connection of one thread

    def all(self, **values: int | str) -> list[M]:
        if any(isinstance(value, int) and abs(value) > LARGEST for value in values.values()):
            return []  # no column holds it
        plan = self.plan()
        with connection.cursor() as cursor:
            cursor.execute(*plan.statement(values))
            rows = cursor.fetchall()
        return [plan.instance(row) for row in plan.converted(rows)]

    def first(self, **values: int | str) -> M | None:
        """The build ends in [:1]."""
        found = self.all(**values)
        return found[0] if found else None

    def plan(self) -> "Plan[M]":
        if not hasattr(self.own, "plan"):
            stand_ins = {name: FIRST_STAND_IN + place for place, name in enumerate(self.names)}
            self.own.plan = Plan(self.build(**stand_ins), stand_ins)
        return cast("Plan[M]", self.own.plan)


class Plan(Generic[M]):
    """The SQL, where the values go, and how a row becomes an instance with its related ones."""

    def __init__(self, queryset: "models.QuerySet[M]", stand_ins: dict[str, int]) -> None:
        self.compiler = queryset.query.get_compiler(using=DEFAULT_DB_ALIAS)
        self.sql, params = self.compiler.as_sql()
        by_stand_in = {form: name for name, value in stand_ins.items() for form in (value, str(value))}
        self.params = [(by_stand_in.get(cast(Any, param)), param) for param in params]
        if {name for name, _ in self.params} - {None} != set(stand_ins):
            raise ValueError(f"not every one of {', '.join(stand_ins)} is compared with a column: {self.sql}")
        self.label = f"plan_{next(NUMBERS)}"
        self.planned_by: weakref.ref[Any] | None = None
        info = cast(Any, self.compiler.klass_info)
        select = cast(Any, self.compiler.select)
        self.model = info["model"]
        self.begin, self.end = info["select_fields"][0], info["select_fields"][-1] + 1
        self.names = [column[0].target.attname for column in select[self.begin : self.end]]
        self.annotations = self.compiler.annotation_col_map
        self.converters = self.compiler.get_converters([column[0] for column in select])
        self.populators = get_related_populators(info, select, DEFAULT_DB_ALIAS)  # type: ignore[call-arg]  # a later Django's

    def statement(self, values: dict[str, int | str]) -> tuple[str, list[Any]]:
        """With its parameters. PostgreSQL plans it once a connection, which takes longer than to run it."""
        if connection.vendor != "postgresql":
            return self.sql, [param if name is None else values[name] for name, param in self.params]
        connection.ensure_connection()
        server = connection.connection
        if self.planned_by is None or self.planned_by() is not server:
            with connection.wrap_database_errors, server.cursor() as cursor:
                cursor.execute(f"PREPARE {self.label} AS {self.sql}", self.numbered())
            self.planned_by = weakref.ref(server)
        places = ", ".join(["%s"] * len(self.values_in_order))
        return f"EXECUTE {self.label} ({places})", [values[name] for name in self.values_in_order]

    @property
    def values_in_order(self) -> list[str]:
        return [name for name, _ in self.params if name is not None]

    def numbered(self) -> list[Any]:
        """The parameters with $1, $2, … where values go."""
        numbers = count(1)
        return [param if name is None else AsIs(f"${next(numbers)}") for name, param in self.params]

    def converted(self, rows: list[Any]) -> Any:
        return self.compiler.apply_converters(rows, self.converters) if self.converters else rows

    def instance(self, row: Any) -> M:
        made: M = self.model.from_db(DEFAULT_DB_ALIAS, self.names, row[self.begin : self.end])
        for populator in self.populators:
            populator.populate(row, made)
        for name, place in self.annotations.items():
            setattr(made, name, row[place])
        return made
