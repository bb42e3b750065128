"""Sweeps as rows, and their entries, which are jobs: of each number the one that was submitted last counts.

A sweep is written in the transaction of its first entries and goes with the last job of it. Who may see it is judged as
for jobs, of which it has owner, workspace and how they are shared; each of its jobs is judged by itself. Methods block:
call them from a worker thread.
"""

import base64
import binascii
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, delete, func, insert, or_, select

from trainmaster.access.visible import Visible
from trainmaster.core.errors import InvalidSpec, NotFound, problem_of
from trainmaster.core.events import AuditEvent
from trainmaster.core.states import Shown
from trainmaster.messages.jobs import jobs as said_of_lists
from trainmaster.messages.jobs import sweeps as said
from trainmaster.store import audit, tables
from trainmaster.store.database import Database
from trainmaster.store.jobs.job_query import Page
from trainmaster.store.jobs.search import words_of
from trainmaster.store.seen import seen
from trainmaster.store.sweeps.tables import sweep, sweep_mark

_JOB: Final = tables.job
LEAST: Final = 4
"""Characters that the beginning of an id has at least."""
_AT_ONCE: Final = 400
_LIGHT: Final = tuple(column for column in sweep.c if column.name != "document")


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep. `metric` "": its entries are judged by nothing; `goal`: min, max or "". `document`: JSON, "" where it
    was not asked for.
    """

    id: str
    name: str
    workspace: str
    owner: str
    share: str
    created_at: float
    entries: int
    metric: str = ""
    goal: str = ""
    document: str = ""


@dataclass(frozen=True, slots=True)
class SweepQuery:
    """Which sweeps; empty: no filter. Each word of `q` is looked for in name, owner and id."""

    q: str = ""
    owner: str = ""
    workspace: str = ""


@dataclass(frozen=True, slots=True)
class EntryRow:
    """The last job of an entry. `verdict`: as its record has it, None where it has none or that cannot be read."""

    index: int
    seq: int
    job: str
    name: str
    shown: Shown
    tries: int
    submitted_at: float
    started_at: float | None
    ended_at: float | None
    verdict: dict[str, Any] | None


class _Judged(msgspec.Struct):
    verdict: dict[str, Any] | None = None


_judged: Final = msgspec.json.Decoder(_Judged).decode


class SweepReader:
    """The questions people ask about sweeps. Every one takes what the person may see (`access.visible`) first."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, visible: Visible, wanted: SweepQuery, limit: int, cursor: str | None = None) -> Page[Sweep]:
        """Return a page of sweeps, the newest first. Raises InvalidSpec for a cursor of another list."""
        conditions = [*seen(visible, sweep), *_asked(wanted)]
        if cursor is not None:
            at, id_ = _read_cursor(cursor)
            conditions.append(or_(sweep.c.created_at < at, and_(sweep.c.created_at == at, sweep.c.id < id_)))
        asked = select(*_LIGHT).where(*conditions).order_by(sweep.c.created_at.desc(), sweep.c.id.desc())
        with self._database.read() as connection:
            found = [_sweep(row) for row in connection.execute(asked.limit(limit + 1)).mappings()]
        following = _write_cursor(found[limit - 1]) if len(found) > limit else None
        return Page(found[:limit], following)

    def count(self, visible: Visible, wanted: SweepQuery) -> int:
        """Return how many sweeps there are on all pages."""
        conditions = [*seen(visible, sweep), *_asked(wanted)]
        with self._database.read() as connection:
            return connection.scalar(select(func.count()).select_from(sweep).where(*conditions)) or 0

    def called(self, visible: Visible, ref: str) -> list[Sweep]:
        """Return the sweep with this id, else all with this name, else all whose id begins so; with documents."""
        begins = sweep.c.id.startswith(ref, autoescape=True)
        with self._database.read() as connection:
            for same in (sweep.c.id == ref, sweep.c.name == ref, *([begins] if len(ref) >= LEAST else [])):
                asked = select(sweep).where(same, *seen(visible, sweep)).order_by(sweep.c.created_at.desc()).limit(20)
                if found := [_sweep(row) for row in connection.execute(asked).mappings()]:
                    return found
        return []

    def counts(self, visible: Visible, ids: Sequence[str]) -> dict[str, Counter[Shown]]:
        """Return how many entries of each of these sweeps are in which state. O(their jobs)."""
        columns = (_JOB.c.sweep, _JOB.c.sweep_index, _JOB.c.shown)
        last: dict[tuple[str, int], str] = {}
        with self._database.read() as connection:
            for at in range(0, len(ids), _AT_ONCE):
                some = _JOB.c.sweep.in_(ids[at : at + _AT_ONCE])
                asked = select(*columns).where(some, *seen(visible, _JOB, walked=True))
                for id_, index, shown in connection.execute(asked.order_by(_JOB.c.sweep, _JOB.c.seq)):
                    last[id_, index] = shown
        found: dict[str, Counter[Shown]] = {id_: Counter() for id_ in ids}
        for (id_, _), shown in last.items():
            found[id_][Shown(shown)] += 1
        return found

    def entries(self, visible: Visible, id_: str) -> list[EntryRow]:
        """Return the last job of every entry, by number. O(jobs of the sweep)."""
        names = ("sweep_index", "seq", "id", "name", "shown", "submitted_at", "started_at", "ended_at", "record")
        columns = [_JOB.c[name] for name in names]
        found: dict[int, EntryRow] = {}
        with self._database.read() as connection:
            same = (_JOB.c.sweep == id_, *seen(visible, _JOB, walked=True))
            for row in connection.execute(select(*columns).where(*same).order_by(_JOB.c.seq)):
                before = found.get(row.sweep_index)
                found[row.sweep_index] = EntryRow(
                    row.sweep_index,
                    row.seq,
                    row.id,
                    row.name,
                    Shown(row.shown),
                    1 if before is None else before.tries + 1,
                    row.submitted_at,
                    row.started_at,
                    row.ended_at,
                    _verdict(row.record) if row.shown in _WITH_VERDICT else None,
                )
        return [found[index] for index in sorted(found)]

    def jobs(self, visible: Visible, id_: str) -> list[tuple[str, Shown]]:
        """Return (id, state) of every job of a sweep, those that were tried again included, by number."""
        asked = select(_JOB.c.id, _JOB.c.shown).where(_JOB.c.sweep == id_, *seen(visible, _JOB, walked=True))
        with self._database.read() as connection:
            return [(job, Shown(shown)) for job, shown in connection.execute(asked.order_by(_JOB.c.seq))]

    def last_values(self, visible: Visible, id_: str) -> dict[int, dict[str, float]]:
        """Return the last value of each metric of every job of a sweep that has any, by its number."""
        metric = tables.job_metric
        asked = select(metric.c.job, metric.c.name, metric.c.value).join(_JOB, _JOB.c.seq == metric.c.job)
        found: dict[int, dict[str, float]] = {}
        with self._database.read() as connection:
            for job, name, value in connection.execute(
                asked.where(_JOB.c.sweep == id_, *seen(visible, _JOB, walked=True))
            ):
                found.setdefault(job, {})[name] = value
        return found


class SweepRows:
    """What the platform itself asks of sweeps, and does to them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, id_: str) -> Sweep | None:
        """Return a sweep with its document, None where there is none."""
        with self._database.read() as connection:
            row = connection.execute(select(sweep).where(sweep.c.id == id_)).mappings().first()
        return _sweep(row) if row is not None else None

    def remove(self, visible: Visible, id_: str, told: AuditEvent) -> None:
        """Remove a sweep that is `visible`, not its jobs. Raises NotFound, StorageFailed."""

        def work(connection: Connection) -> None:
            same = (sweep.c.id == id_, *seen(visible, sweep))
            if connection.scalar(select(sweep.c.id).where(*same)) is None:
                raise NotFound(said.no_such_sweep(repr(id_)))
            forget(connection, id_)
            audit.write(connection, [told])

        self._database.write(work).result()


def add_sweeps(connection: Connection, found: Sequence[Sweep]) -> None:
    """Store sweeps, in the transaction of their first entries."""
    if found:
        connection.execute(insert(sweep), [{name: getattr(one, name) for name in Sweep.__slots__} for one in found])


def forget_empty(connection: Connection, id_: str) -> None:
    """Remove a sweep of which no job is left."""
    if connection.scalar(select(_JOB.c.seq).where(_JOB.c.sweep == id_).limit(1)) is None:
        forget(connection, id_)


def forget(connection: Connection, id_: str) -> None:
    """Remove a sweep and what is known of how its entries did."""
    connection.execute(delete(sweep_mark).where(sweep_mark.c.sweep == id_))
    connection.execute(delete(sweep).where(sweep.c.id == id_))


_WITH_VERDICT: Final = frozenset({Shown.FAILED.value, Shown.STOPPED.value, Shown.EXPIRED.value})


def _verdict(record: str) -> dict[str, Any] | None:
    try:
        return _judged(record).verdict
    except msgspec.MsgspecError:
        return None  # whoever looks at the job is told


def _asked(wanted: SweepQuery) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted.owner:
        found.append(sweep.c.owner == wanted.owner)
    if wanted.workspace:
        found.append(sweep.c.workspace == wanted.workspace)
    texts = (sweep.c.name, sweep.c.owner, sweep.c.id)
    return found + [or_(*(text.icontains(word, autoescape=True) for text in texts)) for word in words_of(wanted.q)]


def _sweep(row: Mapping[Any, Any]) -> Sweep:
    return Sweep(**{str(name): value for name, value in row.items()})


def _write_cursor(last: Sweep) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode((last.created_at, last.id))).decode().rstrip("=")


def _read_cursor(cursor: str) -> tuple[float, str]:
    try:
        written = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        return msgspec.json.decode(written, type=tuple[float, str])
    except (ValueError, binascii.Error, msgspec.MsgspecError):
        problem = problem_of("cursor", said_of_lists.not_a_cursor_here())
        raise InvalidSpec(said_of_lists.cursor_of_another_list(), problems=(problem,)) from None
