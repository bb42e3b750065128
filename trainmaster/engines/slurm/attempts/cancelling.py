"""Taking jobs out of Slurm: what is wanted while Slurm is busy with others goes together, as one scancel.

Whose a job is only its name and its id say together: a controller that was killed before it had saved its state gives
the same ids again. scancel takes one name, and ignores the ids beside it. So one job alone is cancelled by its name;
several, and elements of arrays, by the ids that Slurm, asked just before, tells for their names. Ids that have become
unknown meanwhile are nothing to it.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from trainmaster.engines.slurm.attempts.queue import Queue
from trainmaster.engines.slurm.client.commands import ClusterRefused, Commands
from trainmaster.engines.slurm.client.parse import JobId

MOST: Final = 200
"""Jobs in one round: a tenth of a second for Slurm, so that what it said of them is never older."""


class Wish(NamedTuple):
    """A job that is to be cancelled: everything that is called `name`, or of arrays called so the element. `user`: the
    system user it runs as, "": the server's own. `alone`: it has components, of which Slurm lets none be cancelled on
    its own.
    """

    name: str
    element: int | None = None
    user: str = ""
    alone: bool = False


class Cancelling:
    """Cancels the jobs of one cluster."""

    def __init__(self, commands: Commands, queue: Queue) -> None:
        self._commands, self._queue = commands, queue
        # By system user: nobody's cancelling waits for another's.
        self._waiting: dict[str, dict[asyncio.Future[None], Wish]] = defaultdict(dict)
        self._work: dict[str, asyncio.Task[None]] = {}

    async def cancel(self, wish: Wish) -> None:
        """Let Slurm end a job; one that it does not know is ended. Raises ClusterDown, ClusterRefused, ValueError."""
        done = asyncio.get_running_loop().create_future()
        self._waiting[wish.user][done] = wish
        work = self._work.get(wish.user)
        if work is None or work.done():
            self._work[wish.user] = asyncio.create_task(self._serve(self._waiting[wish.user]))
        await done

    async def _serve(self, waiting: dict[asyncio.Future[None], Wish]) -> None:
        while waiting:
            groups: dict[str, dict[asyncio.Future[None], Wish]] = defaultdict(dict)
            for done in list(waiting)[:MOST]:
                wish = waiting.pop(done)
                groups[wish.name if wish.alone else ""][done] = wish
            await asyncio.gather(*(self._answer(group) for group in groups.values()))

    async def _answer(self, group: dict[asyncio.Future[None], Wish]) -> None:
        """Cancel what one system user has, and tell everybody what became of it. What is refused together is tried
        alone.
        """
        try:
            await self._cancel(list(group.values()))
        except Exception as error:  # every caller waits for an answer
            if isinstance(error, ClusterRefused) and len(group) > 1:
                await asyncio.gather(*(self._answer({done: wish}) for done, wish in group.items()))
                return
            for done in group:
                if not done.done():
                    done.set_exception(error)
        else:
            for done in group:
                if not done.done():
                    done.set_result(None)

    async def _cancel(self, wishes: list[Wish]) -> None:
        first = wishes[0]
        if first.element is None and set(wishes) == {first}:
            which = [f"--name=tm-{first.name}"]
        else:
            which = list(scancel_arguments(await self._queue.live(first.user), wishes))
        if which:
            await self._commands.run("scancel", *which, user=first.user)


def scancel_arguments(there: Iterable[tuple[str, JobId]], wishes: Iterable[Wish]) -> Iterator[str]:
    """Yield what scancel is given: the ids of those that are there, elements of one array as one word."""
    wanted = {(wish.name, wish.element) for wish in wishes}
    elements: dict[int, list[int]] = {}
    for name, (number, element) in there:
        if (name, element) in wanted:
            elements.setdefault(number, []).extend([] if element is None else [element])
    for number, some in elements.items():
        yield f"{number}_[{','.join(map(str, some))}]" if some else str(number)
