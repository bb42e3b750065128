"""For machines that watch machines: alive, ready, measurements; and the published contract."""

from starlette.requests import Request
from starlette.responses import Response

from trainmaster.answers import Alive
from trainmaster.api import measurements
from trainmaster.api.deps import DocumentJson, Json, platform
from trainmaster.api.openapi import contract
from trainmaster.api.policy import PREFIX, By, Table

routes = Table("server", prefix="")


@routes.route("GET", "/healthz", scope=None, raw=True, answers={200: "Alive"}, by=By.ANY)
async def healthz(request: Request) -> Response:
    """Say that the process answers."""
    return Json(Alive(ok=True))


@routes.route("GET", "/readyz", scope=None, raw=True, answers={200: "Ready", 503: "Ready"}, by=By.ANY)
async def readyz(request: Request) -> Response:
    """Say whether the database can be written and the engine answers."""
    ready = await platform(request).ready()
    return Json(ready, status_code=200 if ready.ok else 503)


@routes.route("GET", "/metrics", scope="server:observe", raw=True, answers={200: "text/plain"}, by=By.ANY)
async def metrics(request: Request) -> Response:
    """Give the server's measurements as Prometheus text. Asks for a token on the server's own computer, too: there
    people's jobs run.
    """
    return Response(measurements.render(platform(request)), media_type=measurements.MEDIA_TYPE)


@routes.route(
    "GET", PREFIX + "/openapi.json", scope=None, raw=True, answers={200: "Document"}, in_schema=False, by=By.ANY
)
async def openapi(request: Request) -> Response:
    """Give the published contract of this API."""
    return DocumentJson(contract(request.app))
