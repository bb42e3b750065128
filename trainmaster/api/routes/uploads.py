"""Receiving code folders. The body goes to disk as it comes, never into memory."""

from typing import TYPE_CHECKING, Any, Final

from starlette.requests import Request
from starlette.responses import Response

from trainmaster.answers import Upload
from trainmaster.api.deps import Json, platform
from trainmaster.api.policy import Table
from trainmaster.storage.uploads import receive

if TYPE_CHECKING:
    from trainmaster.service.platform import Platform

routes = Table("uploads")

_SPARE: Final = 2**20


def _limit(app: "Platform") -> int:
    """Return the gate's limit: above the receiver's own, so that its words about the remedy are the ones that are
    heard.
    """
    return app.config.limits.max_upload_mib * 2**20 + _SPARE


@routes.route(
    "POST",
    "/uploads",
    scope="uploads:write",
    raw=True,
    answers={201: "Upload"},
    takes="application/gzip",
    body_limit=_limit,
)
async def upload(request: Request) -> Response:
    """Upload a code folder as tar.gz; the same content gives the same name. Nothing is taken while a disk is nearly
    full.
    """
    app: Any = platform(request)
    await app.demand_room()
    stored = await receive(request.stream(), app.layout, app.config.limits.max_upload_mib)
    made = Upload(upload=f"sha256:{stored.digest}", files=stored.files, size_bytes=stored.size_bytes)
    return Json(made, status_code=201)
