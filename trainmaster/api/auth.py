"""The gate before every route and socket: who calls, may they, and no more body than agreed. The only place that reads credentials.

A bearer token wins over a cookie. A cookie changes nothing without the session's CSRF token. Invariant: behind the gate
`caller(request)` is who the policy was decided for.
"""

import hmac
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Final

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal, Via
from trainmaster.api.policy import Gate, Policy
from trainmaster.api.problems import refuse_socket
from trainmaster.core.errors import Forbidden, TooLarge, TrainmasterError, Unauthenticated
from trainmaster.service.people import People, csrf_of

if TYPE_CHECKING:
    from trainmaster.service.platform import Platform


COOKIE: Final = "tm_session"
_KEY: Final = "trainmaster.caller"
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_WANTED: Final = frozenset({b"authorization", b"cookie", b"x-csrf-token", b"content-length"})


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls. `session` is the secret in their cookie, when they came with one."""

    principal: Principal
    session: str | None = None


def caller(request: HTTPConnection) -> Caller:
    """Return who the gate let through. Raises KeyError on a route that everybody may call."""
    found: Caller = request.scope[_KEY]
    return found


def who(request: HTTPConnection) -> Principal:
    """Return the principal the gate let through."""
    return caller(request).principal


def gate_for(platform: "Platform") -> Gate:
    """Return the gate that app.py puts before every route."""

    def gate(app: ASGIApp, policy: Policy) -> ASGIApp:
        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            try:
                headers = {key: value for key, value in scope["headers"] if key in _WANTED}
                if policy.scope is not None:
                    scope[_KEY] = await _admit(platform.people, policy, policy.scope, scope, headers)
            except TrainmasterError as error:
                if scope["type"] != "websocket":
                    raise
                await refuse_socket(error, scope, receive, send)
                return
            if scope["type"] == "http" and scope["method"] not in _SAFE:
                limit = policy.body_limit if isinstance(policy.body_limit, int) else policy.body_limit(platform)
                receive = limited(receive, headers.get(b"content-length"), limit)
            await app(scope, receive, send)

        return guarded

    return gate


async def _admit(people: People, policy: Policy, needed: str, scope: Scope, headers: dict[bytes, bytes]) -> Caller:
    found = await identify(people, headers)
    changes = scope["type"] == "websocket" or scope["method"] not in _SAFE
    if found.session is not None and changes and policy.csrf and scope["type"] == "http":
        given = headers.get(b"x-csrf-token", b"").decode("latin-1")
        if not hmac.compare_digest(given.encode("latin-1"), csrf_of(found.session).encode()):
            raise Forbidden(
                "The CSRF token is missing or wrong", remedy="Send X-CSRF-Token as GET /api/v1/session gives it."
            )
    if (
        found.session is not None
        and scope["type"] == "websocket"
        and all(key != b"origin" for key, _ in scope["headers"])
    ):
        raise Forbidden(  # the front has compared it; a browser always sends it
            "A socket with a session's cookie must say its Origin",
            remedy="Programs send: Authorization: Bearer <token>",
        )
    decide(found.principal, needed).demand()
    return found


async def identify(people: People, headers: dict[bytes, bytes]) -> Caller:
    """Return who sent these headers. Raises Unauthenticated."""
    authorization = headers.get(b"authorization", b"").decode("latin-1")
    if authorization:
        kind, _, secret = authorization.partition(" ")
        if kind.lower() != "bearer":
            raise Unauthenticated("Only bearer tokens are understood", remedy="Send: Authorization: Bearer <token>")
        return Caller(await people.by_token(secret.strip()))
    session = session_cookie(headers.get(b"cookie", b"").decode("latin-1"))
    if session is None:
        raise Unauthenticated("Nobody is signed in", remedy="Sign in, or send: Authorization: Bearer <token>")
    principal = await people.by_session(session)
    assert principal.via is Via.SESSION
    return Caller(principal, session)


def session_cookie(text: str) -> str | None:
    """Return the session's secret in a Cookie header, or None."""
    if COOKIE not in text:
        return None
    try:
        found = SimpleCookie(text).get(COOKIE)
    except CookieError:
        return None
    return found.value if found is not None and found.value else None


def limited(receive: Receive, content_length: bytes | None, limit: int) -> Receive:
    """Return a `receive` that raises TooLarge once more than `limit` bytes came; at once when the header says so."""
    remedy = f"Send at most {limit // 1024} KiB." if limit < 2**20 else f"Send at most {limit // 2**20} MiB."
    if content_length is not None and content_length.isdigit() and int(content_length) > limit:
        raise TooLarge("The request is larger than this server accepts", remedy=remedy)
    taken = 0

    async def counted() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > limit:
            raise TooLarge("The request is larger than this server accepts", remedy=remedy)
        return message

    return counted
