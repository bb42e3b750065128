"""The load generator of the submit benchmark, a process of its own:
`python -m bench.storm PORT REQUEST_FILE CONNECTIONS TOTAL`.

Every connection sends the same request again as soon as it is answered; prints the seconds from the first byte to the
last answer. Anything but 201 ends it.
"""

import asyncio
import sys
import time
from pathlib import Path

import uvloop


class Connection(asyncio.Protocol):
    """One connection, one request at a time."""

    def __init__(self, request: bytes, count: int, done: "asyncio.Future[None]") -> None:
        self.request, self.left, self.done = request, count, done
        self.inbox = b""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first."""
        self.transport = transport  # type: ignore[assignment]
        self._send()

    def _send(self) -> None:
        assert self.transport is not None
        self.left -= 1
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        """Take one answer, send the next."""
        self.inbox += data
        head, mark, rest = self.inbox.partition(b"\r\n\r\n")
        if not mark:
            return
        if not head.startswith(b"HTTP/1.1 201"):
            self.done.set_exception(RuntimeError(self.inbox.decode()))
            return
        at = head.lower().index(b"content-length:") + 15
        if len(rest) < int(head[at:].split(b"\r\n", 1)[0]):
            return
        self.inbox = b""
        if self.left:
            self._send()
        elif not self.done.done():
            self.done.set_result(None)


async def _storm(port: int, request: bytes, connections: int, total: int) -> float:
    loop = asyncio.get_running_loop()
    waiting = [loop.create_future() for _ in range(connections)]
    began = time.monotonic()
    for done in waiting:
        await loop.create_connection(
            lambda done=done: Connection(request, total // connections, done), "127.0.0.1", port
        )  # type: ignore[misc]
    await asyncio.gather(*waiting)
    return time.monotonic() - began


if __name__ == "__main__":
    uvloop.install()
    print(asyncio.run(_storm(int(sys.argv[1]), Path(sys.argv[2]).read_bytes(), int(sys.argv[3]), int(sys.argv[4]))))
