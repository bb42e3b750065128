"""Storage connections of a workspace: where they go is told to its members, their keys to nobody."""

from typing import Annotated

from fastapi import Path
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Json, platform
from trainmaster.api.policy import Table
from trainmaster.api.routes.pools import Body, Name
from trainmaster.storage.objects.bucket import StoreTarget

routes = Table("workspaces")

ConnectionName = Annotated[str, Path(max_length=300)]
Line = Annotated[str, Field(max_length=1024)]


class ConnectionBody(Body):
    """`endpoint`: scheme, name and port of an S3 service. `prefix`: below which everything is, "": the whole bucket.
    It replaces the connection of this name, keys included.
    """

    endpoint: Line
    region: Line = ""
    bucket: Line
    prefix: Line = ""
    key_id: Line
    secret: Line


@routes.route("GET", "/workspaces/{workspace}/storage", scope="secrets:use", answers={200: "Connections"})
async def list_connections(request: Request, workspace: Name) -> Response:
    """List the storage connections of a workspace, without keys."""
    return Json(await platform(request).storage.of(workspace, who(request)))


@routes.route("PUT", "/workspaces/{workspace}/storage/{connection}", scope="secrets:write", answers={200: "Connection"})
async def put_connection(
    request: Request, workspace: Name, connection: ConnectionName, body: ConnectionBody
) -> Response:
    """Keep a storage connection of a workspace; its keys are answered by nothing."""
    prefix = body.prefix.strip("/")
    target = StoreTarget(body.endpoint.rstrip("/"), body.region, body.bucket, prefix, body.key_id, body.secret)
    return Json(await platform(request).storage.put(workspace, connection, target, who(request)))


@routes.route(
    "POST",
    "/workspaces/{workspace}/storage/{connection}/check",
    scope="secrets:use",
    answers={200: "ConnectionCheck"},
)
async def check_connection(request: Request, workspace: Name, connection: ConnectionName) -> Response:
    """Look whether a storage connection works: list, write a probe below its prefix, read and delete it."""
    return Json(await platform(request).storage.check(workspace, connection, who(request)))


@routes.route("DELETE", "/workspaces/{workspace}/storage/{connection}", scope="secrets:write", answers={204: ""})
async def delete_connection(request: Request, workspace: Name, connection: ConnectionName) -> Response:
    """Delete a storage connection; queued jobs that name it will fail."""
    await platform(request).storage.drop(workspace, connection, who(request))
    return Response(status_code=204)
