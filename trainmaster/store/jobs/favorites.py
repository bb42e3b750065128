"""Which jobs somebody marked for themselves. Each person's rows are their own: every question names the person."""

from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, insert, select

from trainmaster.store.database import Database
from trainmaster.store.tables import favorite, job

_AMONG: Final = select(favorite.c.job).where(
    favorite.c.user == bindparam("user"), favorite.c.job.in_(bindparam("jobs", expanding=True))
)


class Favorites:
    """Every method may block on the disk: call it from a worker thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, user: str, seq: int, wanted: bool) -> None:
        """Mark the job with this number for `user`, or no more. Once is enough. Raises StorageFailed, Unavailable."""
        mine: Any = (favorite.c.user == user) & (favorite.c.job == seq)

        def work(connection: Connection) -> None:
            connection.execute(delete(favorite).where(mine))
            there = connection.scalar(select(job.c.seq).where(job.c.seq == seq)) is not None
            if wanted and there:
                connection.execute(insert(favorite).values(user=user, job=seq))

        self._database.write(work).result()

    def among(self, user: str, jobs: Collection[int]) -> set[int]:
        """Return which of these numbers `user` marked."""
        if not jobs:
            return set()
        with self._database.read() as connection:
            return set(connection.scalars(_AMONG, {"user": user, "jobs": list(jobs)}))
