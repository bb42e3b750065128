"""Reading saved models: lists, versions and where they lie."""

import asyncio
import os

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import ModelDetail, ModelPage, ModelVersionView, ModelView
from trainmaster.core.errors import NotFound
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.jobs import files
from trainmaster.storage.outputs import FILES
from trainmaster.store.assets.models import metrics_of
from trainmaster.store.assets.versions import Asset, AssetKind, AssetQuery, AssetReader, AssetVersion


class Models:
    """One object per server."""

    def __init__(self, assets: AssetReader, layout: Layout) -> None:
        self._assets, self._layout = assets, layout

    async def page(self, who: Principal, wanted: AssetQuery, limit: int, cursor: str | None = None) -> ModelPage:
        """Return a page of the models `who` may see, what was changed last first. Raises InvalidSpec for a cursor of
        another list.
        """
        visible = decide(who, "models:read").demand()

        def read() -> ModelPage:
            page = self._assets.page(visible, AssetKind.MODEL, wanted, limit, cursor)
            latest = self._assets.latest(visible, page.items)
            items = [_model_view(model, latest[model.id]) for model in page.items if model.id in latest]
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
        return ModelDetail(
            id=model.id,
            name=model.name,
            owner=model.owner,
            workspace=model.workspace,
            latest=model.latest,
            created_at=model.created_at,
            versions=[self._version_view(version, decide(who, "server:observe").allowed) for version in versions],
        )

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


def _model_view(model: Asset, last: AssetVersion) -> ModelView:
    return ModelView(
        id=model.id,
        name=model.name,
        owner=model.owner,
        workspace=model.workspace,
        versions=model.versions,
        latest=model.latest,
        created_at=model.created_at,
        updated_at=last.created_at,
        size_bytes=last.size_bytes,
        metrics=metrics_of(last),
        job=last.job or "",
    )
