"""Volumes, a kind of asset: folders that jobs read and write (R52, R145).

What holds for every kind lies in `store.assets.versions`. A volume has one version, which says where its folder lies
and never changes: it is named by the volume's id, so that a new name moves nothing. Here are the writes: each looks at
the volume as it is in the writer's thread, with what whoever asks may do. Methods block until durable: call them from a
worker thread.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection, func, select, union, update

from trainmaster.access.visible import Visible
from trainmaster.core.errors import Conflict, NotFound, problem_of
from trainmaster.core.events import AuditEvent
from trainmaster.core.folders.room import Use
from trainmaster.messages.assets import volumes as said
from trainmaster.store import audit
from trainmaster.store.assets.versions import (
    Asset,
    AssetKind,
    AssetSource,
    NewVersion,
    append,
    asset_called,
    asset_seen,
)
from trainmaster.store.database import Database
from trainmaster.store.tables import asset, asset_version, bin_entry, kept_version

MOST: Final = 1000
"""Volumes that one person may have."""
_KIND: Final = AssetKind.VOLUME

Told = Callable[[Asset, Asset], AuditEvent]
"""What the audit is told of a change, from what to what."""


@dataclass(frozen=True, slots=True)
class VolumePlace:
    """A volume, whom it counts for, and where it lies below the bulk."""

    id: str
    name: str
    workspace: str
    owner: str
    path: str


def place_of(volume: Asset) -> VolumePlace:
    """Return where a volume lies."""
    return VolumePlace(volume.id, volume.name, volume.workspace, volume.owner, f"volumes/{volume.id}")


class VolumeRows:
    """What is done to volumes. `visible`: of which it may be done; all raise NotFound for another, StorageFailed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, wanted: Asset, told: Callable[[Asset], AuditEvent]) -> Asset:
        """Store a new volume. Raises Conflict where the name is taken, or its owner has too many."""

        def work(connection: Connection) -> Asset:
            _demand_free(connection, wanted.workspace, wanted.name)
            mine = (asset.c.kind == _KIND) & (asset.c.owner == wanted.owner)
            if (connection.scalar(select(func.count()).where(mine)) or 0) >= MOST:
                raise Conflict(said.too_many_volumes(MOST))
            connection.execute(asset.insert().values({column.name: getattr(wanted, column.name) for column in asset.c}))
            path = place_of(wanted).path
            append(connection, wanted, NewVersion("", 0, 0, wanted.created_at, AssetSource.PERSON, path))
            audit.write(connection, [told(wanted)])
            return wanted

        return self._database.write(work).result()

    def change(self, visible: Visible, id_: str, told: Told, now: float, **given: str | None) -> Asset:
        """Name, describe or share a volume (`name`, `description`, `share`); what is None stays. Raises Conflict where
        the new name is taken.
        """

        def work(connection: Connection) -> Asset:
            before = _demand(connection, visible, id_)
            values: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
            if values.get("name", before.name) != before.name:
                _demand_free(connection, before.workspace, values["name"])
            after = replace(before, **values)
            if after != before:
                connection.execute(update(asset).where(asset.c.id == id_).values(**values, changed_at=now))
                audit.write(connection, [told(before, after)])
            return after

        return self._database.write(work).result()

    def tell(self, visible: Visible, id_: str, now: float, *events: AuditEvent) -> None:
        """Note that files of a volume were changed now, and tell the audit what was done."""

        def work(connection: Connection) -> None:
            _demand(connection, visible, id_)
            connection.execute(update(asset).where(asset.c.id == id_).values(changed_at=now))
            audit.write(connection, list(events))

        self._database.write(work).result()

    def touch(self, id_: str, now: float) -> None:
        """Note that what lies in a volume is another now."""

        def work(connection: Connection) -> None:
            connection.execute(update(asset).where(asset.c.id == id_).values(changed_at=now))

        self._database.write(work).result()

    def all(self) -> list[VolumePlace]:
        """Return every volume. O(volumes)."""
        columns = (asset.c.id, asset.c.name, asset.c.workspace, asset.c.owner)
        wanted = select(*columns, asset_version.c.path).join(asset_version, asset_version.c.asset == asset.c.id)
        with self._database.read() as connection:
            return [VolumePlace(*row) for row in connection.execute(wanted.where(asset.c.kind == _KIND))]

    def known(self) -> set[str]:
        """Return the ids of every volume, also of those in the bin: in one statement, so that none is missed that moves
        meanwhile.
        """
        there = (
            select(asset.c.id).where(asset.c.kind == _KIND),
            select(bin_entry.c.asset).where(bin_entry.c.kind == _KIND),
        )
        with self._database.read() as connection:
            return set(connection.scalars(union(*there)))

    def uses(self, ids: list[str]) -> dict[str, Use]:
        """Return what volumes took when they were measured last, by their ids."""
        wanted = select(kept_version.c.asset, kept_version.c.bytes, kept_version.c.files)
        with self._database.read() as connection:
            found = connection.execute(wanted.where(kept_version.c.asset.in_(ids)))
            return {row.asset: Use(row.bytes, row.files) for row in found}


def _demand(connection: Connection, visible: Visible, id_: str) -> Asset:
    found = asset_seen(connection, visible, _KIND, id_)
    if found is None:
        raise NotFound(said.no_such_volume(repr(id_)))
    return found


def _demand_free(connection: Connection, workspace: str, name: str) -> None:
    if asset_called(connection, _KIND, workspace, name) is not None:
        problem = problem_of("name", said.volume_name_taken(workspace), name)
        raise Conflict(said.volume_exists(name), problems=(problem,))
