"""Images: environments that are built once, and that jobs have by name."""

from functools import partial
from typing import Annotated, Literal

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Json, paged, platform
from trainmaster.api.policy import Table
from trainmaster.api.routes.assets.listing import ShareableAssets, favorites
from trainmaster.api.routes.jobs import Shared
from trainmaster.core.states import JobShare
from trainmaster.service.environments.definition import LOCK, PROJECT, REFERENCE, REQUIREMENTS, Definition
from trainmaster.service.use_cases.assets.images import WantedImage

routes = Table("images")

Short = Annotated[str, Field(max_length=200)]
Level = Literal["none", "read", "read-write"]
Words = Annotated[list[Short], Field(max_length=20)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ImageBody(_Body):
    """An image to make, of the text of a `requirements.txt` (`requirements`), or of a `pyproject.toml` (`pyproject`),
    of which the dependencies are taken, as its `uv.lock` says where there is one. `python`: such as 3.12, "": the
    server's. Or of the container image `container` (registry/path:tag, with or without @sha256:...), for whose registry
    `secret` names a secret of the workspace. Or of `base`, an image of the workspace (NAME or NAME@VERSION) which its
    sender may see. `code`: an upload (sha256:...) that becomes part of it: jobs with the image run that unless they
    bring code. `frameworks`, `cards`: what it is for, empty: anything, or what its base is for. Where there is an image
    of this name that its sender may change, it becomes a version of it.
    """

    name: Short
    workspace: Short = "default"
    description: Annotated[str, Field(max_length=4000)] = ""
    requirements: Annotated[str | None, Field(max_length=1 << 20)] = None
    pyproject: Annotated[str | None, Field(max_length=1 << 20)] = None
    uv_lock: Annotated[str | None, Field(max_length=3 << 20)] = None
    python: Annotated[str, Field(max_length=40)] = ""
    container: Annotated[str | None, Field(max_length=1000)] = None
    secret: Short = ""
    base: Short = ""
    code: Short = ""
    frameworks: Words = []
    cards: Words = []
    share: Level = "none"


class ImageChange(_Body):
    """What an image is for."""

    description: Annotated[str, Field(max_length=4000)]


@routes.route("GET", "/images", scope="images:read", answers={200: "ImagePage"})
async def list_images(request: Request, wanted: Annotated[ShareableAssets, Query()]) -> Response:
    """List images, what was changed last first: one's own and what is shared. Each word of `q` is looked for in name,
    description, owner and id. `favorite`: only the caller's favorites; `shared`: only
    what others share with the members of their workspace.
    """
    me = who(request)
    page = partial(platform(request).images.page, me, wanted.of(me), wanted.limit)
    return await paged(request, "images", wanted.cursor, page)


@routes.route("POST", "/images", scope="images:write", answers={202: "ImageBuild"})
async def create_image(request: Request, body: ImageBody) -> Response:
    """Begin to make an image, or a version of one: its packages are resolved, and installed where nothing can be
    reached but the package index; with code packed on it, where that is given. The answer is the build; the image is
    there when that is `ready`.
    """
    given = {REQUIREMENTS: body.requirements, PROJECT: body.pyproject, LOCK: body.uv_lock, REFERENCE: body.container}
    files = {name: text for name, text in given.items() if text is not None}
    wanted = WantedImage(
        body.name,
        Definition(files, body.python, body.secret, body.workspace, body.base, body.code),
        body.workspace,
        body.description,
        JobShare(body.share),
        tuple(body.frameworks),
        tuple(body.cards),
    )
    return Json(await platform(request).images.create(who(request), wanted), status_code=202)


@routes.route("GET", "/image-builds", scope="images:read", answers={200: "ImageBuilds"})
async def list_image_builds(request: Request) -> Response:
    """List builds that go on or have ended, newest first, without their logs: one's own, and those in a workspace that
    one administers.
    """
    return Json(await platform(request).images.builds(who(request)))


@routes.route("GET", "/image-builds/{ref}", scope="images:read", answers={200: "ImageBuild"})
async def get_image_build(request: Request, ref: str) -> Response:
    """Show a build: how far it is, why it failed, and the end of its log."""
    return Json(await platform(request).images.build(ref, who(request)))


@routes.route("DELETE", "/image-builds/{ref}", scope="images:write", answers={200: "ImageBuild"})
async def stop_image_build(request: Request, ref: str) -> Response:
    """Stop a build; nothing of it is left."""
    return Json(await platform(request).images.stop_build(ref, who(request)))


@routes.route("GET", "/images/{ref}", scope="images:read", answers={200: "ImageDetail"})
async def get_image(
    request: Request, ref: str, version: Annotated[int | None, Query(ge=1, le=2**31)] = None
) -> Response:
    """Show an image with the packages of its last version, or of another; `ref` is an id, a unique beginning of one (4
    or more characters), or a name.
    """
    return Json(await platform(request).images.detail(ref, who(request), version))


@routes.route("PATCH", "/images/{ref}", scope="images:write", answers={200: "ImageDetail"})
async def describe_image(request: Request, ref: str, body: ImageChange) -> Response:
    """Say what an image is for."""
    return Json(await platform(request).images.describe(ref, who(request), body.description))


@routes.route("PUT", "/images/{ref}/share", scope="images:share", answers={200: "ImageDetail"}, body_limit=1024)
async def share_image(request: Request, ref: str, body: Shared) -> Response:
    """Share an image with the other members of its workspace: to read (look at it, have it in jobs), read-write (add
    versions and delete it, too), or none.
    """
    return Json(await platform(request).images.share(ref, who(request), JobShare(body.share)))


@routes.route("DELETE", "/images/{ref}", scope="images:write", answers={204: ""})
async def delete_image(request: Request, ref: str) -> Response:
    """Put an image with its versions into the bin; refused while jobs that have not ended have it."""
    await platform(request).images.delete(ref, who(request))
    return Response(status_code=204)


@routes.route("DELETE", "/images/{ref}/versions/{version}", scope="images:write", answers={204: ""})
async def delete_image_version(request: Request, ref: str, version: Annotated[int, Path(ge=1, le=2**31)]) -> Response:
    """Put one version into the bin, with the only one the image; its number is never given again. Refused while jobs
    that have not ended have it.
    """
    await platform(request).images.delete_version(ref, version, who(request))
    return Response(status_code=204)


favorites(routes, "image", "an image", "ImageDetail", lambda to, ref, me, wanted: to.images.favor(ref, me, wanted))
