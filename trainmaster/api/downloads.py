"""Sending files that users made. Never shown by the browser as a page of ours: always as something to save.

Invariant: whatever a file holds, it is sent with nosniff, a sandboxing policy (front.py) and as an attachment; and no
block of it once the caller may no longer read: the connection then breaks, so that nobody takes the part for the whole.
"""

import asyncio
import mimetypes
import re
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import chain, islice
from typing import Final
from urllib.parse import quote

from starlette.concurrency import iterate_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from trainmaster.api.auth import wait_until_lost
from trainmaster.storage.trees import OpenFile, open_file
from trainmaster.storage.zips import blocks_between, blocks_of

_RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
_PLAIN: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "application/json", "application/zip"})


def attached(response: Response, name: str) -> Response:
    """Mark `response` as a file to save under `name` (RFC 6266; any name is safe)."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in name) or "file"
    exact = quote(name.encode("utf-8", "replace"), safe="")
    response.headers["content-disposition"] = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{exact}"
    return response


def media_type(name: str) -> str:
    """Return what a user's file is sent as: text stays text, pictures pictures, everything else bytes."""
    guess = mimetypes.guess_type(name)[0] or ""
    if guess.startswith("text/"):
        return "text/plain; charset=utf-8"
    return guess if guess in _PLAIN else "application/octet-stream"


async def _while_allowed(request: Request, blocks: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield `blocks`. Raises what the caller is refused with once they may read no more."""
    refused = asyncio.ensure_future(wait_until_lost(request))
    try:
        async for block in iterate_in_threadpool(blocks):
            if refused.done():
                raise refused.result()
            yield block
    finally:
        refused.cancel()


async def send_file(request: Request, root: str, path: str) -> Response:
    """Return the file `path` beneath `root` as a stream, or the part of it that Range asks for. Raises NotFound."""
    opened: OpenFile = await asyncio.to_thread(open_file, root, path)
    part = _part_of(request.headers.get("range", ""), opened.size)
    blocks = blocks_of(opened.fd) if part is None else blocks_between(opened.fd, *part)
    response = StreamingResponse(_while_allowed(request, blocks), media_type=media_type(opened.name))
    response.headers["accept-ranges"] = "bytes"
    response.headers["content-length"] = str(opened.size)
    if part is not None:
        response.status_code = 206
        response.headers["content-length"] = str(part[1] - part[0])
        response.headers["content-range"] = f"bytes {part[0]}-{part[1] - 1}/{opened.size}"
    return attached(response, opened.name)


def _part_of(asked: str, size: int) -> tuple[int, int] | None:
    """Return the first byte and the one behind the last that a Range header asks for, None for the whole file: where
    it asks for nothing that is there, or for several parts (RFC 9110 lets it be passed over).
    """
    found = _RANGE.fullmatch(asked)
    if found is None or not (found[1] or found[2]):
        return None
    start = int(found[1]) if found[1] else max(0, size - int(found[2]))
    end = min(size, int(found[2]) + 1) if found[1] and found[2] else size
    return (start, end) if start < end else None


async def send_stream(request: Request, make: Callable[[], Iterator[bytes]], kind: str, name: str) -> Response:
    """Return what `make` yields as a file called `name`. `make` runs in a worker thread; what it or the first block
    raises is the answer, since nothing was sent yet.
    """

    def begun() -> Iterator[bytes]:
        blocks = make()
        return chain([*islice(blocks, 1)], blocks)

    body = await asyncio.to_thread(begun)
    return attached(StreamingResponse(_while_allowed(request, body), media_type=kind), name)
