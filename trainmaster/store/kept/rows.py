"""What job folders and versions take, read and written. Who they count for is where they stand: the workspace and the
owner of the job, or of the model or data set.

A thing without a row was not measured yet. Methods block: call them from a worker thread.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import BigInteger, Connection, Row, and_, cast, delete, func, insert, or_, select, text

from trainmaster.core.folders.room import Use
from trainmaster.store.database import Database
from trainmaster.store.tables import ENDED_AT, asset, asset_version, bin_entry, job, kept_job, kept_version

Account = tuple[str, str]
"""Workspace and owner."""
Place = tuple[float, int]
"""When a job ended, and its number: where it stands in the order of ends."""
FIRST: Final[Place] = (0.0, 0)
_OVER: Final = text("state NOT IN ('queued', 'active')")


@dataclass(frozen=True, slots=True)
class EndedFolder:
    """A job whose folder was not measured since its end."""

    id: str
    place: Place


@dataclass(frozen=True, slots=True)
class KeptPlace:
    """A version, and where it lies below the bulk."""

    asset: str
    kind: str
    number: int
    path: str


class KeptRows:
    """One object per server."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # -- sums --------------------------------------------------------------------------------------------------

    def of_jobs(self) -> dict[Account, Use]:
        """Return what the folders of jobs take that were measured, by whom it counts for. O(jobs)."""
        sums = _sums(job, kept_job).select_from(kept_job.join(job, job.c.seq == kept_job.c.job))
        return self._added_up(sums.group_by(job.c.workspace, job.c.owner))

    def of_versions(self) -> dict[Account, Use]:
        """Return the same of versions, also of those that lie in the bin. O(versions)."""
        found: dict[Account, Use] = {}
        deleted = (bin_entry.c.asset == kept_version.c.asset) & (bin_entry.c.number == 0)
        for whose, same in ((asset, asset.c.id == kept_version.c.asset), (bin_entry, deleted)):
            sums = _sums(whose, kept_version).select_from(kept_version.join(whose, same))
            for account, use in self._added_up(sums.group_by(whose.c.workspace, whose.c.owner)).items():
                before = found.get(account, Use())
                found[account] = Use(before.bytes + use.bytes, before.files + use.files)
        return found

    def _added_up(self, statement: Any) -> dict[Account, Use]:
        with self._database.read() as connection:
            return {(row.workspace, row.owner): Use(row.bytes, row.files) for row in connection.execute(statement)}

    # -- jobs --------------------------------------------------------------------------------------------------

    def not_measured(self, most: int, after: Place = FIRST) -> tuple[list[EndedFolder], Place | None]:
        """Return which of the next `most` jobs behind `after`, in the order of their ends, have no row, and the last
        of them all; None at the end. O(most): one index.
        """
        ended = ENDED_AT
        behind = and_(ended >= after[0], or_(ended > after[0], job.c.seq > after[1]))
        page = (
            select(job.c.id, job.c.ended_at, job.c.seq, kept_job.c.job)
            .outerjoin(kept_job, kept_job.c.job == job.c.seq)
            .where(behind, job.c.ended_at.is_not(None), _OVER)
            .order_by(ended, job.c.seq)
            .limit(most)
        )
        with self._database.read() as connection:
            found = connection.execute(page).all()
        wanted = [EndedFolder(row.id, (row.ended_at, row.seq)) for row in found if row.job is None]
        return wanted, (found[-1].ended_at, found[-1].seq) if len(found) == most else None

    def measured(self, job_id: str) -> bool:
        """Return whether the job has a row that says it takes something."""
        with self._database.read() as connection:
            found = _job_row(connection, job_id)
        return found is not None and bool(found.bytes or found.files)

    def put_job(self, job_id: str, use: Use) -> tuple[Account, Use] | None:
        """Keep what the folder of a job takes, in place of what was kept; return whom it counts for, and how much more
        that is than before. None when the job is not there. Raises StorageFailed, Unavailable.
        """

        def work(connection: Connection) -> tuple[Account, Use] | None:
            found = _job_row(connection, job_id)
            if found is None:
                return None
            connection.execute(delete(kept_job).where(kept_job.c.job == found.seq))
            connection.execute(insert(kept_job).values(job=found.seq, bytes=use.bytes, files=use.files))
            more = Use(use.bytes - (found.bytes or 0), use.files - (found.files or 0))
            return (found.workspace, found.owner), more

        return self._database.write(work).result()

    # -- versions ----------------------------------------------------------------------------------------------

    def versions_not_measured(self, most: int) -> list[KeptPlace]:
        """Return so many of the versions with files that have no row; volumes are measured apart. O(versions)."""
        same = and_(kept_version.c.asset == asset_version.c.asset, kept_version.c.number == asset_version.c.number)
        wanted = (
            _places()
            .outerjoin(kept_version, same)
            .where(asset_version.c.path != "", kept_version.c.asset.is_(None), asset.c.kind != "volume")
            .order_by(asset_version.c.asset, asset_version.c.number)
            .limit(most)
        )
        with self._database.read() as connection:
            return [_place(row) for row in connection.execute(wanted)]

    def versions_of(self, asset_id: str) -> list[KeptPlace]:
        """Return the versions of a model or data set, oldest first."""
        wanted = _places().where(asset_version.c.asset == asset_id).order_by(asset_version.c.number)
        with self._database.read() as connection:
            return [_place(row) for row in connection.execute(wanted)]

    def put_versions(self, asset_id: str, uses: Mapping[int, Use]) -> None:
        """Keep what versions take, by their numbers; of those that are there. Raises StorageFailed, Unavailable."""

        def work(connection: Connection) -> None:
            for number, use in uses.items():
                mine = and_(asset_version.c.asset == asset_id, asset_version.c.number == number)
                same = and_(kept_version.c.asset == asset_id, kept_version.c.number == number)
                connection.execute(delete(kept_version).where(same))
                if connection.scalar(select(asset_version.c.number).where(mine)) is not None:
                    values = {"asset": asset_id, "number": number, "bytes": use.bytes, "files": use.files}
                    connection.execute(insert(kept_version).values(values))

        self._database.write(work).result()


def _sums(whose: Any, kept: Any) -> Any:
    bytes_, files = (cast(func.sum(column), BigInteger) for column in (kept.c.bytes, kept.c.files))
    return select(whose.c.workspace, whose.c.owner, bytes_.label("bytes"), files.label("files"))


def _job_row(connection: Connection, job_id: str) -> Any:
    wanted = select(job.c.seq, job.c.workspace, job.c.owner, kept_job.c.bytes, kept_job.c.files)
    mine = wanted.outerjoin(kept_job, kept_job.c.job == job.c.seq).where(job.c.id == job_id)
    return connection.execute(mine).one_or_none()


def _places() -> Any:
    columns = (asset_version.c.asset, asset.c.kind, asset_version.c.number, asset_version.c.path)
    return select(*columns).join(asset, asset.c.id == asset_version.c.asset)


def _place(row: Row[Any]) -> KeptPlace:
    return KeptPlace(row.asset, row.kind, row.number, row.path)
