"""Work in a thread of its own, which nobody waits for when the server ends: a disk or a host may hang."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


async def in_own_thread(work: Callable[[], T], name: str = "save") -> T:
    """Return what `work()` returns, from a thread that nobody waits for when the server ends: its disk may hang."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def tell(how: Callable[[Any], None], what: Any) -> None:
        if not answer.done():
            how(what)

    def run() -> None:
        how: Callable[[Any], None]
        try:
            how, what = answer.set_result, work()
        except BaseException as error:
            how, what = answer.set_exception, error  # type: ignore[assignment]
        with contextlib.suppress(RuntimeError):  # the loop is closed: the server has ended
            loop.call_soon_threadsafe(tell, how, what)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await answer
