"""Copying and naming files that may hold holes: what was never written is neither read nor stored. Linux.

A file of terabytes may take no room at all. So a content has one of two names, and which one depends on its bytes
alone, never on how a file system keeps them. It is looked at in grains of 64 KiB. While those that are all zero make up
less than 1 GiB, the name is the sha256 of the bytes, as sha256sum prints it. From there on it is the sha256 of a mark,
the size (8 bytes, little endian), and for each grain that is not all zero its number (8 bytes) and its bytes: as much
work as there is content.
"""

import errno
import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

GRAIN: Final = 1 << 16
SPARSE_FROM: Final = 1 << 30
"""Bytes in grains of zeros from which on a content has the name of a sparse one."""
_MARK: Final = b"trainmaster sparse 1\n"
_BLOCK: Final = 1 << 20
_ZEROS: Final = bytes(_BLOCK)
_FICLONE: Final = 0x40049409

GoOn = Callable[[], None]
"""Called again and again; whoever gave it raises from it to end the work."""


@dataclass(frozen=True, slots=True)
class Content:
    """The name of a content (sha256 hex), and which of the two it is."""

    digest: str
    sparse: bool


def copy(fd: int, out: int, size: int, go_on: GoOn) -> Content:
    """Make the empty file `out` equal to the first `size` bytes of `fd`; return the name of what `out` holds. O(data).

    Raises OSError; EIO when `fd` became shorter meanwhile.
    """
    source, cloned = (out, True) if clone(fd, out) else (fd, False)
    os.ftruncate(out, size)
    if _holes(source, size, go_on):
        return _sparse(source, size, go_on, None if cloned else out)
    digest, zeros, at = hashlib.sha256(), 0, 0
    for start, block in _blocks(source, size, go_on):
        zeros += start - at
        _hash_zeros(digest, start - at)
        digest.update(block)
        zeros += _zeros_in(block)
        at = start + len(block)
        if not cloned:
            _write(out, block, start)
    zeros += size - at
    _hash_zeros(digest, size - at)
    return Content(digest.hexdigest(), False) if zeros < SPARSE_FROM else _sparse(out, size, go_on, None)


def clone(fd: int, out: int) -> bool:
    """Let `out` share the blocks of `fd`; False where the file system cannot."""
    try:
        fcntl.ioctl(out, _FICLONE, fd)
    except OSError:
        return False
    return True


def _sparse(fd: int, size: int, go_on: GoOn, out: int | None) -> Content:
    digest = hashlib.sha256(_MARK + size.to_bytes(8, "little"))
    for start, block in _blocks(fd, size, go_on):
        for at in range(0, len(block), GRAIN):
            grain = block[at : at + GRAIN]
            if not _is_zero(grain):
                digest.update(((start + at) // GRAIN).to_bytes(8, "little"))
                digest.update(grain)
        if out is not None:
            _write(out, block, start)
    return Content(digest.hexdigest(), True)


def _write(out: int, block: bytes, at: int) -> None:
    if _is_zero(block):
        return  # all zeros: leave a hole
    view = memoryview(block)
    while view:
        written = os.pwrite(out, view, at)
        view, at = view[written:], at + written


def _is_zero(data: bytes) -> bool:
    return not data[0] and data == _ZEROS[: len(data)]


def _zeros_in(block: bytes) -> int:
    """Return how many bytes of `block` lie in grains that are all zero."""
    grains = (block[at : at + GRAIN] for at in range(0, len(block), GRAIN) if not block[at])
    return sum(len(grain) for grain in grains if _is_zero(grain))


def _hash_zeros(digest: "hashlib._Hash", count: int) -> None:
    while count > 0:
        digest.update(_ZEROS[: min(count, _BLOCK)])
        count -= _BLOCK


def _holes(fd: int, size: int, go_on: GoOn) -> bool:
    """Return whether the holes alone make `fd` a sparse content. O(extents), nothing is read."""
    written, at = 0, 0
    for start, end in ranges(fd, size):
        go_on()
        written, at = written + end - start, end
        if at - written >= SPARSE_FROM:
            return True
    return size - written >= SPARSE_FROM


def ranges(fd: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of what was written, widened to whole grains, in order and apart."""
    at = 0
    while at < size:
        start, end = _next_data(fd, at, size)
        if start >= size:
            return
        at = min(-(-end // GRAIN) * GRAIN, size)
        yield start // GRAIN * GRAIN, at


def _next_data(fd: int, at: int, size: int) -> tuple[int, int]:
    try:
        start = os.lseek(fd, at, os.SEEK_DATA)
        return start, os.lseek(fd, start, os.SEEK_HOLE)
    except OSError as error:
        # ENXIO: only a hole follows. Any other error: the file system reports no holes.
        return (size, size) if error.errno == errno.ENXIO else (at, size)


def _blocks(fd: int, size: int, go_on: GoOn) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, bytes) of what was written, each from the beginning of a grain."""
    for start, end in ranges(fd, size):
        for at in range(start, end, _BLOCK):
            go_on()
            yield at, _whole(fd, min(_BLOCK, end - at), at)


def _whole(fd: int, length: int, at: int) -> bytes:
    """Return exactly `length` bytes at `at`."""
    block = os.pread(fd, length, at)
    while len(block) < length:
        more = os.pread(fd, length - len(block), at + len(block))
        if not more:
            raise OSError(errno.EIO, "it became shorter while it was saved")
        block += more
    return block
