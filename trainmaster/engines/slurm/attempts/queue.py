"""What Slurm's queue says of our jobs: one question for all, asked again as often as somebody wants to know, never
twice at once.

One question tells of the jobs that wait or run. Those that it no longer tells of are asked about by their ids, once: so
what it costs does not grow with the jobs that have ended. Invariants: an answer is given only for what Slurm has really
answered, and a job is ours only by its name *and* its id.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from trainmaster.engines.slurm.attempts.stored import Remembered
from trainmaster.engines.slurm.client import states
from trainmaster.engines.slurm.client.parse import JobId, JobLine, Known
from trainmaster.engines.slurm.client.reading import Reading

AT_ONCE: Final = 200
"""Ids in one question."""
Lines = tuple[JobLine, ...]
"""What is said of one job: one line, or one for each of its components."""
_Found = dict[tuple[str, JobId], JobLine]
"""By name and id."""


class Queue:
    """The queue of one cluster. `users`: the system users whose jobs ours may be, "": the server's own, whose name is
    `service`.
    """

    def __init__(self, reading: Reading, service: str) -> None:
        self._reading, self._service = reading, service
        self.users = {""}
        self._asking: asyncio.Task[_Found] | None = None

    async def look(self, wanted: Mapping[str, Known]) -> Mapping[str, Lines]:
        """Return what Slurm says of the jobs of these attempts. Nothing is said of what it does not know.

        Raises ClusterDown, ClusterRefused, ValueError.
        """
        there = await self._present()
        missing = {ids[0].number for name, ids in wanted.values() if any((name, one) not in there for one in ids)}
        for some in _at_once(sorted(missing)):
            there = {**there, **_by_id(await self._reading.some(some))}
        arrays = {(name, one.number) for name, one in there}
        return {attempt: tuple(_find_lines(there, arrays, name, ids)) for attempt, (name, ids) in wanted.items()}

    async def submitted(self, before: Remembered, attempt: str, user: str = "") -> tuple[str, JobId] | None:
        """Return what the job of `attempt` is called, with its id; also of one that has ended of late. None: Slurm
        knows none.

        Where its id is not remembered it is asked for by its name, only among the jobs of the system user `user`, "":
        of the server's own. Others may call theirs the same. Raises ClusterDown, ClusterRefused, ValueError.
        """
        name = before.name or attempt
        if before.number is not None:
            return name, JobId(before.number, before.element)
        known = (line.id for line in await self.find_named(name, user) if line.id.element == before.element)
        first = next(known, None)
        return None if first is None else (name, first)

    async def find_named(self, name: str, user: str = "") -> Lines:
        """Return all of this name, in the order of their ids. Raises ClusterDown, ClusterRefused, ValueError."""
        return tuple(sorted(await self._reading.find_named(name, user or self._service), key=lambda line: line.id))

    async def live(self, user: str = "") -> list[tuple[str, JobId]]:
        """Return names and ids of all that have not ended, as Slurm tells them after this was asked; those of `user`
        among them.

        Raises ClusterDown, ClusterRefused, ValueError.
        """
        self.users.add(user)
        return [key for key, line in (await self._present()).items() if line.state.standing != "ended"]

    async def _present(self) -> _Found:
        """Return all that wait or run, by id. Who asks while somebody else does gets the answer to a question asked
        after.
        """
        if self._asking is not None:
            await asyncio.wait({self._asking})
        if self._asking is None or self._asking.done():
            self._asking = asyncio.get_running_loop().create_task(self._ask())
        return await asyncio.shield(self._asking)

    async def _ask(self) -> _Found:
        return _by_id(await self._reading.present(sorted({user or self._service for user in self.users})))


def _at_once(numbers: list[int]) -> Iterator[list[int]]:
    """Yield as many at once as one question is asked about."""
    return (numbers[at : at + AT_ONCE] for at in range(0, len(numbers), AT_ONCE))


def _find_lines(there: _Found, arrays: set[tuple[str, int]], name: str, ids: Iterable[JobId]) -> Iterator[JobLine]:
    """Yield what is known of a job. An element that waited and was cancelled leaves no trace of its own, only its array
    does.
    """
    for one in ids:
        line = there.get((name, one))
        if line is not None:
            yield line
        elif one.element is not None and (name, one.number) in arrays:
            yield JobLine(name, one, one.number, states.read("CANCELLED"), None, (), (), "None", told=False)


def _by_id(lines: Iterable[JobLine]) -> _Found:
    return {(line.name, line.id): line for line in lines}
