"""Use cases that make sweeps and act on all of their entries: submit, preview, stop, try again, delete (R45, R48-R50).

Entries are jobs, and what is done to them is what is done to jobs. Invariant: all entries are taken in, or none; each
act is one fact of the audit, beside those of its jobs.
"""

import asyncio
import shlex
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import msgspec

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import SweepDetail, SweepPreview, SweepPreviewEntry, TotalsView
from trainmaster.core.errors import Conflict, Forbidden, InvalidSpec, NotFound
from trainmaster.core.events import Event, Kind, Subject
from trainmaster.core.records import Job, replace
from trainmaster.core.states import Shown
from trainmaster.messages.jobs import submitting
from trainmaster.messages.jobs import sweeps as said
from trainmaster.service.context import Context
from trainmaster.service.language import Language, problems_in
from trainmaster.service.submitting.preview import Preview
from trainmaster.service.submitting.submit import Tie
from trainmaster.service.use_cases.jobs import Jobs
from trainmaster.service.use_cases.sweeps.looking import SweepViews
from trainmaster.service.use_cases.sweeps.places import warnings_of_places
from trainmaster.service.use_cases.sweeps.planning import PlannedSweep, of_entries, planned
from trainmaster.service.views import totals
from trainmaster.spec.document import Given
from trainmaster.spec.lower import effective
from trainmaster.spec.sweeps.sweep import SweepEntry
from trainmaster.store.sweeps.sweeps import Sweep, SweepReader, SweepRows

FIRST: Final = 20
"""Entries that a preview tells of."""
SLICE: Final = 250
"""Entries that are stopped, or deleted, before others have their turn."""
FAILED: Final = frozenset({Shown.FAILED, Shown.EXPIRED})
_ENDED: Final = FAILED | {Shown.SUCCEEDED, Shown.STOPPED}


class Sweeps:
    """One object per server."""

    def __init__(self, context: Context, jobs: Jobs, views: SweepViews, reader: SweepReader, rows: SweepRows) -> None:
        self._ctx, self._jobs, self.views, self._reader, self._rows = context, jobs, views, reader, rows
        self._preview = Preview(context)

    async def submit(self, body: Given, who: Principal, key: str | None) -> tuple[SweepDetail, bool]:
        """Take in a sweep with all of its entries; return (the sweep, was it made now).

        Raises InvalidSpec with everything that is wrong, Conflict (another body under this key), StorageFailed.
        """
        decide(who, "jobs:write").demand()
        await self._ctx.disks.demand_room()
        wanted = await planned(self._ctx, body, who)
        id_ = "s" + self._ctx.random_bytes(8).hex()
        most = wanted.sweep.most_at_once or 0

        def mark(at: int, job: Job) -> Job:
            return replace(job, sweep=id_, sweep_index=wanted.entries[at].index, sweep_most=most)

        def entered(jobs: Sequence[Job]) -> None:
            sweep = _sweep(id_, wanted, jobs[0])
            told = said.sweep_submitted(sweep.name, sweep.entries)
            self._ctx.master.tell(who.did(_subject(sweep), told, sweep.created_at), sweep)

        jobs, created = await self._together(wanted.bodies, who, key, body, Tie(mark, entered))
        found = jobs[0].sweep
        if found is None:  # the key was used for other jobs before
            raise Conflict(submitting.key_used_before())
        return await self.views.detail(found, who), created

    async def preview(self, body: Given, who: Principal, language: Language = "en") -> SweepPreview:
        """Return what a submit would find and do; problems are part of it, not an error, and told in `language`."""
        decide(who, "jobs:read").demand()
        try:
            wanted = await planned(self._ctx, body, who)
        except InvalidSpec as error:
            found = problems_in(language, error.problems)
            return SweepPreview(ok=False, problems=found, entries=0, first=[], asks=None, job=None, warnings=[])
        given: Given = {**wanted.bodies[0], "code_follows": body.get("code_follows") is True}
        entries = [_would_be(one, wanted.job.name) for one in wanted.entries[:FIRST]]
        return SweepPreview(
            ok=True,
            problems=[],
            entries=len(wanted.entries),
            first=entries,
            asks=_times(totals(wanted.job.roles), len(wanted.entries)),
            job=await self._preview.preview(given, who, language),
            warnings=problems_in(language, tuple(await warnings_of_places(self._ctx, wanted, who))),
        )

    async def stop(self, ref: str, who: Principal, reason: str = "") -> SweepDetail:
        """Stop every entry that has not ended, as jobs are stopped. Idempotent. Raises like `SweepViews.find`."""
        sweep = await self.views.find(ref, who, "jobs:write")
        writable, now, stopped = decide(who, "jobs:write").visible, self._ctx.clock(), 0
        live = [job.id for job in self._ctx.master.live.values() if job.sweep == sweep.id and writable.covers(job)]
        for at, id_ in enumerate(reversed(live)):  # the last first: none that waits gets the turn of one that ends
            stopped += self._stop(id_, who, reason)
            if at % SLICE == SLICE - 1:
                await asyncio.sleep(0)
        if stopped:
            told = said.sweep_stopped(sweep.name, stopped)
            self._ctx.master.tell(who.did(_subject(sweep), told, now))
            await self._ctx.master.durable()
        return await self.views.shown(sweep, who)

    def _stop(self, id_: str, who: Principal, reason: str) -> bool:
        job = self._ctx.master.live.get(id_)
        if job is None or job.terminal or job.shown is Shown.STOPPING:
            return False
        if job.shown is Shown.SAVING and not self._ctx.saving.give_up(id_):
            return False  # its outputs were saved this very moment
        number = job.attempt.number if job.attempt is not None and job.state.value == "active" else 0
        data = {"reason": reason}
        event = Event(id_, Kind.STOP_REQUESTED, self._ctx.clock(), who.name, number, data, by=who.actor)
        self._ctx.master.apply(event)
        return True

    async def retry(self, ref: str, who: Principal, stopped: bool = False, key: str | None = None) -> SweepDetail:
        """Submit every entry anew whose last job failed or ran out of time, or was `stopped`: the same document as
        another job of the same number. Raises Conflict where there is none, Forbidden for who does not own the sweep.
        """
        sweep = await self.views.find(ref, who, "jobs:write")
        if sweep.owner != who.name:
            raise Forbidden(said.sweep_only_to_read(sweep.owner))
        visible, states = decide(who, "jobs:read").visible, FAILED | ({Shown.STOPPED} if stopped else set())
        rows = await asyncio.to_thread(self._reader.entries, visible, sweep.id)
        again = [row for row in rows if row.shown in states]
        if not again:
            raise Conflict(said.nothing_to_retry(sweep.name))
        before = {row.job: await self._jobs.resolve(row.job, who) for row in again}
        bodies: list[Given] = []
        for row in again:
            spec = await self._ctx.specs.read(before[row.job].spec_digest)
            bodies.append({"spec": effective(spec), "dialect": "native"})

        def mark(at: int, job: Job) -> Job:
            most = before[again[at].job].sweep_most
            return replace(job, sweep=sweep.id, sweep_index=again[at].index, sweep_most=most)

        def entered(jobs: Sequence[Job]) -> None:
            told = said.sweep_retried(sweep.name, len(jobs))
            self._ctx.master.tell(who.did(_subject(sweep), told, self._ctx.clock()))

        given: Given = {"sweep": sweep.id, "stopped": stopped}
        await self._together(bodies, who, key, given, Tie(mark, entered))
        return await self.views.shown(sweep, who)

    async def delete(self, ref: str, who: Principal, keep_jobs: bool = False) -> None:
        """Delete a sweep with all of its jobs, or let those be jobs like any others. Raises Conflict before their end,
        and like `SweepViews.find`.
        """
        sweep = await self.views.find(ref, who, "jobs:write")
        writable = decide(who, "jobs:write").visible
        words = said.sweep_dissolved(sweep.name) if keep_jobs else said.sweep_deleted(sweep.name)
        told = who.did(_subject(sweep), words, self._ctx.clock())
        if not keep_jobs:
            visible = decide(who, "jobs:read").visible
            jobs = await asyncio.to_thread(self._reader.jobs, visible, sweep.id)
            live = sum(shown not in _ENDED for _, shown in jobs)
            if live:
                raise Conflict(said.sweep_not_ended(sweep.name, live))
            for at in range(0, len(jobs), SLICE):
                await asyncio.gather(*(self._delete(id_, who) for id_, _ in jobs[at : at + SLICE]))
        try:
            await asyncio.to_thread(self._rows.remove, writable, sweep.id, told)
        except NotFound:  # it went with its last job
            self._ctx.master.tell(told)
            await self._ctx.master.durable()

    async def _delete(self, id_: str, who: Principal) -> None:
        with suppress(NotFound):  # somebody else was first
            await self._jobs.delete(id_, who)

    async def _together(
        self, bodies: Sequence[Given], who: Principal, key: str | None, given: Given, tie: Tie
    ) -> tuple[list[Job], bool]:
        try:
            return await self._ctx.submit.submit_together(bodies, who, key, given, tie)
        except InvalidSpec as error:
            found = of_entries(error.problems)
            raise InvalidSpec(said.sweep_not_valid(len(found)), remedy=error.remedy, problems=found) from error


def _sweep(id_: str, wanted: PlannedSweep, first: Job) -> Sweep:
    return Sweep(
        id_,
        name=wanted.job.name,
        workspace=first.workspace,
        owner=first.owner,
        share=first.share.value,
        created_at=first.submitted_at,
        entries=len(wanted.entries),
        metric=wanted.sweep.metric or "",
        goal=wanted.sweep.goal or "" if wanted.sweep.metric else "",
        document=msgspec.json.encode(wanted.document).decode(),
    )


def _would_be(entry: SweepEntry, name: str) -> SweepPreviewEntry:
    command = shlex.join(entry.command) if isinstance(entry.command, tuple) else entry.command
    return SweepPreviewEntry(
        index=entry.index,
        name=f"{name}-{entry.index}",
        parameters=dict(entry.parameters),
        algorithm=entry.algorithm,
        command=command,
    )


def _subject(sweep: Sweep) -> Subject:
    return Subject("sweep", sweep.id, sweep.workspace, sweep.owner, sweep.name)


def _times(each: TotalsView, number: int) -> TotalsView:
    return TotalsView(
        cpu=each.cpu * number, memory_mib=each.memory_mib * number, gpu=each.gpu * number, gpu_type=each.gpu_type
    )
