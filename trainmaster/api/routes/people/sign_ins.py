"""Signing in through a provider, and which account is whose there. The browser is sent away and comes back to a page of
the console, which asks here; nothing is a redirect of this server's.
"""

from typing import Annotated

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Json, platform
from trainmaster.api.policy import By, Table
from trainmaster.api.routes.people.accounts import UserName
from trainmaster.api.routes.pools import Body
from trainmaster.api.routes.session import came_from, signed_in
from trainmaster.service.people.flows import LONGEST
from trainmaster.service.people.provider import ComesBack

routes = Table("session")

Told = Annotated[str, Field(min_length=1, max_length=4096)]


class BackBody(Body):
    """What the provider sent the browser back with, and the `flow` that the page kept. `iss`: where the provider says
    it; `invitation`: the secret of one, for who has no account yet.
    """

    code: Told
    state: Told
    flow: Annotated[str, Field(min_length=1, max_length=LONGEST)]
    iss: Annotated[str, Field(max_length=2000)] = ""
    invitation: Annotated[str | None, Field(max_length=200)] = None


class SubjectBody(Body):
    """`subject`: how the provider calls the person, in the claim `sub`."""

    subject: Annotated[str, Field(min_length=1, max_length=255)]


@routes.route("GET", "/session/ways", scope=None, answers={200: "SignInWays"}, by=By.ANY)
async def sign_in_ways(request: Request) -> Response:
    """Say how one can sign in here."""
    return Json(await platform(request).sign_ins.ways())


@routes.route("POST", "/session/provider", scope=None, answers={201: "BegunSignIn"}, body_limit=1024)
async def begin_sign_in(request: Request) -> Response:
    """Begin to sign in through the provider: say where the browser goes, and what its page keeps meanwhile."""
    return Json(await platform(request).sign_ins.begin(came_from(request)), status_code=201)


@routes.route("POST", "/session/provider/back", scope=None, answers={201: "NewSession"}, body_limit=32 * 1024)
async def complete_sign_in(request: Request, body: BackBody) -> Response:
    """Complete a sign-in with what the provider sent the browser back with; the answer is like that to a password."""
    back = ComesBack(body.code, body.state, body.iss)
    made = await platform(request).sign_ins.complete(body.flow, back, came_from(request), body.invitation)
    return await signed_in(request, made, 201)


@routes.route("GET", "/users/{user}/identity", scope="people:read", answers={200: "Identity"}, by=By.ANY)
async def get_identity(request: Request, user: UserName) -> Response:
    """Show as whom the sign-in provider knows an account."""
    return Json(await platform(request).sign_ins.identity(user, who(request)))


@routes.route("PUT", "/users/{user}/identity", scope="people:write", answers={200: "Identity"}, body_limit=4096)
async def link_identity(request: Request, user: UserName, body: SubjectBody) -> Response:
    """Link an account to somebody at the sign-in provider; a one-time password of it opens nothing any more."""
    return Json(await platform(request).sign_ins.link(user, body.subject, who(request)))


@routes.route("DELETE", "/users/{user}/identity", scope="people:write", answers={204: ""})
async def unlink_identity(request: Request, user: UserName) -> Response:
    """Unlink an account; its sessions end."""
    await platform(request).sign_ins.unlink(user, who(request))
    return Response(status_code=204)
