"""Small contents of a version as one stream, so that many files come with one request.

The order is that of the version's list: each content stands where its first file does. A client that knows the list
therefore knows what comes, and where to go on after the line broke. All of it blocks: call it from worker threads.
"""

import os
from collections.abc import Iterator, Sequence
from itertools import islice

from trainmaster.core.formats.frames import BATCH, SMALL, frame
from trainmaster.storage.datasets.listing import ListedFile


def small_contents(entries: Sequence[ListedFile]) -> Iterator[ListedFile]:
    """Yield the first file of each content of at most SMALL bytes, in the order of the list. O(files)."""
    known: set[str] = set()
    for entry in entries:
        if entry.kind in "fx" and entry.size <= SMALL and entry.sha256 not in known:
            known.add(entry.sha256)
            yield entry


def read_small(root: str, entries: Sequence[ListedFile], first: int, count: int) -> Iterator[bytes]:
    """Yield small contents from number `first` (0 is the first) on, `count` at most, as `core.formats.frames` has them,
    many in a block. Raises OSError for a file that is not there.
    """
    parts: list[bytes] = []
    size = 0
    for entry in islice(small_contents(entries), first, first + count):
        with open(os.path.join(root, entry.path), "rb", buffering=0) as file:
            content = file.read(SMALL)
        parts.append(frame(entry.sha256, content))
        size += len(parts[-1])
        if size >= BATCH // 8:
            yield b"".join(parts)
            parts, size = [], 0
    yield b"".join(parts)
