"""Requests that only the server that leads can answer, handed to it by one that stands by: unchanged, and with who
asked.

The leader's own gate decides about them. Imported only where a server may stand by.
Invariant: a request is forwarded once at most; bodies pass through and are never held whole.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any, Final

import httpx
import websockets
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send
from websockets.asyncio.client import ClientConnection, connect

from trainmaster.api.problems import refuse_socket
from trainmaster.api.socket.servers import HOP, Servers
from trainmaster.core.errors import Unavailable
from trainmaster.messages.server import ledger

log = logging.getLogger("trainmaster.forwarding")

_SOCKETS_OWN: Final = frozenset(
    {b"host", b"origin", b"sec-websocket-key", b"sec-websocket-version", b"sec-websocket-extensions"}
)
RESTART: Final = 1012
"""The code of a socket that ends because its server does, and may be opened again (RFC 6455, registry)."""
_NEVER_SENT: Final = frozenset({1005, 1006, 1015})
CONNECT_S: Final = 2.0
MOST_MESSAGE: Final = 1 << 20
"""Bytes of a message of a socket, as the server takes them (`cli.server.serve`)."""
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class Forwarding:
    """One object per process. `leader` returns the address of the server that leads, None while that is unknown."""

    def __init__(self, servers: Servers, leader: Callable[[], str | None]) -> None:
        self._servers, self._leader = servers, leader
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=32)
        patience = httpx.Timeout(None, connect=CONNECT_S)
        self._http = httpx.AsyncClient(limits=limits, timeout=patience, trust_env=False)

    async def close(self) -> None:
        """Let go of all connections."""
        await self._http.aclose()

    async def forward(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the server that leads answer. Raises Unavailable, before anything is sent, when it does not."""
        address = self._leader()
        if not address or scope.get("forwarded"):
            raise Unavailable(ledger.nobody_leads())
        if scope["type"] == "websocket":
            await self._socket(address, scope, receive, send)
        else:
            await self._request(address, scope, receive, send)

    # -- requests ----------------------------------------------------------------------------------------------

    async def _request(self, address: str, scope: Scope, receive: Receive, send: Send) -> None:
        asking = httpx.Request(
            scope["method"],
            httpx.URL(address).copy_with(raw_path=_target(scope)),
            headers=self._servers.stamp(scope),
            content=_body(scope, receive),
        )
        try:
            answer = await self._http.send(asking, stream=True)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise Unavailable(ledger.nobody_leads()) from None
        except httpx.TransportError as error:
            log.info("%s %s was not answered by %s: %r", scope["method"], scope["path"], address, error)
            safe = scope["method"] in _SAFE
            raise Unavailable(ledger.nobody_leads() if safe else ledger.leader_ended()) from None
        try:
            headers = [pair for pair in _lower(answer.headers.raw) if pair[0] not in HOP]
            await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
            ends = [scope["app"].state.closing.wait()] if _is_live(answer) else []
            await _first_of(_pass_on(answer, send), _gone(receive), *ends)
        finally:
            await answer.aclose()

    # -- sockets -----------------------------------------------------------------------------------------------

    async def _socket(self, address: str, scope: Scope, receive: Receive, send: Send) -> None:
        target = address.replace("http", "ws", 1) + _target(scope).decode("latin-1")
        headers = [(key.decode("latin-1"), value.decode("latin-1")) for key, value in self._stamp_socket(scope)]
        try:
            line = await connect(
                target,
                additional_headers=headers,
                subprotocols=scope.get("subprotocols") or None,
                compression=None,
                open_timeout=CONNECT_S,
                ping_interval=None,
                max_size=MOST_MESSAGE,
                proxy=None,
                user_agent_header=None,
            )
        except websockets.InvalidStatus as refused:
            await _refuse_alike(refused, scope, send)
            return
        except (OSError, TimeoutError, websockets.WebSocketException):
            await refuse_socket(Unavailable(ledger.nobody_leads()), scope, receive, send)
            return
        async with line:
            await receive()  # websocket.connect
            await send({"type": "websocket.accept", "subprotocol": line.subprotocol, "headers": []})
            await _first_of(_to_leader(line, receive), _to_client(line, send))

    def _stamp_socket(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        return self._servers.stamp(scope, _SOCKETS_OWN | {b"sec-websocket-protocol"})


def _target(scope: Scope) -> bytes:
    """Return path and query as they were asked for."""
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope["query_string"]
    return path + b"?" + query if query else path


def _lower(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [(key.lower(), value) for key, value in headers]


def _body(scope: Scope, receive: Receive) -> AsyncIterator[bytes] | None:
    """Return the pieces of a request's body as they come, None where it has none."""
    told = {key for key, _ in scope["headers"]}
    if not told & {b"content-length", b"transfer-encoding"}:
        return None

    async def pieces() -> AsyncIterator[bytes]:
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            more = message.get("more_body", False)
            if piece := message.get("body", b""):
                yield piece

    return pieces()


async def _pass_on(answer: httpx.Response, send: Send) -> None:
    """Send the body of `answer`. A live view whose source is gone ends as one whose source is done: its reader asks
    again.
    """
    try:
        async for piece in answer.aiter_raw():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    except httpx.TransportError:
        if not _is_live(answer):
            raise  # break our connection, too: the body is not whole
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _is_live(answer: httpx.Response) -> bool:
    return str(answer.headers.get("content-type", "")).startswith("text/event-stream")


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] not in ("http.disconnect", "websocket.disconnect"):
        pass


async def _to_leader(line: ClientConnection, receive: Receive) -> None:
    with suppress(websockets.ConnectionClosed):  # the other direction notices it
        while (message := await receive())["type"] != "websocket.disconnect":
            text, data = message.get("text"), message.get("bytes")
            await line.send(text if text is not None else data or b"")
        return
    await asyncio.Event().wait()


async def _to_client(line: ClientConnection, send: Send) -> None:
    with suppress(websockets.ConnectionClosed):
        async for piece in line:
            await send({"type": "websocket.send", "text" if isinstance(piece, str) else "bytes": piece})
    code = line.close_code
    said = code if code is not None and code not in _NEVER_SENT else RESTART
    await send({"type": "websocket.close", "code": said, "reason": line.close_reason or ""})


async def _first_of(*works: Coroutine[Any, Any, None]) -> None:
    """Do all at once until one is done; the others are cancelled. Raises what that one raised."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()


async def _refuse_alike(refused: websockets.InvalidStatus, scope: Scope, send: Send) -> None:
    """Refuse a socket with the leader's own words where the server program can send them."""
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": 1008, "reason": "refused"})
        return
    answer = refused.response
    headers = [
        (key.lower().encode("latin-1"), value.encode("latin-1"))
        for key, value in answer.headers.raw_items()
        if key.lower().encode("latin-1") not in HOP
    ]
    await send({"type": "websocket.http.response.start", "status": answer.status_code, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": bytes(answer.body or b"")})
