"""Use cases on the bin: what was deleted is listed, restored, and deleted for good.

Whoever may delete a thing may do all of that with it, as long as it lies there; that is judged by the rights for its
kind, and judged again where it is written.
"""

import asyncio
import re
from typing import Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import BinEntryView, BinPage, OutcomeView, RefusedView, RestoredView
from trainmaster.core.errors import Conflict, InvalidSpec, NotFound, TrainmasterError, problem_of
from trainmaster.core.events import AuditEvent
from trainmaster.messages.assets import bin as said
from trainmaster.service.context import Context
from trainmaster.service.language import both
from trainmaster.service.use_cases.assets.lines import wrong_name
from trainmaster.storage.uploads import use
from trainmaster.store.assets.bin import Binned, BinQuery, Scopes
from trainmaster.store.assets.versions import Asset, AssetKind

MANY: Final = 500
"""So many are deleted for good at once."""
_DAY_S: Final = 86400.0
_UPLOAD: Final = re.compile(r"sha256:([0-9a-f]{64})")


class Bin:
    """One object per server."""

    def __init__(self, context: Context) -> None:
        self._ctx = context

    async def page(self, who: Principal, wanted: BinQuery, limit: int, cursor: str | None = None) -> BinPage:
        """Return a page of what `who` may restore, what was deleted last first. Raises InvalidSpec for a cursor of
        another list.
        """
        scopes, rows, keeps_s = _scopes(who), self._ctx.bin.rows, self._ctx.config.retention.bin_days * _DAY_S

        def read() -> BinPage:
            page = rows.page(scopes, wanted, limit, cursor)
            items = [_view(one, keeps_s) for one in page.items]
            return BinPage(
                items=items,
                next_cursor=page.next_cursor,
                total=rows.count(scopes, wanted),
                keeps_s=keeps_s or None,
            )

        return await asyncio.to_thread(read)

    async def restore(self, ref: str, who: Principal, name: str | None = None) -> RestoredView:
        """Bring back what was deleted, an asset under another name where one is given. Raises NotFound, InvalidSpec,
        Conflict where its name is taken by now, or what it was a version of is not there.
        """
        one, now = await self._find(ref, who), self._ctx.clock()
        if name is not None:
            _demand_name(one, name)
        await asyncio.to_thread(self._demand_files, one)

        def told(line: Asset) -> AuditEvent:
            done = said.restored(line.name)
            if one.number is not None:
                done = said.version_restored(line.name, one.number)
            return who.did(self._ctx.bin.subject_of(line), done, now)

        line = await asyncio.to_thread(self._ctx.bin.rows.restore, _scopes(who), one.id, name, told)
        if line.kind is AssetKind.DATASET:
            await asyncio.to_thread(self._ctx.kept_versions.removed, line.id, one.number)
        if line.kind is AssetKind.VOLUME:
            self._ctx.volumes.changed(line.id)
        return RestoredView(kind=line.kind.value, id=line.id, name=line.name, version=one.number)

    async def remove(self, refs: tuple[str, ...], who: Principal) -> OutcomeView:
        """Delete for good; each is done or refused for its own reason. Raises InvalidSpec for too many."""
        if len(refs) > MANY:
            problem = problem_of("ids", said.too_many_at_once(MANY))
            raise InvalidSpec(said.too_many_at_once(MANY), problems=(problem,))
        refused: list[RefusedView] = []
        found = list[tuple[str, Binned]]()
        for ref in refs:
            try:
                found.append((ref, await self._find(ref, who)))
            except TrainmasterError as error:
                refused.append(_refused(ref, error))
        done: list[str] = []
        for ref, one in sorted(found, key=lambda pair: pair[1].number is None):  # with an asset its versions go, too
            try:
                await self._remove(one, who)
                done.append(ref)
            except TrainmasterError as error:
                refused.append(_refused(ref, error))
        return OutcomeView(done=done, refused=refused)

    async def _remove(self, one: Binned, who: Principal) -> None:
        now = self._ctx.clock()

        def told(line: Asset) -> AuditEvent:
            gone = said.removed(line.name) if one.number is None else said.version_removed(line.name, one.number)
            return who.did(self._ctx.bin.subject_of(line), gone, now)

        await self._ctx.bin.remove(one, _scopes(who), told)

    async def _find(self, ref: str, who: Principal) -> Binned:
        found = await asyncio.to_thread(self._ctx.bin.rows.called, _scopes(who), ref)
        if not found:
            raise NotFound(said.not_in_the_bin(repr(ref)))
        if len(found) > 1:
            raise Conflict(said.several_in_the_bin(repr(ref), ", ".join(one.id[:12] for one in found[:4])))
        return found[0]

    def _demand_files(self, one: Binned) -> None:
        if not self._ctx.bin.there(one):
            raise Conflict(said.files_are_gone(one.line.name))
        if one.line.kind in (AssetKind.MODEL, AssetKind.DATASET):
            return
        for _, about in self._ctx.bin.rows.held(one.id):  # code that it names is in use again: no sweep takes it now
            for digest in set(_UPLOAD.findall(about)):
                use(self._ctx.layout.upload(digest))


def _refused(ref: str, error: TrainmasterError) -> RefusedView:
    return RefusedView(id=ref, title=both(error.said), kind=error.kind, code=error.code)


def _scopes(who: Principal) -> Scopes:
    """Return what `who` may delete, by its kind."""
    asked = {kind: decide(who, f"{kind.value}s:write") for kind in AssetKind}
    return {kind: one.visible for kind, one in asked.items() if one.allowed}


def _demand_name(one: Binned, name: str) -> None:
    if one.number is not None:
        problem = problem_of("name", said.version_keeps_its_name(), name[:200])
        raise InvalidSpec(said.not_restorable(), problems=(problem,))
    if (wrong := wrong_name(one.line.kind, name)) is not None:
        raise InvalidSpec(said.not_restorable(), problems=(problem_of("name", wrong, name[:200]),))


def _view(one: Binned, keeps_s: float) -> BinEntryView:
    return BinEntryView(
        id=one.id,
        kind=one.line.kind.value,
        name=one.line.name,
        version=one.number,
        versions=one.line.versions,
        workspace=one.line.workspace,
        owner=one.line.owner,
        at=one.at,
        by=one.by,
        until=one.at + keeps_s if keeps_s else None,
        size_bytes=one.size_bytes,
    )
