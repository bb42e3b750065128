"""What people were told in the console, and the one transaction in which that is stored: rows for the console, what is
to be sent, and how far the ledger was read, together or not at all.

Invariant: whatever happens to the server, what happened is told each person in the console exactly once. Of each person
the newest MOST are kept. Methods block: in a worker thread.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, delete, func, insert, or_, select, update

from trainmaster.access.visible import Visible
from trainmaster.messages.server import notices as said
from trainmaster.store.database import Database
from trainmaster.store.jobs import rows
from trainmaster.store.notices import happened
from trainmaster.store.notices.deliveries import DROPPED, WAITING, Delivery, delivery_values
from trainmaster.store.notices.settings import record_of
from trainmaster.store.notices.tables import notice, notice_delivery, notice_once

MOST: Final = 500
"""Notifications kept of a person; older ones go."""
MOST_WAITING: Final = 1000
"""Deliveries that may wait for one receiver; further ones are dropped, and their list says so."""
ONCE_S: Final = 400 * 86400.0
BUDGET: Final = "budget"
"""The kind that is about a workspace and no job: told who is in it, and shown them while they are."""
_N: Final = notice.c


@dataclass(frozen=True, slots=True)
class Notice:
    """One notification. `key`: of what happened; `record`: what is said of it, as JSON; `read_at` None: not read."""

    user: str
    key: str
    at: float
    kind: str
    job: str | None
    workspace: str
    record: dict[str, Any]
    read_at: float | None = None
    seq: int = 0


@dataclass(frozen=True, slots=True)
class ToTell:
    """What is stored together. `place`: (before, upto) of the events it tells of; `once`: keys of what no event says,
    with the notices and deliveries of each, for which `key` stands.
    """

    notices: tuple[Notice, ...]
    deliveries: tuple[Delivery, ...]
    place: tuple[int, int] | None = None
    once: str = ""


class NoticeRows:
    """Tells, lists, marks as read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def tell(self, told: ToTell, now: float) -> set[str] | None:
        """Store what is told; return who has something new in the console, None where it was told before."""

        def work(connection: Connection) -> set[str] | None:
            if told.place is not None and not happened.move(connection, *told.place):
                return None
            if told.once and not _first(connection, told.once, now):
                return None
            fresh = _not_told(connection, told.notices)
            if fresh:
                connection.execute(insert(notice), [_values(one) for one in fresh])
            for user in {one.user for one in fresh}:
                _trim(connection, user)
            _send(connection, told.deliveries, now)
            return {one.user for one in fresh}

        return self._database.write(work).result()

    def told_once(self, keys: Collection[str]) -> set[str]:
        """Return which of `keys` were told."""
        with self._database.read() as connection:
            return set(connection.scalars(select(notice_once.c.key).where(notice_once.c.key.in_(list(keys)))))

    def skip(self, keys: Iterable[str], now: float) -> None:
        """Take `keys` as told: what was before anybody was told anything."""

        def work(connection: Connection) -> None:
            for key in keys:
                _first(connection, key, now)

        self._database.write(work).result()

    def page(
        self,
        visible: Visible,
        user: str,
        limit: int,
        before: int | None = None,
        *,
        kinds: Sequence[str] = (),
        unread: bool = False,
    ) -> list[Notice]:
        """Return what `user` was told, newest first, below number `before`. `visible`: of which workspaces they may
        know how they stand.
        """
        where = _of(visible, user)
        where += [_N.seq < before] if before is not None else []
        where += [_N.kind.in_(kinds)] if kinds else []
        where += [_N.read_at.is_(None)] if unread else []
        with self._database.read() as connection:
            found = connection.execute(select(notice).where(*where).order_by(_N.seq.desc()).limit(limit))
            return [_notice(row) for row in found]

    def unread(self, visible: Visible, user: str) -> int:
        """Return how many notifications of `user` are not read. At most MOST rows are looked at."""
        with self._database.read() as connection:
            where = (*_of(visible, user), _N.read_at.is_(None))
            return int(connection.scalar(select(func.count()).select_from(notice).where(*where)) or 0)

    def mark(self, visible: Visible, user: str, now: float, numbers: Sequence[int] | None, upto: int = 0) -> int:
        """Mark as read those of `user` with these numbers, None: all up to number `upto`. Return how many of `numbers`
        there are.
        """
        which = _N.seq <= upto if numbers is None else _N.seq.in_(numbers)

        def work(connection: Connection) -> int:
            mine = _of(visible, user)
            there = connection.scalar(select(func.count()).select_from(notice).where(*mine, which))
            connection.execute(update(notice).where(*mine, which, _N.read_at.is_(None)).values(read_at=now))
            return int(there or 0)

        return self._database.write(work).result()


def _of(visible: Visible, user: str) -> list[ColumnElement[bool]]:
    where: list[ColumnElement[bool]] = [_N.user == user]
    if visible.within is not None:
        where.append(_N.workspace == visible.within)
    if not visible.everything:
        where.append(or_(_N.kind != BUDGET, _N.workspace.in_(sorted(visible.workspaces))))
    return where


def _first(connection: Connection, key: str, now: float) -> bool:
    """Note that something is told, and return whether it was not; forget what was told long ago."""
    once = notice_once.c
    connection.execute(delete(notice_once).where(once.at < now - ONCE_S))
    if connection.scalar(select(once.key).where(once.key == key)) is not None:
        return False
    connection.execute(insert(notice_once).values(key=key, at=now))
    return True


def _not_told(connection: Connection, wanted: Sequence[Notice]) -> list[Notice]:
    keys = list({one.key for one in wanted})
    there = (
        {tuple(row) for row in connection.execute(select(_N.user, _N.key).where(_N.key.in_(keys)))} if keys else set()
    )
    return list({(one.user, one.key): one for one in wanted if (one.user, one.key) not in there}.values())


def _trim(connection: Connection, user: str) -> None:
    mine = select(_N.seq).where(_N.user == user).order_by(_N.seq.desc())
    last = connection.scalar(mine.offset(MOST).limit(1))
    if last is not None:
        connection.execute(delete(notice).where(_N.user == user, _N.seq <= last))


def _send(connection: Connection, deliveries: Sequence[Delivery], now: float) -> None:
    """Store what is to be sent; beyond what may wait for a receiver it is stored as dropped."""
    sent = notice_delivery.c
    count: Counter[tuple[str, str]] = Counter()
    for channel, target in {(one.channel, one.target) for one in deliveries}:
        waiting = (sent.channel == channel, sent.target == target, sent.state == WAITING)
        count[channel, target] = (
            connection.scalar(select(func.count()).select_from(notice_delivery).where(*waiting)) or 0
        )
    kept = []
    for one in deliveries:
        count[one.channel, one.target] += 1
        full = count[one.channel, one.target] > MOST_WAITING
        error = said.delivery_too_many(MOST_WAITING)
        kept.append(replace(one, state=DROPPED, done_at=now, error=error) if full else one)
    if kept:
        connection.execute(insert(notice_delivery), [delivery_values(one) for one in kept])


def _values(one: Notice) -> dict[str, Any]:
    return {
        "user": one.user, "key": one.key, "at": one.at, "kind": one.kind, "job": one.job, "workspace": one.workspace,
        "record": rows.encode(one.record), "read_at": one.read_at,
    }  # fmt: skip


def _notice(row: Any) -> Notice:
    return Notice(**{**row._mapping, "record": record_of(row.record)})
