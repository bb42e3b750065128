"""The outermost layer: which Host and Origin are ours, the security headers of every answer, and the last net for
errors.

Holds for everything below: API, console, health, unknown addresses. Invariant: nothing below runs for a foreign Host or
a foreign Origin, and no exception reaches the server program.
"""

import ipaddress
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Final
from urllib.parse import unquote_to_bytes

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trainmaster.api.problems import BadRequest, Misdirected, accepted, answer_error, answer_unknown, refuse_socket
from trainmaster.api.socket.connections import Connections
from trainmaster.api.socket.proxies import Proxies
from trainmaster.api.socket.servers import Servers
from trainmaster.core.errors import Forbidden, TrainmasterError
from trainmaster.messages.server import requests

Life = Callable[[], AbstractAsyncContextManager[None]]

_COMMON: Final[tuple[tuple[bytes, bytes], ...]] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_API_CSP: Final = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; sandbox")
# Styles: Ant Design writes style elements at run time; they carry no script. Everything else is our own origin only.
_CONSOLE_CSP: Final = (
    b"content-security-policy",
    (
        b"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        b"media-src blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; manifest-src 'self'; "
        b"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
)
_NO_STORE: Final = (b"cache-control", b"no-store")
_LOCAL_NAMES: Final = frozenset({"localhost"})


def host_name(value: str) -> str:
    """Return the host of a Host header or an Origin's authority without its port, lower case, without brackets."""
    value = value.strip().lower()
    if value.startswith("["):
        return value[1:].partition("]")[0]
    return value.partition(":")[0]


class Hosts:
    """Which names and addresses are ours. Bound to every address, any literal address is: only names can be rebound."""

    def __init__(self, bound: str, allowed: Iterable[str]) -> None:
        self._names = {host_name(name) for name in (*_LOCAL_NAMES, bound, *allowed)}
        self._every_address = bound in ("0.0.0.0", "::", "")
        self._known: set[str] = set()

    def ours(self, header: str) -> bool:
        """Return whether a Host header names this server."""
        if header in self._known:
            return True
        name = host_name(header)
        good = bool(name) and (name in self._names or self._address(name))
        if good and len(self._known) < 1000:
            self._known.add(header)
        return good

    def _address(self, name: str) -> bool:
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or self._every_address


class Front:
    """ASGI middleware around the whole application. `express`: doors by (method, path) that are reached without its
    router and middleware, whose cost is most of a submit's; their gates, and all that is here, are the same. `servers`:
    where several servers share a home.
    """

    def __init__(
        self,
        app: Starlette,
        hosts: Hosts,
        proxies: Proxies,
        servers: Servers | None,
        life: Life,
        express: Mapping[tuple[str, str], ASGIApp],
    ) -> None:
        self.app = app
        self.proxies, self.servers = proxies, servers
        self.life = life
        self.hosts = hosts
        self.express = express
        self.connections = Connections(many=proxies.trusts)

    def running(self) -> AbstractAsyncContextManager[None]:
        """Return what starts the platform on entering and closes it on leaving: the lifespan, for who hosts us by
        hand.
        """
        return self.life()

    def close_views(self) -> None:
        """End all live views: they would keep a server that wants to close waiting. Call it in the event loop's
        thread.
        """
        self.app.state.closing.set()

    def leave(self) -> None:
        """The server was asked to end: nothing more is started, and live views end. Call it in the event loop's
        thread.
        """
        self.app.state.platform.leave()
        self.close_views()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        forwarded = self.servers is not None and self.servers.apply(scope)
        if not forwarded:
            self.proxies.apply(scope)
        elif (seat := scope.get("state", {}).get("seat")) is not None:
            self.connections.hands_on(seat, scope["client"][0])
        started = False
        extra = [*_COMMON, *((_API_CSP, _NO_STORE) if _is_api(scope["path"]) else (_CONSOLE_CSP,))]

        async def dressed(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                own = message.setdefault("headers", [])
                names = {key.lower() for key, _ in own}
                message["headers"] = [*own, *(pair for pair in extra if pair[0] not in names)]
            await send(message)

        try:
            if not forwarded:  # a forwarding server of ours has checked it
                self._check(scope)
            door = self.express.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
            if door is None:
                await self.app(scope, receive, dressed)
            else:
                scope["app"] = self.app
                await door(scope, receive, dressed)
        except TrainmasterError as error:
            if scope["type"] == "websocket":
                await refuse_socket(error, scope, receive, send)
            elif not started:
                await answer_error(error, accepted(scope))(scope, receive, dressed)
        except ClientDisconnect:
            return
        except Exception as error:
            # FastAPI answers and logs what its handlers can; an error without an answer is in the layers above them.
            if not started and scope["type"] == "http":
                await answer_unknown(error, scope["path"], accepted(scope))(scope, receive, dressed)

    def _check(self, scope: Scope) -> None:
        host = origin = None
        for key, value in scope["headers"]:
            if key == b"host":
                if host is not None:
                    raise BadRequest(requests.two_hosts())
                host = value.decode("latin-1")
            elif key == b"origin":
                origin = value.decode("latin-1")
        if host is None or not self.hosts.ours(host):
            raise Misdirected(requests.not_our_host())
        # Compare without the scheme: behind a proxy that ends TLS the origin says https, and we serve http.
        if origin is not None and origin.partition("://")[2].lower() != host.strip().lower():
            raise Forbidden(requests.from_another_site())
        if "\ufffd" in scope["path"] or b"%" in scope["query_string"]:
            _check_encoding(scope)


def _check_encoding(scope: Scope) -> None:
    """Raise BadRequest unless the address is UTF-8: what is not would be read as U+FFFD, and so as another one."""
    try:
        for part in (scope.get("raw_path") or scope["path"].encode(), scope["query_string"]):
            unquote_to_bytes(part).decode()
    except UnicodeDecodeError:
        raise BadRequest(requests.address_not_utf8()) from None


def _is_api(path: str) -> bool:
    return path.startswith("/api/") or path in ("/healthz", "/readyz", "/metrics")
