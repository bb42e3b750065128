"""Saved models and their immutable versions."""

import asyncio
from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import looking, who
from trainmaster.api.deps import Json, platform
from trainmaster.api.downloads import send_file, send_stream
from trainmaster.api.policy import By, Table
from trainmaster.storage.trees import list_files, zip_tree

routes = Table("models")

Version = Annotated[int, Path(ge=1, le=2**31)]
FilePath = Annotated[str, Query(max_length=4096)]
ONE = "/models/{ref}/versions/{version}"


@routes.route("GET", "/models", scope="models:read", answers={200: "ModelPage"}, by=By.ANY)
async def list_models(request: Request, q: Annotated[str, Query(max_length=200)] = "") -> Response:
    """List saved models."""
    return Json(await platform(request).models(who(request), q))


@routes.route("GET", "/models/{ref}", scope="models:read", answers={200: "ModelDetail"}, by=By.ANY)
async def get_model(request: Request, ref: str) -> Response:
    """Show a model with its versions; `ref` is its id or name."""
    return Json(await platform(request).model(ref, who(request)))


@routes.route("GET", ONE + "/files", scope="models:read", answers={200: "Files"}, by=By.ANY)
async def list_model_files(request: Request, ref: str, version: Version, path: FilePath = "") -> Response:
    """List a folder of a version."""
    _, root = await platform(request).model_files(ref, version, who(request))
    async with looking(request):
        return Json(await asyncio.to_thread(list_files, root, path))


@routes.route("GET", ONE + "/files/content", scope="models:read", answers={200: "application/octet-stream"}, by=By.ANY)
async def get_model_file(request: Request, ref: str, version: Version, path: FilePath) -> Response:
    """Download one file of a version."""
    _, root = await platform(request).model_files(ref, version, who(request))
    return await send_file(request, root, path)


@routes.route("GET", ONE + "/download", scope="models:read", answers={200: "application/zip"}, by=By.ANY)
async def download_model(request: Request, ref: str, version: Version) -> Response:
    """Download a whole version as one archive."""
    name, root = await platform(request).model_files(ref, version, who(request))
    return await send_stream(request, lambda: zip_tree(root), "application/zip", f"{name}-{version}.zip")
