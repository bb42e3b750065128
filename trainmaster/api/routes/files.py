"""What a job wrote: its /model and /workspace/outputs, while it runs and after, as the folders `model` and
`outputs`.
"""

import asyncio
from typing import Annotated

from fastapi import Query
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.answers import File, Files
from trainmaster.api.auth import looking, who
from trainmaster.api.deps import Json, platform
from trainmaster.api.downloads import send_file, send_stream
from trainmaster.api.policy import By, Table
from trainmaster.core.errors import NotFound
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.server import requests
from trainmaster.storage.trees import list_files, zip_tree

routes = Table("files")

FilePath = Annotated[str, Query(max_length=4096)]


def _split(layout: Layout, job: str, path: str) -> tuple[str, str, str]:
    """Return (name of the top folder, where it lies, path beneath). Raises NotFound."""
    top, _, rest = path.strip("/").partition("/")
    roots = {"model": layout.model_out(job), "outputs": layout.outputs(job)}
    if top not in roots:
        raise NotFound(requests.no_such_folder(repr(path), ("model", "outputs")))
    return top, roots[top], rest


def _listed(layout: Layout, job: str, path: str) -> Files:
    if not path.strip("/"):
        tops = (("model", layout.model_out(job)), ("outputs", layout.outputs(job)))
        return Files(path="", items=[_top(name, root) for name, root in tops])
    top, root, rest = _split(layout, job, path)
    found = list_files(root, rest)
    items = [replace(item, path=f"{top}/{item.path}") for item in found.items]
    return Files(path=f"{top}/{found.path}".rstrip("/"), items=items)


def _top(name: str, root: str) -> File:
    items = list_files(root).items
    changed = max((item.modified_at for item in items if item.modified_at is not None), default=None)
    return File(name=name, path=name, kind="folder", size=len(items), modified_at=changed)


@routes.route("GET", "/jobs/{ref}/files", scope="jobs:read", answers={200: "Files"}, by=By.ANY)
async def list_job_files(request: Request, ref: str, path: FilePath = "") -> Response:
    """List a folder of what the job wrote."""
    app = platform(request)
    job = await app.resolve(ref, who(request))
    async with looking(request):
        return Json(await asyncio.to_thread(_listed, app.layout, job.id, path))


@routes.route(
    "GET",
    "/jobs/{ref}/files/content",
    scope="jobs:read",
    answers={200: "application/octet-stream", 206: "application/octet-stream"},
    by=By.ANY,
)
async def get_job_file(request: Request, ref: str, path: FilePath) -> Response:
    """Download one file that the job wrote, or with Range a part of it."""
    app = platform(request)
    job = await app.resolve(ref, who(request))
    _, root, rest = _split(app.layout, job.id, path)
    return await send_file(request, root, rest)


@routes.route("GET", "/jobs/{ref}/files/download", scope="jobs:read", answers={200: "application/zip"}, by=By.ANY)
async def download_job_files(request: Request, ref: str, path: FilePath) -> Response:
    """Download a folder that the job wrote as one archive."""
    app = platform(request)
    job = await app.resolve(ref, who(request))
    top, root, rest = _split(app.layout, job.id, path)
    name = f"{job.name}-{job.id[:9]}-{rest.rpartition('/')[2] or top}.zip"
    return await send_stream(request, lambda: zip_tree(root, rest), "application/zip", name)
