"""How the entries of a sweep did, as far as that is known: a mark for every rung that an entry passed, by which early
stopping judges, and one for its best value of all (`BEST`).

They are kept, and not read out of files again: a job's files may go before its sweep does, and a server that starts
must judge as the one before did. Methods block: call them from a worker thread.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from sqlalchemy import Connection, delete, insert, select

from trainmaster.access.visible import Visible
from trainmaster.store import tables
from trainmaster.store.database import Database
from trainmaster.store.seen import seen
from trainmaster.store.sweeps.tables import sweep_mark

BEST: Final = -1
"""The rung of the best value of a whole curve."""

_JOB: Final = tables.job


class StoredMark(NamedTuple):
    """`job`: by its number. `final`: the job had ended, and nothing will follow."""

    job: int
    rung: int
    step: float
    best: float | None
    mean: float | None = None
    final: bool = False


class MarkRows:
    """One object per server."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_sweep(self, id_: str) -> list[StoredMark]:
        """Return every mark of a sweep, by job and rung. For the platform itself."""
        asked = select(sweep_mark).where(sweep_mark.c.sweep == id_).order_by(sweep_mark.c.job, sweep_mark.c.rung)
        with self._database.read() as connection:
            return [
                StoredMark(row.job, row.rung, row.step, row.best, row.mean, bool(row.final))
                for row in connection.execute(asked)
            ]

    def best(self, visible: Visible, ids: Sequence[str]) -> dict[int, tuple[float, float]]:
        """Return (best value, its step) of every job of these sweeps that may be seen and has any, by its number."""
        columns = (sweep_mark.c.job, sweep_mark.c.best, sweep_mark.c.step)
        there = (sweep_mark.c.sweep.in_(ids), sweep_mark.c.rung == BEST, sweep_mark.c.best.is_not(None))
        asked = select(*columns).join(_JOB, _JOB.c.seq == sweep_mark.c.job).where(*there)
        with self._database.read() as connection:
            found = connection.execute(asked.where(*seen(visible, _JOB, walked=True)))
            return {job: (best, step) for job, best, step in found}

    def unmarked(self, id_: str) -> list[str]:
        """Return the ids of the jobs of a sweep that ran and ended, of which no final mark is kept."""
        final = select(sweep_mark.c.job).where(
            sweep_mark.c.sweep == id_, sweep_mark.c.job == _JOB.c.seq, sweep_mark.c.final == 1
        )
        ended = (_JOB.c.sweep == id_, _JOB.c.ended_at.is_not(None), _JOB.c.attempts_used > 0)
        with self._database.read() as connection:
            return [*connection.scalars(select(_JOB.c.id).where(*ended, ~final.exists()).order_by(_JOB.c.seq))]

    def put(self, id_: str, marks: Sequence[StoredMark]) -> None:
        """Keep marks; those of the same job and rung are replaced, those of jobs that are gone left out. Raises
        StorageFailed, Unavailable.
        """

        def work(connection: Connection) -> None:
            numbers = sorted({mark.job for mark in marks})
            there = {*connection.scalars(select(_JOB.c.seq).where(_JOB.c.seq.in_(numbers), _JOB.c.sweep == id_))}
            kept = [mark for mark in marks if mark.job in there]
            for mark in kept:
                same = (sweep_mark.c.sweep == id_, sweep_mark.c.job == mark.job, sweep_mark.c.rung == mark.rung)
                connection.execute(delete(sweep_mark).where(*same))
            if kept:
                values = [{"sweep": id_, **mark._asdict(), "final": int(mark.final)} for mark in kept]
                connection.execute(insert(sweep_mark), values)

        self._database.write(work).result()
