"""The last value of each metric of a job as rows, so that a list can be ordered by one. What is shown comes from the
files beside the job (`service/curves`): these rows only order.
"""

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Connection, delete, insert, select, tuple_

from trainmaster.store import tables
from trainmaster.store.database import Database

MOST: Final = 50
"""Metrics of one job that are kept, by name."""
LONGEST: Final = 200
"""Characters of a name."""
_UNTIL: Final = "results_until"
_OVERLAP_S: Final = 3600.0
"""So much longer ago than is known to be done is looked again: clocks are set, and a server may have been killed."""

_JOB, _METRIC, _ENDED = tables.job, tables.job_metric, tables.ENDED_AT


class ResultRows:
    """Every method may block on the disk: call it from a worker thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, results: Mapping[int, Mapping[str, float | None]], until: float | None = None) -> None:
        """Replace what is kept of these jobs (by number). `until`: of all jobs that ended before, it is kept now.
        Raises StorageFailed, Unavailable.
        """

        def work(connection: Connection) -> None:
            for job, metrics in results.items():
                connection.execute(delete(_METRIC).where(_METRIC.c.job == job))
                there = connection.scalar(select(_JOB.c.seq).where(_JOB.c.seq == job)) is not None
                finite = [
                    (name, value) for name, value in metrics.items() if value is not None and len(name) <= LONGEST
                ]
                rows: list[dict[str, Any]] = [
                    {"job": job, "name": name, "value": value} for name, value in sorted(finite)[:MOST]
                ]
                if there and rows:
                    connection.execute(insert(_METRIC), rows)
            if until is not None:
                connection.execute(delete(tables.meta).where(tables.meta.c.key == _UNTIL))
                connection.execute(insert(tables.meta).values(key=_UNTIL, value=repr(until)))

        self._database.write(work).result()

    def ended(self, most: int, before: tuple[float, int] | None = None) -> list[tuple[str, float, int]]:
        """Return (id, ended at, number) of the jobs that ended last, `before` that end and number, whose results may
        not be kept yet.
        """
        with self._database.read() as connection:
            until = connection.scalar(select(tables.meta.c.value).where(tables.meta.c.key == _UNTIL))
            since = float(until) - _OVERLAP_S if until else 0.0
            wanted = select(_JOB.c.id, _JOB.c.ended_at, _JOB.c.seq).where(
                _JOB.c.ended_at.is_not(None), _JOB.c.attempts_used > 0, _ENDED.op(">=")(since)
            )
            if before is not None:
                wanted = wanted.where(tuple_(_ENDED, _JOB.c.seq) < before)
            found = connection.execute(wanted.order_by(_ENDED.desc(), _JOB.c.seq.desc()).limit(most))
            return [(row.id, row.ended_at, row.seq) for row in found]
