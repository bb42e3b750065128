"""Signing in and out, the own password, API tokens."""

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.access.roles import Principal
from trainmaster.api.auth import COOKIE, caller, session_cookie, who
from trainmaster.api.deps import Json, platform, server_view
from trainmaster.api.policy import Table
from trainmaster.service.people import MAX_PASSWORD, SESSION_S, csrf_of

if TYPE_CHECKING:
    from trainmaster.service.platform import Platform


routes = Table("session")


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SignIn(_Body):
    """Name and password."""

    username: Annotated[str, Field(min_length=1, max_length=200)]
    password: Annotated[str, Field(min_length=1, max_length=MAX_PASSWORD)]


class NewPassword(_Body):
    """The old password may be left out only over the server's local token."""

    old: Annotated[str | None, Field(max_length=MAX_PASSWORD)] = None
    new: Annotated[str, Field(max_length=MAX_PASSWORD)]


class TokenBody(_Body):
    """A name to recognise the token by, and after how many seconds it expires (absent: never)."""

    name: Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$")]
    expires_in_s: Annotated[float | None, Field(gt=0, le=10 * 366 * 86400)] = None


async def _view(app: "Platform", principal: Principal, csrf: str | None) -> dict[str, Any]:
    user = await app.people.user(principal.name)
    return {
        "user": {
            "name": user.name, "role": user.role, "must_change_password": principal.confined, "locale": user.locale or None,
        },
        "csrf": csrf,
        "server": server_view(app),
    }  # fmt: skip


@routes.route("GET", "/session", scope="account:self", answers={200: "Session"})
async def get_session(request: Request) -> Response:
    """Say who is signed in; a browser finds the CSRF token here."""
    me = caller(request)
    return Json(await _view(platform(request), me.principal, csrf_of(me.session) if me.session else None))


@routes.route("POST", "/session", scope=None, answers={200: "Session"}, body_limit=16 * 1024)
async def sign_in(request: Request, body: SignIn) -> Response:
    """Sign in with name and password; the answer sets the session cookie."""
    app = platform(request)
    client = request.client.host if request.client else "?"
    secret, principal = await app.people.sign_in(body.username, body.password, client)
    answer = Json(await _view(app, principal, csrf_of(secret)))
    secure = request.headers.get("x-forwarded-proto", request.url.scheme) == "https"
    answer.set_cookie(COOKIE, secret, max_age=int(SESSION_S), httponly=True, samesite="strict", secure=secure, path="/")
    return answer


@routes.route("DELETE", "/session", scope="account:self", answers={204: ""})
async def sign_out(request: Request) -> Response:
    """Sign out. Over a token nothing happens: delete the token instead."""
    secret = session_cookie(request.headers.get("cookie", ""))
    if secret is not None and caller(request).session is not None:
        await platform(request).people.sign_out(secret)
    answer = Response(status_code=204)
    answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return answer


@routes.route("POST", "/session/password", scope="account:self", answers={204: ""}, body_limit=16 * 1024)
async def change_password(request: Request, body: NewPassword) -> Response:
    """Set a new password; every other session of this user ends."""
    me = caller(request)
    await platform(request).people.change_password(me.principal, body.old, body.new, keep=me.session)
    return Response(status_code=204)


@routes.route("GET", "/tokens", scope="tokens:self", answers={200: "Tokens"})
async def list_tokens(request: Request) -> Response:
    """List API tokens, newest first, without their secrets."""
    return Json({"items": await platform(request).people.tokens(who(request)), "next_cursor": None})


@routes.route("POST", "/tokens", scope="tokens:self", answers={201: "NewToken"}, body_limit=16 * 1024)
async def create_token(request: Request, body: TokenBody) -> Response:
    """Create an API token; its text is shown in this answer and never again."""
    made = await platform(request).people.create_token(who(request), body.name, body.expires_in_s)
    return Json(made, status_code=201)


@routes.route("DELETE", "/tokens/{token_id}", scope="tokens:self", answers={204: ""})
async def delete_token(request: Request, token_id: str) -> Response:
    """Delete an API token; requests with it are refused from now on."""
    await platform(request).people.delete_token(who(request), token_id)
    return Response(status_code=204)
