"""The engines of one server: which pool lives on which of them, and which of them answer.

Every job belongs to the engine of its pool for its whole life. One engine that is down stops nobody else's jobs: it is
tried again until it comes, and meanwhile what is asked of it is `Unavailable`. Invariant: names of engines and of nodes
are unique.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Final

from trainmaster.core.config import MOST_PENDING
from trainmaster.core.errors import TrainmasterError, Unavailable
from trainmaster.core.records import Node
from trainmaster.engines.abilities import Abilities
from trainmaster.engines.base import CardUsage, Engine, Sink
from trainmaster.messages.said import Said, verbatim
from trainmaster.messages.server import server

log = logging.getLogger("trainmaster.engines")

PATIENCE_S: Final = 3.0
"""How long the server's start waits for other engines once one can be used."""
HEALTH_S: Final = 5.0
"""How long an engine may take to say that it is well."""
AGAIN_S: Final = 10.0
"""Seconds between two tries to start an engine that was down when the server began."""


Came = Callable[[Engine], Awaitable[None]]
"""Is told of an engine that was down at first and can be used now."""


class Engines:
    """One object per server; all methods in the loop's thread. At least one engine; the first has every pool not named.

    `pools`: name of a pool -> name of the engine it lives on. By the name of an engine: `most_pending`, how many of our
    attempts may wait in its own queue in each pool, and `labels`, what its kind is called.
    """

    def __init__(
        self,
        engines: Sequence[Engine],
        pools: Mapping[str, str] | None = None,
        most_pending: Mapping[str, int] | None = None,
        labels: Mapping[str, Said] | None = None,
    ) -> None:
        self._engines = {engine.name: engine for engine in engines}
        self._abilities = {engine.name: Abilities.of(engine) for engine in engines}
        self.first = engines[0]
        self.pools, self._most_pending, self._labels = dict(pools or {}), dict(most_pending or {}), dict(labels or {})
        self._down: dict[str, Said] = {engine.name: server.engine_not_started() for engine in engines}  # name -> why
        self._nodes: dict[str, tuple[Node, ...]] = {}  # as last seen, by engine
        self._misfits: set[str] = set()  # nodes left out
        self._starting: set[asyncio.Task[None]] = set()

    def __iter__(self) -> Iterator[Engine]:
        return iter(self._engines.values())

    def __len__(self) -> int:
        return len(self._engines)

    # -- which ---------------------------------------------------------------------------------------------------

    def of(self, pool: str) -> Engine:
        """Return the engine that `pool` lives on, whether it answers or not."""
        name = self.pools.get(pool)
        return self.first if name is None else self._engines[name]

    def owns_queue(self, pool: str) -> bool:
        """Return whether the engine of `pool` decides order and places itself."""
        return self.of(pool).owns_queue

    def abilities(self, engine: Engine) -> Abilities:
        """Return what `engine`, one of these, can do beside what all do."""
        return self._abilities[engine.name]

    def label(self, engine: Engine) -> Said:
        """Return what the kind of `engine` is called, its name where that is not known."""
        return self._labels.get(engine.name, verbatim(engine.name))

    def most_pending(self, pool: str) -> int:
        """Return how many of our attempts may wait in the own queue of the engine of `pool`, for this pool."""
        return self._most_pending.get(self.of(pool).name, MOST_PENDING)

    def up(self, engine: Engine) -> Engine:
        """Return `engine`. Raises Unavailable while it is not started."""
        why = self._down.get(engine.name)
        if why is not None:
            raise Unavailable(server.engine_unusable(engine.name, why))
        return engine

    def down(self, engine: Engine) -> Said | None:
        """Return why `engine` could not be started yet, None when it was."""
        return self._down.get(engine.name)

    # -- life ----------------------------------------------------------------------------------------------------

    async def start(self, sink: Sink, came: Came | None = None) -> None:
        """Start all and return soon after the first can be used; those that fail or take long go on in the background:
        `came` is then told of them.

        Raises Unavailable when none can be used.
        """
        loop = asyncio.get_running_loop()
        tried = [(engine, loop.create_task(self._start(engine, sink))) for engine in self]
        waiting, up = {task for _, task in tried}, False
        while waiting and not up:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            up = any(task.result() is None for task in done)
        if not up:
            raise next(error for _, task in tried if (error := task.result()) is not None)
        if waiting:
            await asyncio.wait(waiting, timeout=PATIENCE_S)
        for engine, first in tried:
            if not first.done():
                self._down[engine.name] = server.engine_not_answered_yet()
            if engine.name in self._down:
                task = loop.create_task(self._start_again(engine, sink, first, came))
                self._starting.add(task)
                task.add_done_callback(self._starting.discard)

    async def _start(self, engine: Engine, sink: Sink) -> TrainmasterError | None:
        try:
            await engine.start(sink)
        except TrainmasterError as error:
            self._down[engine.name] = error.said
            log.warning("the engine %s cannot be used: %s", engine.name, error.message)
            return error
        self._down.pop(engine.name, None)
        return None

    async def _start_again(
        self, engine: Engine, sink: Sink, first: "asyncio.Task[TrainmasterError | None]", came: Came | None
    ) -> None:
        await first
        while engine.name in self._down:
            await asyncio.sleep(AGAIN_S)
            await self._start(engine, sink)
        if came is not None:
            await came(engine)

    async def close(self) -> None:
        """Disconnect from all. User processes go on."""
        for task in self._starting:
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        await asyncio.gather(*(engine.close() for engine in self))

    # -- machines ------------------------------------------------------------------------------------------------

    async def nodes(self) -> tuple[Node, ...]:
        """Return the machines of all; those of an engine that does not answer as they were last seen.

        Raises Unavailable when none answers.
        """
        answers = await asyncio.gather(*(self._nodes_of(engine) for engine in self))
        if all(error is not None for error in answers):
            raise next(error for error in answers if error is not None)
        found: dict[str, Node] = {}
        for engine in self:
            for node in self._nodes.get(engine.name, ()):
                if node.name in found:
                    self._leave_out(engine, node, "its name is taken")
                elif self.of(node.pool) is not engine:
                    self._leave_out(engine, node, f"its pool {node.pool} does not live on this engine")
                else:
                    found[node.name] = node
        return tuple(found.values())

    def _leave_out(self, engine: Engine, node: Node, why: str) -> None:
        if node.name not in self._misfits:
            self._misfits.add(node.name)
            log.error("node %s of the engine %s is left out: %s", node.name, engine.name, why)

    async def _nodes_of(self, engine: Engine) -> TrainmasterError | None:
        try:
            self._nodes[engine.name] = await self.up(engine).nodes()
        except TrainmasterError as error:
            return error
        return None

    def card_usage(self) -> Mapping[str, Sequence[CardUsage]]:
        """Return by node how busy the real cards of all are that answer. May block."""
        asked = [can.measures for name, can in self._abilities.items() if name not in self._down]
        found = [measures.card_usage() for measures in asked if measures is not None]
        return {node: cards for usage in found for node, cards in usage.items()}

    async def health(self) -> dict[str, Said | None]:
        """Return by the name of each engine why it does not answer, None: it does."""
        told = await asyncio.gather(*(self._health_of(engine) for engine in self))
        return dict(zip(self._engines, told, strict=True))

    async def _health_of(self, engine: Engine) -> Said | None:
        try:
            await asyncio.wait_for(self.up(engine).nodes(), HEALTH_S)
        except TrainmasterError as error:
            return error.said
        except TimeoutError:
            return server.engine_silent(round(HEALTH_S))
        return None
