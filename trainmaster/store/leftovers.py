"""What is kept in the store longer than anybody needs it: keys of requests, and what is left of deleted jobs. And which uploads a
stored job names.

Everything goes in pages of a bounded size. Methods block: call them from a worker thread.
"""

import re
from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, and_, delete, func, or_, select

from trainmaster.store import tables
from trainmaster.store.database import Database

PAGE: Final = 500
_UPLOAD: Final = re.compile(r"sha256:([0-9a-f]{64})")
_KEY, _DELETED, _SPEC = tables.idempotency, tables.deleted, tables.spec

Key = tuple[str, str]
"""Workspace and key of a request."""


class Leftovers:
    """Finds and removes them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def forget_keys(self, before: float, after: Key = ("", "")) -> Key | None:
        """Remove the keys on the page behind `after` that are older than `before`; return the last of the page, None at the end."""
        behind = or_(_KEY.c.workspace > after[0], and_(_KEY.c.workspace == after[0], _KEY.c.key > after[1]))
        page = select(_KEY.c.workspace, _KEY.c.key, _KEY.c.created_at).where(behind)
        with self._database.read() as connection:
            found = connection.execute(page.order_by(_KEY.c.workspace, _KEY.c.key).limit(PAGE)).all()
        old = [(row.workspace, row.key) for row in found if row.created_at < before]
        if old:
            self._database.write(lambda connection: _forget_keys(connection, old, before)).result()
        return (found[-1].workspace, found[-1].key) if len(found) == PAGE else None

    def deleted(self, after: int = 0) -> list[tuple[int, str]]:
        """Return (number, id) of a page of deleted jobs with a number above `after`."""
        page = select(_DELETED.c.seq, _DELETED.c.job).where(_DELETED.c.seq > after).order_by(_DELETED.c.seq).limit(PAGE)
        with self._database.read() as connection:
            return [(row.seq, row.job) for row in connection.execute(page)]

    def forget_deleted(self, numbers: Sequence[int]) -> None:
        """Remove what is left of deleted jobs, but not what holds the highest numbers: those are never given out again."""
        self._database.write(lambda connection: _forget_deleted(connection, numbers)).result()

    def uploads_named(self, after: str = "") -> tuple[set[str], str | None]:
        """Return the digests of all uploads that a page of stored specs names, and the last of the page, None at the end."""
        page = select(_SPEC).where(_SPEC.c.digest > after).order_by(_SPEC.c.digest).limit(PAGE)
        with self._database.read() as connection:
            found = connection.execute(page).all()
        named = {digest for row in found for digest in _UPLOAD.findall(row.document)}
        return named, found[-1].digest if len(found) == PAGE else None


def _forget_keys(connection: Connection, keys: list[Key], before: float) -> None:
    for workspace, key in keys:
        one = and_(_KEY.c.workspace == workspace, _KEY.c.key == key, _KEY.c.created_at < before)
        connection.execute(delete(_KEY).where(one))


def _forget_deleted(connection: Connection, numbers: Sequence[int]) -> None:
    job = connection.scalar(select(func.max(_DELETED.c.seq))) or 0
    event = connection.scalar(select(func.max(_DELETED.c.last_event))) or 0
    lower = and_(_DELETED.c.seq < job, _DELETED.c.last_event < event)
    connection.execute(delete(_DELETED).where(_DELETED.c.seq.in_(numbers), lower))
