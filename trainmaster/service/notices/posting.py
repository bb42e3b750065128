"""Sends one message to one receiver over HTTP/1.1: to an address that was judged, within a bounded time, reading a
bounded answer. Follows no redirect, keeps no connection, obeys no proxy of the environment.

The parser is the one of the server (httptools); a client library would look names up by itself, after we have.
"""

import asyncio
import ssl
from collections.abc import Mapping
from typing import Final

import httptools

from trainmaster._version import __version__
from trainmaster.messages.server import notices as said
from trainmaster.service.notices.addresses import AddressGuard, NotSent, WebhookTarget

PATIENCE_S: Final = 15.0
"""For all of it: look-up, connection, answer."""
MOST_BYTES: Final = 64 * 1024
"""Of an answer: what is behind is not read."""


class Poster:
    """One object per server. `ca`: file of the certificates that are trusted, "" those of the system."""

    def __init__(self, guard: AddressGuard, ca: str = "", patience_s: float = PATIENCE_S) -> None:
        self._guard, self._ca, self._patience_s = guard, ca, patience_s
        self._tls: ssl.SSLContext | None = None

    async def post(self, target: WebhookTarget, body: bytes, headers: Mapping[str, str]) -> int:
        """Send, and return the status of the answer, which is 2xx. Raises NotSent."""
        try:
            async with asyncio.timeout(self._patience_s):
                status = await self._post(target, body, headers)
        except TimeoutError:
            raise NotSent(said.delivery_timed_out(self._patience_s)) from None
        if 300 <= status < 400:
            raise NotSent(said.delivery_redirected(status), status)
        if not 200 <= status < 300:
            raise NotSent(said.delivery_refused(status), status)
        return status

    async def _post(self, target: WebhookTarget, body: bytes, headers: Mapping[str, str]) -> int:
        addresses = await self._guard.addresses(target)
        reader, writer = await self._connect(target, addresses)
        try:
            writer.write(_head(target, len(body), headers) + body)
            await writer.drain()
            return await _answer(reader)
        except (OSError, ssl.SSLError):
            raise NotSent(said.delivery_not_connected(target.host)) from None
        finally:
            writer.transport.abort()  # whoever reads nothing more need not be waited for

    async def _connect(
        self, target: WebhookTarget, addresses: list[str]
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        tls, name = None, None
        if target.secure:
            self._tls = self._tls or await asyncio.to_thread(ssl.create_default_context, cafile=self._ca or None)
            tls, name = self._tls, target.host
        for address in addresses:
            try:
                return await asyncio.open_connection(
                    address, target.port, limit=MOST_BYTES, ssl=tls, server_hostname=name
                )
            except ssl.SSLCertVerificationError:
                raise NotSent(said.delivery_not_trusted(target.host)) from None
            except (OSError, ssl.SSLError):
                continue
        raise NotSent(said.delivery_not_connected(target.host))


def _head(target: WebhookTarget, length: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"POST {target.path} HTTP/1.1", f"host: {target.authority}", "content-type: application/json"]
    lines += [f"content-length: {length}", f"user-agent: trainmaster/{__version__}", "connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


class _Answer:
    def __init__(self) -> None:
        self.headed = False

    def on_headers_complete(self) -> None:
        self.headed = True


async def _answer(reader: asyncio.StreamReader) -> int:
    """Return the status once the head of the answer is there; its body says nothing to us. Raises NotSent."""
    seen = _Answer()
    parser, read = httptools.HttpResponseParser(seen), 0
    try:
        while not seen.headed and read < MOST_BYTES:
            data = await reader.read(4096)
            if not data:
                break
            read += len(data)
            parser.feed_data(data)
    except httptools.HttpParserError:
        if not seen.headed:
            raise NotSent(said.delivery_no_http()) from None
    if not seen.headed:
        raise NotSent(said.delivery_no_http())
    return int(parser.get_status_code())
