"""The ledger's SQL: built once from the tables, compiled once per dialect to text with positional parameters.

Invariant: the parameters of a statement are exactly the columns its name promises, in that order (checked when
compiled). SQLite gets many rows in one statement, because Python's driver gives up the interpreter lock at every one,
and each time takes up to 5 ms to get it back while another thread computes. psycopg's `executemany` is one pipeline
anyway.
"""

from bisect import bisect
from collections.abc import Sequence
from importlib import import_module
from itertools import chain
from typing import Any, Final

from sqlalchemy import Table, bindparam, delete, update
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.sql import ClauseElement

from trainmaster.store import tables
from trainmaster.store.audit import COLUMNS
from trainmaster.store.jobs import rows

_SIZES: Final = (*range(1, 9), 16, 32, 64, 128, 256)
"""Rows of one SQLite statement; 256 of the widest are 5,400 of the 32,766 parameters it allows. Small groups, which are
most, are one statement whatever their number; all texts of all tables stay within the driver's cache of 128.
"""


class Statement:
    """One statement for many rows. `run` returns how many rows it changed."""

    def __init__(self, sql: str) -> None:
        self._sql = sql

    def run(self, cursor: Any, values: Sequence[rows.Row]) -> int:
        """Write `values`; none is allowed."""
        if not values:
            return 0
        cursor.executemany(self._sql, values)
        return int(cursor.rowcount)


class _Widened(Statement):
    """The same for SQLite: `head`, then as many groups of parameters as one of _SIZES says, then `tail`; few texts, so
    all stay prepared. One row alone is written with `single` if there is such a text.
    """

    def __init__(self, head: str, width: int, tail: str, single: str = "") -> None:
        group = f"({', '.join('?' * width)})"
        self._texts = {size: f"{head} {', '.join([group] * size)} {tail}" for size in _SIZES}
        if single:
            self._texts[1] = single

    def run(self, cursor: Any, values: Sequence[rows.Row]) -> int:
        changed = start = 0
        while left := len(values) - start:
            size = _SIZES[bisect(_SIZES, left) - 1]
            cursor.execute(self._texts[size], list(chain.from_iterable(values[start : start + size])))
            changed += cursor.rowcount
            start += size
        return changed


class Statements:
    """All statements of the ledger. The comment names the parameters."""

    def __init__(self, dialect: DefaultDialect) -> None:
        self._dialect = type(dialect)(paramstyle="qmark" if dialect.name == "sqlite" else "format")
        self._name = dialect.name
        # Only this dialect's: the other costs 2 MiB.
        self._insert_into = import_module(f"sqlalchemy.dialects.{dialect.name}").insert
        job, task = tables.job, tables.task
        self.add_audit = self._insert(tables.audit, COLUMNS)
        self.add_event = self._insert(tables.event, rows.EVENT)
        self.add_job = self._insert(job, rows.JOB_FIXED + rows.JOB_MOVING + rows.JOB_FOUND)
        self.change_job = self._update(job, rows.JOB_MOVING, ("seq", "version"))  # JOB_MOVING, number, version before
        self.put_attempt = self._insert(
            tables.attempt, rows.ATTEMPT_FIXED, rows.ATTEMPT_MOVING, key=("job", "number")
        )  # ATTEMPT_FIXED + ATTEMPT_MOVING
        self.put_task = self._insert(
            task, rows.TASK_FIXED, rows.TASK_PLACE + rows.TASK_MOVING, key=("job", "attempt", "position")
        )  # TASK_FIXED + TASK_PLACE + TASK_MOVING
        self.change_task = self._update(task, rows.TASK_MOVING, ("job", "attempt", "position"))  # TASK_MOVING, key
        self.date_job = self._update(job, ("submitted_at",), ("seq",))  # when the clock was set: time, key
        self.date_attempt = self._update(tables.attempt, ("created_at",), ("job", "number"))
        self.add_spec = self._insert(tables.spec, ("digest", "document"), key=("digest",))
        self.add_key = self._insert(tables.idempotency, ("workspace", "key", "body_digest", "jobs", "created_at"))

        # What an attempt used is charged once, whatever is repeated.
        self.add_use = self._insert(tables.money_entry, rows.USE, key=("job", "attempt", "role"))

    def _insert(
        self, table: Table, fixed: Sequence[str], moving: Sequence[str] = (), key: Sequence[str] = ()
    ) -> Statement:
        """Return an insert of `fixed` + `moving`; with `key`, a row that exists gets the new `moving`."""
        columns = (*fixed, *moving)
        statement = self._insert_into(table).values({name: bindparam(name) for name in columns})
        if moving:
            changed = {name: statement.excluded[name] for name in moving}
            statement = statement.on_conflict_do_update(index_elements=list(key), set_=changed)
        elif key:
            statement = statement.on_conflict_do_nothing(index_elements=list(key))
        sql = self._compile(statement, columns)
        if self._name != "sqlite":
            return Statement(sql)
        head, values, tail = sql.partition(f"({', '.join('?' * len(columns))})")
        assert values, "an insert ends in its parameters"
        return _Widened(head, len(columns), tail)

    def _update(self, table: Table, moving: Sequence[str], key: Sequence[str]) -> Statement:
        """Return an update of `moving` where `key` is as given behind them."""
        if self._name == "sqlite":
            changed = ", ".join(f"{name} = v.column{number}" for number, name in enumerate(moving, 1))
            found = " AND ".join(f"{table.name}.{name} = v.column{n}" for n, name in enumerate(key, len(moving) + 1))
            head = f"UPDATE {table.name} SET {changed} FROM (VALUES"
            single = (
                f"UPDATE {table.name} SET {', '.join(f'{name} = ?' for name in moving)}"
                f" WHERE {' AND '.join(f'{name} = ?' for name in key)}"
            )
            return _Widened(head, len(moving) + len(key), f") AS v WHERE {found}", single)
        values: list[Any] = [(table.c[name], bindparam(f"new_{name}")) for name in moving]
        statement = update(table).ordered_values(*values)
        statement = statement.where(*(table.c[name] == bindparam(f"old_{name}") for name in key))
        return Statement(self._compile(statement, [*(f"new_{n}" for n in moving), *(f"old_{n}" for n in key)]))

    def _compile(self, statement: ClauseElement, wanted: Sequence[str]) -> str:
        compiled: Any = statement.compile(dialect=self._dialect)
        if list(compiled.positiontup) != list(wanted):
            raise AssertionError(f"parameters {compiled.positiontup} instead of {list(wanted)}")
        return str(compiled)


FORGET: Final = tuple(
    delete(table).where(table.c.job == bindparam("seq"))
    for table in (
        tables.event,
        tables.attempt,
        tables.task,
        tables.favorite,
        tables.job_metric,
        tables.sweep_mark,
        tables.kept_job,
        tables.send_target,
        tables.send_file,
    )
)
"""What goes with a deleted job, besides its own row."""
