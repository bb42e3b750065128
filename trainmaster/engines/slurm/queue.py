"""What Slurm's queue says of our jobs: one question for all, asked again as often as somebody wants to know, never twice at once.

One question tells of the jobs that wait or run. Those that it no longer tells of are asked about by their ids, once: so what it
costs does not grow with the jobs that have ended. Invariants: an answer is given only for what Slurm has really answered, and a job
is ours only by its name *and* its id.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final

from trainmaster.engines.slurm.parse import JobLine
from trainmaster.engines.slurm.reading import Reading

AT_ONCE: Final = 200
"""Ids in one question."""
Lines = tuple[JobLine, ...]
"""What is said of one job: one line, or one for each of its components."""
_Found = dict[tuple[str, int], JobLine]
"""By attempt and id."""


class Queue:
    """The queue of one cluster. `users`: the system users whose jobs ours may be, "": the server's own, whose name is `service`."""

    def __init__(self, reading: Reading, service: str) -> None:
        self._reading, self._service = reading, service
        self.users = {""}
        self._asking: asyncio.Task[_Found] | None = None

    async def look(self, wanted: Mapping[str, range]) -> Mapping[str, Lines]:
        """Return what Slurm says of the jobs of these attempts.

        `wanted`: the ids of each: one, or those of its components. Nothing is said of what Slurm does not know.
        Raises ClusterDown, ClusterRefused, ValueError.
        """
        there = await self._present()
        missing = [ids[0] for attempt, ids in wanted.items() if any((attempt, number) not in there for number in ids)]
        for at in range(0, len(missing), AT_ONCE):
            there = {**there, **_by_id(await self._reading.some(missing[at : at + AT_ONCE]))}
        return {
            attempt: tuple(there[attempt, number] for number in ids if (attempt, number) in there)
            for attempt, ids in wanted.items()
        }

    async def named(self, attempt: str, user: str = "") -> Lines:
        """Return the jobs of `attempt`, also those that have ended of late. Raises ClusterDown, ClusterRefused, ValueError.

        Only those of the system user `user`, "": of the server's own: others may call theirs the same.
        """
        found = await self._reading.named(attempt, user or self._service)
        return tuple(sorted(found, key=lambda line: line.id))

    async def _present(self) -> _Found:
        """Return all that wait or run, by id. Who asks while somebody else does gets the answer to a question asked after."""
        if self._asking is not None:
            await asyncio.wait({self._asking})
        if self._asking is None or self._asking.done():
            self._asking = asyncio.get_running_loop().create_task(self._ask())
        return await asyncio.shield(self._asking)

    async def _ask(self) -> _Found:
        return _by_id(await self._reading.present(sorted({user or self._service for user in self.users})))


def _by_id(lines: Iterable[JobLine]) -> _Found:
    return {(line.attempt, line.id): line for line in lines}
