"""Invitations into workspaces: made and revoked by who decides about members, used by who has the link. The secret of a
link is never part of an address: the page sends it in the body.
"""

from typing import Annotated

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Json, platform
from trainmaster.api.policy import By, Table
from trainmaster.api.routes.people.accounts import Role, UserName
from trainmaster.api.routes.pools import Body, Name
from trainmaster.api.routes.session import came_from, signed_in
from trainmaster.service.people.passwords import MAX_PASSWORD
from trainmaster.service.use_cases.people.invitations import Comer

routes = Table("people")

WEEK_S = 7 * 86400.0
Secret = Annotated[str, Field(min_length=1, max_length=200)]


class InvitationBody(Body):
    """An invitation to make: `role` in the workspace, and after how many seconds its link expires."""

    role: Role = "member"
    expires_in_s: float = WEEK_S


class InvitedBody(Body):
    """`secret`: what stands behind the # of an invitation's link."""

    secret: Secret


class ComerBody(InvitedBody):
    """The account that somebody who was invited wants to have."""

    name: UserName
    password: Annotated[str, Field(max_length=MAX_PASSWORD)]


@routes.route("GET", "/workspaces/{workspace}/invitations", scope="members:write", answers={200: "Invitations"})
async def list_invitations(request: Request, workspace: Name) -> Response:
    """List the invitations to a workspace, newest first; of those that are over, what came of them."""
    return Json(await platform(request).inviting.of(workspace, who(request)))


@routes.route(
    "POST",
    "/workspaces/{workspace}/invitations",
    scope="members:write",
    answers={201: "NewInvitation"},
    body_limit=16 * 1024,
)
async def make_invitation(request: Request, workspace: Name, body: InvitationBody) -> Response:
    """Invite somebody to a workspace; the link is shown in this answer and never again, and is good once."""
    made = await platform(request).inviting.make(workspace, body.role, body.expires_in_s, who(request))
    return Json(made, status_code=201)


@routes.route("DELETE", "/workspaces/{workspace}/invitations/{invitation}", scope="members:write", answers={204: ""})
async def revoke_invitation(request: Request, workspace: Name, invitation: str) -> Response:
    """Revoke an invitation: its link opens nothing any more."""
    await platform(request).inviting.revoke(workspace, invitation, who(request))
    return Response(status_code=204)


@routes.route("POST", "/invitations/look", scope=None, answers={200: "InvitationPage"}, body_limit=4096, by=By.LEADER)
async def look_at_invitation(request: Request, body: InvitedBody) -> Response:
    """Say what an invitation is to."""
    return Json(await platform(request).inviting.look(body.secret))


@routes.route("POST", "/invitations/join", scope="account:self", answers={200: "Member"}, body_limit=4096)
async def join_workspace(request: Request, body: InvitedBody) -> Response:
    """Become a member by an invitation, with the account that is signed in."""
    return Json(await platform(request).inviting.join(body.secret, who(request)))


@routes.route("POST", "/invitations/accept", scope=None, answers={201: "NewSession"}, body_limit=16 * 1024)
async def accept_invitation(request: Request, body: ComerBody) -> Response:
    """Make an account by an invitation, and sign in with it."""
    at = came_from(request)
    comer = Comer(body.name, body.password, at.address, at.browser)
    made = await platform(request).inviting.accept(body.secret, comer)
    return await signed_in(request, made, 201)
