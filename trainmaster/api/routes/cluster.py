"""Nodes, queue, and what forms need to know: names of states, frameworks, limits, schemas."""

from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api import reference
from trainmaster.api.auth import who
from trainmaster.api.deps import DocumentJson, Json, platform
from trainmaster.api.policy import By, Table

routes = Table("cluster")


@routes.route("GET", "/cluster", scope="cluster:read", answers={200: "Cluster"})
async def get_cluster(request: Request) -> Response:
    """Show nodes, cards, who uses them, and the queue."""
    return Json(await platform(request).cluster(who(request)))


@routes.route("GET", "/meta", scope="meta:read", answers={200: "Meta"}, by=By.ANY)
async def get_meta(request: Request) -> Response:
    """Give names in both languages, frameworks, limits and defaults, for forms."""
    return Json(reference.meta(platform(request).config))


@routes.route("GET", "/schema/job", scope="meta:read", answers={200: "Document"}, by=By.ANY)
async def get_job_schema(request: Request) -> Response:
    """Give the JSON Schema of the native job spec."""
    return DocumentJson(reference.job_schema())


@routes.route("GET", "/schema/pai", scope="meta:read", answers={200: "Document"}, by=By.ANY)
async def get_pai_schema(request: Request) -> Response:
    """Give the JSON Schema of the OpenPAI v1 job document."""
    return DocumentJson(reference.pai_schema())
