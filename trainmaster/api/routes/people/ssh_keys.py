"""Public keys of SSH, of who asks."""

from typing import Annotated

from fastapi import Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Json, platform
from trainmaster.api.policy import By, Table
from trainmaster.api.routes.pools import Body
from trainmaster.service.people.public_keys import LONGEST

routes = Table("session")


class SshKeyBody(Body):
    """`key`: one line of type, key and comment, as in a file that ends in .pub."""

    key: Annotated[str, Field(min_length=1, max_length=LONGEST)]


@routes.route("GET", "/ssh-keys", scope="account:self", answers={200: "SshKeys"}, by=By.ANY)
async def list_ssh_keys(request: Request) -> Response:
    """List your public keys, newest first."""
    return Json(await platform(request).public_keys.of(who(request)))


@routes.route("POST", "/ssh-keys", scope="account:self", answers={201: "SshKey"}, body_limit=64 * 1024)
async def add_ssh_key(request: Request, body: SshKeyBody) -> Response:
    """Add a public key."""
    return Json(await platform(request).public_keys.add(body.key, who(request)), status_code=201)


@routes.route("DELETE", "/ssh-keys", scope="account:self", answers={204: ""})
async def delete_ssh_key(request: Request, fingerprint: Annotated[str, Query(max_length=100)]) -> Response:
    """Delete a public key."""
    await platform(request).public_keys.delete(fingerprint, who(request))
    return Response(status_code=204)
