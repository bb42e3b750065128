"""Saved models and their immutable versions."""

import asyncio
from functools import partial
from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import looking, who
from trainmaster.api.deps import Json, paged, platform
from trainmaster.api.downloads import send_file, send_stream
from trainmaster.api.policy import By, Table
from trainmaster.api.routes.assets.listing import ListedAssets, favorites
from trainmaster.storage.trees import list_files, zip_tree

routes = Table("models")

Version = Annotated[int, Path(ge=1, le=2**31)]
FilePath = Annotated[str, Query(max_length=4096)]
ONE = "/models/{ref}/versions/{version}"


@routes.route("GET", "/models", scope="models:read", answers={200: "ModelPage"}, by=By.ANY)
async def list_models(request: Request, wanted: Annotated[ListedAssets, Query()]) -> Response:
    """List saved models, what was changed last first. Each word of `q` is looked for in name, owner and id. `favorite`:
    only the caller's favorites.
    """
    me = who(request)
    page = partial(platform(request).models, me, wanted.of(me), wanted.limit)
    return await paged(request, "models", wanted.cursor, page)


@routes.route("GET", "/models/{ref}", scope="models:read", answers={200: "ModelDetail"}, by=By.ANY)
async def get_model(request: Request, ref: str) -> Response:
    """Show a model with its versions; `ref` is its id or name."""
    return Json(await platform(request).model(ref, who(request)))


@routes.route("DELETE", "/models/{ref}", scope="models:write", answers={204: ""})
async def delete_model(request: Request, ref: str) -> Response:
    """Put a model with all its versions into the bin. Refused while a job that has not ended needs one, or made it."""
    await platform(request).delete_model(ref, None, who(request))
    return Response(status_code=204)


@routes.route("DELETE", ONE, scope="models:write", answers={204: ""})
async def delete_model_version(request: Request, ref: str, version: Version) -> Response:
    """Put one version into the bin, with the only one the model; its number is never given again. Refused while a job
    that has not ended needs it, or made it.
    """
    await platform(request).delete_model(ref, version, who(request))
    return Response(status_code=204)


@routes.route("GET", ONE + "/files", scope="models:read", answers={200: "Files"}, by=By.ANY)
async def list_model_files(request: Request, ref: str, version: Version, path: FilePath = "") -> Response:
    """List a folder of a version."""
    _, root = await platform(request).model_files(ref, version, who(request))
    async with looking(request):
        return Json(await asyncio.to_thread(list_files, root, path))


@routes.route(
    "GET",
    ONE + "/files/content",
    scope="models:read",
    answers={200: "application/octet-stream", 206: "application/octet-stream"},
    by=By.ANY,
)
async def get_model_file(request: Request, ref: str, version: Version, path: FilePath) -> Response:
    """Download one file of a version, or with Range a part of it."""
    _, root = await platform(request).model_files(ref, version, who(request))
    return await send_file(request, root, path)


@routes.route("GET", ONE + "/download", scope="models:read", answers={200: "application/zip"}, by=By.ANY)
async def download_model(request: Request, ref: str, version: Version) -> Response:
    """Download a whole version as one archive."""
    name, root = await platform(request).model_files(ref, version, who(request))
    return await send_stream(request, lambda: zip_tree(root), "application/zip", f"{name}-{version}.zip")


favorites(routes, "model", "a model", "ModelDetail", lambda to, ref, me, wanted: to.favor_model(ref, me, wanted))
