"""Algorithms, a kind of asset: documents that say what a program is and what may be set of it (R23, R24, R150-R157).

What holds for every kind lies in `store.assets.versions`. The document lies in `about`; the code that it names is an
upload, kept as long as a version names it (`store.leftovers`). Here are the writes: each looks at the algorithm as it
is in the writer's thread, with what whoever asks may do. Methods block until durable: call them from a worker thread.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import Connection, func, select, update

from trainmaster.access.visible import Visible
from trainmaster.core.errors import Conflict, NotFound, problem_of
from trainmaster.core.events import AuditEvent
from trainmaster.messages.assets import algorithms as said
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
    asset_seen,
    versions_of,
)
from trainmaster.store.database import Database
from trainmaster.store.tables import asset, asset_version

MOST: Final = 1000
"""Algorithms that one person may have."""
_KIND: Final = AssetKind.ALGORITHM

Json = dict[str, Any]
Told = Callable[[Asset, Asset], AuditEvent]
"""What the audit is told of a change, from what to what."""


def algorithm_version(
    document: Json, digest: str, size_bytes: int, by: str, at: float, preset: bool = False
) -> NewVersion:
    """Return what somebody made, as a version to be stored. `digest` and `size_bytes`: of its document; `preset`: made
    by an administrator of the platform.
    """
    about = {"document": document, "by": by, "preset": preset}
    return NewVersion(digest, size_bytes, 0, at, AssetSource.PERSON, "", about=about)


def document_in(version: AssetVersion) -> Json:
    """Return the document of a version, an empty one where it cannot be read."""
    found = version.about.get("document")
    return found if isinstance(found, dict) else {}


def maker_of(version: AssetVersion) -> str:
    """Return who made a version, "" where that cannot be read."""
    found = version.about.get("by")
    return found if isinstance(found, str) else ""


class AlgorithmRows:
    """What is done to algorithms. `visible`: of which it may be done; all raise NotFound for another, StorageFailed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self, visible: Visible, wanted: Asset, new: NewVersion, told: Callable[[Asset, int], AuditEvent]
    ) -> AssetVersion:
        """Store the next version of the algorithm `wanted`, which is created if there is none; the last one where that
        says the same. Raises Conflict where the name is one that `visible` does not cover, or its owner has too many.
        """

        def work(connection: Connection) -> AssetVersion:
            line = asset_called(connection, _KIND, wanted.workspace, wanted.name)
            if line is None:
                taken = said.algorithm_exists(wanted.name)
                demand_not_subscribed(connection, _KIND, wanted.workspace, wanted.name, taken)
                _demand_few(connection, wanted.owner)
                line = wanted
                values = {column.name: getattr(line, column.name) for column in asset.c}
                connection.execute(asset.insert().values(values))
            elif not visible.covers(line):
                problem = problem_of("name", said.algorithm_name_taken(wanted.workspace), wanted.name)
                raise Conflict(said.algorithm_exists(wanted.name), problems=(problem,))
            last = (asset_version.c.asset == line.id) & (asset_version.c.number == line.latest)
            stored = versions_of(connection, last)
            if stored and stored[0].digest == new.digest:
                return stored[0]
            made = append(connection, line, new)
            audit.write(connection, [told(line, made.number)])
            return made

        return self._database.write(work).result()

    def change(
        self, visible: Visible, id_: str, told: Told, *, description: str | None = None, share: str | None = None
    ) -> None:
        """Describe or share an algorithm; what is None stays."""

        def work(connection: Connection) -> None:
            before = _demand(connection, visible, id_)
            given = {"description": description, "share": share}
            values: Json = {key: value for key, value in given.items() if value is not None}
            after = replace(before, **values)
            if after != before:
                connection.execute(update(asset).where(asset.c.id == id_).values(values))
                audit.write(connection, [told(before, after)])

        self._database.write(work).result()


def _demand(connection: Connection, visible: Visible, id_: str) -> Asset:
    found = asset_seen(connection, visible, _KIND, id_)
    if found is None:
        raise NotFound(said.no_such_algorithm(repr(id_)))
    return found


def _demand_few(connection: Connection, owner: str) -> None:
    mine = (asset.c.kind == _KIND) & (asset.c.owner == owner)
    if (connection.scalar(select(func.count()).where(mine)) or 0) >= MOST:
        raise Conflict(said.too_many_algorithms(MOST))
