"""Webhooks as rows: where they go, of what they are told, and how they fared. Their secrets are in no row: they are
made of the id (`service.notices.signing`), so that a stolen copy of the database signs nothing.

Every change brings the audit event that tells of it. Methods block: in a worker thread.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, delete, func, insert, or_, select, update

from trainmaster.access.visible import Visible
from trainmaster.core.errors import Conflict, NotFound
from trainmaster.core.events import AuditEvent
from trainmaster.core.states import JobShare
from trainmaster.messages.said import Said
from trainmaster.messages.server import notices as said
from trainmaster.store import audit
from trainmaster.store.database import Database
from trainmaster.store.notices.deliveries import FAILED, WAITING, error_of, error_text, finish
from trainmaster.store.notices.tables import notice_delivery, webhook
from trainmaster.store.seen import seen

T = TypeVar("T")
ON, OFF, BROKEN = "on", "off", "broken"
"""What a webhook is: told of things, switched off by somebody, switched off because too many deliveries failed."""
MOST: Final = 20
"""Webhooks of one person, or of one workspace."""
_W, _D = webhook.c, notice_delivery.c


@dataclass(frozen=True, slots=True)
class Webhook:
    """One webhook. `workspace`: whose jobs it is told of; "": its owner's. `kinds`: of what; `failures`: tries that
    failed since the last that went well; `resume_at`: nothing is tried before.
    """

    id: str
    owner: str
    workspace: str
    name: str
    url: str
    kinds: tuple[str, ...]
    state: str = ON
    failures: int = 0
    resume_at: float = 0.0
    created_at: float = 0.0
    error: Said | None = None

    @property
    def share(self) -> str:
        """A webhook is shared with nobody (`access.visible.Owned`)."""
        return JobShare.NONE.value


class WebhookRows:
    """Reads some, writes one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self, visible: Visible, owner: str, workspace: str) -> list[Webhook]:
        """Return the webhooks of a workspace, with "" those of `owner` alone, oldest first."""
        where = [*seen(visible, webhook), _W.workspace == workspace]
        where += [_W.owner == owner] if not workspace else []
        with self._database.read() as connection:
            return [_webhook(row) for row in connection.execute(_ordered(*where))]

    def find(self, id_: str) -> Webhook | None:
        """Return one. Who asks for a person decides whether they may see it."""
        with self._database.read() as connection:
            row = connection.execute(select(webhook).where(_W.id == id_)).first()
        return None if row is None else _webhook(row)

    def ids(self, visible: Visible) -> list[str]:
        """Return the ids of all webhooks that may be seen."""
        with self._database.read() as connection:
            return list(connection.scalars(select(_W.id).where(*seen(visible, webhook))))

    def on_for(self, owners: Collection[str], workspaces: Collection[str]) -> list[Webhook]:
        """Return those that are on: of these people, and of these workspaces."""
        theirs = (_W.workspace == "") & _W.owner.in_(list(owners))
        with self._database.read() as connection:
            where = (_W.state == ON, or_(theirs, (_W.workspace != "") & _W.workspace.in_(list(workspaces))))
            return [_webhook(row) for row in connection.execute(_ordered(*where))]

    def add(self, one: Webhook, audit_event: AuditEvent) -> None:
        """Store a new one. Raises Conflict where there are MOST already."""

        def work(connection: Connection) -> None:
            same = _W.workspace == one.workspace if one.workspace else (_W.workspace == "") & (_W.owner == one.owner)
            if (connection.scalar(select(func.count()).select_from(webhook).where(same)) or 0) >= MOST:
                raise Conflict(said.too_many_webhooks(MOST))
            connection.execute(insert(webhook).values(_values(one)))
            audit.write(connection, [audit_event])

        self._write(work)

    def change(self, one: Webhook, now: float, audit_event: AuditEvent) -> None:
        """Store a changed one; it begins without failures, and what waits is tried at once. Raises NotFound."""

        def work(connection: Connection) -> None:
            values = {**_values(one), "failures": 0, "resume_at": 0.0, "error": ""}
            if connection.execute(update(webhook).where(_W.id == one.id).values(values)).rowcount != 1:
                raise NotFound(said.no_such_webhook(one.id))
            waiting = (_D.target == one.id, _D.state == WAITING)
            if one.state == ON:
                connection.execute(update(notice_delivery).where(*waiting).values(next_at=now))
            else:
                give_up(connection, one.id, now)
            audit.write(connection, [audit_event])

        self._write(work)

    def drop(self, id_: str, audit_event: AuditEvent) -> None:
        """Remove one with what waits for it. Raises NotFound."""

        def work(connection: Connection) -> None:
            if connection.execute(delete(webhook).where(_W.id == id_)).rowcount != 1:
                raise NotFound(said.no_such_webhook(id_))
            connection.execute(delete(notice_delivery).where(_D.target == id_))
            audit.write(connection, [audit_event])

        self._write(work)

    def went_well(self, id_: str, now: float) -> None:
        """Note that a delivery arrived: what was put off because others failed is tried now."""

        def work(connection: Connection) -> None:
            calm = {"failures": 0, "resume_at": 0.0, "error": ""}
            if connection.execute(update(webhook).where(_W.id == id_, _W.failures > 0).values(calm)).rowcount:
                put_off = (_D.target == id_, _D.state == WAITING, _D.tries == 0)
                connection.execute(update(notice_delivery).where(*put_off).values(next_at=now))

        self._write(work)

    def went_wrong(self, id_: str, resume_at: float, error: Said) -> int:
        """Note that a try failed, and put off all that waits; return how many failed in a row."""

        def work(connection: Connection) -> int:
            values = {"failures": _W.failures + 1, "resume_at": resume_at, "error": error_text(error)}
            connection.execute(update(webhook).where(_W.id == id_).values(values))
            waiting = (_D.target == id_, _D.state == WAITING, _D.next_at < resume_at)
            connection.execute(update(notice_delivery).where(*waiting).values(next_at=resume_at))
            return int(connection.scalar(select(_W.failures).where(_W.id == id_)) or 0)

        return self._write(work)

    def switch_off(self, id_: str, now: float, audit_event: AuditEvent) -> bool:
        """Switch one off that fails; what waits for it failed. Return whether it was on."""

        def work(connection: Connection) -> bool:
            on = (_W.id == id_, _W.state == ON)
            if connection.execute(update(webhook).where(*on).values(state=BROKEN)).rowcount != 1:
                return False
            give_up(connection, id_, now)
            audit.write(connection, [audit_event])
            return True

        return self._write(work)

    def _write(self, work: Callable[[Connection], T]) -> T:
        return self._database.write(work).result()


def give_up(connection: Connection, id_: str, now: float) -> None:
    """Let all that waits for a webhook have failed, within the transaction that switches it off."""
    numbers = list(connection.scalars(select(_D.seq).where(_D.target == id_, _D.state == WAITING)))
    finish(connection, numbers, FAILED, now, None, said.delivery_switched_off())


def _ordered(*where: Any) -> Any:
    return select(webhook).where(*where).order_by(_W.created_at, _W.id)


def _values(one: Webhook) -> dict[str, Any]:
    return {
        "id": one.id, "owner": one.owner, "workspace": one.workspace, "name": one.name, "url": one.url,
        "kinds": " ".join(one.kinds), "state": one.state, "failures": one.failures, "resume_at": one.resume_at,
        "created_at": one.created_at, "error": error_text(one.error),
    }  # fmt: skip


def _webhook(row: Any) -> Webhook:
    return Webhook(**{**row._mapping, "kinds": tuple(row.kinds.split()), "error": error_of(row.error)})
