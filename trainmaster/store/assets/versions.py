"""Assets and their immutable versions as rows, whatever their kind: what somebody has, under a name, for jobs to use.

An asset is a name in a workspace, unique within its kind; its versions count from 1. Invariants: a version is written
once and never changed, an attempt makes one at most, and nobody's version joins an asset of somebody else (what is
shared read-write with somebody, `store.assets.templates`, they change as its owner does). What is special to a kind
lies beside this. Whoever reads for a person asks `AssetReader`; the functions that take a connection are the platform's
own. All of them block: call them from a worker thread, or as work of the writer.
"""

import base64
import binascii
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, and_, case, func, insert, or_, select, true, update

from trainmaster.access.visible import Visible
from trainmaster.core.errors import InvalidSpec, problem_of
from trainmaster.core.states import JobShare
from trainmaster.messages.jobs import jobs as said_of_lists
from trainmaster.store.assets.taken import taken_as, taken_by, taken_with
from trainmaster.store.database import Database
from trainmaster.store.jobs import rows
from trainmaster.store.jobs.job_query import Page
from trainmaster.store.seen import seen
from trainmaster.store.tables import asset, asset_favorite, asset_version

_log: Final = logging.getLogger(__name__)

LEAST: Final = 4
"""Characters that the beginning of an id has at least."""
_AT_ONCE: Final = 400
"""Of so many assets is asked at once: a statement holds a limited number of values."""


class AssetKind(StrEnum):
    """What an asset is."""

    MODEL = "model"
    TEMPLATE = "template"
    IMAGE = "image"
    DATASET = "dataset"
    ALGORITHM = "algorithm"
    VOLUME = "volume"


PASSED_ON: Final = frozenset({AssetKind.DATASET, AssetKind.ALGORITHM, AssetKind.IMAGE, AssetKind.TEMPLATE})
"""Kinds that other workspaces can take in (`store.assets.subscriptions`)."""


class AssetSource(StrEnum):
    """Where a version came from."""

    JOB = "job"
    PERSON = "person"


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
    """One immutable version of an asset; `name` and `workspace` are the asset's, `path` starts at the home folder."""

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
    workspace: str = ""

    @property
    def reference(self) -> str:
        """How a job names it: ``<asset id>@<number>``."""
        return f"{self.asset}@{self.number}"


@dataclass(frozen=True, slots=True)
class Asset:
    """A named line of versions. `share`: with the other members of its workspace (`core.states.JobShare`).
    `changed_at`: when its last version was made; `used`: how often jobs were made of it, `used_at`: when last.
    `versions` is how many there are, `latest` the number of the last; `numbered`: up to which number versions were
    removed, so that none is given twice. `taken`: (workspace, name) of those that took it in and may use it.
    """

    id: str
    kind: AssetKind
    name: str
    workspace: str
    owner: str
    created_at: float
    share: str = JobShare.NONE.value
    description: str = ""
    changed_at: float = 0.0
    used: int = 0
    used_at: float | None = None
    numbered: int = 0
    versions: int = 0
    latest: int = 0
    taken: tuple[tuple[str, str], ...] = ()

    @property
    def taken_in(self) -> frozenset[str]:
        """The workspaces that took it in (`access.visible`)."""
        return frozenset(workspace for workspace, _ in self.taken)


@dataclass(frozen=True, slots=True)
class AssetQuery:
    """What is looked for (empty: everything): each word of `q` in name (also in one under which it was taken in),
    description, owner or id. `workspace`: where it lies, or which took it in; `shared_with`: what others share with the
    members of its workspace, or it was taken in from another; `favorite_of`: what somebody marked for themselves.
    """

    q: str = ""
    owner: str = ""
    workspace: str = ""
    shared_with: str = ""
    favorite_of: str = ""


class AssetReader:
    """The questions people ask about assets. Every one takes what the person may see (`access.visible`) first."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_assets(
        self, visible: Visible, kind: AssetKind, q: str = "", workspace: str | None = None, most: int | None = None
    ) -> list[Asset]:
        """Return the assets of a kind that have every word of `q` (`AssetQuery`), `most` of them at most: before all
        others those whose name has them, then the newest first. O(assets seen).
        """
        conditions = [*seen(visible, asset), *_wanted(visible, kind, AssetQuery(q))]
        if workspace is not None:
            conditions.append(asset.c.workspace == workspace)
        named = and_(true(), *(asset.c.name.icontains(word, autoescape=True) for word in q.split()))
        with self._database.read() as connection:
            return assets_with(connection, kind, *conditions, order=(case((named, 0), else_=1), *_NEWEST), limit=most)

    def find(self, visible: Visible, kind: AssetKind, id_or_name: str, workspace: str = "default") -> Asset | None:
        """Return the asset of a kind with this id, or with this name in `workspace`."""
        by_name = (asset.c.workspace == workspace) & (asset.c.name == id_or_name)
        with self._database.read() as connection:
            for same in (asset.c.id == id_or_name, by_name):
                if found := assets_with(connection, kind, same, *seen(visible, asset)):
                    return found[0]
        return None

    def page(
        self, visible: Visible, kind: AssetKind, wanted: AssetQuery, limit: int, cursor: str | None = None
    ) -> Page[Asset]:
        """Return a page of the assets of a kind, what was changed last first. Raises InvalidSpec for a cursor of
        another list. Walks an index until the page is full, passing over what is not seen.
        """
        conditions = [*seen(visible, asset, walked=True), *_wanted(visible, kind, wanted)]
        if cursor is not None:
            at, id_ = read_cursor(cursor)
            conditions.append(or_(asset.c.changed_at < at, and_(asset.c.changed_at == at, asset.c.id > id_)))
        by_change = (asset.c.changed_at.desc(), asset.c.id)
        with self._database.read() as connection:
            found = assets_with(connection, kind, *conditions, order=by_change, limit=limit + 1)
        following = write_cursor(found[limit - 1].changed_at, found[limit - 1].id) if len(found) > limit else None
        return Page(found[:limit], following)

    def count(self, visible: Visible, kind: AssetKind, wanted: AssetQuery) -> int:
        """Return how many assets of a kind there are on all pages."""
        conditions = [asset.c.kind == kind, *seen(visible, asset, walked=True), *_wanted(visible, kind, wanted)]
        with self._database.read() as connection:
            return connection.scalar(select(func.count()).select_from(asset).where(*conditions)) or 0

    def called(self, visible: Visible, kind: AssetKind, ref: str) -> list[Asset]:
        """Return the asset with this id, else all with this name, also one under which they were taken in, else all
        whose id begins so.
        """
        begins, named = asset.c.id.startswith(ref, autoescape=True), asset.c.name == ref
        if kind in PASSED_ON and visible.taking:
            named |= asset.c.id.in_(taken_as(visible.taking, kind, ref))
        with self._database.read() as connection:
            for same in (asset.c.id == ref, named, *([begins] if len(ref) >= LEAST else [])):
                if found := assets_with(connection, kind, same, *seen(visible, asset)):
                    return found
        return []

    def named(
        self, visible: Visible, kind: AssetKind, workspace: str, name: str, number: int | None = None
    ) -> AssetVersion | None:
        """Return a version of what this name means in `workspace`, the last one where no number is given: of an asset
        that lies there, or was taken in there. It has the name that it has there.
        """
        one = seen(visible, asset) + ([] if number is None else [asset_version.c.number == number])
        with self._database.read() as connection:
            found = meant(connection, kind, workspace, name, *one, taken=visible.looks_into(workspace))
        return found[0] if found else None

    def latest(self, visible: Visible, assets: Sequence[Asset]) -> dict[str, AssetVersion]:
        """Return the last version of each of `assets` that has any, by the asset's id."""
        with self._database.read() as connection:
            return last_versions(connection, assets, *seen(visible, asset))

    def versions(self, visible: Visible, asset_id: str) -> list[AssetVersion]:
        """Return all versions of an asset, newest first."""
        with self._database.read() as connection:
            return versions_of(connection, asset_version.c.asset == asset_id, *seen(visible, asset))


def asset_called(connection: Connection, kind: AssetKind, workspace: str, name: str) -> Asset | None:
    """Return the asset of a kind with this name, whoever owns it."""
    found = assets_with(connection, kind, asset.c.workspace == workspace, asset.c.name == name)
    return found[0] if found else None


def version_of(connection: Connection, job: str, attempt: int) -> AssetVersion | None:
    """Return the version that an attempt of a job made."""
    found = versions_of(connection, asset_version.c.job == job, asset_version.c.attempt == attempt)
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
    return append(connection, line, new)


def append(connection: Connection, line: Asset, new: NewVersion) -> AssetVersion:
    """Store the next version of `line`, an asset that is there."""
    connection.execute(update(asset).where(asset.c.id == line.id).values(changed_at=new.created_at))
    number = max(line.latest, line.numbered) + 1
    version = {name: getattr(new, name) for name in NewVersion.__slots__} | {
        "asset": line.id,
        "number": number,
        "about": rows.encode(new.about),
    }
    connection.execute(insert(asset_version).values(version))
    same = (asset_version.c.asset == line.id, asset_version.c.number == number)
    return versions_of(connection, *same)[0]


def last_versions(
    connection: Connection, assets: Sequence[Asset], *conditions: ColumnElement[bool]
) -> dict[str, AssetVersion]:
    """Return the last version of each of `assets` that meets conditions on `asset`, by the asset's id."""
    other, found = asset_version.alias("other"), list[AssetVersion]()
    last = select(func.max(other.c.number)).where(other.c.asset == asset_version.c.asset).scalar_subquery()
    for at in range(0, len(assets), _AT_ONCE):  # not by pairs with their numbers: SQLite would look at every version
        these = asset_version.c.asset.in_([one.id for one in assets[at : at + _AT_ONCE]])
        found += versions_of(connection, these, asset_version.c.number == last, *conditions)
    return {version.asset: version for version in found}


def asset_of(connection: Connection, version: AssetVersion, kind: AssetKind) -> Asset | None:
    """Return the asset that a version is one of, whoever owns it."""
    found = assets_with(connection, kind, asset.c.id == version.asset)
    return found[0] if found else None


def asset_seen(connection: Connection, visible: Visible, kind: AssetKind, id_: str) -> Asset | None:
    """Return the asset of a kind with this id where it may be seen."""
    found = assets_with(connection, kind, asset.c.id == id_, *seen(visible, asset))
    return found[0] if found else None


def meant(
    connection: Connection,
    kind: AssetKind,
    workspace: str,
    name: str,
    *conditions: ColumnElement[bool],
    taken: bool = True,
) -> list[AssetVersion]:
    """Return versions of what a name means in a workspace, newest first. `taken`: also of what was taken in there; its
    name there is none of an asset that lies there.
    """
    here = (asset.c.kind == kind, asset.c.workspace == workspace, asset.c.name == name)
    found = versions_of(connection, *here, *conditions)
    if found or not taken or kind not in PASSED_ON:
        return found
    there = versions_of(connection, asset.c.id.in_(taken_as([workspace], kind, name)), *conditions)
    return [replace(version, name=name) for version in there]


def _wanted(visible: Visible, kind: AssetKind, query: AssetQuery) -> list[ColumnElement[bool]]:
    texts = (asset.c.name, asset.c.description, asset.c.owner, asset.c.id)
    found = []
    for word in query.q.split():
        places = [one.icontains(word, autoescape=True) for one in texts]
        if kind in PASSED_ON and visible.taking:
            places.append(asset.c.id.in_(taken_with(visible.taking, kind, word)))
        found.append(or_(*places))
    if query.owner:
        found.append(asset.c.owner == query.owner)
    if query.shared_with:
        shared = asset.c.share != JobShare.NONE.value
        if kind in PASSED_ON and visible.taking:
            shared |= asset.c.id.in_(taken_as(visible.taking, kind))
        found += [asset.c.owner != query.shared_with, shared]
    if query.favorite_of:
        marked = select(asset_favorite.c.asset).where(asset_favorite.c.user == query.favorite_of)
        found.append(asset.c.id.in_(marked))
    if query.workspace:
        there = asset.c.workspace == query.workspace
        if kind in PASSED_ON and visible.looks_into(query.workspace):
            there |= asset.c.id.in_(taken_as([query.workspace], kind))
        found.append(there)
    return found


def write_cursor(at: float, id_: str) -> str:
    """Return what asks for the page behind what was at this moment and has this id."""
    return base64.urlsafe_b64encode(msgspec.json.encode((at, id_))).decode().rstrip("=")


def read_cursor(cursor: str) -> tuple[float, str]:
    """Return (moment, id) of what a page begins behind. Raises InvalidSpec for a cursor of another list."""
    try:
        written = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        at, id_ = msgspec.json.decode(written, type=tuple[float, str])
        if not id_.isprintable():
            raise ValueError("no id of ours")
    except (ValueError, binascii.Error, msgspec.MsgspecError):
        problem = problem_of("cursor", said_of_lists.not_a_cursor_here())
        raise InvalidSpec(said_of_lists.cursor_of_another_list(), problems=(problem,)) from None
    return at, id_


_NEWEST: Final = (asset.c.created_at.desc(), asset.c.id)


def assets_with(
    connection: Connection,
    kind: AssetKind,
    *conditions: ColumnElement[bool],
    order: Sequence[ColumnElement[Any]] = _NEWEST,
    limit: int | None = None,
) -> list[Asset]:
    """Return the assets of a kind that meet conditions on `asset`, the newest first unless `order` says otherwise."""
    here = select(asset.c.id).where(asset.c.kind == kind, *conditions).order_by(*order).limit(limit)  # before versions
    own = asset_version.c.asset == asset.c.id
    number = select(func.count()).where(own).scalar_subquery()
    latest = select(func.coalesce(func.max(asset_version.c.number), 0)).where(own).scalar_subquery()
    statement = (
        select(asset, number.label("versions"), latest.label("latest")).where(asset.c.id.in_(here)).order_by(*order)
    )
    found = [Asset(**{**row._mapping, "kind": kind}) for row in connection.execute(statement)]
    if kind not in PASSED_ON:
        return found
    taken = taken_by(connection, [line.id for line in found])
    return [replace(line, taken=tuple(taken[line.id])) if line.id in taken else line for line in found]


def versions_of(connection: Connection, *conditions: ColumnElement[bool]) -> list[AssetVersion]:
    """Return the versions that meet conditions on `asset` and `asset_version`, newest first."""
    statement = select(asset_version, asset.c.name, asset.c.workspace).where(*conditions)
    statement = statement.join(asset, asset.c.id == asset_version.c.asset)
    return [_version(row) for row in connection.execute(statement.order_by(asset_version.c.number.desc()))]


def _version(row: Row[Any]) -> AssetVersion:
    try:
        about = rows.decoded(row.about, dict)
    except rows.MalformedRow as error:  # the files are whole: answer without what cannot be read
        _log.error("what is known about %s@%s cannot be read and is left out: %s", row.asset, row.number, error)
        about = {}
    return AssetVersion(**{**row._mapping, "about": about})
