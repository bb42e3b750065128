"""Uvicorn's server as ours begins and ends: says where it is once it answers, and ends whatever it waits for when it is
asked to.

Invariant: what counts is on disk at any moment, so that ending at once harms nothing.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import Any, Final

import uvicorn

from trainmaster.api.socket.front import Front
from trainmaster.cli.language import words
from trainmaster.core.errors import TrainmasterError

LAST_S: Final = 15.0
"""A server that was asked to stop ends after so long at the latest."""


class Server(uvicorn.Server):
    """`announce` is called once it answers, `forget` when it ends without ceremony. `refused`: why it could not
    start.
    """

    def __init__(
        self, config: uvicorn.Config, app: Front, announce: Callable[[], None], forget: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self.app, self.announce, self.forget = app, announce, forget
        self.refused: TrainmasterError | None = None
        self.starting: asyncio.Future[Any] | None = None
        self.running = AsyncExitStack()
        self._last = threading.Timer(LAST_S, self._end_at_once)
        self._last.daemon = True

    def run(self, sockets: list[Any] | None = None) -> None:
        """Serve until asked to stop."""
        super().run(sockets)
        self._last.cancel()

    async def startup(self, sockets: list[Any] | None = None) -> None:
        """Start the platform first."""
        self.starting = asyncio.ensure_future(self.running.enter_async_context(self.app.running()))
        if self.should_exit:
            self.starting.cancel()
        try:
            await self.starting
        except TrainmasterError as error:
            self.refused, self.should_exit = error, True
            return
        except asyncio.CancelledError:
            return  # asked to stop during the start
        await super().startup(sockets)
        if self.started:
            self.announce()

    async def shutdown(self, sockets: list[Any] | None = None) -> None:
        """Close the platform last."""
        await super().shutdown(sockets)
        await self.running.aclose()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn's, but the signal is not raised again at the end: being asked to stop is no failure."""
        before = {kind: signal.signal(kind, self.handle_exit) for kind in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Start nothing more, end live views first, so that closing never hangs, and a start whatever it waits for."""
        self.app.leave()
        super().handle_exit(sig, frame)
        if not self._last.is_alive():
            self._last.start()
        if self.starting is not None:
            self.starting.get_loop().call_soon_threadsafe(self.starting.cancel)

    def _end_at_once(self) -> None:
        """End although something does not: a file system that hangs holds its thread for ever."""
        self.forget()
        said = words(
            f"Trainmaster has stopped without waiting for what did not end in {LAST_S:.0f} s; jobs go on.",
            f"Trainmaster 已停止，没有等待 {LAST_S:.0f} 秒内未结束的操作；任务继续运行。",
        )
        print(said, flush=True)
        os._exit(0)
