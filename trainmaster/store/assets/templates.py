"""Templates, a kind of asset: job documents under a name, from which jobs are submitted (R42, R230-R234).

What holds for every kind lies in `store.assets.versions`. Here are the writes: each looks at the template as it is in
the writer's thread, with what whoever asks may do, so that of two who change one at once the second is told. Methods
block until durable: call them from a worker thread.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection, delete, func, select, update

from trainmaster.access.visible import Visible
from trainmaster.core.errors import Conflict, NotFound, problem_of
from trainmaster.core.events import AuditEvent
from trainmaster.messages.assets import templates as said
from trainmaster.store import audit
from trainmaster.store.assets.subscriptions import arrive, demand_not_subscribed
from trainmaster.store.assets.versions import (
    Asset,
    AssetKind,
    AssetSource,
    AssetVersion,
    NewVersion,
    append,
    asset_called,
    asset_seen,
)
from trainmaster.store.database import Database
from trainmaster.store.tables import asset, asset_subscription, asset_version, bin_entry

KEPT: Final = 50
"""Versions of a template that are kept: what was changed before that is gone."""
MOST: Final = 1000
"""Templates that one person may have."""
_SHARED: Final = (AssetKind.TEMPLATE, AssetKind.DATASET, AssetKind.VOLUME, AssetKind.ALGORITHM, AssetKind.IMAGE)
"""Kinds of assets that can be shared."""

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Edit:
    """What becomes of a template. `version`: the one that was edited, None: whichever is the last."""

    name: str | None = None
    description: str | None = None
    workspace: str | None = None
    version: int | None = None


def template_version(document: Document, digest: str, size_bytes: int, by: str, at: float) -> NewVersion:
    """Return what a template holds from now on. `digest` and `size_bytes`: of its document."""
    about = {"document": document, "by": by}
    return NewVersion(digest, size_bytes, 0, at, AssetSource.PERSON, "", about=about)


def document_in(version: AssetVersion) -> Document | None:
    """Return the document of a version, None where it cannot be read."""
    found = version.about.get("document")
    return found if isinstance(found, dict) else None


def editor_of(version: AssetVersion) -> str:
    """Return who made a version, "" where that cannot be read."""
    found = version.about.get("by")
    return found if isinstance(found, str) else ""


class TemplateRows:
    """What is done to templates. Each method takes of which templates it may be done, and answers the template after
    it; all raise NotFound for another one, StorageFailed.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, wanted: Asset, new: NewVersion, told: AuditEvent) -> Asset:
        """Store a template. Raises Conflict where its name is taken or its owner has too many."""

        def work(connection: Connection) -> Asset:
            mine = (asset.c.kind == AssetKind.TEMPLATE) & (asset.c.owner == wanted.owner)
            if (connection.scalar(select(func.count()).where(mine)) or 0) >= MOST:
                raise Conflict(said.too_many_templates(MOST))
            _demand_free(connection, wanted)
            values = {column.name: getattr(wanted, column.name) for column in asset.c}
            connection.execute(asset.insert().values(values))
            append(connection, wanted, new)
            audit.write(connection, [told])
            return replace(wanted, changed_at=new.created_at, versions=1, latest=1)

        return self._database.write(work).result()

    def edit(
        self, visible: Visible, id_: str, edit: Edit, new: NewVersion, told: Callable[[Asset, Asset], AuditEvent]
    ) -> Asset:
        """Store the next version of a template, and drop those that are too old. Raises Conflict where another version
        than the one that was edited is the last, or the name is taken.
        """

        def work(connection: Connection) -> Asset:
            before = _demand(connection, visible, id_)
            if edit.version not in (None, before.latest):
                problem = problem_of("version", said.changed_meanwhile(before.latest), edit.version)
                raise Conflict(said.template_changed_meanwhile(before.name), problems=(problem,))
            given = {"name": edit.name, "description": edit.description, "workspace": edit.workspace}
            values: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
            after = replace(before, **values, latest=before.latest + 1, changed_at=new.created_at)
            if after.workspace != before.workspace:
                arrive(connection, id_, after.workspace)
                after = replace(after, taken=tuple(one for one in before.taken if one[0] != after.workspace))
            if (after.name, after.workspace) != (before.name, before.workspace):
                _demand_free(connection, after)
            if values:
                connection.execute(update(asset).where(asset.c.id == id_).values(values))
            append(connection, before, new)
            old = asset_version.c.number <= after.latest - KEPT
            connection.execute(delete(asset_version).where(asset_version.c.asset == id_, old))
            audit.write(connection, [told(before, after)])
            return after

        return self._database.write(work).result()

    def share(self, visible: Visible, id_: str, share: str, told: Callable[[Asset, Asset], AuditEvent]) -> Asset:
        """Share a template with the other members of its workspace, or no more."""

        def work(connection: Connection) -> Asset:
            before = _demand(connection, visible, id_)
            after = replace(before, share=share)
            if after != before:
                connection.execute(update(asset).where(asset.c.id == id_).values(share=share))
                audit.write(connection, [told(before, after)])
            return after

        return self._database.write(work).result()

    def used(self, id_: str, at: float) -> None:
        """Count a job that was made of a template, which may be gone by now."""

        def work(connection: Connection) -> None:
            values = {"used": asset.c.used + 1, "used_at": at}
            connection.execute(update(asset).where(asset.c.id == id_).values(values))

        self._database.write(work).result()

    def names(self, workspace: str) -> set[str]:
        """Return the names of all templates in a workspace, also of what it took in: what is not to be the name of
        another.
        """
        with self._database.read() as connection:
            return {
                name
                for table in (asset, asset_subscription)
                for name in connection.scalars(
                    select(table.c.name).where(table.c.kind == AssetKind.TEMPLATE, table.c.workspace == workspace)
                )
            }


def close_workspace(connection: Connection, workspace: str) -> None:
    """Let what is shared in a workspace that is removed be its owners' alone, also what is restored there: who makes
    one of its name finds none.
    """
    for table in (asset, bin_entry):
        there = table.c.kind.in_(_SHARED) & (table.c.workspace == workspace)
        connection.execute(update(table).where(there).values(share="none"))


def _demand(connection: Connection, visible: Visible, id_: str) -> Asset:
    found = asset_seen(connection, visible, AssetKind.TEMPLATE, id_)
    if found is None:
        raise NotFound(said.no_such_template(repr(id_)))
    return found


def _demand_free(connection: Connection, wanted: Asset) -> None:
    """Return when the name of `wanted` is no other template's."""
    if asset_called(connection, AssetKind.TEMPLATE, wanted.workspace, wanted.name) is not None:
        problem = problem_of("name", said.template_name_taken(wanted.workspace), wanted.name)
        raise Conflict(said.template_exists(wanted.name), problems=(problem,))
    taken = said.template_exists(wanted.name)
    demand_not_subscribed(connection, AssetKind.TEMPLATE, wanted.workspace, wanted.name, taken)
