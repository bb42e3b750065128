"""Saved views: lists of jobs that people named, each the query of the list's address. Rows only; who may see which is
decided by whoever asks.

Methods block until durable or read: call them from a worker thread.
"""

from collections.abc import Collection
from dataclasses import asdict, dataclass

from sqlalchemy import Connection, delete, func, insert, select

from trainmaster.store.database import Database
from trainmaster.store.tables import saved_view


@dataclass(frozen=True, slots=True)
class SavedView:
    """A view. `workspace`: whose members see it, "": nobody else."""

    owner: str
    name: str
    workspace: str
    query: str
    at: float


class SavedViewRows:
    """Reads some, writes one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def seen_by(self, owner: str, workspaces: Collection[str]) -> list[SavedView]:
        """Return the views of `owner`, and those that are shared with one of `workspaces`."""
        mine = saved_view.c.owner == owner
        seen = mine | saved_view.c.workspace.in_(workspaces) if workspaces else mine
        with self._database.read() as connection:
            found = connection.execute(select(saved_view).where(seen).order_by(saved_view.c.name, saved_view.c.owner))
            return [SavedView(**row._mapping) for row in found]

    def put(self, view: SavedView, most: int) -> bool:
        """Store a view instead of the owner's of that name; False where they would have more than `most`."""

        def work(connection: Connection) -> bool:
            mine = saved_view.c.owner == view.owner
            connection.execute(delete(saved_view).where(mine, saved_view.c.name == view.name))
            if (connection.scalar(select(func.count()).where(mine)) or 0) >= most:
                return False
            connection.execute(insert(saved_view).values(asdict(view)))
            return True

        return bool(self._database.write(work).result())

    def remove(self, owner: str, name: str) -> bool:
        """Remove a view; return whether there was one."""

        def work(connection: Connection) -> bool:
            gone = delete(saved_view).where(saved_view.c.owner == owner, saved_view.c.name == name)
            return connection.execute(gone).rowcount > 0

        return bool(self._database.write(work).result())
