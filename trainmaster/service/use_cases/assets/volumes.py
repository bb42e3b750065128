"""Use cases on volumes (R52, R145, R245): lists, names, sharing, deleting. The files in them: `volume_files`.

A volume lies in a workspace, like the jobs that mount it. Who may see it and change it is judged as for data sets, and
judged again where it is written. Invariant: what a job that has not ended mounts is neither renamed nor deleted.
"""

import asyncio
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from msgspec.structs import asdict

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import VolumeDetail, VolumePage, VolumeRight, VolumeUse, VolumeView
from trainmaster.core.cluster import DEFAULT
from trainmaster.core.errors import Conflict, InvalidSpec, Problem, problem_of
from trainmaster.core.events import AuditEvent, Subject
from trainmaster.core.folders.room import Use
from trainmaster.core.records import Job
from trainmaster.core.states import JobShare
from trainmaster.messages.assets import volumes as said
from trainmaster.messages.jobs import rules
from trainmaster.service.admission.places import member_problems, sharing_problems
from trainmaster.service.context import Context
from trainmaster.service.submitting.candidate import only_workspace
from trainmaster.service.use_cases.assets.lines import Lines, LineWords
from trainmaster.spec.job import NAME
from trainmaster.storage.volumes.changing import make
from trainmaster.store.assets.versions import Asset, AssetKind, AssetQuery, AssetReader
from trainmaster.store.assets.volumes import VolumeRows, place_of

LONGEST_DESCRIPTION: Final = 2000
_KIND: Final = AssetKind.VOLUME
_WORDS: Final = LineWords(
    said.no_such_volume, said.several_volumes, said.volume_only_to_read, said.volume_not_yours_to_share
)
_NAME: Final = re.compile(NAME)
_NAMED: Final = 5
"""Jobs that are named as those that mount a volume, where it is refused."""
_SHOWN: Final = 50
"""Jobs that are shown."""


class Volumes:
    """One object per server."""

    def __init__(self, context: Context, assets: AssetReader, rows: VolumeRows) -> None:
        self.ctx, self.rows, self._assets = context, rows, assets
        self.lines = Lines(context, assets, _KIND, _WORDS)

    # -- look --------------------------------------------------------------------------------------------------

    async def page(self, who: Principal, wanted: AssetQuery, limit: int, cursor: str | None = None) -> VolumePage:
        """Return a page of the volumes `who` may see, what was changed last first. Raises InvalidSpec for a cursor of
        another list.
        """
        visible = decide(who, "volumes:read").demand()

        def read() -> VolumePage:
            page = self._assets.page(visible, _KIND, wanted, limit, cursor)
            uses = self.rows.uses([one.id for one in page.items])
            total = self._assets.count(visible, _KIND, wanted)
            marked = self.lines.favorites(who, page.items)
            items = [_view(one, uses.get(one.id, Use()), who, marked) for one in page.items]
            return VolumePage(items=items, next_cursor=page.next_cursor, total=total)

        return await asyncio.to_thread(read)

    async def detail(self, ref: str, who: Principal) -> VolumeDetail:
        """Return a volume (id, the beginning of one, or name) with the jobs that mount it. Raises NotFound, Conflict
        where several are meant.
        """
        return await self._shown(await self.lines.find(ref, who), who)

    async def _shown(self, line: Asset, who: Principal) -> VolumeDetail:
        use = (await asyncio.to_thread(self.rows.uses, [line.id])).get(line.id, Use())
        jobs = await self._mounting(line)
        visible = decide(who, "jobs:read").visible
        shown = [
            VolumeUse(id=job.id, name=job.name, state=job.shown, owner=job.owner, writes=writes)
            for job, writes in jobs
            if visible.covers(job)
        ][:_SHOWN]
        tells = decide(who, "server:observe").allowed
        marked = await asyncio.to_thread(self.lines.favorites, who, [line])
        return VolumeDetail(
            **asdict(_view(line, use, who, marked)),
            jobs=shown,
            more_jobs=len(jobs) - len(shown),
            path=os.path.join(self.ctx.layout.bulk, place_of(line).path) if tells else None,
        )

    # -- act ---------------------------------------------------------------------------------------------------

    async def create(
        self,
        who: Principal,
        name: str,
        workspace: str | None = None,
        description: str = "",
        share: JobShare = JobShare.NONE,
    ) -> VolumeDetail:
        """Make a volume. Raises InvalidSpec with all that is wrong, Conflict where the name is taken."""
        decide(who, "volumes:write").demand()
        where, spaces = workspace or only_workspace(who) or DEFAULT, self.ctx.pools.workspaces
        found = _problems(name, description)
        if where not in spaces:
            known = rules.unknown_workspace(name=where, known=sorted(spaces))
            found.append(problem_of("workspace", known, where))
        else:
            found += [*member_problems(where, who), *sharing_problems(share, spaces[where])]
        if found:
            raise InvalidSpec(said.volume_not_valid(), problems=tuple(found))
        now = self.ctx.clock()
        id_ = "v" + self.ctx.random_bytes(16).hex()
        wanted = Asset(id_, _KIND, name, where, who.name, now, share.value, description, changed_at=now)

        def told(made: Asset) -> AuditEvent:
            return who.did(subject_of(made), said.volume_made(made.name), now)

        made = await asyncio.to_thread(self.rows.add, wanted, told)
        await asyncio.to_thread(make, os.path.join(self.ctx.layout.bulk, place_of(made).path))
        return await self.detail(id_, who)

    async def change(
        self, ref: str, who: Principal, name: str | None = None, description: str | None = None
    ) -> VolumeDetail:
        """Name a volume otherwise, or say what it is for; what is None stays. Raises NotFound, Forbidden, InvalidSpec,
        Conflict where the name is taken or with the jobs that mount it by its name.
        """
        before = await self.lines.find(ref, who, "volumes:write")
        if found := _problems(name, description):
            raise InvalidSpec(said.volume_not_valid(), problems=tuple(found))
        now, writable = self.ctx.clock(), decide(who, "volumes:write").visible

        def told(was: Asset, now_is: Asset) -> AuditEvent:
            changes = (("name", was.name, now_is.name), ("description", was.description, now_is.description))
            told_of = tuple(one for one in changes if one[1] != one[2])
            return who.did(subject_of(now_is), said.volume_changed(was.name), now, told_of)

        def change() -> Asset:
            return self.rows.change(writable, before.id, told, now, name=name, description=description)

        if name in (None, before.name):
            await asyncio.to_thread(change)
        else:
            with self._unused(before):
                await self._demand_unused(before, who)
                await asyncio.to_thread(change)
        return await self.detail(before.id, who)

    async def share(self, ref: str, who: Principal, share: JobShare) -> VolumeDetail:
        """Share a volume with the other members of its workspace, or no more. Raises NotFound, Forbidden, InvalidSpec
        where nothing may be shared there.
        """
        before = await self.lines.find(ref, who, "volumes:share")
        if wrong := sharing_problems(share, self.ctx.pools.workspaces.get(before.workspace)):
            raise InvalidSpec(said.volume_not_valid(), problems=tuple(wrong))
        now, sharable = self.ctx.clock(), decide(who, "volumes:share").visible

        def told(was: Asset, now_is: Asset) -> AuditEvent:
            changes = (("share", was.share, now_is.share),)
            return who.did(subject_of(now_is), said.volume_shared(now_is.name), now, changes)

        await asyncio.to_thread(lambda: self.rows.change(sharable, before.id, told, now, share=share.value))
        return await self.detail(before.id, who)

    async def favor(self, ref: str, who: Principal, wanted: bool) -> VolumeDetail:
        """Make a volume one of one's own favorites, or no more. Raises NotFound, Conflict where several are meant."""
        return await self._shown(await self.lines.favor(ref, who, wanted), who)

    async def delete(self, ref: str, who: Principal) -> None:
        """Put a volume with all that is in it into the bin. Raises NotFound, Forbidden, Conflict with the jobs that
        mount it.
        """
        line = await self.lines.find(ref, who, "volumes:write")
        with self._unused(line):
            await self._demand_unused(line, who)
            gone, missing = said.volume_deleted(line.name), said.no_such_volume(repr(ref))
            await self.ctx.bin.put(who, line, None, gone, missing)

    # -- inside ------------------------------------------------------------------------------------------------

    @contextmanager
    def _unused(self, line: Asset) -> Iterator[None]:
        """Keep jobs that are not live yet from mounting it. Raises Conflict while somebody else does the same."""
        with self.ctx.versions.changing(line.workspace, line.name) as alone:
            if not alone:
                raise Conflict(said.volume_is_changing(line.name))
            yield

    async def _demand_unused(self, line: Asset, who: Principal) -> None:
        """Raise Conflict while a job that has not ended mounts it. Within `_unused`: no other will."""
        jobs = [job for job, _ in await self._mounting(line)]
        if jobs:
            visible = decide(who, "jobs:read").visible
            names = [f"{job.name} ({job.id[:8]})" for job in jobs if visible.covers(job)][:_NAMED]
            more = len(jobs) - len(names)
            raise Conflict(said.volume_in_use(line.name, [*names, *([f"+{more}"] if more else [])]))

    async def _mounting(self, line: Asset) -> list[tuple[Job, bool]]:
        """Return the live jobs that mount a volume, each with whether it may write to it."""
        there = [job for job in self.ctx.master.live.values() if job.workspace == line.workspace]
        return await asyncio.to_thread(self._naming, there, line.name)

    def _naming(self, jobs: list[Job], name: str) -> list[tuple[Job, bool]]:
        found, known = [], dict[str, tuple[bool, bool]]()
        for job in jobs:
            if job.spec_digest not in known:
                spec = self.ctx.specs.fetch_or_none(job.spec_digest)
                named = [item for item in spec.inputs if item.volume == name] if spec is not None else []
                known[job.spec_digest] = bool(named), any(not item.read_only for item in named)
            mounts, writes = known[job.spec_digest]
            if mounts:
                found.append((job, writes))
        return found


def subject_of(line: Asset) -> Subject:
    """Return what the audit calls a volume."""
    return Subject("volume", line.id, line.workspace, line.owner, line.name)


def _problems(name: str | None, description: str | None) -> list[Problem]:
    found = []
    if name is not None and not _NAME.fullmatch(name):
        found.append(problem_of("name", said.not_a_volume_name(), name[:200]))
    if description is not None and len(description) > LONGEST_DESCRIPTION:
        found.append(problem_of("description", said.volume_description_too_long(LONGEST_DESCRIPTION)))
    return found


def _view(line: Asset, use: Use, who: Principal, marked: set[str]) -> VolumeView:
    """Return what is shown of a volume, which takes `use`, to `who`, whose favorites are `marked`."""
    rights: tuple[VolumeRight, ...] = ("write", "share")
    return VolumeView(
        id=line.id,
        name=line.name,
        description=line.description,
        workspace=line.workspace,
        owner=line.owner,
        share=JobShare(line.share),
        size_bytes=use.bytes,
        files=use.files,
        created_at=line.created_at,
        changed_at=line.changed_at,
        favorite=line.id in marked,
        may=[right for right in rights if decide(who, f"volumes:{right}", line).allowed],
    )
