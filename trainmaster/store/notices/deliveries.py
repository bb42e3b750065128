"""What is to be sent by e-mail and to webhooks, and what became of it, as rows: the outbox.

A row is stored with what it tells of (`store.notices.rows`) and changed only by who sends. It waits until it was sent,
failed for good, or was dropped; of each receiver the newest KEPT that are done stay. Methods block: in a worker thread.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, delete, func, insert, or_, select, update

from trainmaster.core.events import AuditEvent
from trainmaster.messages.said import Said, said_from_json
from trainmaster.store import audit
from trainmaster.store.database import Database
from trainmaster.store.jobs import rows
from trainmaster.store.notices.tables import notice_delivery

MAIL, WEBHOOK = "mail", "webhook"
WAITING, SENT, FAILED, DROPPED = "waiting", "sent", "failed", "dropped"
KEPT: Final = 50
PAGE: Final = 200
LONGEST_S: Final = 86400.0
"""Nothing waits longer for its next try: what seems to, was stored before the clock was set back."""
_D: Final = notice_delivery.c


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message for one receiver. `target`: of a mail the user, else the webhook's id; `user`: who must be allowed to
    see it when it is sent: a job of `owner` in `workspace`. `body`: what is sent, JSON.
    """

    id: str
    channel: str
    target: str
    user: str
    kind: str
    owner: str
    workspace: str
    body: str
    next_at: float
    created_at: float
    state: str = WAITING
    tries: int = 0
    done_at: float | None = None
    status: int | None = None
    error: Said | None = None
    seq: int = 0


class DeliveryRows:
    """Lists what is due, and notes what became of it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def due(self, now: float, busy: Iterable[str] = ()) -> list[Delivery]:
        """Return what is due at `now` for receivers that are not `busy`, what was tried least first."""
        is_due = or_(_D.next_at <= now, _D.next_at > now + LONGEST_S)
        wanted = select(notice_delivery).where(_D.state == WAITING, is_due, _D.target.not_in(list(busy)))
        with self._database.read() as connection:
            return [_delivery(row) for row in connection.execute(wanted.order_by(_D.tries, _D.seq).limit(PAGE))]

    def next_at(self, busy: Iterable[str] = ()) -> float | None:
        """Return when the next one is due for receivers that are not `busy`, None while none waits."""
        with self._database.read() as connection:
            waiting = (_D.state == WAITING, _D.target.not_in(list(busy)))
            found = connection.scalar(select(func.min(_D.next_at)).where(*waiting))
        return None if found is None else float(found)

    def waiting_for(self, channel: str, target: str) -> list[Delivery]:
        """Return all that waits for a receiver, in order."""
        wanted = (_D.channel == channel, _D.target == target, _D.state == WAITING)
        with self._database.read() as connection:
            found = connection.execute(select(notice_delivery).where(*wanted).order_by(_D.seq))
            return [_delivery(row) for row in found]

    def last_sent(self, channel: str, target: str) -> float | None:
        """Return when something was sent to a receiver last."""
        with self._database.read() as connection:
            sent = (_D.channel == channel, _D.target == target, _D.state == SENT)
            found: float | None = connection.scalar(select(func.max(_D.done_at)).where(*sent))
        return found

    def newest(self, channel: str, targets: Sequence[str], limit: int = KEPT) -> list[Delivery]:
        """Return the newest deliveries to these receivers. Whoever asks has looked whether that may be seen."""
        wanted = (_D.channel == channel, _D.target.in_(targets))
        with self._database.read() as connection:
            found = connection.execute(select(notice_delivery).where(*wanted).order_by(_D.seq.desc()).limit(limit))
            return [_delivery(row) for row in found]

    def done(
        self, ones: Sequence[Delivery], state: str, now: float, status: int | None = None, error: Said | None = None
    ) -> None:
        """Note that deliveries to one receiver are done: sent, failed or dropped."""

        def work(connection: Connection) -> None:
            finish(connection, [one.seq for one in ones], state, now, status, error)
            for channel, target in {(one.channel, one.target) for one in ones}:
                _trim(connection, channel, target)

        self._database.write(work).result()

    def later(
        self,
        ones: Sequence[Delivery],
        next_at: float,
        status: int | None = None,
        error: Said | None = None,
        tried: int = 1,
    ) -> None:
        """Note that a try failed, and when the next one is; with `tried` 0 that there was none."""
        values = {"tries": _D.tries + tried, "next_at": next_at, "status": status, "error": error_text(error)}
        numbers = [one.seq for one in ones]

        def work(connection: Connection) -> None:
            connection.execute(update(notice_delivery).where(_D.seq.in_(numbers)).values(values))

        self._database.write(work).result()

    def add(self, one: Delivery, audit_event: AuditEvent) -> None:
        """Store a delivery that somebody tried: a test."""

        def work(connection: Connection) -> None:
            connection.execute(insert(notice_delivery).values(delivery_values(one)))
            _trim(connection, one.channel, one.target)
            audit.write(connection, [audit_event])

        self._database.write(work).result()


def finish(
    connection: Connection, numbers: Sequence[int], state: str, now: float, status: int | None, error: Said | None
) -> None:
    """Note within a transaction that deliveries are done."""
    values = {"state": state, "done_at": now, "status": status, "error": error_text(error), "tries": _D.tries + 1}
    connection.execute(update(notice_delivery).where(_D.seq.in_(numbers), _D.state == WAITING).values(values))


def _trim(connection: Connection, channel: str, target: str) -> None:
    done = (_D.channel == channel, _D.target == target, _D.state != WAITING)
    last = connection.scalar(select(_D.seq).where(*done).order_by(_D.seq.desc()).offset(KEPT).limit(1))
    if last is not None:
        connection.execute(delete(notice_delivery).where(*done, _D.seq <= last))


def error_text(error: Said | None) -> str:
    """Return how an error is kept."""
    return "" if error is None else rows.encode(error.to_json())


def error_of(text: str) -> Said | None:
    """Return the error that was kept; None, too, for a damaged one."""
    try:
        return said_from_json(rows.decode(text)) if text else None
    except (KeyError, TypeError, AttributeError, ValueError):
        return None


def delivery_values(one: Delivery) -> dict[str, Any]:
    """Return the columns of a new row."""
    return {
        "id": one.id, "channel": one.channel, "target": one.target, "user": one.user, "kind": one.kind,
        "owner": one.owner, "workspace": one.workspace, "body": one.body, "state": one.state, "tries": one.tries,
        "next_at": one.next_at, "created_at": one.created_at, "done_at": one.done_at, "status": one.status,
        "error": error_text(one.error),
    }  # fmt: skip


def _delivery(row: Any) -> Delivery:
    return Delivery(**{**row._mapping, "error": error_of(row.error)})
