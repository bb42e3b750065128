"""Following logs live: one shared look at the sizes, however many people follow (R208).

While somebody follows, the sizes of the followed files are looked at every 10 ms (25 ms once nothing has moved for two
seconds); a stat costs about a microsecond, works on every file system and misses nothing. Followers of one file at the
same place share one read. Invariant: a new line is seen within 50 ms; a stream ends only when the task had ended
*before* the read that found nothing more.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Final

from trainmaster.storage.logs.logs import MAX_WINDOW, LogWindow, read

FAST_S: Final = 0.010
SLOW_S: Final = 0.025
CALM_AFTER_S: Final = 2.0
ENDED_EVERY_S: Final = 0.25
"""How often a follower of a file that does not change asks whether its task has ended."""
WINDOW: Final = 256 << 10

_State = tuple[int, int, int]


@dataclass(slots=True)
class _Watched:
    """One followed file: how many follow, what it looked like, and the last read, shared."""

    followers: int = 0
    state: _State = (0, 0, 0)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    reads: dict[tuple[int, _State, bool], "asyncio.Task[LogWindow]"] = field(default_factory=dict)


class Follower:
    """Use one per server (one event loop). `follow` may be called any number of times."""

    def __init__(self) -> None:
        self._watched: dict[str, _Watched] = {}
        self._ticker: asyncio.Task[None] | None = None

    @property
    def watching(self) -> int:
        """Number of files somebody follows."""
        return len(self._watched)

    async def follow(
        self, path: str, offset: int, ended: Callable[[], bool], *, window: int = WINDOW
    ) -> AsyncIterator[LogWindow]:
        """Yield windows from `offset` (negative: from the end) until `ended()` is true and all is read.

        A truncated log is followed from its new start. The caller's pace is the stream's pace: nothing piles up.
        """
        watched = self._watched.get(path)
        if watched is None:
            watched = self._watched[path] = _Watched(state=_state(path))
        watched.followers += 1
        if self._ticker is None or self._ticker.done():
            self._ticker = asyncio.create_task(self._tick())
        seen: _State | None = None  # the file's state when all of it was read
        try:
            while True:
                over, changed, state = ended(), watched.changed, _state(path)
                if state == seen and not over:
                    await _either(changed, ENDED_EVERY_S)
                    continue
                if 0 <= state[1] < offset:
                    offset = 0
                got = await self._read(watched, path, offset, state, over, window)
                if got.offset < offset:  # truncated after `_state`, before the read
                    offset = 0
                    continue
                offset = got.next_offset
                if got.text or got.cut:
                    yield got
                elif over:
                    return
                else:
                    seen = state
        finally:
            watched.followers -= 1
            if watched.followers == 0:
                self._watched.pop(path, None)

    async def _read(
        self, watched: _Watched, path: str, offset: int, state: _State, over: bool, window: int
    ) -> LogWindow:
        key = (offset, state, over)
        task = watched.reads.get(key)
        if task is None:
            limit = min(window, MAX_WINDOW)
            task = asyncio.create_task(asyncio.to_thread(read, path, offset, limit, ended=over))
            watched.reads[key] = task
            task.add_done_callback(lambda _: watched.reads.pop(key, None))
        return await asyncio.shield(task)

    async def _tick(self) -> None:
        """Look at every followed file and wake its followers when it changed; ends when nobody follows."""
        moved_at = time.monotonic()
        while self._watched:
            for path, watched in self._watched.items():
                state = _state(path)
                if state != watched.state:
                    watched.state = state
                    moved_at = time.monotonic()
                    watched.changed.set()
                    watched.changed = asyncio.Event()
            calm = time.monotonic() - moved_at > CALM_AFTER_S
            await asyncio.sleep(SLOW_S if calm else FAST_S)


async def _either(event: asyncio.Event, timeout_s: float) -> None:
    """Wait for the file to change, but look at `ended` again after `timeout_s`."""
    try:
        async with asyncio.timeout(timeout_s):
            await event.wait()
    except TimeoutError:
        return


def _state(path: str) -> _State:
    try:
        info = os.stat(path, follow_symlinks=False)
    except OSError:
        return (0, 0, 0)
    return (info.st_ino, info.st_size, info.st_mtime_ns)
