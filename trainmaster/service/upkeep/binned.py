"""Puts what is deleted into the bin, and takes it out of there for good: when somebody wants so, and by itself once its
time is over. Owns in which order rows and files go.

Invariant: what can be restored has its files. A model's folder is put aside before its rows go, since nothing would
find it afterwards; all others have somebody who clears away what has no row.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import TO_THE_PLATFORM
from trainmaster.core.errors import NotFound, TrainmasterError
from trainmaster.core.events import AuditEvent, Subject, did_itself
from trainmaster.messages.assets import bin as words
from trainmaster.messages.said import Said
from trainmaster.service.context import Context
from trainmaster.service.upkeep.retention_rules import DueItem, DuePage, Keeping, Rule, Step
from trainmaster.storage.datasets.building import remove_version
from trainmaster.storage.trees import remove_tree
from trainmaster.storage.volumes.changing import set_aside
from trainmaster.store.assets.bin import FIRST, Binned, BinRows, Place, Removed, Scopes
from trainmaster.store.assets.versions import Asset, AssetKind

log = logging.getLogger("trainmaster.bin")

_EVERYTHING: Final[Scopes] = dict.fromkeys(AssetKind, TO_THE_PLATFORM)


class BinKeeper:
    """One object per server."""

    def __init__(self, context: Context, rows: BinRows) -> None:
        self._ctx, self.rows = context, rows

    @staticmethod
    def subject_of(line: Asset) -> Subject:
        """Return what the audit calls an asset."""
        return Subject(line.kind.value, line.id, line.workspace, line.owner, line.name)

    async def put(self, who: Principal, line: Asset, number: int | None, told: Said, missing: Said) -> None:
        """Put an asset into the bin, or one version of it, as `who` wants, which is `told`. Raises NotFound (`missing`
        where there is no such version).
        """
        now, writable = self._ctx.clock(), decide(who, f"{line.kind.value}s:write").visible
        new: Place = (now, "x" + self._ctx.random_bytes(12).hex())

        def event(of: Asset) -> AuditEvent:
            return who.did(self.subject_of(of), told, now)

        await asyncio.to_thread(self.rows.put, writable, line, number, new, who.name, missing, event)

    async def remove(self, one: Binned, scopes: Scopes, told: Callable[[Asset], AuditEvent]) -> None:
        """Remove what was deleted, for good. Raises NotFound, StorageFailed."""
        removed = await asyncio.to_thread(self._remove, one, scopes, told)
        line = one.line
        if line.kind is AssetKind.IMAGE:
            for path in removed.paths:
                await self._ctx.images.keeper.remove(path.rpartition("/")[2])
        if line.kind is AssetKind.VOLUME:
            self._ctx.volumes.changed(line.id)

    async def outlived(self, one: Binned, after_s: float) -> None:
        """Remove what was in the bin for `after_s`."""
        name = one.line.name
        gone = words.bin_outlived(name, after_s)
        if one.number is not None:
            gone = words.version_outlived(name, one.number, after_s)
        try:
            await self.remove(one, _EVERYTHING, lambda line: did_itself(self.subject_of(line), gone, self._ctx.clock()))
        except NotFound as error:  # restored or removed meanwhile
            log.info("%s is not removed: %s", one.id, error.message)

    def there(self, one: Binned) -> bool:
        """Return whether the files of what was deleted are there. Blocking."""
        if one.line.kind not in (AssetKind.MODEL, AssetKind.DATASET):  # all others are small, or made again
            return True
        held = self.rows.held(one.id)
        return all(os.path.isdir(os.path.join(self._ctx.layout.bulk, path)) for path, _ in held)

    # -- blocking ----------------------------------------------------------------------------------------------

    def _remove(self, one: Binned, scopes: Scopes, told: Callable[[Asset], AuditEvent]) -> Removed:
        aside = self._put_aside(one) if one.line.kind is AssetKind.MODEL else {}
        try:
            removed = self.rows.remove(scopes, one.id, told)
        except TrainmasterError:
            for place, path in aside.items():
                with suppress(OSError):
                    os.rename(path, place)
            raise
        try:
            self._clear(removed, list(aside.values()))
        except (OSError, TrainmasterError) as error:
            log.warning("what %s left is cleared away later: %s", one.line.name, error)
        return removed

    def _put_aside(self, one: Binned) -> dict[str, str]:
        """Put the folders of a model's versions where the sweep takes what is half made; return from where to where."""
        layout, moved = self._ctx.layout, dict[str, str]()
        for path, _ in self.rows.held(one.id):
            place = os.path.join(layout.bulk, path)
            target = os.path.join(layout.bulk, "models", ".saving", f"{one.id}-{os.path.basename(place)}")
            if path.startswith("models/"):  # of early releases some lie in the folders of their jobs
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with suppress(FileNotFoundError):
                    os.rename(place, target)
                    moved[place] = target
        return moved

    def _clear(self, removed: Removed, aside: list[str]) -> None:
        one, layout = removed.binned, self._ctx.layout
        line = one.line
        if line.kind is AssetKind.DATASET:
            for path in removed.paths:
                remove_version(layout, path)
            self._ctx.kept_versions.removed(line.id, one.number)
            return
        if line.kind is AssetKind.VOLUME:
            for path in removed.paths:
                set_aside(layout, path)
            self._ctx.volumes.kept.removed(line.id)
            return
        for path in aside:
            remove_tree(path)
        if line.kind is AssetKind.MODEL:
            with suppress(OSError):
                os.rmdir(os.path.dirname(layout.model(line.id, 1)))  # once it is empty
        self._ctx.kept.keep_versions(line.id, {})


class BinRule(Rule):
    """What lies in the bin for too long."""

    name = "bin"

    def __init__(self, bin_: BinKeeper) -> None:
        self._bin = bin_

    def due(self, keeping: Keeping, now: float) -> Iterator[DuePage]:
        after = FIRST
        while page := self._bin.rows.old(now - keeping.bin, after):
            after = (page[-1].at, page[-1].id)
            yield DuePage(tuple(DueItem(one, one.at) for one in page))

    def remove(self, page: DuePage, keeping: Keeping, now: float) -> Iterator[Step]:
        for due in page.items:
            yield partial(self._bin.outlived, due.key, keeping.bin)

    def size(self, due: DueItem) -> int:
        return self._bin.rows.takes(due.key.id)
