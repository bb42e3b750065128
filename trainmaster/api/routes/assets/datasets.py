"""Data sets: trees of files under a name, with versions, which jobs are given to read."""

import asyncio
from functools import partial
from typing import Annotated, Literal

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import looking, who
from trainmaster.api.deps import Json, paged, platform
from trainmaster.api.downloads import send_file, send_stream
from trainmaster.api.policy import By, Table
from trainmaster.api.routes.assets.listing import ShareableAssets, favorites
from trainmaster.api.routes.jobs import Shared
from trainmaster.core.states import JobShare
from trainmaster.storage.datasets.listing import MAX_ENTRIES
from trainmaster.storage.trees import list_files, tar_tree, zip_tree

routes = Table("datasets")

Version = Annotated[int, Path(ge=1, le=2**31)]
FilePath = Annotated[str, Query(max_length=4096)]
Short = Annotated[str, Field(max_length=200)]
ONE = "/datasets/{ref}/versions/{version}"


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DatasetChange(_Body):
    """What a data set is."""

    description: Annotated[str, Field(max_length=4000)]


@routes.route("GET", "/datasets", scope="datasets:read", answers={200: "DatasetPage"}, by=By.ANY)
async def list_datasets(request: Request, wanted: Annotated[ShareableAssets, Query()]) -> Response:
    """List data sets, what was changed last first: one's own and what is shared. Each word of `q` is looked for in
    name, description, owner and id. `favorite`: only the caller's favorites; `shared`: only
    what others share with the members of their workspace.
    """
    me = who(request)
    page = partial(platform(request).datasets.page, me, wanted.of(me), wanted.limit)
    return await paged(request, "datasets", wanted.cursor, page)


@routes.route("GET", "/datasets/{ref}", scope="datasets:read", answers={200: "DatasetDetail"}, by=By.ANY)
async def get_dataset(request: Request, ref: str) -> Response:
    """Show a data set with its versions; `ref` is an id, a unique beginning of one (4 or more characters), or a
    name.
    """
    return Json(await platform(request).datasets.detail(ref, who(request)))


@routes.route("PATCH", "/datasets/{ref}", scope="datasets:write", answers={200: "DatasetDetail"})
async def describe_dataset(request: Request, ref: str, body: DatasetChange) -> Response:
    """Say what a data set is."""
    return Json(await platform(request).datasets.describe(ref, who(request), body.description))


@routes.route("PUT", "/datasets/{ref}/share", scope="datasets:share", answers={200: "DatasetDetail"}, body_limit=1024)
async def share_dataset(request: Request, ref: str, body: Shared) -> Response:
    """Share a data set with the other members of its workspace: to read (look at it, give it to jobs), read-write
    (upload versions and delete it, too), or none.
    """
    return Json(await platform(request).datasets.share(ref, who(request), JobShare(body.share)))


@routes.route("DELETE", "/datasets/{ref}", scope="datasets:write", answers={204: ""})
async def delete_dataset(request: Request, ref: str) -> Response:
    """Put a data set with all its versions into the bin. Refused while a job that has not ended needs one."""
    await platform(request).datasets.delete(ref, who(request))
    return Response(status_code=204)


@routes.route("DELETE", ONE, scope="datasets:write", answers={204: ""})
async def delete_dataset_version(request: Request, ref: str, version: Version) -> Response:
    """Put one version into the bin; its number is never given again. Refused while a job that has not ended has it."""
    await platform(request).datasets.delete_version(ref, version, who(request))
    return Response(status_code=204)


@routes.route("GET", ONE + "/files", scope="datasets:read", answers={200: "Files"}, by=By.ANY)
async def list_dataset_files(request: Request, ref: str, version: Version, path: FilePath = "") -> Response:
    """List a folder of a version."""
    _, root = await platform(request).datasets.files(ref, version, who(request))
    async with looking(request):
        return Json(await asyncio.to_thread(list_files, root, path))


@routes.route(
    "GET",
    ONE + "/files/content",
    scope="datasets:read",
    answers={200: "application/octet-stream", 206: "application/octet-stream"},
    by=By.ANY,
)
async def get_dataset_file(request: Request, ref: str, version: Version, path: FilePath) -> Response:
    """Download one file of a version, or with Range a part of it."""
    _, root = await platform(request).datasets.files(ref, version, who(request))
    return await send_file(request, root, path)


@routes.route(
    "GET",
    ONE + "/download",
    scope="datasets:read",
    answers={200: "application/zip or application/x-tar"},
    by=By.ANY,
)
async def download_dataset(
    request: Request,
    ref: str,
    version: Version,
    format: Annotated[Literal["zip", "tar"], Query()] = "zip",
) -> Response:
    """Download a whole version as one archive. Only a tar has links, and which files can be executed."""
    name, root = await platform(request).datasets.files(ref, version, who(request))
    kind = "application/zip" if format == "zip" else "application/x-tar"
    made = zip_tree if format == "zip" else tar_tree
    return await send_stream(request, lambda: made(root), kind, f"{name}-{version}.{format}")


@routes.route("GET", ONE + "/tree", scope="datasets:read", answers={200: "DatasetTree"}, by=By.ANY)
async def get_dataset_tree(request: Request, ref: str, version: Version) -> Response:
    """List everything in a version, each file with its size and sha256."""
    async with looking(request):
        return Json(await platform(request).datasets.tree(ref, version, who(request)))


@routes.route("GET", ONE + "/contents", scope="datasets:read", answers={200: "application/octet-stream"}, by=By.ANY)
async def get_dataset_contents(
    request: Request,
    ref: str,
    version: Version,
    first: Annotated[int, Query(ge=0, le=MAX_ENTRIES)] = 0,
    count: Annotated[int, Query(ge=1, le=MAX_ENTRIES)] = MAX_ENTRIES,
) -> Response:
    """Download small contents of a version (at most `small_bytes` of its tree), each once, from number `first` on (0
    is the first): of each the 32 bytes of its sha256, its length in 4 bytes (big endian), and its bytes.
    """
    found = await platform(request).datasets.small(ref, version, who(request), first, count)
    return await send_stream(request, lambda: found, "application/octet-stream", "contents")


favorites(
    routes, "dataset", "a data set", "DatasetDetail", lambda to, ref, me, wanted: to.datasets.favor(ref, me, wanted)
)
