"""Server-sent events: one response class for every live view.

Pulls from an asynchronous iterator, so a slow reader slows only its own stream and nothing piles up here. Ends when the
reader has gone or may no longer read (the event `refused` says why), the source ends, or the server closes. Invariant:
the source is always closed, and a comment goes out at least every HEARTBEAT_S, so that a dead connection is noticed.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from trainmaster.answers import Answer, Nothing
from trainmaster.api.auth import wait_until_lost
from trainmaster.api.deps import language
from trainmaster.api.written import encode
from trainmaster.service.language import document_of

HEARTBEAT_S: Final = 15.0
MEDIA_TYPE: Final = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Sent:
    """One event. `seq` becomes the id that a reconnecting browser gives back as Last-Event-ID."""

    event: str
    data: Answer
    seq: int | str | None = None

    def encode(self) -> bytes:
        """Return the wire form. JSON never holds a raw newline, so one data line is enough."""
        mark = b"" if self.seq is None else b"id: %s\n" % str(self.seq).encode()
        return mark + b"event: %s\ndata: %s\n\n" % (self.event.encode(), encode(self.data))


PING: Final = Sent("ping", Nothing()).encode()


class EventStream(Response):
    """Streams `source` until it ends, the reader goes, `closing` is set, or `refused` says why the reader may read no
    more.
    """

    def __init__(
        self,
        source: AsyncIterator[Sent],
        closing: asyncio.Event,
        refused: Callable[[], Awaitable[Sent]],
        heartbeat_s: float = HEARTBEAT_S,
    ) -> None:
        self.status_code = 200
        self.media_type = MEDIA_TYPE
        self.background: BackgroundTask | None = None
        self.source = source
        self.closing = closing
        self.refused = refused
        self.heartbeat_s = heartbeat_s
        self.init_headers({"cache-control": "no-store", "x-accel-buffering": "no"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until one side ends."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": b": stream\n\n", "more_body": True})
        gone = asyncio.ensure_future(_disconnected(receive))
        closing = asyncio.ensure_future(self.closing.wait())
        lost = asyncio.ensure_future(self.refused())
        last = b""
        try:
            await self._pump(send, gone, closing, lost)
            if lost.done():
                last = lost.result().encode()
        finally:
            for watcher in (gone, closing, lost):
                watcher.cancel()
            close = getattr(self.source, "aclose", None)
            if close is not None:
                await close()
        with contextlib.suppress(OSError):
            await send({"type": "http.response.body", "body": last, "more_body": False})

    async def _pump(self, send: Send, *ends: "asyncio.Future[Any]") -> None:
        step: asyncio.Future[Sent] | None = None
        try:
            while True:
                if step is None:
                    step = asyncio.ensure_future(anext(self.source))
                done, _ = await asyncio.wait(
                    (step, *ends), timeout=self.heartbeat_s, return_when=asyncio.FIRST_COMPLETED
                )
                if any(end in done for end in ends):
                    return
                body = PING
                if step in done:
                    try:
                        body = step.result().encode()
                    except StopAsyncIteration:
                        return
                    step = None
                await send({"type": "http.response.body", "body": body, "more_body": True})
        finally:
            if step is not None:
                step.cancel()
                with contextlib.suppress(asyncio.CancelledError, StopAsyncIteration):
                    await step


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def stream(request: Request, source: AsyncIterator[Sent]) -> Response:
    """Return the response that streams `source`; it ends when the server closes, or the caller may no longer see it."""

    async def refused() -> Sent:
        error = await wait_until_lost(request)
        return Sent("refused", document_of(language(request), error))

    return EventStream(source, request.app.state.closing, refused)
