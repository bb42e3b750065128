"""Assets and their immutable versions as rows, whatever their kind: what somebody has, under a name, for jobs to use.

An asset is a name in a workspace, unique within its kind; its versions count from 1. Invariants: a version is written
once and never changed, an attempt makes one at most, and nobody's version joins an asset of somebody else. What is
special to a kind lies beside this (`store.models`). Whoever reads for a person asks `AssetReader`; the functions that
take a connection are the platform's own. All of them block: call them from a worker thread, or as work of the writer.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, func, insert, or_, select, tuple_

from trainmaster.access.visible import Visible
from trainmaster.core.states import JobShare
from trainmaster.store.database import Database
from trainmaster.store.jobs import rows
from trainmaster.store.seen import seen
from trainmaster.store.tables import asset, asset_version

_log: Final = logging.getLogger(__name__)

_AT_ONCE: Final = 400
"""Of so many assets is asked at once: a statement holds a limited number of values."""


class AssetKind(StrEnum):
    """What an asset is."""

    MODEL = "model"


class AssetSource(StrEnum):
    """Where a version came from."""

    JOB = "job"


class AssetVisibility(StrEnum):
    """Who may see an asset beside its owner."""

    WORKSPACE = "workspace"  # who may see what lies in its workspace, as `Visible` says


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version before it has a number. `digest` covers all files; `path` is where they lie below the home folder.

    `job` and `attempt` say which attempt made it, None where none did; `about` is what else is known of it, by kind.
    """

    digest: str
    size_bytes: int
    files: int
    created_at: float
    source: AssetSource
    path: str
    job: str | None = None
    attempt: int | None = None
    about: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AssetVersion:
    """One immutable version of an asset; `name` is the asset's, `path` starts at the home folder."""

    asset: str
    name: str
    number: int
    digest: str
    size_bytes: int
    files: int
    created_at: float
    source: str
    job: str | None
    attempt: int | None
    path: str
    about: dict[str, Any]

    @property
    def reference(self) -> str:
        """How a job names it: ``<asset id>@<number>``."""
        return f"{self.asset}@{self.number}"


@dataclass(frozen=True, slots=True)
class Asset:
    """A named line of versions. `versions` is how many there are, `latest` the number of the last."""

    id: str
    kind: AssetKind
    name: str
    workspace: str
    owner: str
    created_at: float
    visibility: str = AssetVisibility.WORKSPACE.value
    versions: int = 0
    latest: int = 0

    @property
    def share(self) -> str:
        """An asset is not shared in the way that a job is."""
        return JobShare.NONE.value


class AssetReader:
    """The questions people ask about assets. Every one takes what the person may see (`access.visible`) first."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_assets(self, visible: Visible, kind: AssetKind, q: str = "", workspace: str | None = None) -> list[Asset]:
        """Return the assets of a kind whose name or id contains `q`, newest first."""
        conditions = seen(visible, asset)
        if q:
            conditions.append(or_(*(c.icontains(q, autoescape=True) for c in (asset.c.name, asset.c.id))))
        if workspace is not None:
            conditions.append(asset.c.workspace == workspace)
        with self._database.read() as connection:
            return _select_assets(connection, kind, *conditions)

    def find(self, visible: Visible, kind: AssetKind, id_or_name: str, workspace: str = "default") -> Asset | None:
        """Return the asset of a kind with this id, or with this name in `workspace`."""
        by_name = (asset.c.workspace == workspace) & (asset.c.name == id_or_name)
        with self._database.read() as connection:
            for same in (asset.c.id == id_or_name, by_name):
                if found := _select_assets(connection, kind, same, *seen(visible, asset)):
                    return found[0]
        return None

    def latest(self, visible: Visible, assets: Sequence[Asset]) -> dict[str, AssetVersion]:
        """Return the last version of each of `assets` that has any, by the asset's id."""
        found: list[AssetVersion] = []
        with self._database.read() as connection:
            for at in range(0, len(assets), _AT_ONCE):
                pairs = [(one.id, one.latest) for one in assets[at : at + _AT_ONCE]]
                same = tuple_(asset_version.c.asset, asset_version.c.number).in_(pairs)
                found += _select_versions(connection, same, *seen(visible, asset))
        return {version.asset: version for version in found}

    def versions(self, visible: Visible, asset_id: str) -> list[AssetVersion]:
        """Return all versions of an asset, newest first."""
        with self._database.read() as connection:
            return _select_versions(connection, asset_version.c.asset == asset_id, *seen(visible, asset))


def asset_called(connection: Connection, kind: AssetKind, workspace: str, name: str) -> Asset | None:
    """Return the asset of a kind with this name, whoever owns it."""
    found = _select_assets(connection, kind, asset.c.workspace == workspace, asset.c.name == name)
    return found[0] if found else None


def version_of(connection: Connection, job: str, attempt: int) -> AssetVersion | None:
    """Return the version that an attempt of a job made."""
    found = _select_versions(connection, asset_version.c.job == job, asset_version.c.attempt == attempt)
    return found[0] if found else None


def add_version(connection: Connection, wanted: Asset, new: NewVersion) -> AssetVersion:
    """Store the next version of the asset with the kind, workspace, name and owner of `wanted`, which is created if
    there is none.

    An attempt that made one before gets that one. Raises IntegrityError, which `Database.write` makes a Conflict, when
    the name is somebody else's.
    """
    if new.job is not None and new.attempt is not None and (made := version_of(connection, new.job, new.attempt)):
        return made
    line = asset_called(connection, wanted.kind, wanted.workspace, wanted.name)
    if line is None or line.owner != wanted.owner:
        connection.execute(insert(asset).values({column.name: getattr(wanted, column.name) for column in asset.c}))
        line = wanted
    version = {name: getattr(new, name) for name in NewVersion.__slots__} | {
        "asset": line.id,
        "number": line.latest + 1,
        "about": rows.encode(new.about),
    }
    connection.execute(insert(asset_version).values(version))
    same = (asset_version.c.asset == line.id, asset_version.c.number == line.latest + 1)
    return _select_versions(connection, *same)[0]


def _select_assets(connection: Connection, kind: AssetKind, *conditions: ColumnElement[bool]) -> list[Asset]:
    number, latest = func.count(asset_version.c.number), func.coalesce(func.max(asset_version.c.number), 0)
    statement = (
        select(asset, number.label("versions"), latest.label("latest"))
        .outerjoin(asset_version, asset_version.c.asset == asset.c.id)
        .where(asset.c.kind == kind, *conditions)
        .group_by(*asset.c)
        .order_by(asset.c.created_at.desc(), asset.c.id)
    )
    return [Asset(**{**row._mapping, "kind": kind}) for row in connection.execute(statement)]


def _select_versions(connection: Connection, *conditions: ColumnElement[bool]) -> list[AssetVersion]:
    statement = select(asset_version, asset.c.name).join(asset, asset.c.id == asset_version.c.asset).where(*conditions)
    return [_version(row) for row in connection.execute(statement.order_by(asset_version.c.number.desc()))]


def _version(row: Row[Any]) -> AssetVersion:
    try:
        about = rows.decoded(row.about, dict)
    except rows.MalformedRow as error:  # the files are whole: answer without what cannot be read
        _log.error("what is known about %s@%s cannot be read and is left out: %s", row.asset, row.number, error)
        about = {}
    return AssetVersion(**{**row._mapping, "about": about})
