"""Signing in and out, the own password, API tokens."""

from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlencode

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.access.roles import Principal, Via
from trainmaster.answers import Membership, NewSession, SessionView, Ticket, UserView
from trainmaster.api.auth import COOKIE, caller, session_cookie, who
from trainmaster.api.deps import Json, platform, server_view
from trainmaster.api.policy import By, Table
from trainmaster.api.socket.proxies import neighbourhood
from trainmaster.core.errors import Conflict
from trainmaster.messages.server import requests
from trainmaster.service.people import browsers
from trainmaster.service.people.passwords import MAX_PASSWORD
from trainmaster.service.people.people import SESSION_S, SignedIn
from trainmaster.service.people.tickets import PARAMETER, TICKET_S
from trainmaster.service.use_cases.people.credentials import WantedToken
from trainmaster.service.use_cases.people.sign_ins import From

if TYPE_CHECKING:
    from trainmaster.service.platform import Platform


routes = Table("session")

MAX_AGENT: Final = 300
"""Characters that are kept of what a browser calls itself."""


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SignIn(_Body):
    """Name and password, and what the answer to an earlier sign-in of this name in the same browser said as
    `browser`.
    """

    username: Annotated[str, Field(min_length=1, max_length=200)]
    password: Annotated[str, Field(min_length=1, max_length=MAX_PASSWORD)]
    browser: Annotated[str | None, Field(max_length=browsers.LONGEST)] = None


class NewPassword(_Body):
    """The old password may be left out only over the server's local token."""

    old: Annotated[str | None, Field(max_length=MAX_PASSWORD)] = None
    new: Annotated[str, Field(max_length=MAX_PASSWORD)]


class TokenBody(_Body):
    """A name to recognise the token by, and after how many seconds it expires (absent: never). `scopes`: all that it
    carries (absent: whatever its user may); `workspace`: the only one that it is for; `user`: whose, absent: yours.
    """

    name: Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$")]
    expires_in_s: Annotated[float | None, Field(gt=0, le=10 * 366 * 86400)] = None
    scopes: Annotated[tuple[Annotated[str, Field(max_length=63)], ...] | None, Field(max_length=100)] = None
    workspace: Annotated[str | None, Field(min_length=1, max_length=63)] = None
    user: Annotated[str | None, Field(min_length=1, max_length=200)] = None


class TicketBody(_Body):
    """The address to fetch: path and query, as it would be asked for."""

    address: Annotated[str, Field(max_length=16 * 1024, pattern=r"^/api/v1/[^#]*$")]


async def _user(app: "Platform", principal: Principal) -> UserView:
    user = await app.people.user(principal.name)
    return UserView(
        name=user.name,
        role=user.role,
        must_change_password=principal.confined,
        locale=user.locale or None,
        workspaces=[Membership(workspace=name, role=role) for name, role in principal.memberships],
    )


@routes.route("GET", "/session", scope="account:self", answers={200: "Session"}, by=By.LEADER_FIRST)
async def get_session(request: Request) -> Response:
    """Say who is signed in."""
    app = platform(request)
    return Json(SessionView(user=await _user(app, who(request)), server=server_view(app)))


@routes.route("POST", "/session", scope=None, answers={200: "NewSession"}, body_limit=16 * 1024)
async def sign_in(request: Request, body: SignIn) -> Response:
    """Sign in with name and password: the answer sets the cookie and says the key, which every request sends as
    X-Session-Key.
    """
    made = await platform(request).sign_ins.with_password(
        body.username, body.password, body.browser, came_from(request)
    )
    return await signed_in(request, made)


def came_from(request: Request) -> From:
    """Return where a request comes from, for who signs in by it."""
    address = request.client.host if request.client else ""
    agent = request.headers.get("user-agent", "")[:MAX_AGENT]
    # A browser says in Origin how it came, also through a proxy that says nothing; that it fits Host was looked at.
    origin = request.headers.get("origin", "") or f"{request.url.scheme}://{request.headers.get('host', '')}"
    return From(origin.lower(), neighbourhood(address), address, agent)


async def signed_in(request: Request, made: SignedIn, status_code: int = 200) -> Response:
    """Return the answer with which a session begins."""
    app = platform(request)
    user = await _user(app, made.principal)
    answer = Json(NewSession(user=user, server=server_view(app), key=made.key, browser=made.browser), status_code)
    secure = came_from(request).origin.startswith("https:")
    answer.set_cookie(
        COOKIE, made.cookie, max_age=int(SESSION_S), httponly=True, samesite="strict", secure=secure, path="/"
    )
    return answer


@routes.route("DELETE", "/session", scope="account:self", answers={204: ""})
async def sign_out(request: Request) -> Response:
    """Sign out. Over a token nothing happens: delete the token instead."""
    me = caller(request)
    if me.principal.via is Via.SESSION:
        await platform(request).people.sign_out(me.principal, me.mark)
    answer = Response(status_code=204)
    answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return answer


@routes.route("POST", "/session/ticket", scope="account:self", answers={201: "Ticket"}, body_limit=32 * 1024)
async def take_ticket(request: Request, body: TicketBody) -> Response:
    """Take leave to ask for one address once, soon and in this session, without the key: for a download or a browser's
    socket.
    """
    me, cookie = caller(request), session_cookie(request.headers.get("cookie", ""))
    if me.principal.via is not Via.SESSION or cookie is None:
        raise Conflict(requests.tickets_are_for_browsers())
    ticket = platform(request).people.tickets.give(me.mark, cookie, body.address)
    joint = "&" if "?" in body.address else "?"
    address = f"{body.address}{joint}{urlencode({PARAMETER: ticket})}"
    return Json(Ticket(address=address, expires_in_s=TICKET_S), status_code=201)


@routes.route("POST", "/session/password", scope="account:self", answers={204: ""}, body_limit=16 * 1024)
async def change_password(request: Request, body: NewPassword) -> Response:
    """Set a new password; every other session of this user ends."""
    me = caller(request)
    await platform(request).people.change_password(me.principal, body.old, body.new, keep=me.mark)
    return Response(status_code=204)


Whose = Annotated[str, Query(max_length=200)]


@routes.route("GET", "/sessions", scope="account:self", answers={200: "BrowserSessions"}, by=By.ANY)
async def list_sessions(request: Request) -> Response:
    """List where you are signed in, newest first."""
    me = caller(request)
    return Json(await platform(request).credentials.sessions(me.principal, me.mark))


@routes.route("DELETE", "/sessions/{session_id}", scope="account:self", answers={204: ""})
async def end_session(request: Request, session_id: str) -> Response:
    """Sign out somewhere."""
    await platform(request).credentials.end_session(who(request), session_id)
    return Response(status_code=204)


@routes.route("GET", "/tokens", scope="tokens:self", answers={200: "Tokens"}, by=By.ANY)
async def list_tokens(request: Request, user: Whose = "") -> Response:
    """List API tokens, newest first, without their secrets; an administrator also those of others."""
    return Json(await platform(request).credentials.tokens(who(request), user))


@routes.route("POST", "/tokens", scope="tokens:self", answers={201: "NewToken"}, body_limit=16 * 1024)
async def create_token(request: Request, body: TokenBody) -> Response:
    """Create an API token; its text is shown in this answer and never again."""
    wanted = WantedToken(body.name, body.expires_in_s, body.user or "", body.scopes, body.workspace)
    return Json(await platform(request).credentials.create(who(request), wanted), status_code=201)


@routes.route("DELETE", "/tokens/{token_id}", scope="tokens:self", answers={204: ""})
async def delete_token(request: Request, token_id: str, user: Whose = "") -> Response:
    """Delete an API token; requests with it are refused from now on."""
    await platform(request).credentials.delete(who(request), token_id, user)
    return Response(status_code=204)
