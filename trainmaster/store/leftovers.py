"""What is kept in the store longer than anybody needs it: keys of requests, what is left of deleted jobs, what people
did long ago, jobs that ended long ago. And which uploads a stored job or template names.

What is old is told here and removed only when it is named: whoever removes asks the same question as whoever wants to
know. Everything goes in pages of a bounded size. Methods block: call them from a worker thread.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, exists, func, or_, select, text

from trainmaster.store import tables
from trainmaster.store.database import Database, note
from trainmaster.store.tables import AUDIT_UNTIL

PAGE: Final = 500
_UPLOAD: Final = re.compile(r"sha256:([0-9a-f]{64})")
_KEY, _DELETED, _SPEC, _AUDIT = tables.idempotency, tables.deleted, tables.spec, tables.audit
_JOB, _SENT = tables.job, tables.send_target
_VERSION, _BINNED = tables.asset_version, tables.binned_version
_TEMPLATES, _BIN = "templates:", "bin:"
"""Where the documents of templates begin, behind those of jobs, and those of what was deleted, behind them all."""
_OVER: Final = text("state NOT IN ('queued', 'active')")

Key = tuple[str, str]
"""Workspace and key of a request."""
Ended = tuple[float, int]
"""When, and the number: a place in the order of what was."""
FIRST: Final[Ended] = (1e-9, 0)
"""Before everything that ever ended; a job that has not ended stands before that."""


@dataclass(frozen=True, slots=True)
class EndedJob:
    """A job that ended, and its place in the order of ends."""

    id: str
    ended: Ended


class Leftovers:
    """Finds and removes them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def old_keys(self, before: float, after: Key = ("", "")) -> tuple[list[tuple[Key, float]], Key | None]:
        """Return the keys older than `before` on the page behind `after`, each with when it was kept, and the last of
        the page, None at the end.
        """
        behind = or_(_KEY.c.workspace > after[0], and_(_KEY.c.workspace == after[0], _KEY.c.key > after[1]))
        page = select(_KEY.c.workspace, _KEY.c.key, _KEY.c.created_at).where(behind)
        with self._database.read() as connection:
            found = connection.execute(page.order_by(_KEY.c.workspace, _KEY.c.key).limit(PAGE)).all()
        old = [((row.workspace, row.key), row.created_at) for row in found if row.created_at < before]
        return old, (found[-1].workspace, found[-1].key) if len(found) == PAGE else None

    def forget_keys(self, keys: Sequence[Key], before: float) -> None:
        """Remove those of the keys that are older than `before` still."""
        self._database.write(lambda connection: _forget_keys(connection, keys, before)).result()

    def ended(self, before: float, after: Ended = FIRST) -> list[EndedJob]:
        """Return a page of the jobs that ended before `before`, behind `after`, in the order of their ends. O(page):
        one index.

        Without those that a saved model needs, whose files lie in the job's folder, and those whose outputs are on
        their way to object storage.
        """
        ended = func.coalesce(_JOB.c.ended_at, text("0.0"))
        behind = and_(ended >= after[0], or_(ended > after[0], _JOB.c.seq > after[1]))
        needed = exists().where(_VERSION.c.job == _JOB.c.id, ~_VERSION.c.path.startswith("models/", autoescape=True))
        going = exists().where(_SENT.c.job == _JOB.c.seq, text("open = 1"))
        page = (
            select(_JOB.c.seq, _JOB.c.id, _JOB.c.ended_at)
            .where(behind, ended < before, _OVER, ~needed, ~going)
            .order_by(ended, _JOB.c.seq)
            .limit(PAGE)
        )
        with self._database.read() as connection:
            return [EndedJob(row.id, (row.ended_at, row.seq)) for row in connection.execute(page)]

    def old_audit_events(self, before: float, after: Ended = FIRST) -> list[Ended]:
        """Return (when, number) of a page of what people did before `before`, behind `after`, in order. O(page): one
        index.
        """
        behind = and_(_AUDIT.c.at >= after[0], or_(_AUDIT.c.at > after[0], _AUDIT.c.seq > after[1]))
        page = select(_AUDIT.c.at, _AUDIT.c.seq).where(behind, _AUDIT.c.at < before)
        with self._database.read() as connection:
            return [
                (row.at, row.seq) for row in connection.execute(page.order_by(_AUDIT.c.at, _AUDIT.c.seq).limit(PAGE))
            ]

    def forget_audit_events(self, numbers: Sequence[int], before: float) -> None:
        """Remove what people did before `before`, by number; the store notes that so much may go, or it refuses."""

        def work(connection: Connection) -> None:
            note(connection, AUDIT_UNTIL, repr(before))
            connection.execute(delete(_AUDIT).where(_AUDIT.c.seq.in_(numbers), _AUDIT.c.at < before))

        self._database.write(work).result()

    def mark(self, name: str) -> str | None:
        """Return what was noted of the store as a whole under this name."""
        meta = tables.meta
        with self._database.read() as connection:
            return connection.scalar(select(meta.c.value).where(meta.c.key == name))

    def set_mark(self, name: str, value: str) -> None:
        """Note something of the store as a whole, in place of what was noted."""
        self._database.write(lambda connection: note(connection, name, value)).result()

    def deleted(self, after: int = 0) -> list[tuple[int, str]]:
        """Return (number, id) of a page of deleted jobs with a number above `after`."""
        page = select(_DELETED.c.seq, _DELETED.c.job).where(_DELETED.c.seq > after).order_by(_DELETED.c.seq).limit(PAGE)
        with self._database.read() as connection:
            return [(row.seq, row.job) for row in connection.execute(page)]

    def forget_deleted(self, numbers: Sequence[int]) -> None:
        """Remove what is left of deleted jobs, but not what holds the highest numbers: those are never given out
        again.
        """
        self._database.write(lambda connection: _forget_deleted(connection, numbers)).result()

    def uploads_named(self, after: str = "") -> tuple[set[str], str | None]:
        """Return the digests of all uploads that a page of stored documents names, and where the next page begins, None
        at the end: those of jobs first, then every version of a template, an algorithm or an image, then the bin.
        """
        if after.startswith(_BIN):
            return self._named_by_binned(after.removeprefix(_BIN))
        if after.startswith(_TEMPLATES):
            return self._named_by_templates(after.removeprefix(_TEMPLATES))
        page = select(_SPEC).where(_SPEC.c.digest > after).order_by(_SPEC.c.digest).limit(PAGE)
        with self._database.read() as connection:
            found = connection.execute(page).all()
        named = {digest for row in found for digest in _UPLOAD.findall(row.document)}
        return named, found[-1].digest if len(found) == PAGE else _TEMPLATES

    def _named_by_templates(self, after: str) -> tuple[set[str], str | None]:
        asset, _, number = after.partition("@")
        behind = or_(_VERSION.c.asset > asset, and_(_VERSION.c.asset == asset, _VERSION.c.number > int(number or 0)))
        page = select(_VERSION.c.asset, _VERSION.c.number, _VERSION.c.about).where(behind, _may_name(_VERSION))
        with self._database.read() as connection:
            found = connection.execute(page.order_by(_VERSION.c.asset, _VERSION.c.number).limit(PAGE)).all()
        named = {digest for row in found for digest in _UPLOAD.findall(row.about)}
        return named, f"{_TEMPLATES}{found[-1].asset}@{found[-1].number}" if len(found) == PAGE else _BIN

    def _named_by_binned(self, after: str) -> tuple[set[str], str | None]:
        entry, _, number = after.partition("@")
        behind = or_(_BINNED.c.entry > entry, and_(_BINNED.c.entry == entry, _BINNED.c.number > int(number or 0)))
        page = select(_BINNED.c.entry, _BINNED.c.number, _BINNED.c.about).where(behind, _may_name(_BINNED))
        with self._database.read() as connection:
            found = connection.execute(page.order_by(_BINNED.c.entry, _BINNED.c.number).limit(PAGE)).all()
        named = {digest for row in found for digest in _UPLOAD.findall(row.about)}
        return named, f"{_BIN}{found[-1].entry}@{found[-1].number}" if len(found) == PAGE else None


def _may_name(versions: Table) -> ColumnElement[bool]:
    """Return which of the versions may name an upload: those without files, and images."""
    return or_(versions.c.path == "", versions.c.path.startswith("environments/", autoescape=True))


def _forget_keys(connection: Connection, keys: Sequence[Key], before: float) -> None:
    for workspace, key in keys:
        one = and_(_KEY.c.workspace == workspace, _KEY.c.key == key, _KEY.c.created_at < before)
        connection.execute(delete(_KEY).where(one))


def _forget_deleted(connection: Connection, numbers: Sequence[int]) -> None:
    job = connection.scalar(select(func.max(_DELETED.c.seq))) or 0
    event = connection.scalar(select(func.max(_DELETED.c.last_event))) or 0
    lower = and_(_DELETED.c.seq < job, _DELETED.c.last_event < event)
    connection.execute(delete(_DELETED).where(_DELETED.c.seq.in_(numbers), lower))
