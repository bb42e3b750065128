"""The loop of an agent: one epoll; descriptors, ends of processes and timers call what waits for them. Single-threaded.

It sleeps while there is nothing to do. A call that fails is logged and skipped (`guarded`).
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import os
import select
import signal
import time
from collections.abc import Callable

from trainmaster.agent.host.words import say_error


class Loop:
    """One per process: it is woken by the process's signals."""

    def __init__(self) -> None:
        self.epoll = select.epoll()
        self.timers: list[tuple[float, int, Callable[[], None]]] = []
        self._calls: dict[int, Callable[[int], None]] = {}
        self._order = itertools.count()
        self._signals: dict[int, Callable[[], None]] = {}
        wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        self.watch(wake_read, lambda events: self._woken(wake_read))

    def on_signal(self, signum: int, call: Callable[[], None]) -> None:
        """Call `call` after the signal `signum` came, any number of times: of several at once the process learns one.

        Of signals that came together, the call that was set first runs first.
        """
        self._signals[signum] = call
        signal.signal(signum, lambda number, frame: None)  # it only writes its number to the pipe

    def turn(self, most_s: float) -> None:
        """Wait at most `most_s` seconds (-1: as long as it takes) for something to happen, and do all that is due."""
        if self.timers:
            most_s = max(0.0, self.timers[0][0] - time.monotonic())
        for fd, events in self.epoll.poll(most_s):
            call = self._calls.get(fd)
            if call is not None:
                guarded(call, events)
        now = time.monotonic()
        while self.timers and self.timers[0][0] <= now:
            guarded(heapq.heappop(self.timers)[2])

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        """Call `call` once, `seconds` from now."""
        heapq.heappush(self.timers, (time.monotonic() + seconds, next(self._order), call))

    def watch_end(self, pid: int, call: Callable[[], None]) -> bool:
        """Call `call` once when the process `pid` has ended. False: there is no such process."""
        try:
            fd = os.pidfd_open(pid)
        except OSError:
            return False

        def ended(events: int) -> None:
            self.unwatch(fd)
            os.close(fd)
            call()

        self.watch(fd, ended)
        return True

    def watch(self, fd: int, call: Callable[[int], None]) -> None:
        """Call `call` with the events whenever `fd` can be read."""
        self._calls[fd] = call
        self.epoll.register(fd, select.EPOLLIN)

    def unwatch(self, fd: int) -> None:
        """Watch `fd` no more."""
        self._calls.pop(fd, None)
        self.epoll.unregister(fd)

    def _woken(self, fd: int) -> None:
        with contextlib.suppress(BlockingIOError):
            came = set(os.read(fd, 4096))
            for signum, call in self._signals.items():
                if signum in came:
                    guarded(call)


def guarded(call: Callable[..., None], *given: int) -> None:
    """Call `call` and log an error that nobody foresaw: it may strand one task, and must not take the others
    along, nor come back with every new agent.
    """
    try:
        call(*given)
    except Exception:
        say_error()
