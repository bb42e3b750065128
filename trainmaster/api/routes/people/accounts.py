"""Accounts, and members of workspaces."""

from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Json, platform
from trainmaster.api.policy import By, Table
from trainmaster.api.routes.pools import Body, Name
from trainmaster.core.cluster import DEFAULT
from trainmaster.service.use_cases.people.accounts import NewPerson, Theirs

routes = Table("people")

UserName = Annotated[str, Field(max_length=200)]
Role = Annotated[str, Field(min_length=1, max_length=63)]


class AccountBody(Body):
    """An account to make: `role` on the platform, and a role in the workspace that it begins in."""

    name: UserName
    role: Role = "user"
    workspace: Role = DEFAULT
    workspace_role: Role = "member"


class LeavingBody(Body):
    """`jobs`: what becomes of their jobs that have not ended; absent: refused where there are any."""

    jobs: Theirs | None = None


class MemberBody(Body):
    """A member as it is to be."""

    role: Role


@routes.route("GET", "/users", scope="people:read", answers={200: "Accounts"}, by=By.ANY)
async def list_users(request: Request) -> Response:
    """List accounts with what they are members of."""
    return Json(await platform(request).accounts.all(who(request)))


@routes.route("POST", "/users", scope="people:write", answers={201: "NewAccount"}, body_limit=16 * 1024)
async def add_user(request: Request, body: AccountBody) -> Response:
    """Make an account; its one-time password is shown in this answer and never again."""
    wanted = NewPerson(body.name, body.role, body.workspace, body.workspace_role)
    return Json(await platform(request).accounts.add(wanted, who(request)), status_code=201)


@routes.route("GET", "/users/{user}", scope="people:read", answers={200: "Account"}, by=By.ANY)
async def get_user(request: Request, user: UserName) -> Response:
    """Show an account."""
    return Json(await platform(request).accounts.show(user, who(request)))


@routes.route("POST", "/users/{user}/lock", scope="people:write", answers={200: "Account"}, body_limit=1024)
async def lock_user(request: Request, user: UserName, body: LeavingBody) -> Response:
    """Let nobody in with an account: its sessions end, its tokens are refused."""
    return Json(await platform(request).accounts.lock(user, who(request), body.jobs))


@routes.route("POST", "/users/{user}/unlock", scope="people:write", answers={200: "Account"})
async def unlock_user(request: Request, user: UserName) -> Response:
    """Let somebody in again."""
    return Json(await platform(request).accounts.unlock(user, who(request)))


@routes.route("POST", "/users/{user}/password", scope="people:write", answers={200: "OneTimePassword"})
async def reset_password(request: Request, user: UserName) -> Response:
    """Give somebody a one-time password; their sessions end."""
    return Json(await platform(request).accounts.give_password(user, who(request)))


@routes.route("DELETE", "/users/{user}", scope="people:write", answers={204: ""})
async def delete_user(
    request: Request, user: UserName, jobs: Annotated[Literal["keep", "stop"] | None, Query()] = None
) -> Response:
    """Delete an account; nobody else ever gets its name."""
    await platform(request).accounts.delete(user, who(request), jobs)
    return Response(status_code=204)


@routes.route("GET", "/workspaces/{workspace}/members", scope="members:read", answers={200: "Members"})
async def list_members(request: Request, workspace: Name) -> Response:
    """List the members of a workspace."""
    return Json(await platform(request).members.of(workspace, who(request)))


@routes.route("PUT", "/workspaces/{workspace}/members/{user}", scope="members:write", answers={200: "Member"})
async def put_member(request: Request, workspace: Name, user: UserName, body: MemberBody) -> Response:
    """Make somebody a member, or give a member another role."""
    return Json(await platform(request).members.put(workspace, user, body.role, who(request)))


@routes.route("DELETE", "/workspaces/{workspace}/members/{user}", scope="members:read", answers={204: ""})
async def drop_member(request: Request, workspace: Name, user: UserName) -> Response:
    """Remove a member, or leave; their jobs go on."""
    await platform(request).members.drop(workspace, user, who(request))
    return Response(status_code=204)
