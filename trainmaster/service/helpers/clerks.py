"""Clerks: processes that do what takes more than a moment with what users write.

Python runs one thread at a time: whoever checks a large document in a thread of the server holds up everybody whom it
answers. A clerk is given a function of ours and its arguments, and gives back what it returns or raises (`clerk`).
Pickle carries both: each end is our own program, and what users wrote is text in it. Invariants: one person has one
clerk at a time, and there are AT_ONCE in all; a clerk that takes too long or dies costs the answer, never the server.
"""

import asyncio
import pickle
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Final, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from trainmaster.core.errors import Unavailable
from trainmaster.messages.server import server
from trainmaster.service.helpers.child import Child, NotStarted
from trainmaster.service.helpers.clerk import answer
from trainmaster.service.helpers.meter import counted

AT_ONCE: Final = 2
LIMIT_S: Final = 30.0
COMMAND: Final = (sys.executable, "-m", "trainmaster.service.helpers.clerk")

P = ParamSpec("P")
T = TypeVar("T")


class Clerks:
    """One object per server; `do` is called in the loop's thread."""

    def __init__(self, command: tuple[str, ...] = COMMAND, limit_s: float = LIMIT_S) -> None:
        self._limit_s = limit_s
        self._idle = [Child(command) for _ in range(AT_ONCE)]
        self._all = list(self._idle)
        self._free = asyncio.Semaphore(AT_ONCE)
        self._persons: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # kept while used
        self._threads = ThreadPoolExecutor(AT_ONCE, "clerk")

    async def do(self, person: str, work: Callable[P, T], /, *args: P.args, **given: P.kwargs) -> T:
        """Return what `work` returns, raise what it raises; a function of a module, and what pickle takes. Raises
        Unavailable.
        """
        mine = self._persons.setdefault(person, asyncio.Lock())
        async with mine, self._free:
            clerk = self._idle.pop()
            question = (work, args, given)
            asked = asyncio.get_running_loop().run_in_executor(
                self._threads, copy_context().run, self._ask, clerk, question
            )
            try:
                good, found = await asyncio.shield(asked)
            finally:
                if not asked.done():  # cancelled: nobody waits for the answer
                    clerk.drop()
                    await asyncio.wait([asked])
                self._idle.append(clerk)
        if good:
            return found  # type: ignore[no-any-return]
        try:
            raise found
        finally:
            del asked, found, question, args, given  # break the cycle of error, traceback and this frame

    def close(self) -> None:
        """End them."""
        for clerk in self._all:
            clerk.end()
        self._threads.shutdown()

    def _ask(self, clerk: Child, question: object) -> tuple[bool, Any]:
        """Return whether it went well, and what the work returned or raised."""
        asked = pickle.dumps(question, pickle.HIGHEST_PROTOCOL)
        try:
            with counted(time.monotonic):  # wall time: the clerk works meanwhile
                good, found = pickle.loads(clerk.ask(asked, self._limit_s))
        except TimeoutError:
            good, found = False, Unavailable(server.request_took_too_long(self._limit_s))
        except NotStarted:  # its Python was removed under us: do it here, though it holds others up
            good, found = pickle.loads(answer(asked))
        except EOFError:
            good, found = False, MemoryError()  # a clerk that dies most likely ran out of memory
        if isinstance(found, MemoryError):
            found = Unavailable(server.request_took_too_much_memory())
        return good, found
