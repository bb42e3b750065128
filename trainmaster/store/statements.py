"""The ledger's SQL: built once from the tables, compiled once per dialect to text with positional parameters.

Invariant: the parameters of a statement are exactly the columns its name promises, in that order (checked when
compiled).
"""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Table, bindparam, delete, insert, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.sql import ClauseElement

from trainmaster.store import rows, tables

_INSERT: Final[dict[str, Any]] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
_JOB: Final = tables.job
_TASK: Final = tables.task


class Statements:
    """Prepared texts for `cursor.executemany`. The comment names the parameters."""

    def __init__(self, dialect: DefaultDialect) -> None:
        self._dialect = type(dialect)(paramstyle="qmark" if dialect.name == "sqlite" else "format")
        self._name = dialect.name
        self.add_event = self._insert(tables.event, rows.EVENT)
        self.add_job = self._insert(_JOB, rows.JOB_FIXED + rows.JOB_MOVING)
        self.change_job = self._change_job()  # JOB_MOVING, number, version it stands on
        self.put_attempt = self._upsert(
            tables.attempt, rows.ATTEMPT_FIXED, rows.ATTEMPT_MOVING, key=("job", "number")
        )  # ATTEMPT_FIXED + ATTEMPT_MOVING
        self.put_task = self._upsert(_TASK, rows.TASK_FIXED, rows.TASK_MOVING, key=("job", "attempt", "position"))
        self.change_task = self._change_task()  # TASK_MOVING, job, attempt, position
        self.add_spec = self._upsert(tables.spec, ("digest", "document"), (), key=("digest",))
        self.add_key = self._insert(tables.idempotency, ("workspace", "key", "body_digest", "jobs", "created_at"))

    def _insert(self, table: Table, columns: Sequence[str]) -> str:
        return self._compile(insert(table).values({name: bindparam(name) for name in columns}), columns)

    def _upsert(self, table: Table, fixed: Sequence[str], moving: Sequence[str], key: Sequence[str]) -> str:
        columns = (*fixed, *moving)
        statement = _INSERT[self._name](table).values({name: bindparam(name) for name in columns})
        if moving:
            changed = {name: statement.excluded[name] for name in moving}
            statement = statement.on_conflict_do_update(index_elements=list(key), set_=changed)
        else:
            statement = statement.on_conflict_do_nothing(index_elements=list(key))
        return self._compile(statement, columns)

    def _change_job(self) -> str:
        moving: list[Any] = [(_JOB.c[name], bindparam(f"new_{name}")) for name in rows.JOB_MOVING]
        on = (_JOB.c.seq == bindparam("old_seq"), _JOB.c.version == bindparam("old_version"))
        wanted = [f"new_{name}" for name in rows.JOB_MOVING]
        return self._compile(update(_JOB).ordered_values(*moving).where(*on), [*wanted, "old_seq", "old_version"])

    def _change_task(self) -> str:
        moving: list[Any] = [(_TASK.c[name], bindparam(f"new_{name}")) for name in rows.TASK_MOVING]
        key = ("job", "attempt", "position")
        on = [_TASK.c[name] == bindparam(f"old_{name}") for name in key]
        wanted = [*(f"new_{name}" for name in rows.TASK_MOVING), *(f"old_{name}" for name in key)]
        return self._compile(update(_TASK).ordered_values(*moving).where(*on), wanted)

    def _compile(self, statement: ClauseElement, wanted: Sequence[str]) -> str:
        compiled: Any = statement.compile(dialect=self._dialect)
        if list(compiled.positiontup) != list(wanted):
            raise AssertionError(f"parameters {compiled.positiontup} instead of {list(wanted)}")
        return str(compiled)


FORGET: Final = tuple(
    delete(table).where(table.c.job == bindparam("seq")) for table in (tables.event, tables.attempt, tables.task)
)
"""What goes with a deleted job, besides its own row."""
