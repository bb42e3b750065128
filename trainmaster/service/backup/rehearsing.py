"""`tm upgrade --rehearse`: what the first start of this release would do to a home that an older one serves, tried on a
copy, which is gone afterwards. Changes nothing, and the server that runs notices nothing.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from trainmaster.core.errors import StorageFailed
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.said import Said
from trainmaster.messages.server import backup as saying
from trainmaster.messages.server import ledger
from trainmaster.service.backup.making import home_of
from trainmaster.service.settings import load
from trainmaster.service.wiring import past_of
from trainmaster.store import tables
from trainmaster.store.examine import examine
from trainmaster.store.portable.rehearsing import Rehearsal, rehearsed

State = Literal["ok", "warning", "bad"]


@dataclass(frozen=True, slots=True)
class Looked:
    """One thing that was looked at; `bad`: do not upgrade before it is mended."""

    name: str
    state: State
    said: Said


def rehearse(home: str) -> Iterator[Looked]:
    """Yield what was found, as it is found. Raises Conflict where there is no database, or a newer release wrote it;
    InvalidSpec for settings that this release refuses, StorageFailed, Unavailable.
    """
    layout, url = home_of(home)
    load(layout.config)
    yield Looked("settings", "ok", saying.rehearsed_settings())
    looked = examine(url, past_of(layout))
    yield Looked("database", {"sound": "ok", "unsure": "warning", "broken": "bad"}[looked.state], looked.said)  # type: ignore[arg-type]
    if looked.state == "broken":
        return
    found = _on_a_copy(layout, url)
    yield _stamps(found)
    yield _shape(found)
    if found.lost:
        yield Looked("rows", "bad", saying.rehearsed_rows_lost(found.lost))
    else:
        yield Looked("rows", "ok", saying.rehearsed_rows(found.rows))
    yield Looked("jobs", "ok", saying.rehearsed_jobs(found.jobs))
    if found.unread:
        yield Looked("jobs", "warning", saying.rehearsed_jobs_bad(found.unread))
    yield _room(layout, found)


def _on_a_copy(layout: Layout, url: str) -> Rehearsal:
    scratch = layout.path("backups", f"rehearsal-{os.getpid()}.db")
    try:
        os.makedirs(os.path.dirname(scratch), mode=0o700, exist_ok=True)
        return rehearsed(url, scratch)
    except OSError as error:
        raise StorageFailed(ledger.database_file_not_opened(error.strerror or str(error))) from error


def _stamps(found: Rehearsal) -> Looked:
    if found.stamp == tables.SCHEMA:
        return Looked("upgrade", "ok", saying.rehearsed_same_schema(found.stamp))
    return Looked("upgrade", "ok", saying.rehearsed_upgrade(found.stamp, tables.SCHEMA))


def _shape(found: Rehearsal) -> Looked:
    if found.differs:
        return Looked("tables", "bad", saying.rehearsed_shape_differs(found.differs))
    return Looked("tables", "ok", saying.rehearsed_shape(len(tables.META.sorted_tables)))


def _room(layout: Layout, found: Rehearsal) -> Looked:
    if found.stamp == tables.SCHEMA:
        return Looked("copy", "ok", saying.rehearsed_no_copy())
    if not found.size:
        return Looked("copy", "warning", saying.rehearsed_back_up_yourself())
    room = os.statvfs(layout.home)
    free, needed = room.f_bavail * room.f_frsize / 2**20, found.size / 2**20
    if free < 2 * needed:  # the copy, and what the migration writes
        return Looked("copy", "bad", saying.rehearsed_no_room(free, needed))
    return Looked("copy", "ok", saying.rehearsed_room(free, needed))
