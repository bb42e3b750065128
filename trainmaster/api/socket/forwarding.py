"""Requests that only the server that leads can answer, handed to it by one that stands by: unchanged, and with who
asked.

The leader's own gate decides about them: here nobody knows yet who asks. So whoever asks has a bounded part of what may
be under way, and waits a bounded time. Imported only where a server may stand by.
Invariant: a request is forwarded once at most; bodies pass through and are never held whole.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import httpx
import websockets
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send
from websockets.asyncio.client import ClientConnection, connect

from trainmaster.api.problems import refuse_socket
from trainmaster.api.socket.connections import files
from trainmaster.api.socket.proxies import neighbourhood
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
LOOKS_S: Final = 10.0
"""How long who only looks waits for an answer to begin: a leader that was stopped still holds its lock."""
CHANGES_S: Final = 120.0
"""How long who changes something waits for that, and everybody for each further piece: live views send more often."""
MOST: Final = 4096
MOST_MESSAGE: Final = 1 << 20
"""Bytes of a message of a socket, as the server takes them (`cli.server.serve`)."""
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class Forwarding:
    """One object per process. `leader` returns the address of the server that leads, None while that is unknown.

    `most`: how many requests may be under way, live views among them, a quarter of them from one address; None: a
    sixteenth of the files that may be open, for each takes one more.
    """

    def __init__(self, servers: Servers, leader: Callable[[], str | None], most: int | None = None) -> None:
        self._servers, self._leader = servers, leader
        self._most = most or max(64, min(MOST, files() // 16))
        self._under_way: Counter[str] = Counter()
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=32)
        patience = httpx.Timeout(CHANGES_S, connect=CONNECT_S, pool=None)
        self._http = httpx.AsyncClient(limits=limits, timeout=patience, trust_env=False)

    async def close(self) -> None:
        """Let go of all connections."""
        await self._http.aclose()

    async def forward(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the server that leads answer. Raises Unavailable, before anything is sent, when it does not or too much
        is under way; ClientDisconnect when who asked has gone.
        """
        address = self._leader()
        if not address or scope.get("forwarded"):
            raise Unavailable(ledger.nobody_leads())
        with self._place(scope):
            if scope["type"] == "websocket":
                await self._socket(address, scope, receive, send)
            else:
                await self._request(address, scope, receive, send)

    @contextmanager
    def _place(self, scope: Scope) -> Iterator[None]:
        """Hold a place among what is under way. Raises Unavailable when there is none."""
        who = neighbourhood(scope["client"][0] if scope.get("client") else "")
        if self._under_way[who] >= self._most // 4 or self._under_way.total() >= self._most:
            raise Unavailable(ledger.too_much_for_leader())
        self._under_way[who] += 1
        try:
            yield
        finally:
            self._under_way[who] -= 1
            if not self._under_way[who]:
                del self._under_way[who]

    # -- requests ----------------------------------------------------------------------------------------------

    async def _request(self, address: str, scope: Scope, receive: Receive, send: Send) -> None:
        safe = scope["method"] in _SAFE
        body = _Body(scope, receive)
        asking = httpx.Request(
            scope["method"],
            httpx.URL(address).copy_with(raw_path=_target(scope)),
            headers=self._servers.stamp(scope),
            content=body.pieces() if body.announced else None,
        )
        try:
            answer = await self._head(asking, body, LOOKS_S if safe else None)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise Unavailable(ledger.nobody_leads()) from None
        except (httpx.TransportError, TimeoutError) as error:
            log.info("%s %s was not answered by %s: %r", scope["method"], scope["path"], address, error)
            raise Unavailable(ledger.nobody_leads() if safe else ledger.leader_ended()) from None
        try:
            headers = [pair for pair in _lower(answer.headers.raw) if pair[0] not in HOP]
            await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
            ends = [scope["app"].state.closing.wait()] if _is_live(answer) else []
            await _first_of(_pass_on(answer, send), _gone(receive), *ends)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            await answer.aclose()

    async def _head(self, asking: httpx.Request, body: "_Body", patience_s: float | None) -> httpx.Response:
        """Return the answer, its body not read yet. Raises TimeoutError, ClientDisconnect when nobody waits for it any
        more, TransportError.
        """
        sent = asyncio.ensure_future(self._http.send(asking, stream=True))
        gone = asyncio.ensure_future(body.gone())
        try:
            done, _ = await asyncio.wait((sent, gone), timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sent, gone):
                task.cancel()
            await asyncio.gather(sent, gone, return_exceptions=True)
        if not sent.cancelled():
            return sent.result()
        if gone not in done:
            raise TimeoutError
        gone.result()
        raise ClientDisconnect

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


class _Body:
    """The body of a request as it comes, and behind it whether who asked is still there: one reads at a time."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.announced = any(key in (b"content-length", b"transfer-encoding") for key, _ in scope["headers"])
        self._receive, self._whole = receive, asyncio.Event()

    async def pieces(self) -> AsyncIterator[bytes]:
        """Give the pieces. Raises ClientDisconnect."""
        more = True
        while more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            more = message.get("more_body", False)
            if piece := message.get("body", b""):
                yield piece
        self._whole.set()

    async def gone(self) -> None:
        """Return when who asked has gone, having sent all of it."""
        if self.announced:
            await self._whole.wait()
        await _gone(self._receive)


async def _pass_on(answer: httpx.Response, send: Send) -> None:
    """Send the body of `answer`, but for its end. A live view whose source is gone ends as one whose source is done:
    its reader asks again.
    """
    try:
        async for piece in answer.aiter_raw():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    except httpx.TransportError:
        if not _is_live(answer):
            raise  # break our connection, too: the body is not whole


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
