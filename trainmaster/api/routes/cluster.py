"""Nodes, queue, and what forms need to know: names of states, frameworks, limits, schemas."""

from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api import reference
from trainmaster.api.auth import who
from trainmaster.api.deps import DocumentJson, Json, platform
from trainmaster.api.policy import By, Table
from trainmaster.api.routes.pools import Body, Node
from trainmaster.service.use_cases.cluster_use import Window

routes = Table("cluster")


@routes.route("GET", "/cluster", scope="cluster:read", answers={200: "Cluster"})
async def get_cluster(request: Request) -> Response:
    """Show nodes, GPUs, who uses them, and the queue."""
    return Json(await platform(request).cluster(who(request)))


@routes.route("GET", "/cluster/nodes/{name}", scope="cluster:read", answers={200: "Node"})
async def get_node_use(request: Request, name: Node) -> Response:
    """Show one node with its GPUs and who uses what of it."""
    return Json(await platform(request).node_use(name, who(request)))


@routes.route("GET", "/cluster/use", scope="cluster:read", answers={200: "ClusterUse"})
async def get_use(request: Request, pool: Annotated[str, Query(max_length=63)] = "") -> Response:
    """Say who uses what: sums by person and by workspace, of a pool or of all."""
    return Json(platform(request).uses.use(who(request), pool))


@routes.route("GET", "/cluster/past", scope="cluster:read", answers={200: "ClusterPast"})
async def get_past(
    request: Request, window: Window = "day", pool: Annotated[str, Query(max_length=63)] = ""
) -> Response:
    """Show how many GPUs and cores were held over the last day or week, of a pool or of all."""
    return Json(await platform(request).uses.past(who(request), window, pool))


class PrivacyBody(Body):
    """What people are told of one another from now on."""

    owners_told: bool


@routes.route("GET", "/cluster/privacy", scope="cluster:read", answers={200: "Privacy"})
async def get_privacy(request: Request) -> Response:
    """Say whether people are told whose the jobs are that they may not see."""
    return Json(platform(request).privacy.look(who(request)))


@routes.route("PUT", "/cluster/privacy", scope="cluster:write", answers={200: "Privacy"}, body_limit=1024)
async def set_privacy(request: Request, body: PrivacyBody) -> Response:
    """Tell people whose the jobs are that they may not see, or hide it from all but administrators."""
    return Json(await platform(request).privacy.change(body.owners_told, who(request)))


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
