"""Routes with their policy. The only way to make a route or a socket; one without a policy cannot be expressed.

A `Table` collects the routes of one noun. Each becomes a `PolicyRoute` whose app is wrapped by the gate (auth.py):
nobody reaches an endpoint, nor is a byte of the body read, before the policy said yes. What a route answers and takes
is named by a text that openapi.py looks up when the contract is asked for, so that no schema is built at start.
"""

from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Any, Final

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from trainmaster.access.scopes import SCOPES
from trainmaster.api.body import decoded

PREFIX: Final = "/api/v1"
BODY_LIMIT: Final = 4 * 2**20
"""Bytes of a request body where the route says nothing else."""

Schema = dict[str, Any]
"""A JSON Schema, or another part of the contract."""

Endpoint = Callable[..., Any]


class By(Enum):
    """Which of several servers on one home answers."""

    LEADER = "leader"
    """The one that leads: what changes something, and what only its memory knows."""
    LEADER_FIRST = "leader first"
    """The one that leads; while nobody does, any: the answer is made of rows, and lacks what only the leader's memory
    knows.
    """
    ANY = "any"
    """Whichever is asked: the answer is made of rows and files, or is about that server itself."""


@dataclass(frozen=True, slots=True)
class RoutePolicy:
    """Who may call: everybody (`scope` None) or who holds `scope`. `by`: which server answers.

    `body_limit` in bytes; a callable is asked with the application's state (limits that are configured).
    """

    scope: str | None
    body_limit: int | Callable[[Any], int] = BODY_LIMIT
    by: By = By.LEADER

    def __post_init__(self) -> None:
        """Refuse a scope that does not exist: a misspelt policy must fail at start, not open a door."""
        if self.scope is not None and self.scope not in SCOPES:
            raise ValueError(f"unknown scope {self.scope!r}")


@dataclass(frozen=True, slots=True)
class Doc:
    """What the contract says: names of answers (`answers`) by status, joined by "or" where there are several; what has
    a slash is a media type.
    """

    answers: Mapping[int, str] = field(default_factory=dict)
    takes: str | None = None
    parameters: tuple[Schema, ...] = ()


Gate = Callable[[ASGIApp, RoutePolicy], ASGIApp]


def bare(endpoint: Endpoint) -> ASGIApp:
    """Return the ASGI application of a raw endpoint; what it raises is turned into a problem document by the layers
    around it.
    """

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        response = await endpoint(Request(scope, receive, send))
        await response(scope, receive, send)

    return app


def express(routes: Iterable[BaseRoute]) -> dict[tuple[str, str], ASGIApp]:
    """Return the doors that need no router, by (method, path): raw routes at a fixed address, each behind its own
    gate.
    """
    return {
        (method, route.path): route.app
        for route in routes
        if isinstance(route, PolicyRoute) and route.raw and "{" not in route.path
        for method in route.methods or ()
    }


class _Read(Request):
    """A request whose body was read by our rules (`api.body`): the framework's own reader takes more, and other
    things.
    """

    document: Any = None

    async def json(self) -> Any:
        """Return what was read."""
        return self.document


class _Checked(APIRoute):
    """What FastAPI makes of an endpoint, whose parameters and body it reads and checks."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the framework's handler behind a reader of our own, where the route takes a body."""
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def reading(request: Request) -> Response:
            read = _Read(request.scope, request.receive)
            if raw := await read.body():
                read.document = await decoded(raw)
            return await handle(read)

        return reading


class PolicyRoute(Route):
    """A route behind the gate. `raw`: the endpoint takes a Request and returns a Response, nothing in between.
    `checked`: makes the same as a route of FastAPI, when it is first asked.
    """

    def __init__(
        self, path: str, endpoint: Endpoint, method: str, *, policy: RoutePolicy, doc: Doc, gate: Gate, raw: bool,
        in_schema: bool, checked: Callable[[], APIRoute],
    ) -> None:  # fmt: skip
        super().__init__(path, endpoint, include_in_schema=in_schema)
        self.methods = {method}  # no HEAD beside GET, which Starlette adds
        self.policy, self.doc, self.raw, self.checked = policy, doc, raw, checked
        self.app = gate(bare(endpoint) if raw else self._run, policy)

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.checked().app(scope, receive, send)


class PolicySocket(WebSocketRoute):
    """A websocket behind the gate."""

    def __init__(self, path: str, endpoint: Endpoint, *, policy: RoutePolicy, gate: Gate) -> None:
        super().__init__(path, endpoint)
        self.policy = policy
        self.app = gate(self.app, policy)


Maker = Callable[[Gate], BaseRoute]


class Table:
    """The routes of one noun, in order. `prefix` "" for what lies outside the versioned API."""

    def __init__(self, tag: str, prefix: str = PREFIX) -> None:
        self.tag = tag
        self.prefix = prefix
        self.makers: list[Maker] = []

    def route(
        self,
        method: str,
        path: str,
        *,
        scope: str | None,
        answers: Mapping[int, str],
        takes: str | None = None,
        raw: bool = False,
        body_limit: int | Callable[[Any], int] = BODY_LIMIT,
        parameters: Iterable[Schema] = (),
        in_schema: bool = True,
        by: By = By.LEADER,
    ) -> Callable[[Endpoint], Endpoint]:
        """Declare `method path`. `scope` None must be written out: it means that everybody may call."""
        policy = RoutePolicy(scope, body_limit=body_limit, by=by)
        doc = Doc(answers, takes, tuple(parameters))

        def declare(endpoint: Endpoint) -> Endpoint:
            where = self.prefix + path

            @cache  # once, and not at start: to look at all endpoints takes a tenth of a server's start
            def checked() -> APIRoute:
                return _Checked(
                    where,
                    endpoint,
                    methods=[method],
                    tags=[self.tag],
                    operation_id=endpoint.__name__,
                    status_code=min(answers),
                    response_model=None,
                    response_class=Response,
                )

            def make(gate: Gate) -> BaseRoute:
                return PolicyRoute(
                    where, endpoint, method, policy=policy, doc=doc, gate=gate, raw=raw, in_schema=in_schema,
                    checked=checked,
                )  # fmt: skip

            self.makers.append(make)
            return endpoint

        return declare

    def socket(self, path: str, *, scope: str) -> Callable[[Endpoint], Endpoint]:
        """Declare a websocket at `path`."""
        policy = RoutePolicy(scope)

        def declare(endpoint: Endpoint) -> Endpoint:
            self.makers.append(lambda gate: PolicySocket(self.prefix + path, endpoint, policy=policy, gate=gate))
            return endpoint

        return declare


def policy_of(route: BaseRoute) -> RoutePolicy:
    """Return the policy of a route of the table. Raises TypeError for one that was made in another way."""
    policy = getattr(route, "policy", None)
    if not isinstance(policy, RoutePolicy):
        raise TypeError(f"{getattr(route, 'path', route)} has no policy; make it through trainmaster.api.policy.Table")
    return policy


def check_policies(routes: Iterable[BaseRoute]) -> None:
    """Raise TypeError unless every route and socket has a policy: a door without a lock must not start."""
    for route in routes:
        policy_of(route)
