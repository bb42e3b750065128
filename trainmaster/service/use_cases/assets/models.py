"""Use cases on saved models: lists, versions and where they lie; deleting. They are made by jobs alone.

Invariant: what a job that has not ended names, or has just made, is not deleted.
"""

import asyncio
import os
from typing import Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import ModelDetail, ModelPage, ModelRight, ModelVersionView, ModelView
from trainmaster.core.errors import Conflict, NotFound
from trainmaster.core.records import Job
from trainmaster.messages.jobs import files
from trainmaster.service.context import Context
from trainmaster.storage.outputs import FILES
from trainmaster.store.assets.models import metrics_of
from trainmaster.store.assets.versions import Asset, AssetKind, AssetQuery, AssetReader, AssetVersion

_NAMED: Final = 5
"""Jobs that are named as those that need a version."""


class Models:
    """One object per server."""

    def __init__(self, context: Context, assets: AssetReader) -> None:
        self._ctx, self._assets, self._layout = context, assets, context.layout
        self._favorites = context.asset_favorites

    async def page(self, who: Principal, wanted: AssetQuery, limit: int, cursor: str | None = None) -> ModelPage:
        """Return a page of the models `who` may see, what was changed last first. Raises InvalidSpec for a cursor of
        another list.
        """
        visible = decide(who, "models:read").demand()

        def read() -> ModelPage:
            page = self._assets.page(visible, AssetKind.MODEL, wanted, limit, cursor)
            latest = self._assets.latest(visible, page.items)
            marked = self._favorites.among(who.name, [model.id for model in page.items])
            items = [_model_view(model, latest[model.id], marked) for model in page.items if model.id in latest]
            total = self._assets.count(visible, AssetKind.MODEL, wanted)
            return ModelPage(items=items, next_cursor=page.next_cursor, total=total)

        return await asyncio.to_thread(read)

    async def _found(self, ref: str, who: Principal) -> tuple[Asset, list[AssetVersion]]:
        visible = decide(who, "models:read").demand()
        model = await asyncio.to_thread(self._assets.find, visible, AssetKind.MODEL, ref)
        if model is None:
            raise NotFound(files.no_such_model(repr(ref)))
        return model, await asyncio.to_thread(self._assets.versions, visible, model.id)

    async def job_of(self, ref: str, version: int, who: Principal) -> str:
        """Return the id of the job that made one version of a model. Raises NotFound."""
        model, versions = await self._found(ref, who)
        for one in versions:
            if one.number == version and one.job:
                return one.job
        raise NotFound(files.no_such_version(model.name, version))

    async def files(self, ref: str, version: int, who: Principal) -> tuple[str, str]:
        """Return a model's name, and the folder with the files of one of its versions. Raises NotFound."""
        model, versions = await self._found(ref, who)
        for one in versions:
            if one.number == version:
                return model.name, os.path.join(self._layout.bulk, one.path, FILES)
        raise NotFound(files.no_such_version(model.name, version))

    async def detail(self, ref: str, who: Principal) -> ModelDetail:
        """Return one model (id or name) with its versions, newest first. Raises NotFound."""
        model, versions = await self._found(ref, who)
        rights: list[ModelRight] = ["write"]
        marked = await asyncio.to_thread(self._favorites.among, who.name, [model.id])
        return ModelDetail(
            may=[right for right in rights if decide(who, f"models:{right}", model).allowed],
            id=model.id,
            name=model.name,
            owner=model.owner,
            workspace=model.workspace,
            latest=model.latest,
            created_at=model.created_at,
            favorite=model.id in marked,
            versions=[self._version_view(version, decide(who, "server:observe").allowed) for version in versions],
        )

    async def favor(self, ref: str, who: Principal, wanted: bool) -> ModelDetail:
        """Make a model one of one's own favorites, or no more. Raises NotFound, StorageFailed."""
        model, _ = await self._found(ref, who)
        await asyncio.to_thread(self._favorites.put, who.name, model.id, wanted)
        return await self.detail(model.id, who)

    async def delete(self, ref: str, who: Principal, version: int | None = None) -> None:
        """Put a model with all its versions into the bin, or one of them, and with the only one the model; the number
        of a version is never given again. Raises NotFound, Forbidden, Conflict with the jobs that need it.
        """
        model, versions = await self._found(ref, who)
        decide(who, "models:write", model).demand()
        gone, missing = files.model_deleted(model.name), files.no_such_model(repr(ref))
        meant = versions
        if version is not None:
            meant = [one for one in versions if one.number == version]
            missing = files.no_such_version(model.name, version)
            if not meant:
                raise NotFound(missing)
            gone = files.model_version_deleted(model.name, version)
            if len(versions) == 1:
                version, gone = None, files.model_deleted(model.name)
        await self._demand_unused(model, meant, who)
        await self._ctx.bin.put(who, model, version, gone, missing)

    async def _demand_unused(self, model: Asset, versions: list[AssetVersion], who: Principal) -> None:
        live = list(self._ctx.master.live.values())
        there = [job for job in live if job.workspace == model.workspace]
        made = {one.job for one in versions}
        wanted = {f"{model.name}@{one.number}" for one in versions}

        def needs() -> list[Job]:
            named = {job.spec_digest: self._ctx.specs.fetch_or_none(job.spec_digest) for job in there}
            needing = {
                digest
                for digest, spec in named.items()
                if spec is not None and any(item.model in wanted for item in spec.inputs)
            }
            return [job for job in there if job.spec_digest in needing or job.id in made]

        if needing := await asyncio.to_thread(needs):
            visible = decide(who, "jobs:read").visible
            names = [f"{job.name} ({job.id[:8]})" for job in needing if visible.covers(job)][:_NAMED]
            more = len(needing) - len(names)
            raise Conflict(files.model_in_use(model.name, [*names, *([f"+{more}"] if more else [])]))

    def _version_view(self, version: AssetVersion, tells_path: bool) -> ModelVersionView:
        return ModelVersionView(
            version=version.number,
            digest=version.digest,
            size_bytes=version.size_bytes,
            files=version.files,
            created_at=version.created_at,
            job=version.job or "",  # so far every model is a job's, and answers promise one
            attempt=version.attempt or 0,
            path=os.path.join(self._layout.bulk, version.path) if tells_path else None,
            metrics=metrics_of(version),
        )


def _model_view(model: Asset, last: AssetVersion, marked: set[str]) -> ModelView:
    return ModelView(
        id=model.id,
        name=model.name,
        owner=model.owner,
        workspace=model.workspace,
        versions=model.versions,
        latest=model.latest,
        created_at=model.created_at,
        favorite=model.id in marked,
        updated_at=last.created_at,
        size_bytes=last.size_bytes,
        metrics=metrics_of(last),
        job=last.job or "",
    )
