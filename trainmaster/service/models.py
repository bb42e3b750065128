"""Reading saved models: lists, versions and where they lie."""

import asyncio
import os
from typing import Any

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal, Reach
from trainmaster.core.errors import NotFound
from trainmaster.core.layout import Layout
from trainmaster.store.models import Model, ModelVersion
from trainmaster.store.models import Models as Rows


class Models:
    """One object per server."""

    def __init__(self, rows: Rows, layout: Layout) -> None:
        self._rows, self._layout = rows, layout

    async def page(self, who: Principal, q: str) -> dict[str, Any]:
        """Return the models `who` may see."""
        own = decide(who, "models:read").reach is Reach.OWN
        found = await asyncio.to_thread(self._rows.list_models, q)
        return {"items": [_model_view(model) for model in found if not own or model.owner == who.name]}

    async def detail(self, ref: str, who: Principal) -> dict[str, Any]:
        """Return one model (id or name) with its versions, newest first. Raises NotFound."""
        model = await asyncio.to_thread(self._rows.find, ref)
        if model is None:
            raise NotFound(f"There is no model {ref!r}", remedy="The list of models shows their names.")
        decide(who, "models:read", model.owner).demand()
        versions = await asyncio.to_thread(self._rows.versions, model.id)
        return {**_model_view(model), "versions": [self._version_view(version) for version in versions]}

    def _version_view(self, version: ModelVersion) -> dict[str, Any]:
        return {
            "version": version.version, "digest": version.digest, "size_bytes": version.size_bytes,
            "files": version.files, "created_at": version.created_at, "job": version.job, "attempt": version.attempt,
            "path": os.path.join(self._layout.bulk, version.path), "metrics": version.metrics,
        }  # fmt: skip


def _model_view(model: Model) -> dict[str, Any]:
    return {
        "id": model.id, "name": model.name, "owner": model.owner, "workspace": model.workspace,
        "versions": model.versions, "latest": model.latest, "created_at": model.created_at,
    }  # fmt: skip
