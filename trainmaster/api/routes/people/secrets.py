"""Secrets of a workspace: names are told to its members, values to nobody."""

from typing import Annotated

from fastapi import Path
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Json, platform
from trainmaster.api.policy import Table
from trainmaster.api.routes.pools import Body, Name
from trainmaster.service.use_cases.people.secrets import LARGEST

routes = Table("workspaces")

SecretName = Annotated[str, Path(max_length=300)]


class SecretBody(Body):
    """`value`: 4 characters to 64 KiB of text. It replaces the one that is there."""

    value: Annotated[str, Field(max_length=LARGEST + 1)]


@routes.route("GET", "/workspaces/{workspace}/secrets", scope="secrets:use", answers={200: "Secrets"})
async def list_secrets(request: Request, workspace: Name) -> Response:
    """List the secrets of a workspace, without values."""
    return Json(await platform(request).secrets.of(workspace, who(request)))


@routes.route(
    "PUT",
    "/workspaces/{workspace}/secrets/{secret}",
    scope="secrets:write",
    answers={200: "Secret"},
    body_limit=512 * 1024,
)
async def put_secret(request: Request, workspace: Name, secret: SecretName, body: SecretBody) -> Response:
    """Set a secret of a workspace; its value is answered by nothing."""
    return Json(await platform(request).secrets.put(workspace, secret, body.value, who(request)))


@routes.route("DELETE", "/workspaces/{workspace}/secrets/{secret}", scope="secrets:write", answers={204: ""})
async def delete_secret(request: Request, workspace: Name, secret: SecretName) -> Response:
    """Delete a secret; queued jobs that name it will fail."""
    await platform(request).secrets.drop(workspace, secret, who(request))
    return Response(status_code=204)
