"""Use cases on data sets (R27, R28, R47): lists, versions and where they lie, descriptions, sharing, deleting.

A data set lies in a workspace, like the jobs that read it. Who may see it and change it is judged as for templates, and
judged again where it is written. Invariant: what a job that has not ended names is not deleted.
"""

import asyncio
import os
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import asdict

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import (
    DatasetDetail,
    DatasetEntry,
    DatasetPage,
    DatasetRight,
    DatasetTree,
    DatasetVersionView,
    DatasetView,
)
from trainmaster.core.errors import Conflict, InvalidSpec, NotFound, Problem, StorageFailed, problem_of
from trainmaster.core.events import AuditEvent
from trainmaster.core.formats.frames import SMALL
from trainmaster.core.records import Job
from trainmaster.core.states import JobShare
from trainmaster.messages.assets import datasets as said
from trainmaster.service.admission.places import sharing_problems
from trainmaster.service.context import Context
from trainmaster.service.use_cases.assets.lines import Lines, LineWords, subject_of
from trainmaster.storage.datasets.building import DatasetManifest, manifest_of
from trainmaster.storage.datasets.listing import ListedFile
from trainmaster.storage.datasets.reading import read_small
from trainmaster.store.assets.datasets import DatasetRows, uploader_of
from trainmaster.store.assets.versions import Asset, AssetKind, AssetQuery, AssetReader, AssetVersion

LONGEST_DESCRIPTION: Final = 2000
_KIND: Final = AssetKind.DATASET
_WORDS: Final = LineWords(
    said.no_such_dataset, said.several_datasets, said.dataset_only_to_read, said.dataset_not_yours_to_share
)
_NAMED: Final = 5
"""Jobs that are named as those that need a version."""


class Datasets:
    """One object per server."""

    def __init__(self, context: Context, assets: AssetReader, rows: DatasetRows) -> None:
        self._ctx, self._assets, self._rows = context, assets, rows
        self.lines = Lines(context, assets, _KIND, _WORDS)

    # -- look --------------------------------------------------------------------------------------------------

    async def page(self, who: Principal, wanted: AssetQuery, limit: int, cursor: str | None = None) -> DatasetPage:
        """Return a page of the data sets `who` may see, what was changed last first. Raises InvalidSpec for a cursor of
        another list.
        """
        visible = decide(who, "datasets:read").demand()

        def read() -> DatasetPage:
            page = self._assets.page(visible, _KIND, wanted, limit, cursor)
            last = self._assets.latest(visible, page.items)
            total = self._assets.count(visible, _KIND, wanted)
            marked = self.lines.favorites(who, page.items)
            items = [self._view(one, last.get(one.id), who, marked) for one in page.items]
            return DatasetPage(items=items, next_cursor=page.next_cursor, total=total)

        return await asyncio.to_thread(read)

    async def detail(self, ref: str, who: Principal) -> DatasetDetail:
        """Return a data set (id, the beginning of one, or name) with its versions. Raises NotFound, Conflict where
        several are meant.
        """
        return await self._shown(await self.lines.find(ref, who), who)

    async def files(self, ref: str, version: int, who: Principal) -> tuple[str, str]:
        """Return a data set's name, and the folder with the files of one of its versions. Raises NotFound."""
        name, one = await self._version(ref, version, who)
        return name, self._ctx.layout.version_files(one.path)

    async def tree(self, ref: str, version: int, who: Principal) -> DatasetTree:
        """Return everything in one of a data set's versions. Raises NotFound, StorageFailed where its list is
        damaged. O(files).
        """
        manifest, _ = await self._manifest(ref, version, who)
        return await asyncio.to_thread(_tree, version, manifest)

    async def small(self, ref: str, version: int, who: Principal, first: int, count: int) -> Iterator[bytes]:
        """Return what yields small contents of a version (`storage.datasets.reading`). Raises like `tree`."""
        manifest, root = await self._manifest(ref, version, who)
        return read_small(root, manifest.files, first, count)

    # -- act ---------------------------------------------------------------------------------------------------

    async def describe(self, ref: str, who: Principal, description: str) -> DatasetDetail:
        """Say what a data set is. Raises NotFound, Forbidden, InvalidSpec."""
        before = await self.lines.find(ref, who, "datasets:write")
        if found := description_problems(description):
            raise InvalidSpec(said.dataset_not_valid(), problems=tuple(found))
        now, writable = self._ctx.clock(), decide(who, "datasets:write").visible

        def told(was: Asset, now_is: Asset) -> AuditEvent:
            changes = (("description", was.description, now_is.description),)
            return who.did(subject_of(now_is), said.dataset_described(now_is.name), now, changes)

        await asyncio.to_thread(lambda: self._rows.change(writable, before.id, told, description=description))
        return await self.detail(before.id, who)

    async def share(self, ref: str, who: Principal, share: JobShare) -> DatasetDetail:
        """Share a data set with the other members of its workspace, or no more. Raises NotFound, Forbidden, InvalidSpec
        where nothing may be shared there.
        """
        before = await self.lines.find(ref, who, "datasets:share")
        if wrong := sharing_problems(share, self._ctx.pools.workspaces.get(before.workspace)):
            raise InvalidSpec(said.dataset_not_valid(), problems=tuple(wrong))
        now, sharable = self._ctx.clock(), decide(who, "datasets:share").visible

        def told(was: Asset, now_is: Asset) -> AuditEvent:
            changes = (("share", was.share, now_is.share),)
            return who.did(subject_of(now_is), said.dataset_shared(now_is.name), now, changes)

        await asyncio.to_thread(lambda: self._rows.change(sharable, before.id, told, share=share.value))
        return await self.detail(before.id, who)

    async def favor(self, ref: str, who: Principal, wanted: bool) -> DatasetDetail:
        """Make a data set one of one's own favorites, or no more. Raises NotFound, Conflict where several are meant."""
        return await self._shown(await self.lines.favor(ref, who, wanted), who)

    async def delete(self, ref: str, who: Principal) -> None:
        """Put a data set with all its versions into the bin. Raises NotFound, Forbidden, Conflict with the jobs that
        need one.
        """
        line = await self.lines.find(ref, who, "datasets:write")
        await self._demand_unused(line, None, who)
        gone, missing = said.dataset_deleted(line.name), said.no_such_dataset(repr(ref))
        await self._ctx.bin.put(who, line, None, gone, missing)

    async def delete_version(self, ref: str, version: int, who: Principal) -> None:
        """Put one version into the bin; its number is never given again. Raises NotFound, Forbidden, Conflict with the
        jobs that need it.
        """
        line = await self.lines.find(ref, who, "datasets:write")
        await self._demand_unused(line, version, who)
        gone = said.dataset_version_deleted(line.name, version)
        await self._ctx.bin.put(who, line, version, gone, said.no_such_dataset_version(line.name, version))

    # -- inside ------------------------------------------------------------------------------------------------

    async def _version(self, ref: str, version: int, who: Principal) -> tuple[str, AssetVersion]:
        line = await self.lines.find(ref, who)
        for one in await self._versions(line, who):
            if one.number == version:
                return line.name, one
        raise NotFound(said.no_such_dataset_version(line.name, version))

    async def _manifest(self, ref: str, version: int, who: Principal) -> tuple[DatasetManifest, str]:
        """Return what a version holds, and the folder with its files."""
        name, one = await self._version(ref, version, who)
        found = await asyncio.to_thread(manifest_of, self._ctx.layout, one.path)
        if found is None:
            raise StorageFailed(said.dataset_list_not_readable(name, version))
        return found, self._ctx.layout.version_files(one.path)

    async def _versions(self, line: Asset, who: Principal) -> list[AssetVersion]:
        visible = decide(who, "datasets:read").demand()
        return await asyncio.to_thread(self._assets.versions, visible, line.id)

    async def _shown(self, line: Asset, who: Principal) -> DatasetDetail:
        versions = await self._versions(line, who)
        history = [self.version_view(one, who) for one in versions]
        marked = await asyncio.to_thread(self.lines.favorites, who, [line])
        view = self._view(line, versions[0] if versions else None, who, marked)
        beyond = await asyncio.to_thread(self.lines.beyond, line, "share" in view.may)
        return DatasetDetail(**{**asdict(view), **beyond, "history": history})

    def version_view(self, version: AssetVersion, who: Principal) -> DatasetVersionView:
        """Return a version as `who` is shown it."""
        tells = decide(who, "server:observe").allowed
        return DatasetVersionView(
            version=version.number,
            digest=version.digest,
            size_bytes=version.size_bytes,
            files=version.files,
            created_at=version.created_at,
            by=uploader_of(version),
            path=os.path.join(self._ctx.layout.bulk, version.path) if tells else None,
        )

    def _view(self, line: Asset, last: AssetVersion | None, who: Principal, marked: set[str]) -> DatasetView:
        """Return what is shown of a data set, whose last version is `last`, to `who`, whose favorites are `marked`."""
        rights: tuple[DatasetRight, ...] = ("write", "share")
        return DatasetView(
            id=line.id,
            name=line.name,
            description=line.description,
            workspace=line.workspace,
            owner=line.owner,
            share=JobShare(line.share),
            latest=line.latest,
            versions=line.versions,
            size_bytes=last.size_bytes if last is not None else 0,
            files=last.files if last is not None else 0,
            created_at=line.created_at,
            changed_at=line.changed_at,
            favorite=line.id in marked,
            may=[right for right in rights if decide(who, f"datasets:{right}", line).allowed],
            taken=self.lines.taken(who, line),
        )

    async def _demand_unused(self, line: Asset, version: int | None, who: Principal) -> None:
        """Raise Conflict while a job that has not ended names `version`, or any one where it is None."""
        live = list(self._ctx.master.live.values())
        needing = list[Job]()
        for workspace, name in await asyncio.to_thread(self.lines.used_as, line):
            there = [job for job in live if job.workspace == workspace]
            needing += await asyncio.to_thread(self._needing, there, name, version)
        if needing:
            visible = decide(who, "jobs:read").visible
            names = [f"{job.name} ({job.id[:8]})" for job in needing if visible.covers(job)]
            more = len(needing) - len(names[:_NAMED])
            ref = line.name if version is None else f"{line.name}@{version}"
            raise Conflict(said.dataset_in_use(ref, [*names[:_NAMED], *([f"+{more}"] if more else [])]))

    def _needing(self, jobs: Sequence[Job], name: str, version: int | None) -> list[Job]:
        found, digests = [], dict[str, bool]()
        for job in jobs:
            if job.spec_digest not in digests:
                spec = self._ctx.specs.fetch_or_none(job.spec_digest)
                named = [item.dataset for item in spec.inputs if item.dataset] if spec is not None else []
                digests[job.spec_digest] = any(
                    one == f"{name}@{version}" or (version is None and one.partition("@")[0] == name) for one in named
                )
            if digests[job.spec_digest]:
                found.append(job)
        return found


def _tree(version: int, manifest: DatasetManifest) -> DatasetTree:
    return DatasetTree(
        version=version,
        digest=manifest.digest,
        size_bytes=manifest.size_bytes,
        small_bytes=SMALL,
        files=[_entry(one) for one in manifest.files],
    )


def _entry(file: ListedFile) -> DatasetEntry:
    if file.kind == "l":
        return DatasetEntry(path=file.path, link=file.target)
    if file.kind == "d":
        return DatasetEntry(path=file.path, folder=True)
    return DatasetEntry(path=file.path, size=file.size, sha256=file.sha256, executable=file.kind == "x")


def description_problems(description: str | None) -> list[Problem]:
    """Return what is wrong with a description."""
    if description is not None and len(description) > LONGEST_DESCRIPTION:
        return [problem_of("description", said.dataset_description_too_long(LONGEST_DESCRIPTION))]
    return []
