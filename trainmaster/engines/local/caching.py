"""The cache of this machine (R187): inputs are copied while a job is staged, by a thread of the server's for each copy.

The server ends and the copy with it; the next one begins it anew. Invariant: a copy that was brought for an attempt is
held from then until its launch has an answer, or the attempt is reaped; from the launch on its record holds it
(agent/caching).
"""

import asyncio
import contextlib
import logging
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final, TypeVar

from trainmaster.agent.caching.cache import NodeCache
from trainmaster.agent.caching.filling import CacheLimits, Filled, NotCached, WantedCopy, bring, sweep
from trainmaster.core.config import Config
from trainmaster.core.launch import Gang
from trainmaster.messages.assets import caching as say
from trainmaster.messages.said import Said

log = logging.getLogger("trainmaster.engines.local")

LOOK_S: Final = 0.5
"""Between two looks how far a copy is, and whether it is still wanted."""
SWEEP_S: Final = 3600.0
"""Between two looks for copies that nobody has used for long."""
MIB: Final = 1 << 20
T = TypeVar("T")


class _Unwanted(Exception):
    """Nobody waits for the copy any more."""


@dataclass(slots=True)
class _Bringing:
    """What is brought for one attempt. `held`: descriptors that keep what was; `told`: why something was not."""

    stopped: bool = False
    held: list[int] = field(default_factory=list)
    told: list[Said] = field(default_factory=list)

    def go_on(self) -> None:
        """Raise where nobody waits any more. In any thread."""
        if self.stopped:
            raise _Unwanted


class LocalCache:
    """The cache of one engine, which there is none where no folder is configured for it."""

    def __init__(self, config: Config) -> None:
        local, limits = config.local, config.limits
        self.folder = local.cache_folder
        self._cache = NodeCache(self.folder, lambda text: log.warning("%s", text))
        self._limits = CacheLimits(local.cache_mib * MIB, limits.reserve_mib * MIB, local.cache_days * 86400.0)
        self._bringing: dict[str, _Bringing] = {}
        self._sweeping: asyncio.Task[None] | None = None

    def why_none(self, sandboxed: bool) -> Said | None:
        """Return why inputs cannot be cached, None when they can. `sandboxed`: whether sandboxes work."""
        if not self.folder:
            return say.cache_off()
        return None if sandboxed else say.cache_needs_sandbox()

    def start(self) -> None:
        """Remove now, and every hour, what nobody has used for long."""
        if self.folder and self._sweeping is None:
            self._sweeping = asyncio.get_running_loop().create_task(self._sweep())

    async def _sweep(self) -> None:
        while True:
            try:
                await _in_thread(self._sweep_once)
            except OSError as error:
                log.warning("the cache in %s cannot be looked through: %s", self._cache.root, error)
            await asyncio.sleep(SWEEP_S)

    def _sweep_once(self) -> None:
        self._cache.open()
        sweep(self._cache, self._limits)

    async def close(self) -> None:
        """Stop copying."""
        for attempt in list(self._bringing):
            self.release(attempt)
        if self._sweeping is not None:
            self._sweeping.cancel()
            await asyncio.gather(self._sweeping, return_exceptions=True)
            self._sweeping = None

    async def bring(self, attempt: str, gang: Gang, tell: Callable[[Said], bool]) -> tuple[Said, ...]:
        """Let the inputs of `gang` be here that are to be cached; return why some are not. `tell`: as in
        `engines.abilities.CachesInputs`.
        """
        self.release(attempt)
        mine = self._bringing[attempt] = _Bringing()
        wanted = {
            mount.cache: WantedCopy(mount.cache, mount.source, mount.target) for mount in gang.mounts if mount.cache
        }
        with contextlib.suppress(_Unwanted):
            for one in wanted.values():
                try:
                    await self._bring(mine, one, tell)
                except NotCached as error:
                    log.warning("attempt %s: %s", attempt, error)
                    mine.told.append(error.said)
        return tuple(mine.told)

    async def _bring(self, mine: _Bringing, wanted: WantedCopy, tell: Callable[[Said], bool]) -> None:
        filled = Filled()

        def work() -> None:
            fd = bring(self._cache, wanted, self._limits, mine.go_on, filled)
            if mine.stopped:
                os.close(fd)
            else:
                mine.held.append(fd)

        copied = _in_thread(work)
        try:
            while not copied.done():
                if not tell(_progress(wanted, filled)):
                    mine.stopped = True
                await asyncio.wait({copied}, timeout=LOOK_S)
            copied.result()
        except asyncio.CancelledError:
            mine.stopped = True
            raise

    def has_told(self, attempt: str) -> bool:
        """Return whether it was said of an attempt why an input is not cached."""
        return attempt in self._bringing and bool(self._bringing[attempt].told)

    def release(self, attempt: str) -> None:
        """Copy nothing any more for an attempt, and hold nothing of what was copied."""
        if (mine := self._bringing.pop(attempt, None)) is not None:
            mine.stopped = True
            while mine.held:
                os.close(mine.held.pop())


def _progress(wanted: WantedCopy, filled: Filled) -> Said:
    if filled.waits:
        return say.caching_waits(wanted.place)
    if not filled.all_bytes:
        return say.caching_looks(wanted.place)
    return say.caching_input(wanted.place, filled.done_bytes / MIB, filled.all_bytes / MIB)


def _in_thread(work: Callable[[], T]) -> "asyncio.Future[T]":
    """Return what `work()` will return, in a thread that nobody waits for when the server ends: its disk may hang."""
    done: Future[T] = Future()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, name="cache", daemon=True).start()
    return asyncio.wrap_future(done)
