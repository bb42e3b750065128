"""Uploads of data sets: a list of files first, then the contents that the server lacks, then the commit.

Bodies go to the disk as they come, in worker threads; only a list and a batch of small contents are in memory.
"""

from typing import TYPE_CHECKING, Final

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who, working
from trainmaster.api.deps import Json, platform, read_object
from trainmaster.api.policy import Schema, Table
from trainmaster.api.problems import validation_error
from trainmaster.core.formats.frames import BATCH, HEAD, SMALL
from trainmaster.core.states import JobShare
from trainmaster.service.use_cases.assets.dataset_uploads import WantedUpload

if TYPE_CHECKING:
    from trainmaster.api.takes import DatasetUploadBody

routes = Table("datasets")

LIST_LIMIT: Final = 64 << 20
LIST_VALUES: Final = 4_000_000
BATCH_LIMIT: Final = BATCH + SMALL + HEAD.size + (1 << 20)
PIECE_LIMIT: Final = 1 << 30
_BLOCK: Final = 1 << 20
_OFFSET: Final[Schema] = {
    "name": "offset",
    "in": "query",
    "required": False,
    "schema": {"type": "integer", "minimum": 0, "default": 0},
    "description": "From which byte on; what the server has of it already must end there.",
}


@routes.route(
    "POST",
    "/datasets/uploads",
    scope="datasets:write",
    raw=True,
    answers={201: "DatasetUpload"},
    takes="DatasetUploadBody",
    body_limit=LIST_LIMIT,
)
async def begin_dataset_upload(request: Request) -> Response:
    """Begin the upload of a version of a data set: say which files it has; the answer says which contents the server
    lacks. The data set is made by it where there is none of this name.
    """
    body = _read(await read_object(request, LIST_VALUES))
    wanted = WantedUpload(body.name, body.files, body.workspace, body.description, JobShare(body.share))
    async with working(request):
        return Json(await platform(request).dataset_uploads.begin(who(request), wanted), status_code=201)


def _read(raw: object) -> "DatasetUploadBody":
    from trainmaster.api.takes import DatasetUploadBody  # noqa: PLC0415 - pydantic's models are made when asked for

    try:
        return DatasetUploadBody.model_validate(raw)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False)
        placed = [{**one, "loc": ("body", *one["loc"])} for one in found]
        raise validation_error(RequestValidationError(placed)) from None  # as a checked route answers


@routes.route("GET", "/datasets/uploads/{upload}", scope="datasets:write", raw=True, answers={200: "DatasetUpload"})
async def get_dataset_upload(request: Request) -> Response:
    """Say how far an upload is."""
    return Json(await platform(request).dataset_uploads.state(request.path_params["upload"], who(request)))


@routes.route(
    "POST",
    "/datasets/uploads/{upload}/contents",
    scope="datasets:write",
    raw=True,
    answers={200: "Received"},
    takes="application/octet-stream",
    body_limit=BATCH_LIMIT,
)
async def send_dataset_contents(request: Request) -> Response:
    """Send many small contents at once: of each the 32 bytes of its sha256, its length in 4 bytes (big endian), and its
    bytes. All of them are kept, or none.
    """
    body = await request.body()
    return Json(await platform(request).dataset_uploads.take(request.path_params["upload"], body, who(request)))


@routes.route(
    "PUT",
    "/datasets/uploads/{upload}/contents/{sha256}",
    scope="datasets:write",
    raw=True,
    answers={200: "Received"},
    takes="application/octet-stream",
    body_limit=PIECE_LIMIT,
    parameters=[_OFFSET],
)
async def send_dataset_piece(request: Request) -> Response:
    """Send a piece of one content, from where it ends on the server; what came before the line broke is kept."""
    id_, name = request.path_params["upload"], request.path_params["sha256"]
    given = request.query_params.get("offset", "0")
    if not (given.isascii() and given.isdigit() and len(given) < 17):
        wrong = {"type": "int_parsing", "loc": ("query", "offset"), "msg": "not a number", "input": given}
        raise validation_error(RequestValidationError([wrong]))
    async with platform(request).dataset_uploads.piece(id_, name, int(given), who(request)) as taken:
        waiting = bytearray()
        async for chunk in request.stream():
            waiting += chunk
            if len(waiting) >= _BLOCK:
                await taken.write(bytes(waiting))
                waiting.clear()
        if waiting:
            await taken.write(bytes(waiting))
        return Json(await taken.finish())


@routes.route(
    "POST",
    "/datasets/uploads/{upload}/commit",
    scope="datasets:write",
    raw=True,
    answers={201: "MadeVersion", 200: "MadeVersion"},
)
async def commit_dataset_upload(request: Request) -> Response:
    """Make a version of an upload of which everything is there. 200: it was made before."""
    async with working(request):
        made, now = await platform(request).dataset_uploads.commit(request.path_params["upload"], who(request))
    return Json(made, status_code=201 if now else 200)


@routes.route("DELETE", "/datasets/uploads/{upload}", scope="datasets:write", raw=True, answers={204: ""})
async def cancel_dataset_upload(request: Request) -> Response:
    """Remove an upload on its way."""
    await platform(request).dataset_uploads.cancel(request.path_params["upload"], who(request))
    return Response(status_code=204)
