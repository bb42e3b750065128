"""Reading saved models: lists, versions and where they lie."""

import asyncio
import os

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import ModelDetail, ModelPage, ModelVersionView, ModelView
from trainmaster.core.errors import NotFound
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.jobs import files
from trainmaster.store.assets import Asset, AssetKind, AssetReader, AssetVersion
from trainmaster.store.models import metrics_of


class Models:
    """One object per server."""

    def __init__(self, assets: AssetReader, layout: Layout) -> None:
        self._assets, self._layout = assets, layout

    async def page(self, who: Principal, q: str) -> ModelPage:
        """Return the models `who` may see."""
        visible = decide(who, "models:read").demand()
        found = await asyncio.to_thread(self._assets.list_assets, visible, AssetKind.MODEL, q)
        return ModelPage(items=[_model_view(model) for model in found])

    async def detail(self, ref: str, who: Principal) -> ModelDetail:
        """Return one model (id or name) with its versions, newest first. Raises NotFound."""
        visible = decide(who, "models:read").demand()
        model = await asyncio.to_thread(self._assets.find, visible, AssetKind.MODEL, ref)
        if model is None:
            raise NotFound(files.no_such_model(repr(ref)))
        versions = await asyncio.to_thread(self._assets.versions, visible, model.id)
        return ModelDetail(
            id=model.id,
            name=model.name,
            owner=model.owner,
            workspace=model.workspace,
            latest=model.latest,
            created_at=model.created_at,
            versions=[self._version_view(version) for version in versions],
        )

    def _version_view(self, version: AssetVersion) -> ModelVersionView:
        return ModelVersionView(
            version=version.number,
            digest=version.digest,
            size_bytes=version.size_bytes,
            files=version.files,
            created_at=version.created_at,
            job=version.job or "",  # so far every model is a job's, and answers promise one
            attempt=version.attempt or 0,
            path=os.path.join(self._layout.bulk, version.path),
            metrics=metrics_of(version),
        )


def _model_view(model: Asset) -> ModelView:
    return ModelView(
        id=model.id,
        name=model.name,
        owner=model.owner,
        workspace=model.workspace,
        versions=model.versions,
        latest=model.latest,
        created_at=model.created_at,
    )
