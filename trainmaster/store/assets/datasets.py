"""Data sets, a kind of asset: trees of files that people upload (R27, R28, R47).

What holds for every kind lies in `store.assets.versions`. Here are the writes: each looks at the data set as it is in
the writer's thread, with what whoever asks may do. Methods block until durable: call them from a worker thread.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import Connection, func, select, update

from trainmaster.access.visible import Visible
from trainmaster.core.errors import Conflict, NotFound, problem_of
from trainmaster.core.events import AuditEvent
from trainmaster.messages.assets import datasets as said
from trainmaster.store import audit
from trainmaster.store.assets.subscriptions import demand_not_subscribed
from trainmaster.store.assets.versions import (
    Asset,
    AssetKind,
    AssetSource,
    AssetVersion,
    NewVersion,
    append,
    asset_called,
    asset_of,
    asset_seen,
    versions_of,
)
from trainmaster.store.database import Database
from trainmaster.store.tables import asset, asset_version, binned_version

MOST: Final = 1000
"""Data sets that one person may have."""
_KIND: Final = AssetKind.DATASET
_PAGE: Final = 1000

Told = Callable[[Asset, Asset], AuditEvent]
"""What the audit is told of a change, from what to what."""


def dataset_version(digest: str, size_bytes: int, files: int, at: float, path: str, by: str) -> NewVersion:
    """Return what somebody uploaded, as a version to be stored."""
    return NewVersion(digest, size_bytes, files, at, AssetSource.PERSON, path, about={"by": by})


def uploader_of(version: AssetVersion) -> str:
    """Return who uploaded a version, "" where that cannot be read."""
    found = version.about.get("by")
    return found if isinstance(found, str) else ""


class DatasetRows:
    """What is done to data sets. `visible`: of which it may be done; all raise NotFound for another, StorageFailed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self, visible: Visible, wanted: Asset, new: NewVersion, told: Callable[[Asset, int], AuditEvent]
    ) -> AssetVersion:
        """Store the next version of the data set `wanted`, which is created if there is none; the one that lies at the
        path of `new` if it is stored already. Raises Conflict where the name is one that `visible` does not cover, or
        its owner has too many.
        """

        def work(connection: Connection) -> AssetVersion:
            if stored := versions_of(connection, asset_version.c.path == new.path):
                return stored[0]
            line = asset_called(connection, _KIND, wanted.workspace, wanted.name)
            if line is None:
                _demand_not_subscribed(connection, wanted.workspace, wanted.name)
                _demand_few(connection, wanted.owner)
                line = wanted
                values = {column.name: getattr(line, column.name) for column in asset.c}
                connection.execute(asset.insert().values(values))
            elif not visible.covers(line):
                problem = problem_of("name", said.dataset_name_taken(wanted.workspace), wanted.name)
                raise Conflict(said.dataset_exists(wanted.name), problems=(problem,))
            made = append(connection, line, new)
            audit.write(connection, [told(line, made.number)])
            return made

        return self._database.write(work).result()

    def change(
        self, visible: Visible, id_: str, told: Told, *, description: str | None = None, share: str | None = None
    ) -> Asset:
        """Describe or share a data set; what is None stays."""

        def work(connection: Connection) -> Asset:
            before = _demand(connection, visible, id_)
            given = {"description": description, "share": share}
            values: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
            after = replace(before, **values)
            if after != before:
                connection.execute(update(asset).where(asset.c.id == id_).values(values))
                audit.write(connection, [told(before, after)])
            return after

        return self._database.write(work).result()

    def at(self, path: str) -> tuple[Asset, AssetVersion] | None:
        """Return the version that lies at `path`, and of what it is one. O(versions): there is no index."""
        with self._database.read() as connection:
            found = versions_of(connection, asset.c.kind == _KIND, asset_version.c.path == path)
            line = asset_of(connection, found[0], _KIND) if found else None
            return (line, found[0]) if line is not None else None

    def called(self, workspace: str, name: str) -> Asset | None:
        """Return the data set of this name, whoever may see it: to know whether the name is taken."""
        with self._database.read() as connection:
            return asset_called(connection, _KIND, workspace, name)

    def demand_unsubscribed(self, workspace: str, name: str) -> None:
        """Return when no subscription of `workspace` has this name. Raises Conflict."""
        with self._database.read() as connection:
            _demand_not_subscribed(connection, workspace, name)

    def paths(self) -> set[str]:
        """Return where all versions lie, also those in the bin. Read in pages."""
        found = self._binned()
        after = ("", 0)
        columns = (asset_version.c.asset, asset_version.c.number, asset_version.c.path)
        while True:
            behind = (asset_version.c.asset > after[0]) | (
                (asset_version.c.asset == after[0]) & (asset_version.c.number > after[1])
            )
            page = select(*columns).where(behind).order_by(*columns[:2]).limit(_PAGE)
            with self._database.read() as connection:
                rows: Sequence[Any] = connection.execute(page).all()
            found |= {row.path for row in rows if row.path}
            if len(rows) < _PAGE:
                return found | self._binned()  # what was deleted meanwhile; what was restored was there at first
            after = (rows[-1].asset, rows[-1].number)

    def _binned(self) -> set[str]:
        there = select(binned_version.c.path).where(binned_version.c.path != "")
        with self._database.read() as connection:
            return set(connection.scalars(there))


def _demand_not_subscribed(connection: Connection, workspace: str, name: str) -> None:
    demand_not_subscribed(connection, _KIND, workspace, name, said.dataset_exists(name))


def _demand(connection: Connection, visible: Visible, id_: str) -> Asset:
    found = asset_seen(connection, visible, _KIND, id_)
    if found is None:
        raise NotFound(said.no_such_dataset(repr(id_)))
    return found


def _demand_few(connection: Connection, owner: str) -> None:
    mine = (asset.c.kind == _KIND) & (asset.c.owner == owner)
    if (connection.scalar(select(func.count()).where(mine)) or 0) >= MOST:
        raise Conflict(said.too_many_datasets(MOST))
