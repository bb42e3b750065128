"""What is passed on from one workspace to others (R141): offers of assets, and the names under which workspaces took
them in.

An offer is to a workspace, or to everybody ("" for a workspace); a subscription opens only what an offer covers, and
each read asks for both, so that an offer which is taken back needs no clean-up. Invariant: a name in a workspace is an
asset's that lies there or a subscription's, never both. Methods block until durable: call them from a worker thread.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, insert, or_, select

from trainmaster.access.visible import Visible
from trainmaster.core.errors import Conflict, NotFound, problem_of
from trainmaster.core.events import AuditEvent
from trainmaster.messages.assets import subscriptions as said
from trainmaster.messages.said import Said
from trainmaster.store import audit
from trainmaster.store.assets.versions import (
    Asset,
    AssetKind,
    AssetVersion,
    asset_called,
    asset_seen,
    assets_with,
    last_versions,
    read_cursor,
    versions_of,
    write_cursor,
)
from trainmaster.store.database import Database
from trainmaster.store.jobs.job_query import Page
from trainmaster.store.tables import asset, asset_offer, asset_subscription, asset_version, bin_entry

EVERYBODY: Final = ""
"""Who may see what is offered to no workspace by name: whoever is in one."""
MOST: Final = 1000
"""What one workspace may take in."""


class About(Protocol):
    """What a version says of itself."""

    @property
    def about(self) -> dict[str, Any]:
        """By kind."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """What a workspace took in under a name, when, and who did it. `line`: the asset; None while its offer was taken
    back, or it lies in the bin.
    """

    workspace: str
    kind: AssetKind
    name: str
    asset: str
    at: float
    by: str
    line: Asset | None = None


class SubscriptionRows:
    """One object per server. All that write raise StorageFailed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # -- offers --------------------------------------------------------------------------------------------------

    def offer(self, visible: Visible, line: Asset, workspace: str, at: float, by: str, told: AuditEvent) -> None:
        """Offer an asset to a workspace. Once is enough. Raises NotFound for one of which `visible` does not tell,
        Conflict for one with a version that cannot be passed on.
        """

        def work(connection: Connection) -> None:
            _demand(connection, visible, line)
            demand_passable(line.kind, line.name, versions_of(connection, asset_version.c.asset == line.id))
            if workspace not in _offers(connection, line.id):
                connection.execute(insert(asset_offer).values(asset=line.id, workspace=workspace, at=at, by=by))
                audit.write(connection, [told])

        self._database.write(work).result()

    def withdraw(
        self,
        visible: Visible,
        line: Asset,
        workspace: str,
        told: Callable[[Sequence[Subscription]], Sequence[AuditEvent]],
    ) -> None:
        """Take an offer back; `told` is given the subscriptions that open nothing from now on. Raises NotFound for an
        asset of which `visible` does not tell.
        """

        def work(connection: Connection) -> None:
            before = _demand(connection, visible, line)
            same = (asset_offer.c.asset == line.id) & (asset_offer.c.workspace == workspace)
            if connection.execute(delete(asset_offer).where(same)).rowcount:
                still = _demand(connection, visible, line).taken_in
                over = [one for one in _taken_from(connection, line.id) if one.workspace in before.taken_in - still]
                audit.write(connection, [*told(over)])

        self._database.write(work).result()

    def offers_of(self, id_: str) -> list[str]:
        """Return to which workspaces an asset is offered, by name; "" is everybody."""
        with self._database.read() as connection:
            return _offers(connection, id_)

    def taken_from(self, id_: str) -> list[Subscription]:
        """Return who subscribes to an asset, by workspace, also where no offer covers it any more."""
        with self._database.read() as connection:
            return _taken_from(connection, id_)

    def published(
        self, workspace: str, closed: Collection[str], kind: AssetKind, q: str, limit: int, cursor: str | None
    ) -> Page[Asset]:
        """Return a page of what other workspaces offer to this one, but those in `closed`, what was changed last first.
        Raises InvalidSpec for a cursor of another list.
        """
        conditions = [_offered_to(workspace, closed), *_with_words(q)]
        if cursor is not None:
            at, id_ = read_cursor(cursor)
            conditions.append(or_(asset.c.changed_at < at, and_(asset.c.changed_at == at, asset.c.id > id_)))
        order = (asset.c.changed_at.desc(), asset.c.id)
        with self._database.read() as connection:
            found = assets_with(connection, kind, *conditions, order=order, limit=limit + 1)
        following = write_cursor(found[limit - 1].changed_at, found[limit - 1].id) if len(found) > limit else None
        return Page(found[:limit], following)

    def latest(self, lines: Sequence[Asset]) -> dict[str, AssetVersion]:
        """Return the last version of each of a page that has any, by the asset's id."""
        with self._database.read() as connection:
            return last_versions(connection, lines)

    # -- subscriptions -------------------------------------------------------------------------------------------

    def of_workspace(self, workspace: str, kind: AssetKind, closed: Collection[str]) -> list[Subscription]:
        """Return what of a kind a workspace took in, by name; `closed`: workspaces of which nothing is passed on."""
        one = asset_subscription
        mine = (one.c.workspace == workspace, one.c.kind == kind)
        with self._database.read() as connection:
            found = [_subscription(row) for row in connection.execute(select(one).where(*mine).order_by(one.c.name))]
            taken = asset.c.id.in_(select(one.c.asset).where(*mine))
            offered = assets_with(connection, kind, taken, _offered_to(workspace, closed))
        lines = {line.id: line for line in offered}
        return [
            Subscription(one.workspace, one.kind, one.name, one.asset, one.at, one.by, lines.get(one.asset))
            for one in found
        ]

    def subscribe(self, wanted: Subscription, closed: Collection[str], told: Callable[[Asset], AuditEvent]) -> Asset:
        """Take an asset in under a name, in place of the one that it had there; return it. Raises NotFound for one that
        is not offered there, Conflict where the name is taken or there are too many.
        """
        workspace, kind, name = wanted.workspace, wanted.kind, wanted.name

        def work(connection: Connection) -> Asset:
            found = assets_with(connection, kind, asset.c.id == wanted.asset, _offered_to(workspace, closed))
            if not found:
                raise NotFound(said.not_offered(repr(wanted.asset), workspace, kind.value))
            mine = _of(connection, asset_subscription.c.workspace == workspace)
            same = next((one for one in mine if one.asset == wanted.asset), None)
            if same is not None and (same.kind, same.name) == (kind, name):
                return found[0]
            if is_taken(connection, kind, workspace, name):
                problem = problem_of("name", said.name_means_something(workspace), name)
                raise Conflict(said.name_not_free(name), problems=(problem,))
            if same is None and len(mine) >= MOST:
                raise Conflict(said.too_many_subscriptions(MOST))
            table = asset_subscription
            connection.execute(
                delete(table).where(table.c.workspace == workspace, table.c.asset == wanted.asset)
            )  # as it was called there
            values = {"workspace": workspace, "kind": kind, "name": name, "asset": wanted.asset}
            connection.execute(insert(table).values(values | {"at": wanted.at, "by": wanted.by}))
            audit.write(connection, [told(found[0])])
            return found[0]

        return self._database.write(work).result()

    def end(self, workspace: str, kind: AssetKind, name: str, told: Callable[[str], AuditEvent]) -> None:
        """End a subscription; `told` is given the id of its asset. Raises NotFound."""

        def work(connection: Connection) -> None:
            table = asset_subscription
            same = and_(table.c.workspace == workspace, table.c.kind == kind, table.c.name == name)
            found = _of(connection, same)
            if not found:
                raise NotFound(said.no_such_subscription(repr(name), workspace, kind.value))
            connection.execute(delete(table).where(same))
            audit.write(connection, [told(found[0].asset)])

        self._database.write(work).result()


def is_taken(connection: Connection, kind: AssetKind, workspace: str, name: str) -> bool:
    """Return whether a name means something in a workspace: an asset that lies there, or one that it took in."""
    return asset_called(connection, kind, workspace, name) is not None or is_subscribed(
        connection, kind, workspace, name
    )


def is_subscribed(connection: Connection, kind: AssetKind, workspace: str, name: str) -> bool:
    """Return whether a workspace took something in under a name, whatever became of its offer."""
    one = asset_subscription
    same = select(one.c.asset).where(one.c.workspace == workspace, one.c.kind == kind, one.c.name == name)
    return connection.scalar(same) is not None


def demand_not_subscribed(connection: Connection, kind: AssetKind, workspace: str, name: str, taken: Said) -> None:
    """Return when no subscription of a workspace has this name. Raises Conflict, with `taken` for what is wrong."""
    if is_subscribed(connection, kind, workspace, name):
        raise Conflict(taken, problems=(problem_of("name", said.name_subscribed(workspace), name),))


def demand_passable(kind: AssetKind, name: str, versions: Iterable[About]) -> None:
    """Return when other workspaces can use these versions of an asset: all but an image that its registry gives out
    for a secret, which is its workspace's. Raises Conflict.
    """
    if secret := _secret_of(kind, versions):
        raise Conflict(said.image_needs_secret(name, secret))


def demand_offerable(connection: Connection, line: Asset, versions: Iterable[About]) -> None:
    """Return when an asset can get these versions: it is offered to nobody, or they can be passed on. Raises
    Conflict.
    """
    if (secret := _secret_of(line.kind, versions)) and _offers(connection, line.id):
        raise Conflict(said.offered_image_needs_secret(line.name, secret))


def _secret_of(kind: AssetKind, versions: Iterable[About]) -> str:
    """Return the secret that one of these versions needs, "" where none does."""
    asked = (str(one.about.get("secret") or "") for one in versions if kind is AssetKind.IMAGE)
    return next(filter(None, asked), "")


def arrive(connection: Connection, id_: str, workspace: str) -> None:
    """Forget that a workspace took in, and was offered, what lies there from now on."""
    for table in (asset_offer, asset_subscription):
        connection.execute(delete(table).where(table.c.asset == id_, table.c.workspace == workspace))


def forget_passed_on(connection: Connection, id_: str) -> None:
    """Let an asset that goes for good be offered to nobody, and taken in nowhere."""
    for table in (asset_offer, asset_subscription):
        connection.execute(delete(table).where(table.c.asset == id_))


def close_to_others(connection: Connection, workspace: str) -> None:
    """Forget what a workspace that is removed took in, what was offered to it, and what of it was offered to others:
    who makes one of its name finds none.
    """
    connection.execute(delete(asset_subscription).where(asset_subscription.c.workspace == workspace))
    connection.execute(delete(asset_offer).where(asset_offer.c.workspace == workspace))
    for there, id_ in ((asset, asset.c.id), (bin_entry, bin_entry.c.asset)):
        of_it = select(id_).where(there.c.workspace == workspace)
        connection.execute(delete(asset_offer).where(asset_offer.c.asset.in_(of_it)))


def _demand(connection: Connection, visible: Visible, line: Asset) -> Asset:
    found = asset_seen(connection, visible, line.kind, line.id)
    if found is None:
        raise NotFound(said.nothing_to_offer(repr(line.id)))
    return found


def _offers(connection: Connection, id_: str) -> list[str]:
    mine = select(asset_offer.c.workspace).where(asset_offer.c.asset == id_).order_by(asset_offer.c.workspace)
    return list(connection.scalars(mine))


def _taken_from(connection: Connection, id_: str) -> list[Subscription]:
    return _of(connection, asset_subscription.c.asset == id_)


def _of(connection: Connection, condition: ColumnElement[bool]) -> list[Subscription]:
    asked = select(asset_subscription).where(condition).order_by(asset_subscription.c.workspace)
    return [_subscription(row) for row in connection.execute(asked)]


def _offered_to(workspace: str, closed: Collection[str]) -> ColumnElement[bool]:
    """Return the condition of what others offer to a workspace."""
    offered = select(asset_offer.c.asset).where(asset_offer.c.workspace.in_([EVERYBODY, workspace]))
    return and_(asset.c.id.in_(offered), asset.c.workspace.not_in(sorted({workspace, *closed})))


def _with_words(q: str) -> list[ColumnElement[bool]]:
    texts = (asset.c.name, asset.c.description, asset.c.owner, asset.c.workspace, asset.c.id)
    return [or_(*(one.icontains(word, autoescape=True) for one in texts)) for word in q.split()]


def _subscription(row: Row[Any]) -> Subscription:
    return Subscription(**{**row._mapping, "kind": AssetKind(row.kind)})
