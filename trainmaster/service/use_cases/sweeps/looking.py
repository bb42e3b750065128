"""Use cases: sweeps as they are, their entries in any order, and the best of them. Changes nothing."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import asdict

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import Visible
from trainmaster.answers import (
    JobRight,
    SweepBest,
    SweepDetail,
    SweepEntryPage,
    SweepEntryView,
    SweepPage,
    SweepView,
)
from trainmaster.core.errors import Conflict, Forbidden, InvalidSpec, NotFound, problem_of
from trainmaster.core.records import Job, verdict_from_json
from trainmaster.core.states import JobShare, Shown
from trainmaster.messages.jobs import sweeps as said
from trainmaster.service.context import Context
from trainmaster.service.curves.goals import Goal
from trainmaster.service.naming import own_first
from trainmaster.service.views import verdict_view
from trainmaster.spec.document import Document
from trainmaster.spec.sweeps.checking import read_sweep
from trainmaster.spec.sweeps.sweep import SweepEntry, entries_of
from trainmaster.store.sweeps.marks import MarkRows
from trainmaster.store.sweeps.sweeps import EntryRow, Sweep, SweepQuery, SweepReader

KEPT: Final = 32
"""Sweeps whose entries are kept as they follow from the document, which never changes."""
WATCHED: Final = 200
"""Entries that run whose newest values are read: more than that no one watches at once."""

ORDERS: Final = ("index", "algorithm", "state", "run_s", "submitted_at", "best", "parameter:NAME", "metric:NAME")
_GOALS: Final[Mapping[str, Goal]] = {"min": "min", "max": "max"}
_STATES: Final = {shown: at for at, shown in enumerate(Shown)}

Values = dict[str, float | None]


class SweepViews:
    """One object per server."""

    def __init__(self, context: Context, reader: SweepReader, marks: MarkRows) -> None:
        self._ctx, self._reader, self._marks = context, reader, marks
        self._kept: OrderedDict[str, dict[int, SweepEntry]] = OrderedDict()

    async def find(self, ref: str, who: Principal, scope: str = "jobs:read") -> Sweep:
        """Return the sweep that `ref` means: an id, the beginning of one, or a name. Raises NotFound, Conflict where
        several are meant, Forbidden.
        """
        visible = decide(who, "jobs:read").demand()
        found = own_first(await asyncio.to_thread(self._reader.called, visible, ref), ref, who)
        if not found:
            raise NotFound(said.no_such_sweep(repr(ref)))
        if len(found) > 1:
            raise Conflict(said.several_sweeps(repr(ref), ", ".join(one.id[:12] for one in found[:4])))
        if not decide(who, scope, found[0]).allowed:
            decide(who, scope).demand()
            raise Forbidden(said.sweep_only_to_read(found[0].owner))
        return found[0]

    async def page(self, who: Principal, wanted: SweepQuery, limit: int, cursor: str | None = None) -> SweepPage:
        """Return a page of sweeps, the newest first. Raises InvalidSpec for a cursor of another list."""
        visible = decide(who, "jobs:read").demand()

        def read() -> SweepPage:
            page = self._reader.page(visible, wanted, limit, cursor)
            ids = [one.id for one in page.items]
            counts = self._reader.counts(visible, ids)
            items = [_view(one, counts[one.id], who) for one in page.items]
            total = self._reader.count(visible, wanted)
            return SweepPage(items=items, next_cursor=page.next_cursor, total=total, at=self._ctx.clock())

        return await asyncio.to_thread(read)

    async def detail(self, ref: str, who: Principal) -> SweepDetail:
        """Return a sweep with its document and the best of its entries. Raises like `find`."""
        return await self.shown(await self.find(ref, who), who)

    async def shown(self, sweep: Sweep, who: Principal) -> SweepDetail:
        """Return the same of a sweep that was found."""
        visible = decide(who, "jobs:read").demand()

        def read() -> SweepDetail:
            rows = self._reader.entries(visible, sweep.id)
            counts: dict[Shown, int] = {}
            for row in rows:
                counts[row.shown] = counts.get(row.shown, 0) + 1
            best = self._marks.best(visible, [sweep.id]) if sweep.metric else {}
            entries = self._entries(sweep)
            return SweepDetail(
                **asdict(_view(sweep, counts, who)),
                spec=_document(sweep),
                parameters=_names(entry.parameters for entry in entries.values()),
                best=_best(sweep, rows, best),
                tries=sum(row.tries for row in rows),
                at=self._ctx.clock(),
            )

        return await asyncio.to_thread(read)

    async def entries(
        self, ref: str, who: Principal, order: str, states: Sequence[Shown], limit: int, offset: int
    ) -> SweepEntryPage:
        """Return some entries in an order. Raises like `find`, and InvalidSpec for an unknown order. O(entries)."""
        sweep = await self.find(ref, who)
        key = _order(order.removeprefix("-"))
        visible = decide(who, "jobs:read").demand()
        now = self._ctx.clock()
        found = await asyncio.to_thread(self._views, visible, sweep, now)
        chosen = [one for one in found if not states or one.state in states]
        with_value = [one for one in chosen if key(one) is not None]
        with_value.sort(key=key, reverse=order.startswith("-"))
        ordered = with_value + [one for one in chosen if key(one) is None]  # last, whichever way
        return SweepEntryPage(
            items=ordered[offset : offset + limit],
            total=len(ordered),
            parameters=_names(one.parameters for one in found),
            metrics=_names(one.metrics for one in found),
            at=now,
        )

    def _views(self, visible: Visible, sweep: Sweep, now: float) -> list[SweepEntryView]:
        rows = self._reader.entries(visible, sweep.id)
        last = self._reader.last_values(visible, sweep.id)
        values: dict[int, Values] = {job: {**named} for job, named in last.items()}
        best = self._marks.best(visible, [sweep.id]) if sweep.metric else {}
        live = [job for row in rows if row.shown is Shown.RUNNING and (job := self._ctx.master.live.get(row.job))]
        values |= self._newest(live[:WATCHED])
        known = self._entries(sweep)
        return [_entry(row, known.get(row.index), values.get(row.seq, {}), best.get(row.seq), now) for row in rows]

    def _newest(self, jobs: Sequence[Job]) -> dict[int, Values]:
        found = zip(jobs, self._ctx.watched(jobs), strict=True)
        return {job.seq: summary.metrics for job, summary in found if summary.metrics}

    def _entries(self, sweep: Sweep) -> Mapping[int, SweepEntry]:
        """Return what each entry has of its own; nothing where the document cannot be read any more."""
        kept = self._kept.get(sweep.id)
        if kept is None:
            found, problems = read_sweep(_document(sweep))
            entries = entries_of(found.sweep) if found is not None and not problems else []
            kept = self._kept[sweep.id] = {entry.index: entry for entry in entries}
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return kept


def _document(sweep: Sweep) -> Document:
    try:
        found = msgspec.json.decode(sweep.document)
    except msgspec.MsgspecError:
        return {}
    return found if isinstance(found, dict) else {}


def _names(found: Any) -> list[str]:
    return list(dict.fromkeys(name for one in found for name in one))


def _view(sweep: Sweep, counts: Mapping[Shown, int], who: Principal) -> SweepView:
    may: list[JobRight] = ["write"] if decide(who, "jobs:write", sweep).allowed else []
    return SweepView(
        id=sweep.id,
        name=sweep.name,
        workspace=sweep.workspace,
        owner=sweep.owner,
        share=JobShare(sweep.share),
        created_at=sweep.created_at,
        entries=sweep.entries,
        metric=sweep.metric or None,
        goal=_GOALS.get(sweep.goal),
        counts=dict(counts),
        may=may,
    )


def _best(sweep: Sweep, rows: Sequence[EntryRow], best: Mapping[int, tuple[float, float]]) -> SweepBest | None:
    sign = -1 if sweep.goal == "max" else 1
    known = [row for row in rows if row.seq in best]
    first = min(known, key=lambda row: (sign * best[row.seq][0], row.index), default=None)
    if first is None:
        return None
    value, step = best[first.seq]
    return SweepBest(index=first.index, job=first.job, name=first.name, value=value, step=step)


def _entry(
    row: EntryRow, entry: SweepEntry | None, values: Values, best: tuple[float, float] | None, now: float
) -> SweepEntryView:
    try:
        verdict = verdict_view(verdict_from_json(row.verdict))
    except (TypeError, KeyError, ValueError, AttributeError):
        verdict = None  # whoever looks at the job is told
    return SweepEntryView(
        index=row.index,
        job=row.job,
        name=row.name,
        state=row.shown,
        tries=row.tries,
        parameters=dict(entry.parameters) if entry is not None else {},
        own=entry.own if entry is not None else [],
        submitted_at=row.submitted_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
        run_s=None if row.started_at is None else (row.ended_at or now) - row.started_at,
        verdict=verdict,
        metrics=dict(values),
        best=best[0] if best is not None else None,
        best_step=best[1] if best is not None else None,
        algorithm=entry.algorithm if entry is not None else None,
    )


def _order(name: str) -> Callable[[SweepEntryView], Any]:
    """Return what entries are ordered by, None where one has none of it. Raises InvalidSpec for an unknown order."""
    kind, _, of = name.partition(":")
    if kind == "parameter" and of:
        return lambda one: _comparable(one.parameters.get(of))
    if kind == "metric" and of:
        return lambda one: one.metrics.get(of)
    if name == "state":
        return lambda one: (_STATES[one.state], one.index)
    if name in ("index", "algorithm", "run_s", "submitted_at", "best"):
        return lambda one: getattr(one, name)
    problem = problem_of("order", said.not_an_order_of_entries(ORDERS), name[:200])
    raise InvalidSpec(said.sweep_not_valid(1), problems=(problem,))


def _comparable(value: Any) -> tuple[int, float, str] | None:
    """Return a parameter's value so that it can be compared with any other: numbers come before texts."""
    if value is None:
        return None
    return (0, float(value), "") if isinstance(value, int | float) else (1, 0.0, str(value))
