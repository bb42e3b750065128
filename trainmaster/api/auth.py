"""The gate before every route and socket: who calls, may they, and no more body than agreed. The only place that reads
credentials.

A bearer token wins over a cookie. A cookie opens nothing by itself, because a browser gives it to every port of its
host: it needs the session's key beside it, in a header, or a ticket that was taken with it. Invariant: behind the gate
`caller(request)` is who the policy was decided for.
"""

from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.api.desk import LARGE, Desk, Intake, Person
from trainmaster.api.policy import By, RoutePolicy
from trainmaster.api.problems import refuse_socket
from trainmaster.core.errors import TrainmasterError, Unauthenticated, Unavailable
from trainmaster.messages.server import requests
from trainmaster.service.people.people import People, Seen
from trainmaster.service.people.tickets import PARAMETER

if TYPE_CHECKING:
    from trainmaster.api.socket.forwarding import Forwarding
    from trainmaster.service.platform import Platform


COOKIE: Final = "tm_session"
KEY_HEADER: Final = b"x-session-key"
_CALLER: Final = "trainmaster.caller"
_CHUNKED: Final = b"transfer-encoding"
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_WANTED: Final = frozenset({b"authorization", b"cookie", KEY_HEADER, b"content-length", _CHUNKED})


def caller(request: HTTPConnection) -> Seen:
    """Return who the gate let through. Raises KeyError on a route that everybody may call."""
    found: Seen = request.scope[_CALLER]
    return found


def who(request: HTTPConnection) -> Principal:
    """Return the principal the gate let through."""
    return caller(request).principal


async def wait_until_lost(request: HTTPConnection) -> TrainmasterError:
    """Return why the caller may no more what the gate let through, once that is so: what goes on for long ends then."""
    people: People = request.app.state.platform.people
    return await people.wait_until_lost(caller(request))


def working(request: HTTPConnection) -> AbstractAsyncContextManager[None]:
    """Return the turn in which a request is worked at that takes more than a moment: `Desk.working` of its caller."""
    desk: Desk = request.app.state.desk
    return desk.working(who(request).name)


def looking(request: HTTPConnection) -> AbstractAsyncContextManager[None]:
    """Return the turn in which files are read for a request: `Desk.looking` of its caller."""
    desk: Desk = request.app.state.desk
    return desk.looking(who(request).name)


def gate(app: ASGIApp, policy: RoutePolicy) -> ASGIApp:
    """Return `app` behind the gate: what app.py puts before every route."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        state = scope["app"].state
        platform: Platform = state.platform
        if state.forwarding is not None and await _forwarded(platform, state.forwarding, policy, scope, receive, send):
            return
        name = None
        try:
            headers = {key: value for key, value in scope["headers"] if key in _WANTED}
            if policy.scope is not None:
                scope[_CALLER] = seen = await _admit(platform.people, policy.scope, scope, headers)
                name = seen.principal.name
                if (seat := scope.get("state", {}).get("seat")) is not None:
                    state.connections.belongs(seat, name)
        except TrainmasterError as error:
            if scope["type"] != "websocket":
                raise
            await refuse_socket(error, scope, receive, send)
            return
        desk: Desk = state.desk
        person = desk.comes(name) if name is not None else None
        if scope["type"] != "http" or scope["method"] in _SAFE:
            await app(scope, receive, send)
            return
        intake = _intake(platform, policy, receive, headers, person)
        length = announced(headers)
        try:
            work = cast(Coroutine[Any, Any, None], app(scope, intake.receive, send))
            large = _CHUNKED in headers if length is None else length > LARGE
            await (desk.work(person, work, large) if person is not None else work)
        finally:
            intake.done()

    return guarded


def _intake(
    platform: "Platform", policy: RoutePolicy, receive: Receive, headers: dict[bytes, bytes], person: Person | None
) -> Intake:
    limit = policy.body_limit if isinstance(policy.body_limit, int) else policy.body_limit(platform)
    return Intake(receive, announced(headers), limit, person)


async def _forwarded(
    platform: "Platform", forwarding: "Forwarding", policy: RoutePolicy, scope: Scope, receive: Receive, send: Send
) -> bool:
    """Return whether the server that leads has answered in place of this one. Raises Unavailable where nobody else may,
    TooLarge.

    A ticket is known to the server that gave it, and only the one that leads gives any.
    """
    if platform.context.leads or (policy.by is By.ANY and b"ticket=" not in scope["query_string"]):
        return False
    if scope["type"] == "http" and scope["method"] not in _SAFE:
        receive = _intake(platform, policy, receive, dict(scope["headers"]), None).receive
    try:
        await forwarding.forward(scope, receive, send)
    except Unavailable:
        if policy.by is By.LEADER or b"ticket=" in scope["query_string"]:
            raise
        return False  # nothing was sent yet: this server answers
    return True


def announced(headers: dict[bytes, bytes]) -> int | None:
    """Return how many bytes the body will have, None where that is not said."""
    length = headers.get(b"content-length", b"")
    return int(length[:20]) if length.isdigit() else None


async def _admit(people: People, needed: str, scope: Scope, headers: dict[bytes, bytes]) -> Seen:
    found = await identify(people, scope, headers)
    decide(found.principal, needed).demand()
    if scope["type"] == "http" and scope["method"] in _SAFE:
        return found
    address = scope["client"][0] if scope.get("client") else ""  # whoever changes something: for the audit
    return Seen(found.principal.asking_from(address), found.mark)


async def identify(people: People, scope: Scope, headers: dict[bytes, bytes]) -> Seen:
    """Return who sent this request with these headers. Raises Unauthenticated."""
    authorization = headers.get(b"authorization", b"").decode("latin-1")
    if authorization:
        kind, _, secret = authorization.partition(" ")
        if kind.lower() != "bearer":
            raise Unauthenticated(requests.only_bearer_tokens())
        return await people.by_token(secret.strip())
    cookie = session_cookie(headers.get(b"cookie", b"").decode("latin-1"))
    if cookie is None:
        raise Unauthenticated(requests.nobody_signed_in())
    key = headers.get(KEY_HEADER, b"").decode("latin-1")
    if key:
        return await people.by_session(cookie, key)
    ticket = _without_ticket(scope)
    if ticket:
        return await people.by_ticket(cookie, ticket, _address(scope))
    raise Unauthenticated(requests.cookie_without_key())


def _without_ticket(scope: Scope) -> str:
    """Take the ticket out of the address of what only looks or opens a socket, and return it: no address changes
    anything.
    """
    query: bytes = scope["query_string"]
    if b"ticket=" not in query or (scope["type"] == "http" and scope["method"] not in _SAFE):
        return ""
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    scope["query_string"] = urlencode([pair for pair in pairs if pair[0] != PARAMETER]).encode()
    return dict(pairs).get(PARAMETER, "")


def _address(scope: Scope) -> str:
    path = scope.get("raw_path") or quote(scope["path"]).encode()
    return f"{path.decode('latin-1')}?{scope['query_string'].decode('latin-1')}"


def session_cookie(text: str) -> str | None:
    """Return what the session's cookie holds in a Cookie header, or None."""
    if COOKIE not in text:
        return None
    try:
        found = SimpleCookie(text).get(COOKIE)
    except CookieError:
        return None
    return found.value if found is not None and found.value else None
