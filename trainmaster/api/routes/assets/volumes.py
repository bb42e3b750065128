"""Volumes: folders under a name, which jobs mount to read or to write (R52, R145, R245).

The bytes of a file go to the disk as they come, never into memory.
"""

import asyncio
from functools import partial
from typing import Annotated, Any, Final, Literal

from fastapi import Query
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
from trainmaster.storage.trees import list_files, zip_tree

routes = Table("volumes")

FilePath = Annotated[str, Query(max_length=4096)]
Short = Annotated[str, Field(max_length=200)]
ONE: Final = "/volumes/{ref}"
_BLOCK: Final = 1 << 20


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NewVolume(_Body):
    """A volume to be made; `workspace` null: the one that a job of one's own would be in."""

    name: Annotated[str, Field(max_length=200)]
    workspace: Annotated[str | None, Field(max_length=200)] = None
    description: Annotated[str, Field(max_length=4000)] = ""
    share: Literal["none", "read", "read-write"] = "none"


class VolumeChange(_Body):
    """What is to be another; null: as it is."""

    name: Annotated[str | None, Field(max_length=200)] = None
    description: Annotated[str | None, Field(max_length=4000)] = None


class NewFolder(_Body):
    """A folder to be made, by its path in the volume."""

    path: Annotated[str, Field(max_length=4096)]


class Move(_Body):
    """What is at `path` is to be at `to`."""

    path: Annotated[str, Field(max_length=4096)]
    to: Annotated[str, Field(max_length=4096)]


def _limit(app: Any) -> int:
    """Return the gate's limit: above the use case's own, so that its words are the ones that are heard."""
    limit: int = app.config.limits.dataset_mib
    return (limit << 20) + _BLOCK


@routes.route("GET", "/volumes", scope="volumes:read", answers={200: "VolumePage"}, by=By.ANY)
async def list_volumes(request: Request, wanted: Annotated[ShareableAssets, Query()]) -> Response:
    """List volumes, what was changed last first: one's own and what is shared. Each word of `q` is looked for in name,
    description, owner and id. `favorite`: only the caller's favorites; `shared`: only
    what others share with the members of their workspace.
    """
    me = who(request)
    page = partial(platform(request).volumes.page, me, wanted.of(me), wanted.limit)
    return await paged(request, "volumes", wanted.cursor, page)


@routes.route("POST", "/volumes", scope="volumes:write", answers={201: "VolumeDetail"})
async def create_volume(request: Request, body: NewVolume) -> Response:
    """Make a volume, with nothing in it."""
    made = await platform(request).volumes.create(
        who(request), body.name, body.workspace, body.description, JobShare(body.share)
    )
    return Json(made, status_code=201)


@routes.route("GET", ONE, scope="volumes:read", answers={200: "VolumeDetail"}, by=By.LEADER_FIRST)
async def get_volume(request: Request, ref: str) -> Response:
    """Show a volume and the jobs that mount it; `ref` is an id, a unique beginning of one (4 or more characters), or a
    name.
    """
    return Json(await platform(request).volumes.detail(ref, who(request)))


@routes.route("PATCH", ONE, scope="volumes:write", answers={200: "VolumeDetail"})
async def change_volume(request: Request, ref: str, body: VolumeChange) -> Response:
    """Name a volume otherwise, or say what it is for. Another name is refused while a job that has not ended mounts
    it.
    """
    return Json(await platform(request).volumes.change(ref, who(request), body.name, body.description))


@routes.route("PUT", ONE + "/share", scope="volumes:share", answers={200: "VolumeDetail"}, body_limit=1024)
async def share_volume(request: Request, ref: str, body: Shared) -> Response:
    """Share a volume with the other members of its workspace: to read (look at it, give it to jobs that read it),
    read-write (change files and delete it, give it to jobs that write to it, too), or none.
    """
    return Json(await platform(request).volumes.share(ref, who(request), JobShare(body.share)))


@routes.route("DELETE", ONE, scope="volumes:write", answers={204: ""})
async def delete_volume(request: Request, ref: str) -> Response:
    """Put a volume with all that is in it into the bin. Refused while a job that has not ended mounts it."""
    await platform(request).volumes.delete(ref, who(request))
    return Response(status_code=204)


@routes.route("GET", ONE + "/files", scope="volumes:read", answers={200: "Files"}, by=By.ANY)
async def list_volume_files(request: Request, ref: str, path: FilePath = "") -> Response:
    """List a folder of a volume."""
    _, root = await platform(request).volume_files.root(ref, who(request))
    async with looking(request):
        return Json(await asyncio.to_thread(list_files, root, path))


@routes.route(
    "GET",
    ONE + "/files/content",
    scope="volumes:read",
    answers={200: "application/octet-stream", 206: "application/octet-stream"},
    by=By.ANY,
)
async def get_volume_file(request: Request, ref: str, path: FilePath) -> Response:
    """Download one file of a volume, or with Range a part of it."""
    _, root = await platform(request).volume_files.root(ref, who(request))
    return await send_file(request, root, path)


@routes.route("GET", ONE + "/files/download", scope="volumes:read", answers={200: "application/zip"}, by=By.ANY)
async def download_volume(request: Request, ref: str, path: FilePath = "") -> Response:
    """Download a folder of a volume, or all of it, as a zip archive. Links are left out."""
    name, root = await platform(request).volume_files.root(ref, who(request))
    title = path.rstrip("/").rpartition("/")[2] or name
    return await send_stream(request, lambda: zip_tree(root, path), "application/zip", f"{title}.zip")


@routes.route(
    "PUT",
    ONE + "/files/content",
    scope="volumes:write",
    answers={200: "File"},
    takes="application/octet-stream",
    body_limit=_limit,
)
async def put_volume_file(
    request: Request, ref: str, path: FilePath, executable: Annotated[bool, Query()] = False
) -> Response:
    """Store a file in a volume, in place of the one at `path` if there is one, with the folders on the way. It is there
    when all of it came, and not before: a request that breaks off changes nothing.
    """
    given = request.headers.get("content-length", "")
    size = int(given) if given.isascii() and given.isdigit() else None
    async with platform(request).volume_files.arriving(ref, who(request), path, size, executable) as taken:
        waiting = bytearray()
        async for chunk in request.stream():
            waiting += chunk
            if len(waiting) >= _BLOCK:
                await taken.write(bytes(waiting))
                waiting.clear()
        if waiting:
            await taken.write(bytes(waiting))
        return Json(await taken.finish())


@routes.route("DELETE", ONE + "/files", scope="volumes:write", answers={204: ""})
async def delete_volume_files(request: Request, ref: str, path: FilePath) -> Response:
    """Delete a file of a volume, or a folder with all that is in it."""
    await platform(request).volume_files.delete(ref, who(request), path)
    return Response(status_code=204)


@routes.route("POST", ONE + "/folders", scope="volumes:write", answers={204: ""})
async def make_volume_folder(request: Request, ref: str, body: NewFolder) -> Response:
    """Make a folder in a volume, with those on the way."""
    await platform(request).volume_files.make_folder(ref, who(request), body.path)
    return Response(status_code=204)


@routes.route("POST", ONE + "/moves", scope="volumes:write", answers={204: ""})
async def move_volume_files(request: Request, ref: str, body: Move) -> Response:
    """Give a file or folder of a volume another name or place, where nothing is yet."""
    await platform(request).volume_files.move(ref, who(request), body.path, body.to)
    return Response(status_code=204)


favorites(routes, "volume", "a volume", "VolumeDetail", lambda to, ref, me, wanted: to.volumes.favor(ref, me, wanted))
