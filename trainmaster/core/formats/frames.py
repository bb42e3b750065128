"""Many small contents in one request: each is the 32 bytes of its sha256, its length (4 bytes, big endian), and its
bytes; nothing stands between them or at the end. Pure; sent by the client, read by the server.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

HEAD: Final = struct.Struct(">32sI")
SMALL: Final = 1 << 20
"""A content of more bytes is sent by itself, in pieces."""
BATCH: Final = 8 << 20
"""Bytes of one request after which the next content goes into another."""


def frame(digest: str, content: bytes) -> bytes:
    """Return what stands before `content`, whose sha256 (hex) is `digest`, and that itself. Raises ValueError for one
    that is not small, or a digest that is none.
    """
    name = bytes.fromhex(digest)
    if len(name) != 32 or len(content) > SMALL:
        raise ValueError("not a small content with its sha256")
    return HEAD.pack(name, len(content)) + content


def frames(body: bytes) -> Iterator[tuple[str, memoryview]]:
    """Yield (sha256 as it was given, content) of what `frame` made, in order; nothing is copied. Raises ValueError,
    when its turn comes, for what is cut off or too large.
    """
    view, at = memoryview(body), 0
    while at < len(view):
        if len(view) - at < HEAD.size:
            raise ValueError("cut off")
        name, length = HEAD.unpack_from(view, at)
        at += HEAD.size
        if length > SMALL or length > len(view) - at:
            raise ValueError("cut off, or too large")
        yield name.hex(), view[at : at + length]
        at += length
