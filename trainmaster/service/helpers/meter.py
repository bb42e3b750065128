"""How much of the server's own time one request takes: the event loop's while it works at it, and that of threads and
clerks.
"""

import contextlib
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_current: ContextVar["Meter | None"] = ContextVar("meter", default=None)


class Meter:
    """Counts for one request. `spent`: seconds."""

    def __init__(self) -> None:
        self.spent = 0.0

    def count(self, work: Coroutine[Any, Any, T]) -> Awaitable[T]:
        """Return what to wait for instead of `work`: what that and the threads that it waits for take is counted."""
        return _Steps(work, self)


@contextlib.contextmanager
def counted(clock: Callable[[], float] = time.thread_time) -> Iterator[None]:
    """Count what is done within, in a thread that works for a request; without one it is nobody's."""
    meter, began = _current.get(), clock()
    try:
        yield
    finally:
        if meter is not None:
            meter.spent += clock() - began


def counting(work: Callable[P, T], *args: P.args, **given: P.kwargs) -> T:
    """Return what `work` returns, and count it: for a thread that was given this context, as by `asyncio.to_thread`."""
    with counted():
        return work(*args, **given)


class _Steps(Awaitable[T]):
    """Runs a coroutine step by step, as a task does; counts the CPU time of each."""

    def __init__(self, work: Coroutine[Any, Any, T], meter: Meter) -> None:
        self._work, self._meter = work, meter

    def __await__(self) -> Generator[Any, Any, T]:
        value: Any = None
        error: BaseException | None = None
        token = _current.set(self._meter)
        try:
            while True:
                began = time.thread_time()
                try:
                    awaited = self._work.send(value) if error is None else self._work.throw(error)
                except StopIteration as end:
                    found: T = end.value
                    return found
                finally:
                    self._meter.spent += time.thread_time() - began
                value = error = None
                try:
                    value = yield awaited
                except BaseException as thrown:
                    error = thrown
        finally:
            _current.reset(token)
