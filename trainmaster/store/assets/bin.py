"""The bin: assets and versions that were deleted and can come back. Their rows are moved here and back as they are.

So whatever reads assets finds nothing of them, and needs not know of the bin: no list, no name that a job gives, no
count. Invariant: a row is either there or here. What they take on the disk (`kept_version`) stays counted until they
go for good. Methods block: call them from a worker thread, or as work of the writer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    and_,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from trainmaster.access.visible import Visible
from trainmaster.core.errors import Conflict, NotFound, problem_of
from trainmaster.core.events import AuditEvent
from trainmaster.messages.assets import bin as said
from trainmaster.messages.said import Said
from trainmaster.store import audit
from trainmaster.store.assets.subscriptions import demand_offerable, forget_passed_on, is_taken
from trainmaster.store.assets.versions import (
    LEAST,
    Asset,
    AssetKind,
    asset_seen,
    read_cursor,
    versions_of,
    write_cursor,
)
from trainmaster.store.database import Database
from trainmaster.store.jobs.job_query import Page
from trainmaster.store.seen import seen
from trainmaster.store.tables import asset, asset_favorite, asset_version, bin_entry, binned_version, kept_version

PAGE: Final = 500
_COPIED: Final = tuple(column.name for column in asset.c if column.name != "id")
_VERSION: Final = tuple(column.name for column in asset_version.c)

Scopes = Mapping[AssetKind, Visible]
"""Of which things of each kind something may be done; a kind that is not in it: of none."""
Place = tuple[float, str]
"""When something was deleted, and its id here."""
FIRST: Final[Place] = (-1.0, "")


@dataclass(frozen=True, slots=True)
class Binned:
    """What was deleted at once: the asset `line`, or of it the version `number`. `by`: who deleted it. `size_bytes`: of
    its versions as they are, of which there are `line.versions`.
    """

    id: str
    at: float
    by: str
    number: int | None
    line: Asset
    size_bytes: int


@dataclass(frozen=True, slots=True)
class BinQuery:
    """What is looked for (empty: everything): each word of `q` in name, owner or who deleted it."""

    q: str = ""
    owner: str = ""
    workspace: str = ""
    kind: AssetKind | None = None


@dataclass(frozen=True, slots=True)
class Removed:
    """What went for good, and the places that nothing else names any more."""

    binned: Binned
    paths: tuple[str, ...]


class BinRows:
    """One object per server. All that write raise StorageFailed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # -- ask ---------------------------------------------------------------------------------------------------

    def page(self, scopes: Scopes, wanted: BinQuery, limit: int, cursor: str | None = None) -> Page[Binned]:
        """Return a page of what lies here, what was deleted last first. Raises InvalidSpec for a cursor of another
        list.
        """
        conditions = [_seen(scopes), *_wanted(wanted)]
        if cursor is not None:
            at, id_ = read_cursor(cursor)
            conditions.append(or_(bin_entry.c.at < at, and_(bin_entry.c.at == at, bin_entry.c.id > id_)))
        with self._database.read() as connection:
            order = (bin_entry.c.at.desc(), bin_entry.c.id)
            found = _select(connection, *conditions, order=order, limit=limit + 1)
        last = found[limit - 1] if len(found) > limit else None
        return Page(found[:limit], write_cursor(last.at, last.id) if last is not None else None)

    def count(self, scopes: Scopes, wanted: BinQuery) -> int:
        """Return how much lies here on all pages."""
        conditions = [_seen(scopes), *_wanted(wanted)]
        with self._database.read() as connection:
            return connection.scalar(select(func.count()).select_from(bin_entry).where(*conditions)) or 0

    def called(self, scopes: Scopes, ref: str) -> list[Binned]:
        """Return what has this id here, else whatever has this name (``NAME@VERSION``: that version), else whatever has
        an id that begins so.
        """
        name, _, number = ref.partition("@")
        named = bin_entry.c.name == name
        if number:
            named &= bin_entry.c.number == (int(number) if number.isdecimal() and len(number) < 10 else -1)
        begins = bin_entry.c.id.startswith(ref, autoescape=True)
        with self._database.read() as connection:
            for same in (bin_entry.c.id == ref, named, *([begins] if len(ref) >= LEAST else [])):
                if found := _select(connection, same, _seen(scopes)):
                    return found
        return []

    def old(self, before: float, after: Place = FIRST) -> list[Binned]:
        """Return a page of what was deleted before `before`, behind `after`, oldest first. O(page): one index."""
        behind = or_(bin_entry.c.at > after[0], and_(bin_entry.c.at == after[0], bin_entry.c.id > after[1]))
        with self._database.read() as connection:
            order = (bin_entry.c.at, bin_entry.c.id)
            return _select(connection, behind, bin_entry.c.at < before, order=order, limit=PAGE)

    def takes(self, id_: str) -> int:
        """Return what one takes on the disk, in bytes, as it was measured."""
        same = and_(kept_version.c.asset == binned_version.c.asset, kept_version.c.number == binned_version.c.number)
        taken = select(func.sum(kept_version.c.bytes)).join(binned_version, same).where(binned_version.c.entry == id_)
        with self._database.read() as connection:
            return int(connection.scalar(taken) or 0)

    def held(self, id_: str) -> list[tuple[str, str]]:
        """Return of each version that one holds where it lies, and what else is known of it."""
        mine = select(binned_version.c.path, binned_version.c.about).where(binned_version.c.entry == id_)
        with self._database.read() as connection:
            return [(row.path, row.about) for row in connection.execute(mine)]

    # -- do ----------------------------------------------------------------------------------------------------

    def put(
        self,
        visible: Visible,
        line: Asset,
        number: int | None,
        new: Place,
        by: str,
        missing: Said,
        told: Callable[[Asset], AuditEvent],
    ) -> None:
        """Move an asset with all its versions here, or one of them; its number is never given again. `new`: when that
        is, and the id of it here. Raises NotFound, in the words `missing` where it has no such version.
        """

        def work(connection: Connection) -> None:
            before = asset_seen(connection, visible, line.kind, line.id)
            if before is None:
                raise NotFound(missing)
            at, id_ = new
            mine = asset_version.c.asset == line.id
            if number is not None:
                mine &= asset_version.c.number == number
            columns = [asset_version.c[name] for name in _VERSION]
            moved = select(literal(id_), *columns).where(mine)
            connection.execute(insert(binned_version).from_select(["entry", *_VERSION], moved))
            if not connection.execute(delete(asset_version).where(mine)).rowcount and number is not None:
                raise NotFound(missing)
            values = {name: getattr(before, name) for name in _COPIED}
            entry = {"id": id_, "at": at, "by": by, "number": number or 0, "asset": line.id}
            connection.execute(insert(bin_entry).values(values | entry))
            same = asset.c.id == line.id
            if number is None:
                connection.execute(delete(asset).where(same))
            else:
                connection.execute(update(asset).where(same).values(numbered=max(before.numbered, number)))
            audit.write(connection, [told(before)])

        self._database.write(work).result()

    def restore(self, scopes: Scopes, id_: str, name: str | None, told: Callable[[Asset], AuditEvent]) -> Asset:
        """Move what was deleted back, an asset under another name where one is given; return it. Raises NotFound,
        Conflict where its name is taken by now, a version's asset is not there, or cannot have it while it is offered.
        """

        def work(connection: Connection) -> Asset:
            found = _demand(connection, scopes, id_)
            line = found.line
            if found.number is None:
                line = replace(line, name=name or line.name)
                same = select(asset.c.id).where(asset.c.id == line.id)  # a job saved into it in that moment
                taken = is_taken(connection, line.kind, line.workspace, line.name)
                if taken or connection.scalar(same) is not None:
                    problem = problem_of("name", said.name_in_use(line.workspace), line.name)
                    raise Conflict(said.name_taken_meanwhile(line.name), problems=(problem,))
                values = {name: getattr(line, name) for name in _COPIED}
                connection.execute(insert(asset).values(values | {"id": line.id}))
            elif connection.scalar(select(asset.c.id).where(asset.c.id == line.id)) is None:
                raise Conflict(said.asset_is_gone(line.name))
            columns = [binned_version.c[name] for name in _VERSION]
            mine = binned_version.c.entry == id_
            back = select(*columns).where(mine)
            connection.execute(insert(asset_version).from_select(list(_VERSION), back))
            demand_offerable(connection, line, versions_of(connection, asset_version.c.asset == line.id))
            connection.execute(delete(binned_version).where(mine))
            connection.execute(delete(bin_entry).where(bin_entry.c.id == id_))
            audit.write(connection, [told(line)])
            return line

        return self._database.write(work).result()

    def remove(self, scopes: Scopes, id_: str, told: Callable[[Asset], AuditEvent]) -> Removed:
        """Remove what was deleted for good, with an asset also the versions of it that were deleted before. Raises
        NotFound.
        """

        def work(connection: Connection) -> Removed:
            found = _demand(connection, scopes, id_)
            line, kept = found.line, kept_version.c.asset == found.line.id
            mine = bin_entry.c.id == id_
            if found.number is None:
                mine |= bin_entry.c.asset == line.id
                connection.execute(delete(asset_favorite).where(asset_favorite.c.asset == line.id))
                forget_passed_on(connection, line.id)
            else:
                kept &= kept_version.c.number == found.number
            ids = list(connection.scalars(select(bin_entry.c.id).where(mine)))
            versions = binned_version.c.entry.in_(ids)
            paths = set(connection.scalars(select(binned_version.c.path).where(versions))) - {""}
            for table, which in ((binned_version, versions), (bin_entry, mine), (kept_version, kept)):
                connection.execute(delete(table).where(which))
            audit.write(connection, [told(line)])
            for table in (asset_version, binned_version):  # images of the same packages have one environment
                others = select(table.c.path).where(table.c.path.in_(sorted(paths)))
                paths -= set(connection.scalars(others))
            return Removed(found, tuple(sorted(paths)))

        return self._database.write(work).result()


def _seen(scopes: Scopes) -> ColumnElement[bool]:
    parts = [and_(bin_entry.c.kind == kind, *seen(visible, bin_entry)) for kind, visible in scopes.items()]
    return or_(*parts) if parts else literal(False)


def _wanted(query: BinQuery) -> list[ColumnElement[bool]]:
    texts = (bin_entry.c.name, bin_entry.c.owner, bin_entry.c.by)
    found = [or_(*(one.icontains(word, autoescape=True) for one in texts)) for word in query.q.split()]
    exact = ((bin_entry.c.owner, query.owner), (bin_entry.c.workspace, query.workspace), (bin_entry.c.kind, query.kind))
    return found + [column == value for column, value in exact if value]


def _demand(connection: Connection, scopes: Scopes, id_: str) -> Binned:
    found = _select(connection, bin_entry.c.id == id_, _seen(scopes))
    if not found:
        raise NotFound(said.not_in_the_bin(repr(id_)))
    return found[0]


def _select(
    connection: Connection,
    *conditions: ColumnElement[bool],
    order: Sequence[ColumnElement[Any]] = (bin_entry.c.at.desc(), bin_entry.c.id),
    limit: int | None = None,
) -> list[Binned]:
    own = binned_version.c.entry == bin_entry.c.id
    sums = {
        "versions": select(func.count()).where(own),
        "latest": select(func.coalesce(func.max(binned_version.c.number), 0)).where(own),
        "size_bytes": select(func.coalesce(func.sum(binned_version.c.size_bytes), 0)).where(own),
    }
    columns = [one.scalar_subquery().label(name) for name, one in sums.items()]
    statement = select(bin_entry, *columns).where(*conditions).order_by(*order).limit(limit)
    return [_binned(row) for row in connection.execute(statement)]


def _binned(row: Row[Any]) -> Binned:
    values = {name: getattr(row, name) for name in _COPIED} | {"kind": AssetKind(row.kind)}
    line = Asset(row.asset, **values, versions=row.versions, latest=row.latest)
    return Binned(row.id, row.at, row.by, row.number or None, line, int(row.size_bytes))
