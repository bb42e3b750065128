"""How answers reach the socket: a response's head waits for the first piece of its body, so that an answer is one
write.

uvicorn writes the head and the body apart, and uvloop makes a system call of each. Invariant: bytes leave in the order
they were written, and nothing is held back longer than the current turn of the event loop.

Also how much and for how long a connection may ask before anybody knows who it is (`Protocol`, with `connections` and
`refusing`).
"""

import asyncio
from typing import Any, Final, NoReturn, cast

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from trainmaster.api.socket.connections import Connections, Seat
from trainmaster.api.socket.refusing import (
    BODY_S,
    HEAD_S,
    LINGER_S,
    MOST_ADDRESS,
    MOST_AHEAD,
    MOST_HEAD,
    MOST_HEADERS,
    REST_S,
    SLOWEST,
    STALLED_S,
    address_too_long,
    body_too_slow,
    head_too_large,
    head_too_slow,
    no_http,
    too_many_ahead,
    wire,
)
from trainmaster.core.errors import TrainmasterError

_HEAD: Final = b"HTTP/1.1 "


class Joining:
    """A transport that holds back what begins like a response's head until the next write, or the turn's end."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._held = b""
        self.written = 0
        """Bytes so far; those that wait to be taken are among them."""

    def __getattr__(self, name: str) -> Any:
        """Everything else is the transport's own."""
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send `data` behind what is held back."""
        if self._held:
            data, self._held = self._held + data, b""
        elif data.startswith(_HEAD):
            self._held = data
            self._loop.call_soon(self._flush)
            return
        self.written += len(data)
        self._transport.write(data)

    def close(self) -> None:
        """Send what is held back, then close."""
        self._flush()
        self._transport.close()

    def write_eof(self) -> None:
        """Send what is held back, and say that nothing follows."""
        self._flush()
        self._transport.write_eof()

    def abort(self) -> None:
        """Close without sending what is held back."""
        self._held = b""
        self._transport.abort()

    def _flush(self) -> None:
        if self._held:
            self.write(b"")


class Taking:
    """Whether the other end takes what is sent. What waits says nothing by itself: as much may have come as was
    taken.
    """

    def __init__(self) -> None:
        self._taken, self._since = -1, 0.0

    def stalled(self, now: float, written: int, waiting: int) -> bool:
        """Return whether nothing was taken for long, of `written` bytes of which `waiting` still wait."""
        if not waiting or written - waiting > self._taken:
            self._taken, self._since = written - waiting, now
        return now - self._since > STALLED_S


class Protocol(HttpToolsProtocol):
    """uvicorn's protocol over a joining transport, with an end to patience: sizes and times are in `refusing`.

    Bytes that are no body are counted as they come, for the parser keeps a line until it is whole. `look` is asked now
    and then.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to serve a connection."""
        super().connection_made(cast(asyncio.Transport, Joining(transport, self.loop)))
        self._spare = self._got = 0  # bytes of the coming message: outside its body, and of it
        self._lines = 0
        self._begun = self._headed = False  # whether a message has begun, and whether its head is whole
        self._since, self._mark = self.loop.time(), 0
        self._taking = Taking()
        self._refused: float | None = None
        self._after = 0  # bytes that came after the refusal
        self._why: TrainmasterError | None = None
        self._connections: Connections = cast(Any, self.config.app).connections
        self._seat = self._connections.come(self, self.client[0] if self.client else "")

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._connections.gone(self._seat)
        super().connection_lost(exc)

    def hang_up(self) -> None:
        """Close it at once."""
        self.transport.close()

    # -- what comes ----------------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Take what came. As uvicorn's, but a refusal says why, and is not logged: strangers write no log."""
        if self._refused is not None:
            self._after += len(data)
            if self._after > MOST_HEAD:
                self.transport.pause_reading()  # stop reading: an endless sender then costs nothing
            return
        self._unset_keepalive_if_required()
        self._connections.heard(self._seat)
        self._spare += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            if self._should_upgrade():
                self.handle_websocket_upgrade()
                return
        except httptools.HttpParserError:
            self._refuse(self._why or no_http())
            return
        if self._spare > MOST_HEAD + 8 * self._got:
            self._refuse(head_too_large() if self._lines or self._headed else address_too_long())

    def on_message_begin(self) -> None:
        """Begin a message."""
        super().on_message_begin()
        self.scope["state"]["seat"] = self._seat
        self._got = self._lines = 0
        self._begun, self._headed = True, False
        self._since = self.loop.time()

    def on_url(self, url: bytes) -> None:
        """Take a piece of the address."""
        super().on_url(url)
        if len(self.url) > MOST_ADDRESS:
            self._stop(address_too_long())

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a line of the head."""
        self._lines += 1
        if self._lines > MOST_HEADERS or len(name) + len(value) > MOST_HEAD:
            self._stop(head_too_large())
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start to answer."""
        if len(self.pipeline) >= MOST_AHEAD:
            self._stop(too_many_ahead())
        self._headed = True
        self._since, self._mark = self.loop.time(), 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        self._got += len(body)
        self._spare -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End the message."""
        self._begun, self._spare = False, 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request, or the rest of this one."""
        self._since = self.loop.time()
        super().on_response_complete()

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over."""
        self.app_state = {**self.app_state, "seat": self._seat}
        super().handle_websocket_upgrade()

    @property
    def _answer(self) -> RequestResponseCycle | None:
        """The request that came last, None while none did; uvicorn's type hides that."""
        return self.cycle

    # -- who keeps us waiting ------------------------------------------------------------------------------------

    def look(self, now: float) -> None:
        """End the connection when the other end keeps the server waiting."""
        if self.transport.is_closing():
            return
        if self._refused is not None:
            if now - self._refused > LINGER_S:
                self.transport.close()
        elif self._taking.stalled(now, cast(Joining, self.transport).written, self.transport.get_write_buffer_size()):
            self.transport.abort()
        elif not self._begun:
            if self._answer is None and now - self._since > HEAD_S:
                self._refuse(head_too_slow())  # nothing ever came
        elif not self._headed:
            if now - self._since > HEAD_S:
                self._refuse(head_too_slow())
        elif (answer := self._answer) is not None and answer.response_complete:
            if now - self._since > REST_S:
                self.transport.close()
        elif self.flow.read_paused or self._got - self._mark > SLOWEST * (now - self._since):
            self._since, self._mark = now, self._got
        elif now - self._since > BODY_S:
            self._refuse(body_too_slow())

    # -- the end -------------------------------------------------------------------------------------------------

    def _stop(self, error: TrainmasterError) -> NoReturn:
        """Note why and raise out of the parser, which replaces our error by one of its own."""
        self._why = error
        raise ValueError(error.message)

    def _refuse(self, error: TrainmasterError) -> None:
        """Say why and end the connection; only end it where an earlier answer is still due."""
        self._refused = self.loop.time()
        answer = self._answer
        if answer is not None and not answer.response_complete:
            if answer.response_started or not self._begun or not self._headed:
                self.transport.close()
                return
            answer.disconnected = True  # the endpoint waits for the rest of the body: end it; we answer
            answer.message_event.set()
        self.transport.write(wire(error))
        if self.transport.can_write_eof():
            self.transport.write_eof()


class Socket(WebSocketsSansIOProtocol):
    """uvicorn's websocket protocol, which keeps the seat of the connection it was handed."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to serve a connection that asked for a websocket."""
        super().connection_made(transport)
        self._connections: Connections = cast(Any, self.config.app).connections
        self._seat: Seat = self.app_state["seat"]
        self._seat.line = self

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._connections.gone(self._seat)
        super().connection_lost(exc)

    def hang_up(self) -> None:
        """Close it at once."""
        self.transport.close()

    def look(self, now: float) -> None:
        """Nothing: the endpoint has times of its own."""
