"""Algorithms: programs under a name, with versions, and with what may be set of them; jobs run them."""

from functools import partial
from typing import Annotated, Literal

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Json, paged, platform
from trainmaster.api.downloads import send_stream
from trainmaster.api.policy import By, Table
from trainmaster.api.routes.assets.listing import ShareableAssets, favorites
from trainmaster.api.routes.jobs import Shared
from trainmaster.core.states import JobShare
from trainmaster.service.use_cases.assets.algorithms import WantedAlgorithm
from trainmaster.spec.document import Given
from trainmaster.storage.trees import tar_tree, zip_tree

routes = Table("algorithms")

Version = Annotated[int, Path(ge=1, le=2**31)]
Short = Annotated[str, Field(max_length=200)]
Text = Annotated[str, Field(max_length=4000)]
ONE = "/algorithms/{ref}/versions/{version}"


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AlgorithmBody(_Body):
    """The next version of the algorithm `name`, as its document `spec` says it; its code is uploaded before. Of one
    that is made by it, `description` and `share` say more; `workspace`: where it is.
    """

    name: Short
    spec: Given
    workspace: Short | None = None
    description: Text = ""
    share: Literal["none", "read", "read-write"] = "none"


class AlgorithmChange(_Body):
    """What an algorithm does."""

    description: Text


@routes.route("GET", "/algorithms", scope="algorithms:read", answers={200: "AlgorithmPage"}, by=By.ANY)
async def list_algorithms(request: Request, wanted: Annotated[ShareableAssets, Query()]) -> Response:
    """List algorithms, what was changed last first: one's own and what is shared. Each word of `q` is looked for in
    name, description, owner and id. `favorite`: only the caller's favorites; `shared`: only
    what others share with the members of their workspace.
    """
    me = who(request)
    page = partial(platform(request).algorithms.page, me, wanted.of(me), wanted.limit)
    return await paged(request, "algorithms", wanted.cursor, page)


@routes.route("POST", "/algorithms", scope="algorithms:write", answers={201: "AlgorithmDetail"})
async def create_algorithm(request: Request, body: AlgorithmBody) -> Response:
    """Make the next version of an algorithm, which is created if there is none. Where its last version says the same,
    that is the answer.
    """
    share = JobShare(body.share)
    wanted = WantedAlgorithm(body.name, body.spec, body.workspace, body.description, share)
    return Json(await platform(request).algorithms.create(who(request), wanted), status_code=201)


@routes.route("GET", "/algorithms/{ref}", scope="algorithms:read", answers={200: "AlgorithmDetail"}, by=By.ANY)
async def get_algorithm(
    request: Request, ref: str, version: Annotated[int | None, Query(ge=1, le=2**31)] = None
) -> Response:
    """Show an algorithm with its versions and the document of the last one, or of `version`; `ref` is an id, a unique
    beginning of one (4 or more characters), or a name.
    """
    return Json(await platform(request).algorithms.detail(ref, who(request), version))


@routes.route("PATCH", "/algorithms/{ref}", scope="algorithms:write", answers={200: "AlgorithmDetail"})
async def describe_algorithm(request: Request, ref: str, body: AlgorithmChange) -> Response:
    """Say what an algorithm does."""
    return Json(await platform(request).algorithms.describe(ref, who(request), body.description))


@routes.route(
    "PUT", "/algorithms/{ref}/share", scope="algorithms:share", answers={200: "AlgorithmDetail"}, body_limit=1024
)
async def share_algorithm(request: Request, ref: str, body: Shared) -> Response:
    """Share an algorithm with the other members of its workspace: to read (look at it, run it), read-write (make
    versions and delete it, too), or none.
    """
    return Json(await platform(request).algorithms.share(ref, who(request), JobShare(body.share)))


@routes.route("DELETE", "/algorithms/{ref}", scope="algorithms:write", answers={204: ""})
async def delete_algorithm(request: Request, ref: str) -> Response:
    """Put an algorithm with all its versions into the bin; jobs that run one keep its code."""
    await platform(request).algorithms.delete(ref, who(request))
    return Response(status_code=204)


@routes.route("DELETE", ONE, scope="algorithms:write", answers={204: ""})
async def delete_algorithm_version(request: Request, ref: str, version: Version) -> Response:
    """Put one version into the bin; its number is never given again. Jobs that run it keep its code."""
    await platform(request).algorithms.delete_version(ref, version, who(request))
    return Response(status_code=204)


@routes.route(
    "GET",
    ONE + "/download",
    scope="algorithms:read",
    answers={200: "application/zip or application/x-tar"},
    by=By.ANY,
)
async def download_algorithm(
    request: Request, ref: str, version: Version, format: Annotated[Literal["zip", "tar"], Query()] = "zip"
) -> Response:
    """Download the code of a version as one archive. Only a tar has links, and which files can be executed."""
    name, root = await platform(request).algorithms.code(ref, version, who(request))
    kind = "application/zip" if format == "zip" else "application/x-tar"
    made = zip_tree if format == "zip" else tar_tree
    return await send_stream(request, lambda: made(root), kind, f"{name}-{version}.{format}")


favorites(
    routes,
    "algorithm",
    "an algorithm",
    "AlgorithmDetail",
    lambda to, ref, me, wanted: to.algorithms.favor(ref, me, wanted),
)
