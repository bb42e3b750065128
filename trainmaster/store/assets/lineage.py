"""Versions as lineage asks for them: by what made them, by what they stand on, and by the name that a job gives.

A name is free once what had it was deleted, and what has it later counts its versions anew. So a version is what a
document of the moment `at` means by ``NAME@VERSION`` only if it was there, or was taken in there, by then. Every
question takes what the person may see (`access.visible`) first. Methods block: call them from a worker thread.
"""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, func, select

from trainmaster.access.visible import Visible
from trainmaster.store.assets.taken import taken_as, taken_since
from trainmaster.store.assets.versions import PASSED_ON, Asset, AssetKind, AssetVersion, versions_of
from trainmaster.store.database import Database
from trainmaster.store.seen import seen
from trainmaster.store.tables import asset, asset_version, bin_entry, binned_version

_NEWEST: Final = (asset_version.c.created_at.desc(), asset_version.c.asset, asset_version.c.number.desc())


@dataclass(frozen=True, slots=True)
class VersionThere:
    """A version, and of what it is one. `taken`: (workspace, name, since when) of those that took that in."""

    kind: AssetKind
    workspace: str
    owner: str
    version: AssetVersion
    taken: tuple[tuple[str, str, float], ...] = ()


class LineageReader:
    """One object per server."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def one(self, visible: Visible, line: Asset, number: int) -> VersionThere | None:
        """Return a version of an asset."""
        return self._first(visible, line.kind, asset.c.id == line.id, asset_version.c.number == number)

    def named(
        self, visible: Visible, kind: AssetKind, workspace: str, name: str, number: int | None, at: float
    ) -> VersionThere | None:
        """Return what a document of the moment `at` in `workspace` means; a volume has no number."""
        then = [asset_version.c.created_at <= at]
        if number is not None:
            then.append(asset_version.c.number == number)
        found = self._first(visible, kind, asset.c.workspace == workspace, asset.c.name == name, *then)
        if found is None and kind in PASSED_ON and visible.looks_into(workspace):
            return self._first(visible, kind, asset.c.id.in_(taken_as([workspace], kind, name, at)), *then)
        return found

    def made_by(self, visible: Visible, kind: AssetKind, job: str, most: int) -> list[VersionThere]:
        """Return the newest versions that a job made."""
        return self._select(visible, kind, most, asset_version.c.job == job)

    def built_on(self, visible: Visible, workspace: str, reference: str, since: float, most: int) -> list[VersionThere]:
        """Return the newest versions of images that were made on the image ``NAME@VERSION``, at `since` or later.
        O(versions of images in the workspace).
        """
        written = f'"base":"{reference}"'
        stands = func.replace(asset_version.c.about, written, "") != asset_version.c.about
        mine = (asset.c.workspace == workspace, asset_version.c.created_at >= since, stands)
        return self._select(visible, AssetKind.IMAGE, most, *mine)

    def binned(
        self, visible: Visible, kind: AssetKind, workspace: str, name: str, number: int | None, at: float
    ) -> bool:
        """Return whether what a document of the moment `at` means lies in the bin. O(what lies there)."""
        own = binned_version.c.entry == bin_entry.c.id
        mine = [bin_entry.c.kind == kind, bin_entry.c.workspace == workspace, bin_entry.c.name == name]
        if number is not None:
            mine.append(binned_version.c.number == number)
        found = select(bin_entry.c.id).join(binned_version, own)
        found = found.where(*mine, binned_version.c.created_at <= at, *seen(visible, bin_entry)).limit(1)
        with self._database.read() as connection:
            return connection.scalar(found) is not None

    def _first(self, visible: Visible, kind: AssetKind, *conditions: ColumnElement[bool]) -> VersionThere | None:
        found = self._select(visible, kind, 1, *conditions)
        return found[0] if found else None

    def _select(
        self, visible: Visible, kind: AssetKind, most: int, *conditions: ColumnElement[bool]
    ) -> list[VersionThere]:
        keys = select(asset_version.c.asset, asset_version.c.number, asset.c.workspace, asset.c.owner)
        keys = keys.join(asset, asset.c.id == asset_version.c.asset)
        keys = keys.where(asset.c.kind == kind, *conditions, *seen(visible, asset)).order_by(*_NEWEST).limit(most)
        found = []
        with self._database.read() as connection:
            for row in connection.execute(keys).all():
                same = (asset_version.c.asset == row.asset, asset_version.c.number == row.number)
                taken = tuple(taken_since(connection, row.asset)) if kind in PASSED_ON else ()
                versions = versions_of(connection, *same)
                found += [VersionThere(kind, row.workspace, row.owner, one, taken) for one in versions]
        return found
