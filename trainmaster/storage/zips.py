"""A zip or tar file as a stream of bytes: written while it is sent, nothing kept on disk, memory of one block.

The standard library's writer over a sink that cannot seek. Invariant: what disappears while it is sent is left out or
cut short; the archive itself stays whole. Names in it are UTF-8: a byte that is none is written as in addresses, %E9.
Where nobody reads on, the garbage collector may end the parts of it in any order: none of them says anything then.
"""

import os
import re
import tarfile
import time
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Final, cast

BLOCK: Final = 1 << 20
_NO_TEXT: Final = re.compile("[\udc80-\udcff]")  # lone surrogates: Python's form of bytes that are not UTF-8


@dataclass(frozen=True, slots=True)
class ZipMember:
    """One file of the archive; `content` is asked for when its turn comes."""

    name: str
    content: Iterable[bytes]
    modified_at: float = 0.0


class _Sink:
    """What an archive is written to. Nothing closes it, as something of `io` would be closed that is collected."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> int:
        part = bytes(data)
        self._parts.append(part)
        return len(part)

    def flush(self) -> None:
        """Do nothing: all is there."""

    def take(self) -> bytes:
        taken = b"".join(self._parts)
        self._parts.clear()
        return taken


class _Archive(zipfile.ZipFile):
    def __del__(self) -> None:
        """Write no end: whoever made it does, and where it is collected before, nobody reads that."""


def stream_zip(members: Iterable[ZipMember], *, compress: bool = True) -> Iterator[bytes]:
    """Yield the archive of `members`. `compress` for texts; models are stored as they are (they do not shrink)."""
    sink = _Sink()
    kind = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with _Archive(cast(IO[bytes], sink), "w", kind, allowZip64=True, compresslevel=1) as archive:
        for member in members:
            # The format can hold dates from 1980 to 2107.
            moment = time.gmtime(min(max(member.modified_at, 315532800.0), 4354819199.0))
            name = _NO_TEXT.sub(lambda found: f"%{ord(found[0]) & 0xFF:02X}", member.name)
            info = zipfile.ZipInfo(name, moment[:6])
            info.compress_type = kind
            info.external_attr = 0o644 << 16
            with archive.open(info, "w", force_zip64=True) as file:
                for block in member.content:
                    file.write(block)
                    if ready := sink.take():
                        yield ready
            yield sink.take()
    yield sink.take()


def stream_tar(members: Iterable[tuple[tarfile.TarInfo, Iterable[bytes]]]) -> Iterator[bytes]:
    """Yield a tar archive of `members`, each with its content, which is cut or filled up to the size that was said."""
    for header, content in members:
        yield header.tobuf(tarfile.PAX_FORMAT, errors="surrogateescape")
        left = header.size
        for block in content:
            yield block[:left]
            left -= len(block[:left])
        while left > 0:
            yield bytes(min(left, BLOCK))
            left -= min(left, BLOCK)
        yield bytes(-header.size % tarfile.BLOCKSIZE)
    yield bytes(2 * tarfile.BLOCKSIZE)


def blocks_between(fd: int, start: int, end: int) -> Iterator[bytes]:
    """Yield the bytes of `fd` from `start` up to `end`, and close it."""
    try:
        while start < end and (block := os.pread(fd, min(BLOCK, end - start), start)):
            yield block
            start += len(block)
    finally:
        os.close(fd)


def blocks_of(fd: int) -> Iterator[bytes]:
    """Yield the content of `fd` and close it."""
    try:
        while block := os.read(fd, BLOCK):
            yield block
    finally:
        os.close(fd)
